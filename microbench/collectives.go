package microbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
)

// Collectives says which collective operations to measure. All ranks of a job take part, and rank 0 leads: it is the root, too, in every repetition, so
// that all are of one experiment.
//
// A repetition begins in one of two ways. Behind a barrier each rank times its own call, and the timers are the least, the median and the
// largest of these times: ranks leave a barrier one after another, and that is in them. Where clocks show the same, ranks agree on a time at which all
// begin, and the timer is what passes from then until the last has ended, which is what models speak of. If a rank came too late the repetition is
// dropped. Worsch, Reussner and Augustin 2002 (SKaMPI); Hunold and Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think, 2016.
//
// Of the campaign's plan only Reps, Warmup, Shared and Common count.
type Collectives struct {
	Campaign
	Of []CollectiveCell

	tried, late atomic.Int64 // repetitions that were to begin at an agreed time
}

// CollectiveCell is an operation by one algorithm, on data of one length.
type CollectiveCell struct {
	*collective.Algorithm
	collective.Job
}

// rooms returns how many bytes a rank gives in the operation, and gets.
func (c CollectiveCell) rooms() (in, out int) {
	block, all := c.Bytes, c.Bytes*c.Ranks
	switch c.Operation {
	case collective.Barrier, collective.Bcast:
		return 0, block
	case collective.Scatter, collective.ReduceScatter:
		return all, block
	case collective.Gather, collective.Allgather:
		return block, all
	case collective.Alltoall:
		return all, all
	}
	return block, block
}

// Memory returns about how many bytes all ranks together need, as much again as what they give and get to work in.
func (c CollectiveCell) Memory() float64 {
	in, out := c.rooms()
	return 2 * float64(c.Ranks) * float64(in+out)
}

// Check says what is wrong.
func (c *Collectives) Check() error {
	if len(c.Of) == 0 {
		return errors.New("there is no collective operation to measure")
	}
	for i, x := range c.Of {
		if slices.Contains(c.Of[:i], x) {
			return fmt.Errorf("%v of %d bytes is to be measured twice", x.Algorithm, x.Bytes)
		}
		if !x.Serves(x.Job) {
			return fmt.Errorf("%v cannot serve %d ranks", x.Algorithm, x.Ranks)
		}
	}
	if c.Warmup < 0 {
		return fmt.Errorf("%d rounds of warm-up", c.Warmup)
	}
	return c.effort()
}

// Late returns how many repetitions were dropped since a rank came too late, and how many there were to begin at an agreed time.
func (c *Collectives) Late() (late, of int) { return int(c.late.Load()), int(c.tried.Load()) }

// Began counts repetitions that were to begin at an agreed time, in so many of which a rank came too late.
func (c *Collectives) Began(late, of int) {
	c.late.Add(int64(late))
	c.tried.Add(int64(of))
}

// Start returns the fact that says how repetitions began. Apart is why there is no clock that ranks have in common, or "".
func (c *Collectives) Start(apart string) sample.Fact {
	if apart == "" {
		return sample.Agreed(c.Late())
	}
	return sample.Fact{Key: sample.Start, Value: sample.NoStart + apart}
}

// Measure measures all cells with the ranks of comm, which all call it. Rank 0 gets the series; others get nil. The series' keys have their mode, protocol,
// timer and bytes set.
func (c *Collectives) Measure(comm *mpi.Comm, l Launch) []sample.Series {
	e := c.ensemble(comm)
	if comm.Rank() != 0 {
		e.follow()
		return nil
	}
	return (&conductor{ensemble: e, launch: l}).conduct()
}

// On measures on a world what a launch is to measure. Nothing else may run beside that. Ranks may be processes, as with Campaign.On.
func (c *Collectives) On(w mpi.World, o mpi.Options, l Launch) ([]sample.Series, error) {
	defer uncollected()()
	return c.on(w, o, l)
}

func (c *Collectives) on(w mpi.World, o mpi.Options, l Launch) ([]sample.Series, error) {
	var series []sample.Series
	err := mpi.Run(w, o, func(comm *mpi.Comm) error {
		if s := c.Measure(comm, l); s != nil {
			series = s
		}
		return nil
	})
	return series, err
}

// Run runs launches, each of which one measures, as Campaign.Run does.
func (c *Collectives) Run(ctx context.Context, one func(context.Context, Launch) ([]sample.Series, error), progress func(part float64)) (*Outcome, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c.run(ctx, one, progress)
}

// Sweep measures every cell in a job of its own, on all cores, as Sweep does of a plan, whose Reps must be given.
func (c *Collectives) Sweep(ctx context.Context, o mpi.Options, open func(ctx context.Context, cell int) (mpi.World, error), done func(n int)) ([]sample.Series, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	order := make([]int, len(c.Of))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return c.Of[b].Bytes - c.Of[a].Bytes }) // the longest first
	return inParallel(ctx, order, func(ctx context.Context, i int) ([]sample.Series, error) {
		w, err := open(ctx, i)
		if err != nil {
			return nil, err
		}
		alone := &Collectives{Campaign: c.Campaign, Of: c.Of[i : i+1]}
		series, err := alone.on(w, o, Launch{Rows: sample.MaxRows})
		late, of := alone.Late()
		c.late.Add(int64(late))
		c.tried.Add(int64(of))
		return series, err
	}, done)
}
