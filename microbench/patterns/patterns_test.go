package patterns

import (
	"math"
	"strconv"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/aclmpl"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// openT3D returns a job of a library on the T3D.
func openT3D(t *testing.T, library string, ranks int) *job.Job {
	t.Helper()
	p, err := platform.Load("t3d")
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.NewForAnyLibrary(p, library, ranks, 0)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// timed returns the time of a pattern on the T3D.
func timed(t *testing.T, s *portable.Library, pattern string, ranks, bytes int) PatternTime {
	t.Helper()
	library := s.Name
	if library == "shmem" {
		library = ""
	}
	w, err := openT3D(t, library, ranks).World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := FindPattern(pattern)
	if !ok {
		t.Fatalf("no pattern %s", pattern)
	}
	m, err := MeasurePattern(w, s, p, bytes, 3)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// subjects are the libraries of the T3D.
func subjects(t *testing.T) (mpiSync, mpiAsync, sync, async, shmem *portable.Library) {
	m, a := portable.MPILibraries("chimp", openT3D(t, "chimp", 2).MPIOptions("")), portable.ACLMPLLibraries("aclmpl", aclmpl.Options{})
	return m[0], m[1], a[0], a[1], portable.SHMEMLibrary()
}

// Every library is timed in each pattern that it has, with numbers of ranks that are powers of two
// and that are not. More ranks do not take less time, and longer messages take more.
func TestPatterns(t *testing.T) {
	a, b, c, d, e := subjects(t)
	for _, s := range []*portable.Library{a, b, c, d, e} {
		for _, p := range Patterns {
			if !p.IsTimedBy(s) {
				continue
			}
			var last unit.Time
			for _, n := range []int{2, 3, 8} {
				short, long := timed(t, s, p.Name, n, 8), timed(t, s, p.Name, n, 8192)
				if short.Time <= 0 || long.Time <= short.Time || short.Time < last && !p.IsRoundTrip {
					t.Errorf("%s, %s %s, %d ranks: 8 bytes take %v and 8192 take %v; with fewer ranks 8 take %v", p.Name, s.Name, s.Mode, n, short.Time, long.Time, last)
				}
				last = short.Time
				if rate := float64((n-1)*8192) / (long.Time.Micros() / 1e6); p.RootBytes != nil && math.Abs(float64(long.ByteRate)/rate-1) > 1e-9 {
					t.Errorf("%s, %s: rate %v, want %v", p.Name, s.Name, float64(long.ByteRate), rate)
				}
			}
		}
	}
}

// The order of latencies and that of ACLMPL's own are published, and no number of the library was
// fitted to them (Painter et al. 1995, Table 1 and section 4.1).
func TestLatencies(t *testing.T) {
	mpiSync, mpiAsync, sync, async, _ := subjects(t)
	latency := func(s *portable.Library) unit.Time { return timed(t, s, "latency", 2, 8).Time }
	s, a, m, ms := latency(sync), latency(async), latency(mpiAsync), latency(mpiSync)
	if !(s < a && a < m && m < ms) {
		t.Errorf("latency of one word: ACLMPL sync %v, async %v, MPI async %v, sync %v: not in this order", s, a, m, ms)
	}
	if d := s.Micros()/4.5 - 1; math.Abs(d) > 0.15 {
		t.Errorf("latency of one word by ACLMPL sync is %v, published are 4.5 us", s)
	}
}

// BenchmarkAllToAll is how long it takes to emulate a round of all-to-all by ACLMPL, with 1 KiB.
func BenchmarkAllToAll(b *testing.B) {
	p, err := platform.Load("t3d")
	if err != nil {
		b.Fatal(err)
	}
	x, _ := FindPattern("all-to-all")
	for _, ranks := range []int{64, 256, 1024} {
		b.Run(strconv.Itoa(ranks), func(b *testing.B) {
			for b.Loop() {
				j, err := job.NewForAnyLibrary(p, "aclmpl", ranks, 0)
				if err != nil {
					b.Fatal(err)
				}
				w, err := j.World(b.Context(), 1)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := MeasurePattern(w, portable.ACLMPLLibraries("aclmpl", aclmpl.Options{})[0], x, 1024, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
