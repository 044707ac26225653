package microbench

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// Sizes stand on a coarse grid, and a library changes its protocol at one of those between. Where a curve breaks the grid is made finer, by
// halving, as in Kielmann, Bal and Verstoep, Fast Measurement of LogP Parameters for Message Passing Platforms (2000): the value differs from
// what the sizes below say. Here it has to differ from what those above say, too: behind a jump that lies between two sizes only the sizes
// below are wrong about the next.

// Bounds of refinement.
const (
	moreSizes = 10   // at most
	finest    = 32   // bytes between two sizes, or
	grain     = 16   // this part of the size: there the search ends
	bending   = 0.05 // of the value is no break yet
	doubt     = 1.5  // times the interval neither
	company   = 4    // of so many curves one has to break
	deeper    = 4    // and all together not so many times less than where they break most, which is looked into before
)

// point is the median of a timer at a size.
type point struct {
	bytes int
	estimate
}

// line returns what a line through a and b says of the value at k bytes, and how uncertain that is.
func line(a, b point, k int) estimate {
	r := float64(k-b.bytes) / float64(b.bytes-a.bytes)
	return estimate{b.value + r*(b.value-a.value), math.Hypot((1+r)*b.half, r*a.half)}
}

// bend returns how far the curve between points 1 and 2 of four is off the lines through the first and the last two, whichever is nearer, as a part of
// its value; or 0 if one of them holds within what is uncertain.
func bend(p [4]point) float64 {
	least := math.Inf(1)
	for _, x := range []struct {
		of   point
		says estimate
	}{{p[2], line(p[0], p[1], p[2].bytes)}, {p[1], line(p[3], p[2], p[1].bytes)}} {
		off := math.Abs(x.of.value - x.says.value)
		if !(off > doubt*math.Hypot(x.of.half, x.says.half)) {
			return 0
		}
		least = min(least, off/math.Abs(x.of.value))
	}
	if least < bending {
		return 0
	}
	return least
}

// gap is between two sizes, where some of the curves break.
type gap struct {
	low, high int
	curves    int     // that do
	bend      float64 // their bends together
}

// breaks returns the sizes in the middle of where curves break, at most so many: where they break most first. One curve among many that breaks
// alone does so by chance, as all of them are of one library.
func breaks(curves [][]point, most int) []int {
	var gaps []gap
	for _, c := range curves {
		slices.SortFunc(c, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
		for i := 1; i+2 < len(c); i++ {
			if x := bend([4]point(c[i-1 : i+3])); x > 0 && c[i+1].bytes-c[i].bytes > max(finest, c[i].bytes/grain) {
				gaps = counted(gaps, c[i].bytes, c[i+1].bytes, x)
			}
		}
	}
	gaps = slices.DeleteFunc(gaps, func(g gap) bool { return g.curves*company < len(curves) })
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.bend, a.bend) })
	var sizes []int
	for _, g := range gaps {
		if len(sizes) < most && g.bend >= gaps[0].bend/deeper {
			sizes = append(sizes, g.low+(g.high-g.low)/2)
		}
	}
	return sizes
}

// Breaks returns the sizes to add to those of a launch, at most as many as a campaign adds less those that it has: in the middle of where the curves of its
// send calls and round trips break. Samples are as in a series with two roots. Sizes that are returned may be measured, and added to the series, again and
// again, until none is returned.
func Breaks(series []sample.Series, added int) []int {
	var names []sample.Key
	curves := make(map[sample.Key][]point)
	for i := range series {
		s := &series[i]
		if s.Timer != sample.Timer11 && s.Timer != sample.RTT {
			continue
		}
		name := sample.Key{Mode: s.Mode, Timer: s.Timer}
		if curves[name] == nil {
			names = append(names, name)
		}
		half := len(s.Times) / 2
		e := meanOf([2]estimate{median(slices.Clone(s.Times[:half])), median(slices.Clone(s.Times[half:]))})
		curves[name] = append(curves[name], point{s.Bytes, e})
	}
	var all [][]point
	for _, n := range names {
		all = append(all, curves[n])
	}
	return breaks(all, moreSizes-added)
}

// counted returns gaps with a bend more.
func counted(gaps []gap, low, high int, bend float64) []gap {
	i := slices.IndexFunc(gaps, func(g gap) bool { return g.low == low && g.high == high })
	if i < 0 {
		i, gaps = len(gaps), append(gaps, gap{low: low, high: high})
	}
	gaps[i].curves++
	gaps[i].bend += bend
	return gaps
}
