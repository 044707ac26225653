package schedule

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/loggp/loggp/model/unit"
)

// ended returns random schedules that end with any parameters: what a wildcard matches depends on them.
func ended(t *testing.T, n int, d Dialect, p Params) (all []*Schedule) {
	t.Helper()
	for seed := uint64(0); len(all) < n; seed++ {
		s := random(rand.New(rand.NewPCG(seed, 77)))
		if res, err := s.Simulate(Options{Params: p, Dialect: d}); err == nil && !s.wild && len(res.Warnings) == 0 && res.Last > 0 {
			all = append(all, s)
		}
	}
	return all
}

var pathParams = Params{L: 3_000_000, O: 800_000, Gap: 2_000_000, BigG: 9000, BigO: 5000, S: 256}

// The parts of the path add up to the finishing time, nothing on it waits, and its parts are what
// the derivatives say where both sides agree.
func TestPath(t *testing.T) {
	for d := LogGP; d <= LogGOPSim; d++ {
		agreed := 0
		for i, s := range ended(t, 300, d, pathParams) {
			o := Options{Params: pathParams, Dialect: d, Explain: true}
			res, err := s.Simulate(o)
			if err != nil {
				t.Fatal(err)
			}
			p := res.Path(1 << 20)
			if p.Parts.Sum() != res.Last || d == LogGP && p.Parts[Waiting] != 0 || p.Count != len(p.Steps) {
				t.Fatalf("%v %d: parts %v of %v, %d of %d steps\n%s", d, i, p.Parts, res.Last, len(p.Steps), p.Count, text0(s))
			}
			for j, st := range p.Steps {
				if st.Parts.Sum() != st.To-st.From || j > 0 && p.Steps[j-1].To != st.From {
					t.Fatalf("%v %d: step %+v", d, i, st)
				}
			}
			if d != LogGP {
				continue
			}
			ds, err := s.Sensitivity(o)
			if err != nil {
				t.Fatal(err)
			}
			for j, x := range []struct {
				part Part
				of   float64
			}{{PartL, float64(pathParams.L)}, {PartO, float64(pathParams.O)}, {PartGap, float64(pathParams.Gap)}} {
				if ds[j].Left == ds[j].Right {
					agreed++
					if got := float64(p.Parts[x.part]) / x.of; got != ds[j].Right {
						t.Errorf("%v %d: %v is %v times on the path, and the derivative is %v\n%s", d, i, x.part, got, ds[j].Right, text0(s))
					}
				}
			}
		}
		if d == LogGP && agreed < 300 {
			t.Errorf("only %d derivatives have two equal sides", agreed)
		}
	}
}

// Derivatives equal differences of the finishing times of sweeps.
func TestSensitivity(t *testing.T) {
	for d := LogGP; d <= LogGOPSim; d++ {
		ties := 0
		for i, s := range ended(t, 200, d, pathParams) {
			o := Options{Params: pathParams, Dialect: d}
			ds, err := s.Sensitivity(o)
			if err != nil {
				t.Fatal(err)
			}
			step := unit.Time(o.scale())
			for j, x := range ds {
				for _, side := range []unit.Time{1, -1} {
					// The derivative is right if it holds up to the next change of the path: for one
					// and for two steps. If these differ, the change is nearer than a step.
					change := func(n unit.Time) float64 {
						p := pathParams
						by := n * side * step
						switch j {
						case 0:
							p.L += by
						case 1:
							p.O += by
						case 2:
							p.Gap += by
						case 3:
							p.BigG += unit.PerByte(by)
						case 4:
							p.BigO += unit.PerByte(by)
						}
						points, err := s.Sweep(o, []Params{pathParams, p})
						if err != nil {
							t.Fatal(err)
						}
						return float64(points[1].Last-points[0].Last) / float64(by)
					}
					one := change(1)
					if math.Abs(one-change(2)) > 1e-9*math.Abs(one) || math.Abs(one-change(3)) > 1e-9*math.Abs(one) {
						ties++
						continue
					}
					want := x.Right
					if side < 0 {
						want = x.Left
					}
					if math.Abs(one-want) > 1e-9*math.Abs(one) {
						t.Errorf("%v %d: derivative by %s on side %d is %v, and differences are %v\n%s", d, i, x.Name, side, want, one, text0(s))
					}
				}
			}
		}
		if ties > 200 {
			t.Errorf("%v: %d of 2000 differences are not on one straight line", d, ties)
		}
	}
}

// The tolerance is what a bisection finds, and what a linear program says where the order is fixed.
func TestTolerance(t *testing.T) {
	for i, s := range ended(t, 60, LogGP, pathParams) {
		o := Options{Params: pathParams}
		at := func(l unit.Time) unit.Time {
			p := pathParams
			p.L = l
			points, err := s.Sweep(o, []Params{p})
			if err != nil {
				t.Fatal(err)
			}
			return points[0].Last
		}
		for _, part := range []float64{0.01, 0.05} {
			limit := at(pathParams.L) + unit.Time(math.Floor(float64(at(pathParams.L))*part))
			got, ok, err := s.Tolerance(o, part)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if at(longest) > limit {
					t.Errorf("%d: no limit is found, and there is one", i)
				}
				continue
			}
			if at(got) > limit || at(got+1) <= limit {
				t.Errorf("%d: with L = %v it takes %v, with a picosecond more %v, and the limit is %v", i, got, at(got), at(got+1), limit)
			}
			low, high := pathParams.L, got+unit.Microsecond
			for high-low > 1 {
				if m := (low + high) / 2; at(m) <= limit {
					low = m
				} else {
					high = m
				}
			}
			if low != got && at(low+1) <= limit {
				t.Errorf("%d: tolerance %v, by bisection %v", i, got, low)
			}
		}
	}

	// Rank 0 computes for c and then receives what rank 1 sends at once, or rank 1 has the longer way:
	// T ≥ c + o + k O, T ≥ 2 o + L + k G. The largest L with T ≤ limit is a linear program in x = (T, L).
	text := "num_ranks 2\nrank 0 {\na: calc 9000\nb: recv 101b from 1\nb requires a\n}\nrank 1 {\nsend 101b to 0\n}\n"
	s := parse(t, text)
	got, ok, err := s.Tolerance(Options{Params: pathParams}, 0.05)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	c, o, flow := 9000.0, 800.0, 900.0
	limit := 1.05 * (c + o + 500)
	// Minimize −L subject to L + s1 = limit − 2 o − k G (from T ≤ limit), T = limit.
	_, x, err := lp.Simplex([]float64{-1, 0}, mat.NewDense(1, 2, []float64{1, 1}), []float64{limit - 2*o - flow}, 1e-12, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := unit.Time(math.Round(x[0] * 1000)); got != want {
		t.Errorf("tolerance %v, by the linear program %v", got, want)
	}
}

