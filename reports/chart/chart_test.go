package chart

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/loggp/loggp/reports/format"
)

// TestDark: each ink has another for the dark, in lines and in areas.
func TestDark(t *testing.T) {
	rules := DarkStyleRules("svg ")
	for i, x := range themeColors {
		for _, rule := range []string{"fill", "stroke"} {
			if want := fmt.Sprintf(`svg [%s="%s"]{%[1]s:%[3]s}`, rule, hexColor(x.light), hexColor(x.dark)); !strings.Contains(rules, want) {
				t.Errorf("no rule %s", want)
			}
		}
		for _, y := range themeColors[:i] {
			if x.light == y.light {
				t.Errorf("ink %s is there twice", hexColor(x.light))
			}
		}
	}
}

// TestAround: the ends of an axis are round numbers beyond the data, but not far.
func TestAround(t *testing.T) {
	for i := range 400 {
		low := math.Pow(1.07, float64(i-200))
		high := low * math.Pow(1.05, float64(i%90))
		min, max := axisEnds(low, high)
		first := min / math.Pow10(format.PowerOfTen(min))
		if min > low || max < high || min < low/2.9 || max > high*2.9 || math.Abs(first-math.Round(first)) > 1e-9 {
			t.Errorf("%v to %v: axis from %v to %v", low, high, min, max)
		}
	}
}

// TestZero: messages without bytes have a place of their own on the logarithmic axis.
func TestZero(t *testing.T) {
	x := SizePlot{Series: []Series{{Points: []Point{{X: 0, Y: 1}, {X: 1, Y: 1}, {X: 100, Y: 1}}}}}
	p := x.newAxesPlot(vg.Point{X: 400, Y: 300})
	var named []string
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if tick.Label != "" {
			named = append(named, format.SingleLine(tick.Label))
		}
	}
	if got := strings.Join(named, " "); got != "0 1 B 10 B 100 B" {
		t.Errorf("ticks %s", got)
	}
}

// Where a call took no time that can be told, what is free reaches down to where the axis begins.
func TestShadedDownToNothing(t *testing.T) {
	way := Series{Points: []Point{{X: 1, Y: 20}, {X: 100, Y: 30}}, ShadedUpTo: []Point{{X: 1, Y: 0}, {X: 100, Y: 10}}}
	var b bytes.Buffer
	if err := (SizePlot{YLabel: "time (us)", Series: []Series{way}}).Chart("free", "Free", "").SVG(&b, 400); err != nil || !strings.Contains(b.String(), "<path") {
		t.Errorf("%v: %d bytes", err, b.Len())
	}
}

// TestLinear: a linear axis begins at 0, has round numbers at equal distances beyond the data, and
// as many as there is room for.
func TestLinear(t *testing.T) {
	for i := range 300 {
		high := math.Pow(1.06, float64(i-150))
		x := SizePlot{IsLinear: true, Series: []Series{{Points: []Point{{X: 1, Y: high / 7}, {X: 100, Y: high}}}}}
		p := x.newAxesPlot(vg.Point{X: 400, Y: 180})
		ticks := p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max)
		if p.Y.Min != 0 || p.Y.Max < high || p.Y.Max > 2*high || len(ticks) < 3 || len(ticks) > 11 {
			t.Fatalf("to %v: axis to %v with %d ticks", high, p.Y.Max, len(ticks))
		}
		for _, k := range ticks {
			if v, err := strconv.ParseFloat(k.Label, 64); err != nil || math.Abs(v-k.Value) > 1e-9*high {
				t.Fatalf("to %v: a tick at %v says %s", high, k.Value, k.Label)
			}
		}
	}
}

// TestBars: of a framed point both ends of its interval are on the axis.
func TestBars(t *testing.T) {
	x := SizePlot{Series: []Series{{Style: Style{HasRing: true}, Points: []Point{{X: 100, Y: 10, Low: 0.3, High: 700}}}}}
	if p := x.newAxesPlot(vg.Point{X: 400, Y: 300}); p.Y.Min > 0.3 || p.Y.Max < 700 {
		t.Errorf("axis from %v to %v", p.Y.Min, p.Y.Max)
	}
}
