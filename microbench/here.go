package microbench

import (
	"runtime/debug"
	"time"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// On measures on a world what a launch of the campaign is to do. Nothing else may run beside that, so cells are measured one after another.
//
// Ranks may be processes. Then each comes here with the same campaign, and the series are those of the process whose rank is P1: the first, which
// started the others.
func (c *Campaign) On(w mpi.World, o mpi.Options, l Launch) ([]sample.Series, error) {
	defer uncollected()() // what a launch brings is bounded
	var series []sample.Series
	err := mpi.Run(w, o, func(comm *mpi.Comm) error {
		if s := c.take(comm, l); s != nil {
			series = s
		}
		return nil
	})
	return series, err
}

// uncollected turns the collector of garbage off, and returns what turns it on again.
func uncollected() func() {
	before := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(before) }
}

// take takes part in a launch. P1 gets the series.
func (c *Campaign) take(comm *mpi.Comm, l Launch) []sample.Series {
	x := c.pair(comm)
	if x == nil {
		return nil
	}
	if c.Clocks {
		if b := x.clock(); x.p1 {
			c.Bounds = append(c.Bounds, b)
		}
	}
	w := c.crew(x, c.Step)
	if c.look != nil {
		w.look = c.look
	}
	if !x.p1 {
		w.follow()
		return nil
	}
	if l.Share > 0 && !l.Begin.IsZero() {
		l.Share = max(1, l.Share-time.Since(l.Begin))
	}
	lead := &leader{crew: w, Campaign: c, launch: l}
	lead.earlier = c.best
	series := lead.lead()
	if c.best = lead.pace.best(); lead.looked() {
		b := lead.here()
		c.Paces = append(c.Paces, [2]float64{1000 * b[0].Micros(), 1000 * b[1].Micros()})
		c.leads = append(c.leads, lead)
	}
	return series
}
