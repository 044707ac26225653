package fit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// What a byte costs in long messages is the slope of the longest, where real time bends: the many short ones do not count.
func TestLongestMessages(t *testing.T) {
	bend := func(k int) float64 { // 1 ns a byte below 16 KiB and 2 above
		return 100 + 0.001*float64(k) + 0.001*math.Max(0, float64(k-16<<10))
	}
	for _, c := range []struct {
		clock    string
		from, to int
		want     float64
	}{
		{"real", 1, 128 << 10, 0.002 / 2},
		{"real", 32 << 10, 128 << 10, 0.002 / 2},
		{"real", 1, 8 << 10, 0.001 / 2},
	} {
		set := &sample.Set{}
		for k := c.from; k <= c.to; k *= 2 {
			s := series("send", sample.RTT, bend(k)*0.999, bend(k), bend(k)*1.001)
			s.Bytes, s.Clock = k, c.clock
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, Options{Pieces: 1})
		rows := slices.DeleteFunc(r.Parameters, func(p Parameter) bool { return p.Name != "G" || p.Method != ByHalfTrip })
		if len(rows) != 1 || math.Abs(rows[0].Value-c.want) > 0.01*c.want || rows[0].To != c.to || rows[0].From != c.to/4 || rows[0].Low > rows[0].Value || rows[0].High < rows[0].Value {
			t.Errorf("%+v: %+v", c, rows)
		}
	}
	set := &sample.Set{}
	for k := 1; k <= 128<<10; k *= 2 {
		s := series("send", sample.RTT, bend(k), bend(k))
		s.Bytes, s.Clock = k, "virtual"
		set.Series = append(set.Series, s)
	}
	for _, p := range mustFit(t, set, Options{Pieces: 1}).Parameters {
		if p.Name == "G" && p.From != 1 {
			t.Errorf("an emulation, whose times are lines: %+v", p)
		}
	}
}

// Where long messages do not count, as they were held up, it is said of G, which is weak; and where too few are left there is none.
func TestLongMessagesLost(t *testing.T) {
	const far = 512 << 10
	lengths := []int{64, 1 << 10, 8 << 10, 32 << 10, 64 << 10, 128 << 10, 192 << 10, 256 << 10, 384 << 10, far}
	for _, c := range []struct {
		clock    string // or sizes
		from, to int    // that were held up
		want     Verdict
	}{
		{"real", 1, 0, Good}, {"real", 8 << 10, 8 << 10, Good}, {"real", 64 << 10, 128 << 10, Good}, {"real", 256 << 10, 256 << 10, Weak}, {"real", far, far, Weak},
		{"doubled", 8 << 10, 8 << 10, Good}, {"doubled", far, far, NotIdentifiable}, // of powers of two no three are long
		{"real", 256 << 10, 384 << 10, NotIdentifiable}, {"virtual", far, far, Weak},
	} {
		set := &sample.Set{}
		for _, k := range lengths {
			if c.clock == "doubled" && k&(k-1) != 0 {
				continue
			}
			us := 10 + 0.001*float64(k)
			if k >= c.from && k <= c.to {
				us *= 20
			}
			s := series("send", sample.RTT, slices.Repeat([]float64{us * 0.999, us, us * 1.001}, 10)...)
			if s.Bytes, s.Clock = k, "real"; c.clock == "virtual" {
				s.Clock = c.clock
			}
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, Options{})
		i := slices.IndexFunc(r.Parameters, func(p Parameter) bool { return p.Name == "G" && strings.HasPrefix(p.Method, ByHalfTrip) })
		if i < 0 || r.Parameters[i].Verdict != c.want || warnedOf(r, "send", "G", FewSizes) != (c.want != Good) {
			t.Errorf("%+v: %+v, %v", c, r.Parameters, r.Warnings)
		}
	}
}

// A slope through points that lie on no line is not that of those which happen to be known best: they count by their size alone. Points on a line keep their uncertainties.
func TestLoosen(t *testing.T) {
	x, y := []float64{32, 64, 128}, []float64{6, 12.6, 18.3} // a step, as of a second part of a message
	var slopes []float64
	for _, s := range [][]float64{{0.01, 0.1, 0.1}, {0.1, 0.01, 0.1}, {0.1, 0.1, 0.01}, {0.02, 0.02, 0.02}} {
		p := points{x, y, slices.Clone(s)}
		p.loosen(y)
		slopes = append(slopes, fitLine(p).slope)
	}
	low, high := slices.Min(slopes), slices.Max(slopes)
	if high > 1.02*low {
		t.Errorf("slopes are %v", slopes)
	}
	var rows []Parameter
	for _, scatter := range [][]float64{{0.001, 0.05, 0.05}, {0.05, 0.001, 0.05}, {0.05, 0.05, 0.001}} {
		set := &sample.Set{}
		for i, us := range y {
			s := series("send", sample.RTT, us*(1-scatter[i]), us*(1-scatter[i]/2), us, us*(1+scatter[i]/2), us*(1+scatter[i]))
			s.Bytes, s.Clock = int(x[i]), "real"
			set.Series = append(set.Series, s)
		}
		for _, p := range mustFit(t, set, Options{}).Parameters {
			if p.Name == "G" && p.Method == ByHalfTrip {
				rows = append(rows, p)
			}
		}
	}
	if len(rows) != 3 || math.Abs(rows[0].Value/rows[1].Value-1) > 0.03 || math.Abs(rows[1].Value/rows[2].Value-1) > 0.03 {
		t.Errorf("G is by which time scatters least: %+v", rows)
	}
	straight := points{x, []float64{7, 13, 25}, []float64{0.01, 0.2, 0.05}}
	straight.loosen(straight.y)
	if !slices.Equal(straight.s, []float64{0.01, 0.2, 0.05}) {
		t.Errorf("uncertainties of points on a line became %v", straight.s)
	}
	two := points{x[:2], y[:2], []float64{0.01, 0.2}}
	if two.loosen(y[:2]); two.s[0] != 0.01 {
		t.Errorf("two points lie on a line, and became uncertain by %v", two.s)
	}
}
