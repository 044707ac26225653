package paper

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/microbench/patterns"
)

// patternsBenchmark times patterns of communication. In keys their names have no hyphens: alltoall.
var patternsBenchmark = benchmark{
	gives: map[string]int{"time": 4, "throughput": 4},
	cells: func(_ *run, e *Experiment) int {
		return len(e.Patterns) * len(or(e.Ranks.values, 0)) * len(e.Sizes.values)
	},
	run: runPatterns,
}

// shmem is the library of raw puts, which no platform file names.
const shmem = "shmem"

// runPatterns gives time(subject, pattern, ranks, size) in microseconds, and throughput in MB/s:
// bytes that one rank handles by the time.
func runPatterns(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
	s := x.sites[e.Subject]
	parts := 0
	for _, name := range e.Patterns {
		i := slices.IndexFunc(patterns.All, func(p patterns.Pattern) bool { return word(p) == name })
		if i < 0 {
			return fmt.Errorf("there is no pattern %q", name)
		}
		for _, ranks := range or(e.Ranks.values, s.job.Ranks) {
			for _, bytes := range e.Sizes.values {
				parts++
				of := []string{s.ID, name, strconv.Itoa(ranks), strconv.Itoa(bytes)}
				if _, again := x.measured[expr.Key("time", of...)]; again { // by an experiment before
					done(parts)
					continue
				}
				job, library, err := s.sending(ranks)
				if err != nil {
					return err
				}
				w, err := job.World(ctx, seed+uint64(parts-1))
				if err != nil {
					return err
				}
				m, err := patterns.Time(w, library, patterns.All[i], bytes, max(e.Reps, 1))
				if err != nil {
					return fmt.Errorf("%s, %d ranks, %d bytes: %w", s.Name, ranks, bytes, err)
				}
				x.measured[expr.Key("time", of...)] = micros(m.Time)
				if h := m.Pattern.Handled; h != nil {
					x.measured[expr.Key("throughput", of...)] = expr.Exactly(float64(h(ranks, bytes)) / m.Time.Micros())
				}
				done(parts)
			}
		}
	}
	return nil
}

// word is the name of a pattern in keys.
func word(p patterns.Pattern) string { return strings.ReplaceAll(p.Name, "-", "") }

// sending returns a job of a number of ranks, and how the subject sends in it.
func (s *site) sending(ranks int) (*job.Job, *portable.Library, error) {
	if s.Library == shmem {
		j, err := job.NewAny(s.job.Platform, "", ranks, s.job.Noise)
		return j, portable.SHMEM(), err
	}
	j, err := job.NewAny(s.job.Platform, s.Library, ranks, s.job.Noise)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range portable.Carried(j.Library.CarriedBy(), s.Library, j.Options("")) {
		if l.Mode == s.Mode {
			return j, l, nil
		}
	}
	return nil, nil, fmt.Errorf("subject %s: library %s has no mode %q", s.ID, s.Library, s.Mode)
}

// patterns returns what has to be measured of an experiment with patterns, or false if that is
// nothing.
func (o *only) patterns(e Experiment) (Experiment, bool) {
	asked := func(pattern string, ranks, k int) bool {
		of := []string{e.Subject, pattern, strconv.Itoa(ranks), strconv.Itoa(k)}
		return o.keys[expr.Key("time", of...)] || o.keys[expr.Key("throughput", of...)]
	}
	some := func(wanted func(pattern string, ranks, k int) bool) bool {
		return slices.ContainsFunc(e.Patterns, func(pattern string) bool {
			return slices.ContainsFunc(e.Ranks.values, func(ranks int) bool {
				return slices.ContainsFunc(e.Sizes.values, func(k int) bool { return wanted(pattern, ranks, k) && asked(pattern, ranks, k) })
			})
		})
	}
	all := e
	all.Patterns = slices.DeleteFunc(slices.Clone(e.Patterns), func(x string) bool { return !some(func(p string, _, _ int) bool { return p == x }) })
	all.Ranks.values = slices.DeleteFunc(slices.Clone(e.Ranks.values), func(x int) bool { return !some(func(_ string, n, _ int) bool { return n == x }) })
	all.Sizes.values = slices.DeleteFunc(slices.Clone(e.Sizes.values), func(x int) bool { return !some(func(_ string, _, k int) bool { return k == x }) })
	return all, len(all.Patterns) > 0
}
