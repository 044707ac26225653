package mpi_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
)

var (
	programs = flag.Int("programs", 120, "number of random programs")
	seedFrom = flag.Uint64("seed", 1, "seed of the first random program")
)

// TestRandomPrograms runs random programs. Their messages have to be the right ones, in every place, under every table. Each program
// runs in some of them; many programs in all.
func TestRandomPrograms(t *testing.T) {
	all := append([]place{{"t3d with noise", func(t testing.TB, l *model.Library, ranks int) device.World { return emulated(t, "t3d", l, ranks, 0.1) }}}, places...)
	if racing {
		all = places
	}
	share := 5 // one combination in so many runs
	switch {
	case *programs > 1000:
		share = 1
	case testing.Short():
		share = 20
	}
	for seed := *seedFrom; seed < *seedFrom+uint64(*programs); seed++ {
		p, draw := write(rand.New(rand.NewPCG(seed, 0))), rand.New(rand.NewPCG(seed, 1))
		for _, at := range all {
			for _, x := range tables {
				if draw.IntN(share) > 0 {
					continue
				}
				l := x.library()
				if err := runFor(time.Minute, at.open(t, l, len(p.ranks)), mpi.Options{Library: l}, p.run); err != nil {
					t.Fatalf("seed %d, %s, table %s: %v", seed, at.name, x.name, err)
				}
			}
		}
	}
}

// runFor runs a job that ends in a reasonable time.
func runFor(d time.Duration, w device.World, o mpi.Options, program func(*mpi.Comm) error) error {
	end := make(chan error, 1)
	go func() { end <- mpi.Run(w, o, program) }()
	select {
	case err := <-end:
		return err
	case <-time.After(d):
		return fmt.Errorf("it has not ended after %v", d)
	}
}
