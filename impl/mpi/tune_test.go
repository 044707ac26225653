package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// A communicator takes the algorithm that it is tuned to, others the job's, and it too when it is
// tuned to nothing: the time of each broadcast is that of its algorithm.
func TestTune(t *testing.T) {
	m := collective.Machine{Parameters: model.LogGP{L: 5 * us, SendO: 2 * us, RecvO: 3 * us, Gap: 4 * us, BigGap: 10000}.Parameters()}
	const ranks = 8
	cost := func(name string) unit.Time {
		return m.Cost(collective.Named(collective.Bcast, name), collective.Job{Ranks: ranks, Bytes: 160}).Last
	}
	linear, binomial := forced(collective.Named(collective.Bcast, "linear")), forced(collective.Named(collective.Bcast, "binomial"))
	w, o := syntheticOf(t, ranks, 1e18)
	o.Tuning = binomial
	took := make([]unit.Time, 4)
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		d := c.Dup()
		d.Tune(linear)
		for i, by := range []*mpi.Comm{d, c, d.Dup(), d} {
			if i == 3 {
				d.Tune(nil)
			}
			begin := unit.Time(i+1) * unit.Millisecond
			c.Compute(begin - c.Wtime())
			by.Bcast(mpi.Of(make([]byte, 160)), 0)
			if c.Rank() == ranks-1 { // the last in both
				took[i] = c.Wtime() - begin
			}
		}
		return nil
	}))
	for i, name := range []string{"linear", "binomial", "binomial", "binomial"} {
		if took[i] != cost(name) {
			t.Errorf("broadcast %d took %v, and %s takes %v", i, took[i], name, cost(name))
		}
	}
}
