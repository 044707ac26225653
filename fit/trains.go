package fit

import (
	"fmt"
	"math"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// trains are the curves that round-trip trains give, by the formulas of Hoefler et al., Low-Overhead LogGP Parameter Assessment (2007), §3:
//
//	g + (s−1)·G = [PRTT(n,0,s) − PRTT(1,0,s)] / (n−1)
//	o_s(s)      = [PRTT(n,d,s) − PRTT(1,0,s)] / (n−1) − d
//
// The second timer has its waits taken out already. A curve is nil where there are no trains.
type trains struct{ interval, send *curve }

// trainsOf returns the curves of a mode. They are made once.
func (e *extraction) trainsOf(mode string) trains {
	t, ok := e.trains[mode]
	if ok {
		return t
	}
	for _, c := range e.curves {
		n, waiting, ok := sample.TrainOf(c.timer)
		rtt := e.curve(mode, sample.RTT)
		if !ok || c.mode != mode || rtt == nil || !chosen(mode, c.protocol) {
			continue
		}
		into := &t.interval
		if waiting {
			into = &t.send
		}
		if *into == nil || (*into).cells == nil {
			*into = e.perMessage(c, rtt, n)
		}
	}
	if e.trains == nil {
		e.trains = make(map[string]trains)
	}
	e.trains[mode] = t
	return t
}

// perMessage returns what each message of a train after the first takes, or nil if no size is left. Cells in which n messages took less
// time than one, beyond their intervals, are left out: something else than messages took the time of one of the two.
func (e *extraction) perMessage(train, rtt *curve, n int) *curve {
	more := float64(n - 1)
	out := &curve{subject: train.subject, mode: train.mode, protocol: train.protocol, clock: train.clock,
		timer: perMessageName(train.timer, n), floor: math.Hypot(train.floor, rtt.floor) / more}
	var absurd []int
	for _, a := range train.cells {
		b := rtt.at(a.bytes)
		if b == nil {
			continue
		}
		c := combination([]cell{a, *b}, []float64{1 / more, -1 / more}, e.o.Level)
		if c.high < 0 {
			absurd = append(absurd, a.bytes)
			continue
		}
		out.cells = append(out.cells, c)
		out.scales = append(out.scales, math.Hypot(a.value, b.value)/more)
	}
	if len(absurd) > 0 {
		e.warnings = append(e.warnings, train.warning(train.timer, Disturbed,
			fmt.Sprintf("%d messages took less time than one, at %s: left out", n, sizes(absurd, len(out.cells)+len(absurd)))))
	}
	if len(out.cells) == 0 {
		return nil
	}
	out.cut(e.o)
	e.derived = append(e.derived, out.public())
	return out
}

// burst returns the timer that shows g: the sends of a burst, or what a message adds to a round-trip train; or nil.
func (m mode) burst() *curve {
	if train := m.timer(sample.Train); train != nil {
		return train
	}
	return m.trainsOf(m.name).interval
}

// perMessageName is the method of what each message of a train of n adds: (prtt10-rtt)/9.
func perMessageName(train string, n int) string {
	return fmt.Sprintf("(%s-%s)/%d", train, sample.RTT, n-1)
}

// Interval says whether the timer of a curve is what each message of a round-trip train adds.
func Interval(timer string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(timer, "("), "-"+sample.RTT+")/")
	_, waiting, train := sample.TrainOf(name)
	return ok && train && !waiting
}