// Noise takes the time of its detours, and the same for the same seed.
func TestNoise(t *testing.T) {
	s := parse(t, "num_ranks 3\nrank 0 {\ncalc 1000000\n}\nrank 1 {\ncalc 1000000\n}\nrank 2 {\ncalc 95000\n}\n")
	noise, err := ParseNoise("period=100us,length=5us", 1)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Simulate(Options{Noise: noise, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Finish[:2] { // 1 ms of work at 95 us in each period: 10 or 11 detours
		if d := f - unit.Millisecond; d < 50*unit.Microsecond || d > 55*unit.Microsecond {
			t.Errorf("a rank takes %v", f)
		}
	}
	if res.Finish[2] != 100*unit.Microsecond && (res.Finish[2] < 95*unit.Microsecond || res.Finish[2] > 100*unit.Microsecond) {
		t.Errorf("the last rank takes %v", res.Finish[2])
	}
	if p := res.Path(10); p.Parts[Computing] != unit.Millisecond || p.Parts[Computing]+p.Parts[Detour] != res.Last {
		t.Errorf("parts %v", p.Parts)
	}
	// The same by steps of a nanosecond, for random detours.
	rnd := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		var ds []detour
		at := uint64(rnd.IntN(5))
		for range 1 + rnd.IntN(4) {
			long := uint64(rnd.IntN(6))
			ds = append(ds, detour{from: at, to: at + long})
			at += long + uint64(rnd.IntN(5))
		}
		n, err := newNoise(ds, at+1, rnd.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		offset := n.offset(7)
		begin, work := uint64(rnd.IntN(50)), uint64(rnd.IntN(40))
		now := begin
		for left := work; left > 0; now++ {
			at := (now + offset) % n.period
			busy := false
			for _, d := range ds {
				busy = busy || at >= d.from && at < d.to
			}
			if !busy {
				left--
			}
		}
		if got := n.end(7, begin, work); got != now {
			t.Fatalf("work of %d from %d ends at %d, want %d: %v", work, begin, got, now, n)
		}
	}
	for _, bad := range []string{"", "period=1ms", "period=1ms,length=2ms", "length=x", "period=1us,length=1us"} {
		if _, err := ParseNoise(bad, 1); err == nil && bad != "period=1ms" {
			t.Errorf("%q is noise", bad)
		}
	}
	if _, err := ReadNoise(strings.NewReader("# x\n10 2\n5 1\n100\n"), "n", 1); err == nil {
		t.Error("detours out of order are noise")
	}
	if n, err := ReadNoise(strings.NewReader("# x\n10 2\n50.5 1\n100\n"), "n", 1); err != nil || n.free != 97_000 {
		t.Error(n, err)
	}
}

// A recording has what every CPU did, without gaps or overlaps, and all messages; of many ranks it
// has some, with the last one.
func TestRecording(t *testing.T) {
	for d := LogGP; d <= LGS; d++ {
		for i, s := range ended(t, 100, d, pathParams) {
			res, err := s.Simulate(Options{Params: pathParams, Dialect: d, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			r := res.Recording(1000)
			end := unit.Time(0)
			for _, track := range r.Ranks {
				at := unit.Time(0)
				for _, sp := range track.Spans {
					if sp.From != at || sp.To <= sp.From {
						t.Fatalf("%v %d: %s: %+v begins at %v, not at %v\n%s", d, i, track.Name, sp, sp.From, at, text0(s))
					}
					at = sp.To
				}
				end = max(end, at)
			}
			if d == LogGP && end != res.Last {
				t.Errorf("%d: the last span ends at %v, and the schedule at %v\n%s", i, end, res.Last, text0(s))
			}
			messages := 0
			for _, f := range r.Flights {
				if f.Name == "message" || f.Name == "data" {
					messages++
				}
				if d == LogGP && (f.Depart < f.Sent || f.Arrive < f.Depart+pathParams.L || f.Taken < f.Depart+pathParams.L) {
					t.Errorf("%d: flight %+v", i, f)
				}
			}
			if messages != res.Messages && (d != LGS || messages > res.Messages) {
				t.Errorf("%v %d: %d flights of %d messages", d, i, messages, res.Messages)
			}
		}
	}
	res, err := dissemination(t, 100).Simulate(Options{Params: Default, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	res.LastRank = 37
	r := res.Recording(4)
	names := ""
	for _, track := range r.Ranks {
		names += track.Name + ", "
	}
	if names != "rank 0, rank 37, rank 50, rank 75, " {
		t.Errorf("of 100 ranks it has %s", names)
	}
}
