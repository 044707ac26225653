package papers

import (
	"testing"

	"github.com/loggp/loggp/model/platform"
)

// openSite opens a subject without noise.
func openSite(t *testing.T, subject Subject) *Site {
	t.Helper()
	p, err := platform.Load(subject.Platform)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subject.Open(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measure runs an experiment of a benchmark and returns its results. Progress ends with the last
// part.
func measure(t *testing.T, benchmark string, s *Site, e Experiment, out *Results) {
	t.Helper()
	e.Subject = s.ID
	b, last := Benchmarks[benchmark], 0
	if err := b.Run(t.Context(), s, &e, 1, out, func(parts int) { last = parts }); err != nil {
		t.Fatal(err)
	}
	if want := b.Parts(s, &e); last != want {
		t.Errorf("%s: progress ends at %d of %d parts", benchmark, last, want)
	}
}
