package papers

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/unit"
)

// programsBenchmark runs programs that ship with loggp, with a placement of their ranks on nodes.
var programsBenchmark = Benchmark{
	Numbers: map[string]int{"program_time": 4, "program_count": 5, "program_share": 6},
	Parts: func(_ *Site, e *Experiment) int {
		return len(e.Programs) * len(e.Placements) * len(e.Sizes)
	},
	Run: runPrograms,
}

// runPrograms measures program_time(subject, program, placement, size) in seconds, from a barrier
// until the last rank ends, and the counters of the library, program_count(subject, counter,
// program, placement, size). For counters with classes of sizes it also finds the percentage in
// each class: program_share(subject, counter, program, placement, size, largest size of the class).
func runPrograms(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	parts := 0
	for _, name := range e.Programs {
		p, ok := program.ProgramNamed(name)
		if !ok || p.Run == nil {
			return fmt.Errorf("there is no program %q", name)
		}
		for _, placement := range e.Placements {
			on, ranks, err := s.placeRanks(placement)
			if err != nil {
				return err
			}
			for _, size := range e.Sizes {
				settings := program.Settings{Size: size, Rounds: 1}.ScaleTo(on.Machine.Processor)
				var last unit.Time
				var broadcasts engine.SizeHistogram
				var failed error
				counts, err := s.sumEngineCounters(ctx, seed+uint64(parts), on, ranks, broadcasts.Add, func(c *mpi.Comm) {
					c.Barrier()
					begin := c.Wtime()
					err := p.Run(c, &settings, new(program.Result))
					if last = max(last, c.Wtime()-begin); err != nil {
						failed = err
					}
				})
				if err = cmp.Or(err, failed); err != nil {
					return fmt.Errorf("%s, %s on %s: %w", s.Name, name, placement, err)
				}
				out.Numbers[Key("program_time", s.ID, name, placement, strconv.Itoa(size))] = last.Micros() / 1e6
				broadcasts.Counts("broadcasts", func(name string, n int64) bool {
					counts[name] = n
					return true
				})
				for counter, n := range counts {
					out.Numbers[Key("program_count", s.ID, counter, name, placement, strconv.Itoa(size))] = float64(n)
				}
				for class, percent := range classShares(counts) {
					out.Numbers[Key("program_share", s.ID, class.counter, name, placement, strconv.Itoa(size), class.limit)] = percent
				}
				parts++
				done(parts)
			}
		}
	}
	return nil
}

// sizeClass is a counter's class of sizes up to a limit.
type sizeClass struct{ counter, limit string }

// classShares returns the percentage of each class among all classes of its counter.
func classShares(counts map[string]int64) map[sizeClass]float64 {
	shares, sums := map[sizeClass]float64{}, map[string]float64{}
	for name, n := range counts {
		if counter, limit, ok := strings.Cut(name, engine.SizeClassSeparator); ok {
			sums[counter] += float64(n)
			shares[sizeClass{counter, strings.TrimSuffix(limit, " B")}] = float64(n)
		}
	}
	for class := range shares {
		shares[class] *= 100 / max(sums[class.counter], 1)
	}
	return shares
}
