package microbench

import (
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// A launch begins with processors that are not at their speed, caches that hold something else, and branches that nobody has predicted. So it
// begins with round trips that do not count, until they take the same time again and again.

// Bounds of warming up.
const (
	steadyBytes = 64

	spell   = 500 * unit.Microsecond // of round trips that have a median in common
	spells  = 4                      // that agree,
	agree   = 0.03                   // to this part of it
	longest = 100 * unit.Millisecond // where a launch has no end
)

// steady lets both ranks warm up.
func (l *leader) steady() {
	cell := Cell{modes[0].name, steadyBytes}
	stage := slices.IndexFunc(campaigned, func(s *stage) bool { return s.has(sample.RTT) })
	end := l.now() + longest
	if l.end > 0 {
		end = l.begin + l.share(forWarmth)
	}
	var medians []float64
	for rounds := 8; !settled(medians) && l.now() < end; {
		begin := l.now()
		l.together(order{cell: cell, stage: stage, rounds: rounds, batch: 1, delta: 1})
		if l.now()-begin < spell {
			rounds *= 2
			continue
		}
		b := l.bench(cell)
		medians = append(medians, l.estimateOf(b.timers[0].times).value)
		b.timers = nil
	}
	delete(l.benches, cell)
}

// settled says whether the last medians agree.
func settled(medians []float64) bool {
	n := len(medians)
	if n < spells {
		return false
	}
	last := medians[n-spells:]
	return slices.Max(last)-slices.Min(last) <= agree*slices.Min(last)
}
