package papers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/microbench/patterns"
)

// patternsBenchmark times patterns of communication. In keys their names have no hyphens: alltoall.
var patternsBenchmark = Benchmark{
	Numbers: map[string]int{"time": 4, "throughput": 4},
	Parts: func(_ *Site, e *Experiment) int {
		return len(e.Patterns) * len(orDefault(e.Ranks, 0)) * len(e.Sizes)
	},
	Run: runPatterns,
}

// runPatterns measures time(subject, pattern, ranks, size) in microseconds, and throughput in MB/s:
// the bytes that one rank handles, divided by the time.
func runPatterns(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	parts := 0
	for _, name := range e.Patterns {
		i := slices.IndexFunc(patterns.Patterns, func(p patterns.Pattern) bool { return keyName(p) == name })
		if i < 0 {
			return fmt.Errorf("there is no pattern %q", name)
		}
		for _, ranks := range orDefault(e.Ranks, s.Job.Ranks) {
			for _, bytes := range e.Sizes {
				parts++
				of := []string{s.ID, name, strconv.Itoa(ranks), strconv.Itoa(bytes)}
				if _, again := out.Numbers[Key("time", of...)]; again { // an earlier experiment has measured it
					done(parts)
					continue
				}
				job, library, err := s.sendingMode(ranks)
				if err != nil {
					return err
				}
				w, err := job.World(ctx, seed+uint64(parts-1))
				if err != nil {
					return err
				}
				m, err := patterns.MeasurePattern(w, library, patterns.Patterns[i], bytes, max(e.Reps, 1))
				if err != nil {
					return fmt.Errorf("%s, %d ranks, %d bytes: %w", s.Name, ranks, bytes, err)
				}
				out.Numbers[Key("time", of...)] = m.Time.Micros()
				if h := m.Pattern.RootBytes; h != nil {
					out.Numbers[Key("throughput", of...)] = float64(h(ranks, bytes)) / m.Time.Micros()
				}
				done(parts)
			}
		}
	}
	return nil
}

// keyName returns the name of a pattern in keys.
func keyName(p patterns.Pattern) string { return strings.ReplaceAll(p.Name, "-", "") }

// sendingMode returns a job of a number of ranks, and the subject's library with its mode of
// sending.
func (s *Site) sendingMode(ranks int) (*job.Job, *portable.Library, error) {
	if s.Library == shmemLibrary {
		j, err := job.NewForAnyLibrary(s.Job.Platform, "", ranks, s.Job.Noise)
		return j, portable.SHMEMLibrary(), err
	}
	j, err := job.NewForAnyLibrary(s.Job.Platform, s.Library, ranks, s.Job.Noise)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range portable.LibrariesOfEngine(j.Library, j.MPIOptions("")) {
		if l.Mode == s.Mode {
			return j, l, nil
		}
	}
	return nil, nil, fmt.Errorf("subject %s: library %s has no mode %q", s.ID, s.Library, s.Mode)
}
