package microbench

import (
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Batches make of what is shorter than so many steps of the clock something that is not.
const (
	fine     = 100
	maxBatch = 16                     // or
	maxTrips = 64                     // where a batch is one round
	dear     = 200 * unit.Microsecond // which a sample with each root takes no more than twice
)

// Batch says of a timer that samples of it are the means of several operations.
type Batch struct {
	Timer      string
	Operations int // at most
}

// batch returns how many operations make a sample, by a few single ones.
func (l *leader) batch(i *item) int {
	n, most, spans := 1, maxBatch, 1.0
	switch s := campaigned[i.stage]; {
	case s.batches:
		most = maxTrips
	case s.timers[0] == sample.Train:
		spans = Burst - 1
	}
	for _, t := range l.timers(i) {
		e := l.estimate(i, t)
		for n < most && judged(t.name) && float64(n)*spans*e.value < fine*float64(l.Step) && unit.Time(n)*i.cost < dear {
			n *= 2
		}
	}
	return n
}

// note writes down that timers of an item have batches.
func (l *leader) note(i *item) {
	if i.batch == 1 {
		return
	}
	for _, t := range l.timers(i) {
		l.Batches = noted(l.Batches, Batch{t.name, i.batch})
	}
}

// noted returns batches with one more.
func noted(all []Batch, x Batch) []Batch {
	for i := range all {
		if all[i].Timer == x.Timer {
			all[i].Operations = max(all[i].Operations, x.Operations)
			return all
		}
	}
	return append(all, x)
}
