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

// TestRandomPrograms runs random programs. What their ranks receive has to be what MPI's rules allow, in every place, under every table. Each program
// runs in some of them; many programs in all. A program that fails is made shorter as long as it fails, and printed.
func TestRandomPrograms(t *testing.T) {
	noisy := func(t testing.TB, l *model.Library, ranks int) device.World { return emulated(t, "t3d", l, ranks, 0.1) }
	all := append([]place{{"t3d with noise", noisy}}, places...)
	if racing {
		all = places
	}
	share := 8 // one combination in so many runs
	switch {
	case *programs > 1000:
		share = 1
	case testing.Short():
		share = 20
	}
	for seed := *seedFrom; seed < *seedFrom+uint64(*programs); seed++ {
		p, draw := write(seed, 16), rand.New(rand.NewPCG(seed, 1))
		for _, at := range all {
			for _, x := range tables {
				if draw.IntN(share) > 0 || at.name == "now" && p.ranks > load("now").Machine.Ranks.Max {
					continue
				}
				if err := p.play(t, at, x); err != nil {
					fails(t, p, at, x, err)
				}
			}
		}
	}
}

// play runs a program somewhere.
func (p *program) play(t *testing.T, at place, x table) error {
	l := x.library()
	return runFor(time.Minute, at.open(t, l, p.ranks), mpi.Options{Engine: carry, Library: l, Tuning: p.tuning, Check: p.seed%2 == 0}, p.perform)
}

// fails ends the test with the shortest program that fails as well.
func fails(t *testing.T, p *program, at place, x table, err error) {
	for i := len(p.items) - 1; i >= 0; i-- {
		q := p.without(i)
		if q == nil {
			continue
		}
		begun := time.Now()
		if now := q.play(t, at, x); now != nil {
			p, err = q, now
		}
		if time.Since(begun) > 10*time.Second {
			break // who waits for ever is not asked twice
		}
	}
	t.Fatalf("seed %d, %s, table %s: %v\nof the program, on %d ranks:\n%v", p.seed, at.name, x.name, err, p.ranks, p)
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

// Random programs of processes, of which few run, as jobs take long to start.
func TestRandomProgramsOfProcesses(t *testing.T) {
	if racing {
		return // the detector does not see between processes, and slows them down
	}
	for i := range uint64(max(8, *programs/20)) {
		p, at, x := write(*seedFrom+i, 5), processes[i%4], tables[i%uint64(len(tables))]
		t.Run(fmt.Sprint("seed=", p.seed), func(t *testing.T) {
			l := x.library()
			if err := mpi.Run(at.open(t, l, p.ranks), mpi.Options{Engine: carry, Library: l, Tuning: p.tuning}, p.perform); err != nil {
				t.Fatalf("%s, table %s: %v\nof the program, on %d ranks:\n%v", at.name, x.name, err, p.ranks, p)
			}
		})
	}
}
