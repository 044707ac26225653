package papers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/model/unit"
)

// npbBenchmark runs NAS Parallel Benchmarks. The time of an operation differs between programs and
// follows from the published time of one process.
var npbBenchmark = Benchmark{
	Numbers: map[string]int{"npb_time": 3, "npb_bytes": 3, "npb_messages": 3, "npb_written": 3, "npb_class": 4},
	Parts:   func(_ *Site, e *Experiment) int { return (len(e.OneProcess) + len(e.Operation)) * len(e.Ranks) },
	Run:     runNPB,
}

// trialOperationTime is the time of an operation in the run that finds the number of operations.
const trialOperationTime = unit.Microsecond

// runNPB measures npb_time(subject, program, ranks) in seconds, which is also npb_class(subject,
// program, class, ranks); npb_bytes and npb_messages, which MPI sent meanwhile; and npb_written,
// the bytes that it wrote to receive buffers.
func runNPB(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	parts := 0
	for _, program := range slices.Concat(slices.Sorted(maps.Keys(e.OneProcess)), slices.Sorted(maps.Keys(e.Operation))) {
		b, ok := npb.BenchmarkNamed("npb-" + strings.ToLower(program))
		if !ok {
			return fmt.Errorf("there is no NAS benchmark %q", program)
		}
		operation, err := operationTime(ctx, s, b, e, program, seed)
		if err != nil {
			return err
		}
		for _, ranks := range e.Ranks {
			took, counts, err := runNASBenchmark(ctx, s, b, npb.Settings{Class: e.Class, OperationTime: operation}, ranks, seed+uint64(parts))
			if err != nil {
				return err
			}
			of := []string{s.ID, program, strconv.Itoa(ranks)}
			out.Numbers[Key("npb_time", of...)] = took.Micros() / 1e6
			out.Numbers[Key("npb_class", s.ID, program, e.Class, strconv.Itoa(ranks))] = took.Micros() / 1e6
			written := counts["bytes by remote write"]
			out.Numbers[Key("npb_bytes", of...)] = float64(written + counts["bytes by FIFO"])
			out.Numbers[Key("npb_messages", of...)] = float64(counts["messages by remote write"] + counts["messages by FIFO"])
			out.Numbers[Key("npb_written", of...)] = float64(written)
			parts++
			done(parts)
		}
	}
	return nil
}

// operationTime returns the time of an operation of a program: that of the experiment, or that
// which follows from the time on one processor.
func operationTime(ctx context.Context, s *Site, b npb.Benchmark, e *Experiment, program string, seed uint64) (unit.Time, error) {
	if text, ok := e.Operation[program]; ok {
		return unit.ParseTime(text)
	}
	// The rest of the time, such as copies of data that a rank sends to itself, does not depend on
	// the time of an operation.
	rest, _, err := runNASBenchmark(ctx, s, b, npb.Settings{Class: e.Class}, 1, seed)
	if err != nil {
		return 0, err
	}
	took, _, err := runNASBenchmark(ctx, s, b, npb.Settings{Class: e.Class, OperationTime: trialOperationTime}, 1, seed)
	if published := unit.FromMicros(1e6 * e.OneProcess[program]); err == nil && published < rest {
		return 0, fmt.Errorf("%s on one process is to take %v, and takes %v without computing", program, published, rest)
	}
	return unit.Time(float64(trialOperationTime) * (1e6*e.OneProcess[program] - rest.Micros()) / (took - rest).Micros()), err
}

// runNASBenchmark returns the time of a benchmark and the counters of all engines.
func runNASBenchmark(ctx context.Context, s *Site, b npb.Benchmark, settings npb.Settings, ranks int, seed uint64) (unit.Time, map[string]int64, error) {
	var result npb.Result
	var failed error
	counts, err := s.sumEngineCounters(ctx, seed, s.Job.Platform, ranks, nil, func(c *mpi.Comm) {
		got, err := b.Run(c, settings)
		if c.Rank() == 0 {
			result, failed = got, err
		}
	})
	switch {
	case err != nil:
	case failed != nil:
		err = failed
	case !b.IsSkeleton && !result.IsVerified:
		err = fmt.Errorf("%s, class %s, on %d ranks: the result differs from the published one", b.Name, settings.Class, ranks)
	}
	return result.Time, counts, err
}
