package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// What a byte costs in long messages is the slope of the longest, where real time bends: nine octaves of short ones do not count, and a piece that is short itself counts whole.
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
		if len(rows) != 1 || math.Abs(rows[0].Value-c.want) > 0.01*c.want || rows[0].To != c.to || rows[0].From != max(c.from, c.to/8) || rows[0].Low > rows[0].Value || rows[0].High < rows[0].Value {
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
