package enginetest

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/mpi"
)

var (
	randomProgramCount = flag.Int("programs", 60, "number of random programs")
	firstProgramSeed   = flag.Uint64("seed", 1, "seed of the first random program")
)

// checkRandomPrograms runs random programs, whose ranks check what they receive. Each world runs
// one in sixteen with each library, or all if there are many. A failing program is shortened as
// long as it still fails, and printed.
func checkRandomPrograms(t testing.TB, s *Subject, w World) error {
	share, most := 16, 16
	switch {
	case w.RanksAreProcesses: // they start slowly
		share, most = 60, 5
	case *randomProgramCount > 1000:
		share = 1
	case testing.Short():
		share = 20
	}
	h := fnv.New64()
	fmt.Fprint(h, s.Name, w.Name)
	draw := rand.New(rand.NewPCG(h.Sum64(), 1))
	played := 0
	defer func() { t.Logf("%d programs", played) }()
	for seed := *firstProgramSeed; seed < *firstProgramSeed+uint64(*randomProgramCount); seed++ {
		if draw.IntN(share) > 0 {
			continue
		}
		p := program.New(seed, most)
		if !w.CanHold(p.Ranks) {
			continue
		}
		played++
		if err := s.runRandomProgram(t, w, p); err != nil {
			if !w.RanksAreProcesses { // no shortening, because only rank 0 would make the additional runs
				p, err = s.shortestFailingProgram(t, w, p, err)
			}
			return fmt.Errorf("seed %d: %w\nof the program, on %d ranks:\n%v", seed, err, p.Ranks, p)
		}
	}
	return nil
}

func (s *Subject) runRandomProgram(t testing.TB, w World, p *program.Program) error {
	return s.run(t, w, p.Ranks, mpi.Options{Tuning: p.Tuning, Check: []mpi.CheckMode{mpi.CheckStrict, mpi.CheckOff}[p.Seed%2]}, p.Run)
}

// shortestFailingProgram shortens a failing program, and returns it with its error.
func (s *Subject) shortestFailingProgram(t testing.TB, w World, p *program.Program, err error) (*program.Program, error) {
	for i := len(p.Actions) - 1; i >= 0; i-- {
		q := p.Without(i)
		if q == nil {
			continue
		}
		begun := time.Now()
		if now := s.runRandomProgram(t, w, q); now != nil {
			p, err = q, now
		}
		if time.Since(begun) > maxJobDuration/6 {
			break // a program that hangs is not run repeatedly
		}
	}
	return p, err
}
