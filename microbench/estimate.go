package microbench

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// estimate is a median and half of its 95 % interval, in picoseconds. The half is infinite if there
// are too few samples.
type estimate struct{ value, half float64 }

// within reports whether the interval is within a precision, or within half a step of the clock.
func (e estimate) within(precision float64, step unit.Time) bool {
	return e.half <= math.Max(precision*math.Abs(e.value), float64(step)/2)
}

// median returns the estimate of n samples, which it sorts. The interval is that by ranks,
//
//	⌊(n − 1.96 √n)/2⌋ to ⌈1 + (n + 1.96 √n)/2⌉
//
// of Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (2015).
func median(times []unit.Time) estimate {
	n := len(times)
	if n == 0 {
		return estimate{0, math.Inf(1)}
	}
	slices.Sort(times)
	e := estimate{float64(times[(n-1)/2]+times[n/2]) / 2, math.Inf(1)}
	r := 1.96 * math.Sqrt(float64(n))
	low, high := int(math.Floor((float64(n)-r)/2)), int(math.Ceil(1+(float64(n)+r)/2))
	if low >= 1 && high <= n {
		e.half = float64(times[high-1]-times[low-1]) / 2
	}
	return e
}

// meanOf returns the estimate of the mean of two numbers.
func meanOf(of [2]estimate) estimate {
	return estimate{(of[0].value + of[1].value) / 2, math.Hypot(of[0].half, of[1].half) / 2}
}

// student are the quantiles 0.975 of Student's distribution with 1, 2, ... degrees of freedom.
var student = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}

// across returns the estimate over several launches, from one median each. The medians include the
// scatter within a launch.
func across(medians []float64) estimate {
	n := len(medians)
	if n < 2 {
		return estimate{0, math.Inf(1)}
	}
	mean, sum := 0.0, 0.0
	for _, x := range medians {
		mean += x / float64(n)
	}
	for _, x := range medians {
		sum += (x - mean) * (x - mean)
	}
	t := 1.96
	if n-2 < len(student) {
		t = student[n-2]
	}
	return estimate{mean, t * math.Sqrt(sum/float64(n-1)/float64(n))}
}

// judge returns how many medians all launches have together, and for how many the interval over the
// launches is within the precision.
func (e *Experiment) judge(series []sample.Series) (known, medians int) {
	values := make(map[sample.Key][]float64)
	for i := range series {
		s := &series[i]
		if k := s.Key; k.Timer != sample.Timer22 {
			k.Launch = 0
			values[k] = append(values[k], median(slices.Clone(s.Times)).value)
		}
	}
	ok := make(map[sample.Key]bool)
	for k, m := range values {
		k.Disturbed = false
		ok[k] = ok[k] || across(m).within(e.Wanted(), e.Step)
	}
	for _, yes := range ok {
		if yes {
			known++
		}
	}
	return known, len(ok)
}

// Sizes are a coarse grid, and a library changes its protocol between two of them. Where a curve
// breaks, the gap is halved, as in Kielmann, Bal and Verstoep, Fast Measurement of LogP Parameters
// for Message Passing Platforms (2000): the value differs from the line through the sizes below.
// Here it must differ from the line through those above, too, so that a jump between two sizes is
// no break at the next.

// Bounds of refinement.
const (
	moreSizes = 10   // at most
	finest    = 32   // bytes between two sizes, or
	grain     = 16   // this part of the size: there the search ends
	bending   = 0.05 // of the value is no break yet
	doubt     = 1.5  // times the interval neither
)

// point is the median of a timer at a size.
type point struct {
	bytes int
	estimate
}

// line returns the value at k bytes of the line through a and b, with its uncertainty.
func line(a, b point, k int) estimate {
	r := float64(k-b.bytes) / float64(b.bytes-a.bytes)
	return estimate{b.value + r*(b.value-a.value), math.Hypot((1+r)*b.half, r*a.half)}
}

// bend returns how far the curve between points 1 and 2 of four is from the nearer of the lines
// through the first two and the last two, relative to its value; or 0 if one of them agrees within
// the uncertainty.
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

// breakOf returns the size in the middle of the largest break of all curves, or -1.
func breakOf(curves [][]point) int {
	type gap struct{ low, high int }
	bends := make(map[gap]float64) // of all curves together
	best := gap{-1, -1}
	for _, c := range curves {
		slices.SortFunc(c, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
		for i := 1; i+2 < len(c); i++ {
			g := gap{c[i].bytes, c[i+1].bytes}
			if x := bend([4]point(c[i-1 : i+3])); x > 0 && g.high-g.low > max(finest, g.low/grain) {
				bends[g] += x
				if bends[g] > bends[best] {
					best = g
				}
			}
		}
	}
	if best.low < 0 {
		return -1
	}
	return best.low + (best.high-best.low)/2
}

// refine adds sizes around the eager limit: where standard sends and their round trips break most.
// Nothing else is measured before that.
func (s *Scheduler) refine() {
	s.pass(slices.DeleteFunc(slices.Clone(s.all), func(t *task) bool { return !s.tells(t) }))
	for left := moreSizes; left > 0 && !s.over(forSizes); left-- {
		k := breakOf(s.curves())
		if k < 0 || slices.ContainsFunc(s.all, func(t *task) bool { return t.Bytes == k }) { // what is there already is not known well enough
			return
		}
		s.out.Added = append(s.out.Added, k)
		slices.Sort(s.out.Added)
		var tasks []*task
		for _, m := range s.Modes {
			tasks = append(tasks, s.tasksOf(Cell{m, k})...)
		}
		s.all = append(s.all, tasks...)
		s.pass(slices.DeleteFunc(tasks, func(t *task) bool { return !s.tells(t) }))
	}
}

// tells says whether the eager limit shows in a task: in the send calls and round trips of standard
// sends, or of the first mode if there are none.
func (s *Scheduler) tells(t *task) bool {
	standard := func(m string) bool { return m == "send" || m == "isend" }
	of := standard(t.cell.Mode) || !slices.ContainsFunc(s.Modes, standard) && t.cell.Mode == s.Modes[0]
	return of && !s.OnlyTrips(t.Bytes) && (stages[t.stage].has(sample.Timer11) || stages[t.stage].has(sample.RTT))
}

// curves returns what is known of the first timer of each mode and stage in which the eager limit
// shows.
func (s *Scheduler) curves() [][]point {
	type name struct {
		mode  string
		stage int
	}
	at := make(map[name]int)
	var all [][]point
	for _, t := range s.all {
		if !s.tells(t) || len(t.visits) == 0 {
			continue
		}
		n := name{t.cell.Mode, t.stage}
		i, ok := at[n]
		if !ok {
			i, at[n] = len(all), len(all)
			all = append(all, nil)
		}
		e := t.estimates(s.launch, s.health)[0]
		if math.IsInf(e.half, 1) { // too few are undisturbed
			e = t.estimates(s.launch, health{})[0]
		}
		if !math.IsInf(e.half, 1) {
			all[i] = append(all[i], point{t.Bytes, e})
		}
	}
	return all
}
