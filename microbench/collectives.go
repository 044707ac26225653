package microbench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
)

// Collective operations are measured by all ranks of a job. Rank 0 is the root in every repetition,
// so that all are of one experiment.
//
// A repetition begins in one of two ways. Behind a barrier each rank times its own call, and the
// timers are the least, the median and the largest of these times: ranks leave a barrier one after
// another, and that is in them. If clocks show the same, ranks agree on a time at which all begin,
// and the timer is what passes from then until the last has ended, which is what models speak of.
// If a rank came too late the repetition is dropped. Worsch, Reussner and Augustin 2002 (SKaMPI);
// Hunold and Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think, 2016.

// CollectiveCell is an operation by one algorithm, on data of one length.
type CollectiveCell struct {
	*collective.Algorithm
	collective.Job
}

// algorithmIndex returns the index of the algorithm among those of its operation; -1: the library
// takes one of its own.
func (c CollectiveCell) algorithmIndex() int {
	return slices.Index(collective.Of(c.Operation), c.Algorithm)
}

// bufferSizes returns how many bytes a rank gives in the operation, and gets.
func (c CollectiveCell) bufferSizes() (in, out int) {
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

// MemoryBytes returns about how many bytes all ranks together need, as much again as what they give
// and get to work in.
func (c CollectiveCell) MemoryBytes() float64 {
	in, out := c.bufferSizes()
	return 2 * float64(c.Ranks) * float64(in+out)
}

// checkCollectives says what is wrong with the collective operations.
func (e *Experiment) checkCollectives() error {
	for i, x := range e.Collectives {
		if slices.Contains(e.Collectives[:i], x) {
			return fmt.Errorf("%v of %d bytes is to be measured twice", x.Algorithm, x.Bytes)
		}
		if !x.Serves(x.Job) {
			return fmt.Errorf("%v cannot serve %d ranks", x.Algorithm, x.Ranks)
		}
	}
	if e.WarmupRounds < 0 {
		return errors.New("less than no rounds of warm-up")
	}
	return nil
}

// StartFact says how repetitions began; late of them were dropped. apart is the reason why the
// ranks have no common clock, or "".
func StartFact(apart string, late, of int) sample.Fact {
	if apart == "" {
		return sample.Agreed(late, of)
	}
	return sample.Fact{Key: sample.Start, Value: sample.NoStart + apart}
}
