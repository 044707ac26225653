// Package programs has small parallel programs that compute something, to see what machines and libraries make of them. Each works on real data, says
// how much it computes, and checks its result.
package programs

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// Program is one of them. Run is what each rank does; it returns an error if the result is wrong, or if the settings make no sense.
type Program struct {
	Name, What string
	Size       string // what it is the number of
	Usual      Settings
	Run        func(c *mpi.Comm, s Settings) error
}

// Settings say how much a program does.
type Settings struct {
	Size      int       // of the problem
	Rounds    int       // how often what is repeated
	Operation unit.Time // of computing: an addition, a multiplication or a comparison of the program's, with the memory that it takes
}

// All is every program.
var All = []Program{ring, stencil, matmul, sorting, gradient}

// Named returns the program of a name, or false.
func Named(name string) (Program, bool) {
	i := slices.IndexFunc(All, func(p Program) bool { return p.Name == name })
	if i < 0 {
		return Program{}, false
	}
	return All[i], true
}

// compute lets the processor be busy for some operations.
func compute(c *mpi.Comm, s Settings, operations int) {
	c.Compute(unit.Time(operations) * s.Operation)
}

// share returns the part of n things that is a rank's: those from first to end−1, as even as can be.
func share(n, ranks, rank int) (first, end int) {
	return rank * n / ranks, (rank + 1) * n / ranks
}

// wrong is the error of a result that is not as it must be.
func wrong(c *mpi.Comm, format string, args ...any) error {
	return fmt.Errorf("rank %d: wrong result: %s", c.Rank(), fmt.Sprintf(format, args...))
}

// agreed returns an error on every rank if any has one, so that all end together.
func agreed(c *mpi.Comm, err error) error {
	bad := []int32{0}
	if err != nil {
		bad[0] = 1
	}
	all := []int32{0}
	c.Allreduce(mpi.Of(bad), mpi.Of(all), mpi.Sum)
	if err == nil && all[0] > 0 {
		err = fmt.Errorf("rank %d: the result of %d other ranks is wrong", c.Rank(), all[0])
	}
	return err
}

// enough is an error if some ranks would have nothing of n lines.
func enough(n, ranks int) error {
	if n < ranks {
		return fmt.Errorf("%d lines of points are too few for %d ranks in a row: take a larger problem, or fewer ranks", n, ranks)
	}
	return nil
}
