package microbench

import (
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// onLogGP runs a program on two ranks of the emulated LogGP machine, without noise.
func onLogGP(t *testing.T, program func(c *mpi.Comm)) {
	t.Helper()
	j, err := job.Open("loggp", "", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := j.World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	err = mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
		program(c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A time has the cost of one reading of the clock in it, which is taken out. A wait between sends
// delays what follows by itself and by one more reading.
func TestClockReadTimeIsTakenOut(t *testing.T) {
	const readTime = 100 * unit.Nanosecond
	onLogGP(t, func(c *mpi.Comm) {
		b := &pairBenchmark{Plan: &Plan{}, pairComm: c, clockReadTime: readTime}
		begin := b.now()
		c.Compute(unit.Microsecond)
		if got := b.elapsedSince(begin); got != unit.Microsecond-readTime {
			t.Errorf("a microsecond and a reading of the clock are %v", got)
		}
		if got := b.waitAndMeasureDelay(unit.Microsecond); got != unit.Microsecond+readTime {
			t.Errorf("a wait of a microsecond between sends delays them by %v", got)
		}
		var times [2]unit.Time
		for i := range times {
			w := (&Experiment{Collectives: []CollectiveCell{{Algorithm: collective.AlgorithmNamed(collective.Barrier, "dissemination"), Job: collective.Barrier.StandardJob(2, 0, nil)}}}).newCollectiveWorker(c)
			w.clockReadTime = unit.Time(i) * readTime
			times[i] = timeCollectiveAfterBarrier(w, 0)
		}
		if times[0]-times[1] != readTime {
			t.Errorf("a barrier takes %v, and %v if a reading of the clock takes %v", times[0], times[1], readTime)
		}
	})
}
