package chart

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/reporttest"
)

// Ranks of a group stand side by side, in every tier.
func TestNeighbours(t *testing.T) {
	if got, want := sortedRanks(reporttest.ThreeTiers()), []int{0, 4, 2, 3, 1, 5, 106}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// In every width the picture can be read, and shows each pair twice, those of one tier in one
// colour.
func TestMatrix(t *testing.T) {
	x := reporttest.ThreeTiers()
	drawSVG(t, DistanceMatrixChart("tiers", "Tiers", x))
	var b bytes.Buffer
	if err := DistanceMatrixChart("tiers", "Tiers", x).SVG(&b, DefaultWidth); err != nil {
		t.Fatal(err)
	}
	nearest, farthest := strings.Count(b.String(), `fill="`+hexColor(Blue.light)+`"`), strings.Count(b.String(), `fill="`+hexColor(timeShades[0].light)+`"`)
	if nearest != 2*3+2 || farthest != 2*11+2 { // and once in the legend, once in the rules for the dark; of 12 far pairs one is missing
		t.Errorf("%d squares for the nearest, %d for the farthest", nearest, farthest)
	}
	if n := strings.Count(b.String(), `stroke="`+hexColor(Orange.light)+`"`); n != 4+1 {
		t.Errorf("%d lines of crosses, of one odd pair there are 4 and a rule", n)
	}
	x.Levels, x.Pairs = x.Levels[2:], x.Pairs[:1]
	drawSVG(t, DistanceMatrixChart("tiers", "Tiers", x))
	for _, odd := range []float64{0, 1, math.SmallestNonzeroFloat64} {
		x.Pairs[0].Times, x.Pairs[0].IsOutlier = odd, odd == 0
		drawSVG(t, DistanceMatrixChart("tiers", "Tiers", x))
	}
}

// What is far off stands at the edge, hollow, and the others keep their places.
func TestClip(t *testing.T) {
	x := SizePlot{IsSigned: true, Series: []Series{{ShapeIndex: 1, Style: Style{Glyph: SolidGlyphs[1]}}}}
	for i := range 20 {
		x.Series[0].Points = append(x.Series[0].Points, Point{X: float64(i + 1), Y: float64(i%5 - 2)})
	}
	x.Series[0].Points[3].Y = -80
	if n := x.clipOutliers(); n != 1 || x.axisLimit != 2 || len(x.Series) != 2 {
		t.Fatalf("%d beyond %v in %d series", n, x.axisLimit, len(x.Series))
	}
	if p := x.Series[1].Points; len(p) != 1 || p[0].X != 4 || p[0].Y != -2 || x.Series[1].Style.Glyph == nil {
		t.Errorf("%+v", p)
	}
	if p := x.Series[0].Points; len(p) != 19 || p[0].Y != -2 {
		t.Errorf("%+v", p)
	}
}

// svgOf draws a chart narrow and wide.
func drawSVG(t *testing.T, c *Chart) {
	t.Helper()
	for _, width := range []int{300, 900} {
		if err := c.SVG(&bytes.Buffer{}, width); err != nil {
			t.Fatal(err)
		}
	}
}
