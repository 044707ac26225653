package paper

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// npbBenchmark runs NAS Parallel Benchmarks. What an operation takes is found from the published
// time of one process, as programs differ in it.
var npbBenchmark = benchmark{
	gives: map[string]int{"npb_time": 3, "npb_bytes": 3, "npb_messages": 3, "npb_written": 3, "npb_class": 4},
	cells: func(_ *run, e *Experiment) int { return (len(e.OneProcess) + len(e.Operation)) * len(e.Ranks.values) },
	run:   runNPB,
}

// sampled is the time of an operation with which a program is run to find how many it has.
const sampled = unit.Microsecond

// runNPB gives npb_time(subject, program, ranks) in seconds, which is npb_class(subject, program,
// class, ranks), the bytes and messages that MPI has sent meanwhile, and the bytes of those that
// were written to receive buffers.
func runNPB(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
	s := x.sites[e.Subject]
	parts := 0
	for _, program := range slices.Concat(slices.Sorted(maps.Keys(e.OneProcess)), slices.Sorted(maps.Keys(e.Operation))) {
		b, ok := npb.Named("npb-" + strings.ToLower(program))
		if !ok {
			return fmt.Errorf("there is no NAS benchmark %q", program)
		}
		operation, err := s.operation(ctx, b, e, program, seed)
		if err != nil {
			return err
		}
		for _, ranks := range e.Ranks.values {
			took, counts, err := s.benchmark(ctx, b, npb.Settings{Class: e.Class, Operation: operation}, ranks, seed+uint64(parts))
			if err != nil {
				return err
			}
			of := []string{s.ID, program, strconv.Itoa(ranks)}
			x.measured[expr.Key("npb_time", of...)] = expr.Exactly((took.Micros() / 1e6))
			x.measured[expr.Key("npb_class", s.ID, program, e.Class, strconv.Itoa(ranks))] = expr.Exactly((took.Micros() / 1e6))
			written := counts["bytes by remote write"]
			x.measured[expr.Key("npb_bytes", of...)] = expr.Exactly(float64(written + counts["bytes by FIFO"]))
			x.measured[expr.Key("npb_messages", of...)] = expr.Exactly(float64(counts["messages by remote write"] + counts["messages by FIFO"]))
			x.measured[expr.Key("npb_written", of...)] = expr.Exactly(float64(written))
			parts++
			done(parts)
		}
	}
	return nil
}

// operation returns the time of an operation of a benchmark: that of the experiment, or what
// follows from the time on one processor.
func (s *site) operation(ctx context.Context, b npb.Benchmark, e *Experiment, program string, seed uint64) (unit.Time, error) {
	if text, ok := e.Operation[program]; ok {
		return unit.ParseTime(text)
	}
	// What takes time beside operations, such as copies of data for the rank itself, does not
	// scale.
	beside, _, err := s.benchmark(ctx, b, npb.Settings{Class: e.Class}, 1, seed)
	if err != nil {
		return 0, err
	}
	took, _, err := s.benchmark(ctx, b, npb.Settings{Class: e.Class, Operation: sampled}, 1, seed)
	return unit.Time(float64(sampled) * (1e6*e.OneProcess[program] - beside.Micros()) / (took - beside).Micros()), err
}

// benchmark runs a benchmark and returns its time, and what all engines have counted.
func (s *site) benchmark(ctx context.Context, b npb.Benchmark, settings npb.Settings, ranks int, seed uint64) (unit.Time, map[string]int64, error) {
	var result npb.Result
	var failed error
	counts, err := s.counted(ctx, seed, s.job.Platform, ranks, func(c *mpi.Comm) {
		got, err := b.Run(c, settings)
		if c.Rank() == 0 {
			result, failed = got, err
		}
	})
	switch {
	case err != nil:
	case failed != nil:
		err = failed
	case !b.Skeleton && !result.Verified:
		err = fmt.Errorf("%s, class %s, on %d ranks: the result differs from the published one", b.Name, settings.Class, ranks)
	}
	return result.Time, counts, err
}

