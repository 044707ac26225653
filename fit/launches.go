package fit

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// stack is a median and its replicates, of each launch.
type stack struct {
	launches []int
	values   []float64
	reps     [][]float64
}

func (s *stack) push(launch int, value float64, reps []float64) {
	s.launches, s.values, s.reps = append(s.launches, launch), append(s.values, value), append(s.reps, reps)
}

// acrossLaunches returns the median of the launches, and replicates that draw launches with replacement and take the median of
// theirs. All cells with as many launches draw the same ones, since what differs between launches concerns all timers alike.
func (s *stack) acrossLaunches(o Options) (value float64, reps []float64) {
	value = median(slices.Clone(s.values))
	k := len(s.reps)
	if k == 1 {
		return value, s.reps[0]
	}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(k)))
	reps, drawn, wider := make([]float64, o.Replicates), make([]float64, k), fewLaunches(k, o.Level)
	for b := range reps {
		for i := range drawn {
			drawn[i] = s.reps[rng.IntN(k)][b]
		}
		reps[b] = value + wider*(median(drawn)-value)
	}
	return value, reps
}

// fewLaunches returns by how much replicates that draw k launches with replacement lie too close together: they scatter as k launches do around
// their own mean, whose variance is smaller by (k−1)/k, and an interval of so few is one of Student's, not a normal one:
//
//	√(k/(k−1)) · t(k−1) / z
//
// which is 2.7 for three launches, 1.6 for five and 1.2 for ten.
func fewLaunches(k int, level float64) float64 {
	u := (1 + level) / 2
	t := distuv.StudentsT{Sigma: 1, Nu: float64(k - 1)}
	return math.Sqrt(float64(k)/float64(k-1)) * t.Quantile(u) / distuv.UnitNormal.Quantile(u)
}

// sum returns Σ factors·stacks of the values, of those launches that all stacks have.
func sum(stacks []stack, factors []float64) stack {
	var out stack
	for _, l := range stacks[0].launches {
		value, everywhere := 0.0, true
		for i, s := range stacks {
			j := slices.Index(s.launches, l)
			if everywhere = j >= 0; !everywhere {
				break
			}
			value += factors[i] * s.values[j]
		}
		if everywhere {
			out.launches, out.values = append(out.launches, l), append(out.values, value)
		}
	}
	return out
}

// prior is how many launches' worth of evidence the scatter of all cells is, beside that of a cell's own launches: three launches show no variance of their own
// (the moderated variance of Smyth 2004).
const prior = 4

// scatters returns how far each median may be from where the curve's other medians would have it, as its launches show. A launch in which everything takes
// longer moves the curve and bends it nowhere, so that what it moves all cells by, as a part of their scale, is taken out first. The second result is
// false if there are no two launches of every cell.
func (c *curve) scatters() ([]float64, bool) {
	rest, ok := c.centred()
	if !ok || len(rest) == 0 {
		return nil, false
	}
	var all []float64
	for i, e := range rest {
		k := float64(len(e))
		for _, x := range e {
			all = append(all, math.Abs(x)/c.scales[i]*math.Sqrt(k/(k-1)))
		}
	}
	common := median(all) / 0.6745
	out := make([]float64, len(rest))
	for i, e := range rest {
		k, own := float64(len(e)), 0.0
		for _, x := range e {
			own += x * x
		}
		usual := common * c.scales[i]
		out[i] = 1.2533 * math.Sqrt((prior*usual*usual+own)/(prior+k-1)/k) // of a median
	}
	return out, true
}

// centred returns what is left of each cell's launches without its value and without what a launch adds to all cells.
func (c *curve) centred() ([][]float64, bool) {
	by := make(map[int][]float64) // relative deviations of each launch
	for i, x := range c.cells {
		if len(x.launches.values) < 2 || c.scales[i] <= 0 {
			return nil, false
		}
		for j, v := range x.launches.values {
			launch := x.launches.launches[j]
			by[launch] = append(by[launch], (v-x.value)/c.scales[i])
		}
	}
	shift := make(map[int]float64, len(by))
	for launch, d := range by {
		shift[launch] = median(d)
	}
	rest := make([][]float64, len(c.cells))
	for i, x := range c.cells {
		for j, v := range x.launches.values {
			rest[i] = append(rest[i], v-x.value-shift[x.launches.launches[j]]*c.scales[i])
		}
	}
	return rest, true
}
