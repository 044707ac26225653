package probe

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// planText is the plan as the program reads it, words between white space:
//
//	loggp-plan 1
//	reps 600
//	warmup 10
//	delta 0          nanoseconds; 0: twice the median round of the warm-up
//	cells 144
//	send 16          mode and bytes of each, in the order in which to measure them
func planText(p *microbench.Plan, cells []microbench.Cell) []byte {
	var b strings.Builder
	nanoseconds := (p.Delta + unit.Nanosecond - 1) / unit.Nanosecond
	fmt.Fprintf(&b, "loggp-plan 1\nreps %d\nwarmup %d\ndelta %d\ncells %d\n", p.Reps, p.Warmup, nanoseconds, len(cells))
	for _, c := range cells {
		fmt.Fprintf(&b, "%s %d\n", c.Mode, c.Bytes)
	}
	return []byte(b.String())
}

// timed is a timer, and how many samples of it a cell has.
type timed struct {
	name    string
	samples int
}

// timers returns the timers of a mode, in the order of package microbench.
func timers(mode string, reps int) []timed {
	const roots, fewer = 2, 4
	paper, other := roots*reps, roots*max(1, reps/fewer)
	list := []timed{{sample.Timer11, paper}, {sample.Timer12, paper}, {sample.Timer21, paper}, {sample.Timer22, paper}, {sample.Idle, other}}
	switch mode {
	case "send", "ssend", "bsend":
		list = append(list, timed{sample.RTT, other})
	}
	if mode == "send" || mode == "isend" {
		list = append(list, timed{sample.Train, roots * max(min(reps, 10), reps/fewer/4)})
	}
	return list
}