// programsBenchmark runs programs that ship with loggp with their ranks placed on nodes.
var programsBenchmark = benchmark{
	gives: map[string]int{"program_time": 4, "program_count": 5, "program_share": 6},
	cells: func(_ *run, e *Experiment) int {
		return len(e.Programs) * len(e.Placements) * len(e.Sizes.values)
	},
	run: runPrograms,
}

// runPrograms gives program_time(subject, program, placement, size) in seconds: when the last rank
// ends, from a barrier on; and what the library counts in the run, program_count(subject, counter,
// program, placement, size). Of counters with classes of sizes it gives how many percent of all are
// in a class: program_share(subject, counter, program, placement, size, largest size of the class).
func runPrograms(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
	s := x.sites[e.Subject]
	parts := 0
	for _, name := range e.Programs {
		p, ok := program.Named(name)
		if !ok {
			return fmt.Errorf("there is no program %q", name)
		}
		for _, placement := range e.Placements {
			on, ranks, err := s.placed(placement)
			if err != nil {
				return err
			}
			for _, size := range e.Sizes.values {
				settings := program.Settings{Size: size, Rounds: 1}.Rated(on.Machine.Processor)
				var last unit.Time
				var broadcasts engine.Sizes
				var failed error
				counts, err := s.profiled(ctx, seed+uint64(parts), on, ranks, broadcasts.Add, func(c *mpi.Comm) {
					c.Barrier()
					begin := c.Wtime()
					err := p.Run(c, settings)
					if last = max(last, c.Wtime()-begin); err != nil {
						failed = err
					}
				})
				if err = cmp.Or(err, failed); err != nil {
					return fmt.Errorf("%s, %s on %s: %w", s.Name, name, placement, err)
				}
				x.measured[expr.Key("program_time", s.ID, name, placement, strconv.Itoa(size))] = expr.Exactly(last.Micros() / 1e6)
				broadcasts.Counts("broadcasts", func(name string, n int64) bool {
					counts[name] = n
					return true
				})
				for counter, n := range counts {
					x.measured[expr.Key("program_count", s.ID, counter, name, placement, strconv.Itoa(size))] = expr.Exactly(float64(n))
				}
				for class, percent := range shares(counts) {
					x.measured[expr.Key("program_share", s.ID, class.of, name, placement, strconv.Itoa(size), class.upTo)] = expr.Exactly(percent)
				}
				parts++
				done(parts)
			}
		}
	}
	return nil
}

// class is a class of sizes of a counter: those up to a size.
type class struct{ of, upTo string }

// shares returns how many percent of all counts with classes are in each.
func shares(counts map[string]int64) map[class]float64 {
	all, sums := map[class]float64{}, map[string]float64{}
	for name, n := range counts {
		if of, is, ok := strings.Cut(name, engine.ClassOf); ok {
			sums[of] += float64(n)
			all[class{of, strings.TrimSuffix(is, " B")}] = float64(n)
		}
	}
	for c := range all {
		all[c] *= 100 / max(sums[c.of], 1)
	}
	return all
}

// placed returns the platform of the subject with a placement of ranks on its nodes, and how many
// they are.
func (s *site) placed(placement string) (*platform.Platform, int, error) {
	p, err := model.ParsePlacement(placement)
	if err != nil {
		return nil, 0, err
	}
	on := *s.job.Platform
	on.Machine, err = on.Machine.Place(p)
	return &on, p.Ranks(), err
}

// two returns the platform with two ranks of the subject's place.
func (s *site) two() (*platform.Platform, error) {
	if s.job.Platform.Machine.Nodes == nil {
		return s.job.Platform, nil
	}
	placement := "1+1"
	if s.Place == model.Intra.String() {
		placement = "2"
	}
	on, _, err := s.placed(placement)
	return on, err
}
