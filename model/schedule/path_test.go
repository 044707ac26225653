package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/loggp/loggp/model/unit"
)

// ended returns random schedules that end with any parameters: what a wildcard matches depends on
// them.
func ended(t *testing.T, n int, d Dialect, p Params) (all []*Schedule) {
	t.Helper()
	for seed := uint64(0); len(all) < n; seed++ {
		s := random(rand.New(rand.NewPCG(seed, 77)))
		if res, err := s.Simulate(Options{Params: p, Dialect: d}); err == nil && !s.hasWildcards && len(res.Warnings) == 0 && res.LastFinish > 0 {
			all = append(all, s)
		}
	}
	return all
}

var pathParams = Params{L: 3_000_000, Overhead: 800_000, Gap: 2_000_000, GapPerByte: 9000, OverheadPerByte: 5000, EagerLimit: 256}

// The parts of the path add up to the finishing time, nothing on it waits, and its parts are what
// the derivatives say where both sides agree.
func TestPath(t *testing.T) {
	for d := LogGP; d <= LogGOPSim; d++ {
		agreed := 0
		for i, s := range ended(t, 300, d, pathParams) {
			o := Options{Params: pathParams, Dialect: d, RecordsPath: true}
			res, err := s.Simulate(o)
			if err != nil {
				t.Fatal(err)
			}
			p := res.CriticalPath(1 << 20)
			if p.Parts.Sum() != res.LastFinish || d == LogGP && p.Parts[WaitingPart] != 0 || p.Count != len(p.Steps) {
				t.Fatalf("%v %d: parts %v of %v, %d of %d steps\n%s", d, i, p.Parts, res.LastFinish, len(p.Steps), p.Count, text0(s))
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
				part PathPart
				of   float64
			}{{LatencyPart, float64(pathParams.L)}, {OverheadPart, float64(pathParams.Overhead)}, {GapPart, float64(pathParams.Gap)}} {
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
			step := unit.Time(o.unitPicoseconds())
			for j, x := range ds {
				for _, side := range []unit.Time{1, -1} {
					// The derivative is right if it holds up to the next change of the path: for
					// one and for two steps. If these differ, the change is nearer than a step.
					change := func(n unit.Time) float64 {
						p := pathParams
						by := n * side * step
						switch j {
						case 0:
							p.L += by
						case 1:
							p.Overhead += by
						case 2:
							p.Gap += by
						case 3:
							p.GapPerByte += unit.PerByte(by)
						case 4:
							p.OverheadPerByte += unit.PerByte(by)
						}
						points, err := s.Sweep(o, []Params{pathParams, p})
						if err != nil {
							t.Fatal(err)
						}
						return float64(points[1].LastFinish-points[0].LastFinish) / float64(by)
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
			return points[0].LastFinish
		}
		for _, part := range []float64{0.01, 0.05} {
			limit := at(pathParams.L) + unit.Time(math.Floor(float64(at(pathParams.L))*part))
			got, ok, err := s.Tolerance(o, part)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if at(longestTime) > limit {
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
}

// Where each rank has its operations one after the other, and interfaces are always free, the
// largest L is a linear program: maximize L, such that each operation ends o or what it computes
// after the one before it, each receive L + o after its send as well, and all within the limit.
func TestToleranceByLinearProgram(t *testing.T) {
	p := Params{L: 3 * unit.Microsecond, Overhead: 800 * unit.Nanosecond, EagerLimit: math.MaxUint64}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		ranks := 2 + rnd.IntN(3)
		type op struct {
			Op
			before, sent int // operations; −1: none
		}
		var all []op
		ends := make([]int, ranks) // the last operation of each
		ops := make([][]Op, ranks)
		for r := range ends {
			ends[r] = -1
		}
		do := func(rank int, o Op, sent int) int {
			all = append(all, op{o, ends[rank], sent})
			ops[rank] = append(ops[rank], o)
			ends[rank] = len(all) - 1
			return ends[rank]
		}
		for i := range 3 + rnd.IntN(8) {
			a := rnd.IntN(ranks)
			if rnd.IntN(2) == 0 {
				do(a, Op{Kind: Calc, Size: uint64(rnd.IntN(20_000))}, -1)
				continue
			}
			to, size := (a+1+rnd.IntN(ranks-1))%ranks, uint64(1+rnd.IntN(200))
			sent := do(a, Op{Kind: Send, Size: size, Peer: uint32(to), Tag: uint32(i)}, -1)
			do(to, Op{Kind: Recv, Size: size, Peer: uint32(a), Tag: uint32(i)}, sent)
		}
		var b Builder
		for _, mine := range ops {
			b.BeginRank()
			for i, o := range mine {
				if b.AddOp(o); i > 0 {
					b.AddDependency(i, i-1, false)
				}
			}
		}
		s, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Simulate(Options{Params: p})
		if err != nil {
			t.Fatal(err)
		}
		const part = 0.05
		got, ok, err := s.Tolerance(Options{Params: p}, part)
		if err != nil {
			t.Fatal(err)
		}
		// Variables: L, and when each operation ends, in microseconds. G x ≤ h.
		limit := math.Floor(float64(res.LastFinish)*(1+part)) / 1e6
		var g []float64
		var h []float64
		row := func(bound float64, coefficients map[int]float64) {
			x := make([]float64, 1+len(all))
			for i, c := range coefficients {
				x[i] = c
			}
			g, h = append(g, x...), append(h, bound)
		}
		for i, o := range all {
			work := p.Overhead.Micros()
			if o.Kind == Calc {
				work = float64(o.Size) / 1e3
			}
			ended := map[int]float64{1 + i: -1}
			if o.before >= 0 {
				ended[1+o.before] = 1
			}
			row(-work, ended)
			if o.sent >= 0 {
				row(-work, map[int]float64{0: 1, 1 + i: -1, 1 + o.sent: 1})
			}
			row(limit, map[int]float64{1 + i: 1})
		}
		row(1e4, map[int]float64{0: 1}) // else it may have no largest
		row(0, map[int]float64{0: -1})
		objective := make([]float64, 1+len(all))
		objective[0] = -1
		c, equal, bounds := lp.Convert(objective, mat.NewDense(len(h), 1+len(all), g), h, nil, nil)
		best, _, err := lp.Simplex(c, equal, bounds, 1e-9, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		switch {
		case !ok && -best < 9999:
			t.Errorf("seed %d: no limit is found, by the linear program it is %.6f us", seed, -best)
		case ok && math.Abs(got.Micros()+best) > 1e-4:
			t.Errorf("seed %d: tolerance %v, by the linear program %.6f us\n%s", seed, got, -best, text0(s))
		}
	}
}

// Noise takes the time of its detours, and the same for the same seed.
func TestNoise(t *testing.T) {
	s := parse(t, "num_ranks 3\nrank 0 {\ncalc 1000000\n}\nrank 1 {\ncalc 1000000\n}\nrank 2 {\ncalc 95000\n}\n")
	noise, err := ParseNoise("period=100us,length=5us", 1)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Simulate(Options{Noise: noise, RecordsPath: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.FinishTimes[:2] { // 1 ms of work at 95 us in each period: 10 or 11 detours
		if d := f - unit.Millisecond; d < 50*unit.Microsecond || d > 55*unit.Microsecond {
			t.Errorf("a rank takes %v", f)
		}
	}
	if res.FinishTimes[2] != 100*unit.Microsecond && (res.FinishTimes[2] < 95*unit.Microsecond || res.FinishTimes[2] > 100*unit.Microsecond) {
		t.Errorf("the last rank takes %v", res.FinishTimes[2])
	}
	if p := res.CriticalPath(10); p.Parts[ComputingPart] != unit.Millisecond || p.Parts[ComputingPart]+p.Parts[DetourPart] != res.LastFinish {
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
		offset := n.offsetOfRank(7)
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
		if got := n.endOfWork(7, begin, work); got != now {
			t.Fatalf("work of %d from %d ends at %d, want %d: %v", work, begin, got, now, n)
		}
	}
	for _, bad := range []string{"", "period=1ms", "period=1ms,length=2ms", "length=x", "period=1us,length=1us", "period=1ms,length=1us,period=2ms", "period=-1ms,length=1us", "period=1ms,length=-1us"} {
		if _, err := ParseNoise(bad, 1); err == nil {
			t.Errorf("%q is noise", bad)
		}
	}
	if _, err := ReadNoise(strings.NewReader("# x\n10 2\n5 1\n100\n"), "n", 1); err == nil {
		t.Error("detours out of order are noise")
	}
	if n, err := ReadNoise(strings.NewReader("# x\n10 2\n50.5 1\n100\n"), "n", 1); err != nil || n.workPerPeriod != 97_000 {
		t.Error(n, err)
	}
	for text, want := range map[string]string{
		"10 2\n50 1 ns\n100\n":   `n:2:1: unexpected "ns"`,
		"# x\n10 2\n100 # end\n": `n:3:1: unexpected "end"`,
		"10 2us\n100\n":          `n:1:1: "2us" is not a number`,
		"10 nan\n100\n":          `n:1:1: "nan" is not a number`,
		"10 2\n100\n\n110 1\n":   "n:4:1: a line follows",
		"10 2\n0\n":              "n:2:1: the period",
		"10 2\n":                 "n:2:1: the file ends without",
		"# x\n" + strings.Repeat("1", 1<<20) + "\n100\n": "n:2:1: the line is longer than 65536 bytes",
	} {
		if _, err := ReadNoise(strings.NewReader(text), "n", 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// The time of a rank is bounded, and not that of all ranks together. What takes longer than the
// longest time is an error, whether a rank's own operations do, or those of ranks that wait for
// each other.
func TestSimulationsOfLongTimesAreBounded(t *testing.T) {
	var independent, chain strings.Builder
	const ranks = 100_000
	fmt.Fprintf(&independent, "num_ranks %d\n", ranks)
	for r := range ranks {
		fmt.Fprintf(&independent, "rank %d {\ncalc 60000000000\n}\n", r)
	}
	fmt.Fprintf(&chain, "num_ranks 4\n")
	for r := range 4 { // 3 million seconds each
		fmt.Fprintf(&chain, "rank %d {\nc: calc 3000000000000000\n", r)
		if r > 0 {
			fmt.Fprintf(&chain, "r: recv 8b from %d\nc requires r\n", r-1)
		}
		if r < 3 {
			fmt.Fprintf(&chain, "s: send 8b to %d\ns requires c\n", r+1)
		}
		chain.WriteString("}\n")
	}
	for name, c := range map[string]struct{ text, want string }{
		"independent ranks": {independent.String(), ""},
		"chain":             {chain.String(), "test.goal:22: rank 3: calc 3000000000000000: it ends later than"},
		"chain of three":    {strings.NewReplacer("num_ranks 4", "num_ranks 3", "s: send 8b to 3\ns requires c\n", "").Replace(chain.String()[:strings.Index(chain.String(), "rank 3")]), ""},
		"operations":        {"num_ranks 1\nrank 0 {\n" + strings.Repeat("calc 1000000000000000\n", 20) + "}\n", "test.goal:12: rank 0: calc 1000000000000000: up to here the operations of rank 0"},
	} {
		s := parse(t, c.text)
		for d := LogGP; d <= LGS; d++ {
			res, err := s.Simulate(Options{Params: DefaultParams, Dialect: d})
			switch {
			case c.want == "" && (err != nil || res.LastFinish < 60*unit.Second):
				t.Errorf("%s, dialect %v: %v", name, d, err)
			case c.want != "" && d != LogGOPSim && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("%s, dialect %v: %v, want %s", name, d, err, c.want)
			}
		}
	}
	noise, err := ParseNoise("period=100us,length=90us", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, "num_ranks 1\nrank 0 {\ncalc 1000000000000000\n}\n")
	if _, err := s.Simulate(Options{Noise: noise}); err == nil || !strings.Contains(err.Error(), "test.goal:3: rank 0: calc 1000000000000000: it ends later than") {
		t.Errorf("ten million seconds by noise: %v", err)
	}
}

// A recording has what every CPU did, without gaps or overlaps, and all messages; of many ranks it
// has some, with the last one.
func TestRecording(t *testing.T) {
	for d := LogGP; d <= LGS; d++ {
		for i, s := range ended(t, 100, d, pathParams) {
			res, err := s.Simulate(Options{Params: pathParams, Dialect: d, RecordsPath: true})
			if err != nil {
				t.Fatal(err)
			}
			r := res.Timeline(1000)
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
			if d == LogGP && end != res.LastFinish {
				t.Errorf("%d: the last span ends at %v, and the schedule at %v\n%s", i, end, res.LastFinish, text0(s))
			}
			messages := 0
			for _, f := range r.Flights {
				if f.Name == "message" || f.Name == "data" {
					messages++
				}
				if d == LogGP && (f.Depart < f.Sent || f.Arrive < f.Depart+pathParams.L || f.TakenIn < f.Depart+pathParams.L) {
					t.Errorf("%d: flight %+v", i, f)
				}
			}
			if messages != res.Messages && (d != LGS || messages > res.Messages) {
				t.Errorf("%v %d: %d flights of %d messages", d, i, messages, res.Messages)
			}
		}
	}
	res, err := dissemination(t, 100).Simulate(Options{Params: DefaultParams, RecordsPath: true})
	if err != nil {
		t.Fatal(err)
	}
	res.LastRank = 37
	r := res.Timeline(4)
	names := ""
	for _, track := range r.Ranks {
		names += track.Name + ", "
	}
	if names != "rank 0, rank 37, rank 50, rank 75, " {
		t.Errorf("of 100 ranks it has %s", names)
	}
}
