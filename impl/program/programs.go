// Package programs has small parallel programs, to compare machines and libraries by their run
// time. Each works on real data, charges the time of its computation and checks its result; svd
// above 2,000 rows charges and communicates only.
package program

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/portable"
)

// Program is a program. Run is its code for each rank. It returns an error if the result is wrong
// or the settings are invalid.
type Program struct {
	Name, What string
	Size       string // what Settings.Size counts
	Usual      Settings
	Most       int // largest Settings.Size; 0: 1 Mi
	Run        func(c *mpi.Comm, s Settings) error
}

// Settings are the amount of work of a program.
type Settings = portable.Settings

// All are all programs.
var All = []Program{ring, stencil, matmul, sorting, gradient, broadcasts, columns, svd, sdsm}

// Named returns the program of a name, or false.
func Named(name string) (Program, bool) {
	i := slices.IndexFunc(All, func(p Program) bool { return p.Name == name })
	if i < 0 {
		return Program{}, false
	}
	return All[i], true
}

// compute occupies the processor for a number of operations.
func compute(c *mpi.Comm, s Settings, operations int) {
	c.Compute(s.Operation.Times(operations))
}

// share returns a rank's part of n items: those from first to end−1. Parts are as equal as
// possible.
func share(n, ranks, rank int) (first, end int) {
	return rank * n / ranks, (rank + 1) * n / ranks
}

// wrong returns the error of a wrong result.
func wrong(c *mpi.Comm, format string, args ...any) error {
	return fmt.Errorf("rank %d: wrong result: %s", c.Rank(), fmt.Sprintf(format, args...))
}

// agreed returns an error on every rank if any rank has one, so that all ranks stop together.
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

// enough returns an error if some ranks would get none of n lines.
func enough(n, ranks int) error {
	if n < ranks {
		return fmt.Errorf("%d lines of points are too few for %d ranks in a row: take a larger problem, or fewer ranks", n, ranks)
	}
	return nil
}
