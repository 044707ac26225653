package microbench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
)

// Collective operations are measured by all ranks of a job. Rank 0 is always the root, so that all
// repetitions belong to one experiment.
//
// A repetition starts in one of two ways. After a barrier each rank times its own call; the timers
// are the smallest, the median and the largest of these times. They include the delays with which
// ranks leave the barrier. If all ranks read the same clock, they instead agree on a start time;
// the timer is the time from then to the end of the last rank, which models describe. If a rank was
// late the repetition is dropped. Worsch, Reussner and Augustin 2002 (SKaMPI); Hunold and
// Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think, 2016.

// CollectiveCell is a collective operation with one algorithm and data size.
type CollectiveCell struct {
	*collective.Algorithm
	collective.Job
}

// algorithmIndex returns the index of a cell's algorithm among those of its operation, which are
// followed by the further ones of the experiment; or -1 if the library chooses.
func (e *Experiment) algorithmIndex(c CollectiveCell) int {
	all := collective.AlgorithmsOf(c.Operation)
	i := slices.Index(all, c.Algorithm)
	if i < 0 && collective.AlgorithmNamed(c.Operation, c.Name) != nil {
		return len(all) + slices.IndexFunc(e.Collectives, func(x CollectiveCell) bool { return x.Operation == c.Operation && x.Name == c.Name })
	}
	return i
}

// bufferSizes returns the bytes that a rank contributes to the operation and those that it
// receives.
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

// TotalBufferBytes returns the approximate memory of all ranks in bytes: their buffers, and the
// same again for the library.
func (c CollectiveCell) TotalBufferBytes() float64 {
	in, out := c.bufferSizes()
	return 2 * float64(c.Ranks) * float64(in+out)
}

// checkCollectives returns an error if the collective cells are invalid.
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

// CollectiveStartFact returns the fact that says how repetitions started, with the number of late
// ones among the agreed starts. apart says why the ranks have no common clock, or is "".
func CollectiveStartFact(apart string, late, of int) sample.Fact {
	if apart == "" {
		return sample.AgreedStartFact(late, of)
	}
	return sample.Fact{Key: sample.StartFact, Value: sample.NoCommonStartPrefix + apart}
}
