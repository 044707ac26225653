package fit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// What a byte costs in long messages is the slope of the longest, where real time bends: the many
// short ones do not count.
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
			s := fittest.Series("send", sample.TimerRTT, bend(k)*0.999, bend(k), bend(k)*1.001)
			s.Bytes, s.Clock = k, c.clock
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, clean.Options{MaxPieces: 1})
		rows := slices.DeleteFunc(r.Parameters, func(p params.Parameter) bool { return p.Name != "G" || p.Method != params.MethodHalfRoundTrip })
		if len(rows) != 1 || math.Abs(rows[0].Value-c.want) > 0.01*c.want || rows[0].To != c.to || rows[0].From != c.to/4 || rows[0].Low > rows[0].Value || rows[0].High < rows[0].Value {
			t.Errorf("%+v: %+v", c, rows)
		}
	}
	set := &sample.Set{}
	for k := 1; k <= 128<<10; k *= 2 {
		s := fittest.Series("send", sample.TimerRTT, bend(k), bend(k))
		s.Bytes, s.Clock = k, "virtual"
		set.Series = append(set.Series, s)
	}
	for _, p := range mustFit(t, set, clean.Options{MaxPieces: 1}).Parameters {
		if p.Name == "G" && p.From != 1 {
			t.Errorf("an emulation, whose times are lines: %+v", p)
		}
	}
}

// Where long messages do not count, as they were held up, it is said of G, which is weak; and where
// too few are left there is none.
func TestLongMessagesLost(t *testing.T) {
	const far = 512 << 10
	lengths := []int{64, 1 << 10, 8 << 10, 32 << 10, 64 << 10, 128 << 10, 192 << 10, 256 << 10, 384 << 10, far}
	for _, c := range []struct {
		clock    string // or sizes
		from, to int    // that were held up
		want     params.Verdict
	}{
		{"real", 1, 0, params.Good}, {"real", 8 << 10, 8 << 10, params.Good}, {"real", 64 << 10, 128 << 10, params.Good}, {"real", 256 << 10, 256 << 10, params.Weak}, {"real", far, far, params.Weak},
		{"doubled", 8 << 10, 8 << 10, params.Good}, {"doubled", far, far, params.NotIdentifiable}, // of powers of two no three are long
		{"real", 256 << 10, 384 << 10, params.NotIdentifiable}, {"virtual", far, far, params.NotIdentifiable}, // another protocol
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
			s := fittest.Series("send", sample.TimerRTT, slices.Repeat([]float64{us * 0.999, us, us * 1.001}, 10)...)
			if s.Bytes, s.Clock = k, "real"; c.clock == "virtual" {
				s.Clock = c.clock
			}
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, clean.Options{})
		i := slices.IndexFunc(r.Parameters, func(p params.Parameter) bool {
			return p.Name == "G" && strings.HasPrefix(p.Method, params.MethodHalfRoundTrip)
		})
		if i < 0 || r.Parameters[i].Verdict != c.want || warnedOf(r, "send", "G", clean.FewSizes) != (c.want != params.Good) {
			t.Errorf("%+v: %+v, %v", c, r.Parameters, r.Warnings)
		}
	}
}

// Of three points on no line G does not depend on which is known best.
func TestLongestOnNoLine(t *testing.T) {
	x, y := []float64{32, 64, 128}, []float64{6, 12.6, 18.3} // a step, as of a second part of a message
	var rows []params.Parameter
	for _, scatter := range [][]float64{{0.001, 0.05, 0.05}, {0.05, 0.001, 0.05}, {0.05, 0.05, 0.001}} {
		set := &sample.Set{}
		for i, us := range y {
			s := fittest.Series("send", sample.TimerRTT, us*(1-scatter[i]), us*(1-scatter[i]/2), us, us*(1+scatter[i]/2), us*(1+scatter[i]))
			s.Bytes, s.Clock = int(x[i]), "real"
			set.Series = append(set.Series, s)
		}
		for _, p := range mustFit(t, set, clean.Options{}).Parameters {
			if p.Name == "G" && p.Method == params.MethodHalfRoundTrip {
				rows = append(rows, p)
			}
		}
	}
	if len(rows) != 3 || math.Abs(rows[0].Value/rows[1].Value-1) > 0.03 || math.Abs(rows[1].Value/rows[2].Value-1) > 0.03 {
		t.Errorf("G is by which time scatters least: %+v", rows)
	}
}
