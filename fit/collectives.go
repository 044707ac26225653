package fit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/loggp/loggp/microbench/sample"
)

// Collective is what a collective operation took, by one algorithm and on data of one length: medians of the repetitions of each launch, and of these the
// median, in microseconds. A time of which there are no samples is NaN.
type Collective struct {
	Platform, Library, Place, Clock string

	Operation, Algorithm string
	Ranks, Bytes         int

	Min, Median, Max float64 // of the ranks' own times, behind a barrier
	Last             float64 // from a common start until the last rank has ended
	Samples          int     // repetitions, of the timer that has most
}

// Took returns the time that counts, and its timer: until the last rank has ended from a common start, or else the slowest rank's.
func (c Collective) Took() (micros float64, timer string) {
	if math.IsNaN(c.Last) {
		return c.Max, sample.CollMax
	}
	return c.Last, sample.CollLast
}

func (c Collective) took() float64 {
	micros, _ := c.Took()
	return micros
}

// OfCollectives says whether a set has samples of collective operations, and whether it has others.
func OfCollectives(set *sample.Set) (some, others bool) {
	for i := range set.Series {
		if sample.Collective(set.Series[i].Timer) {
			some = true
		} else {
			others = true
		}
	}
	return some, others
}

// errCollective is what a fit says to samples of collective operations alone.
var errCollective = errors.New("fit: all samples are of collective operations, which show no parameters of single messages: measure those without --collective; 'loggp compare --samples FILE' sets these beside the model")

// Collectives returns what a set says of collective operations, in the order of its series. It is an error if the facts do not say of how many ranks.
func Collectives(set *sample.Set) ([]Collective, error) {
	var all []Collective
	medians := make(map[sample.Key][]float64) // of launches, by timer
	at := make(map[sample.Key]int)            // in all, by what is the same of all timers
	samples := make(map[sample.Key]int)       // by timer
	ranks, err := ranksByFile(set.FactsByFile())
	for i := range set.Series {
		s := &set.Series[i]
		if !sample.Collective(s.Timer) || len(s.Times) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		k := s.Key
		k.Launch = 0
		times := make([]float64, len(s.Times))
		for i, t := range s.Times {
			times[i] = t.Micros()
		}
		medians[k] = append(medians[k], median(times))
		samples[k] += len(times)
		k.Timer = ""
		if _, known := at[k]; !known {
			at[k] = len(all)
			all = append(all, Collective{Platform: s.Platform, Library: s.Library, Place: s.Place, Clock: s.Clock,
				Operation: s.Mode, Algorithm: s.Protocol, Ranks: ranks[min(s.File, len(ranks)-1)], Bytes: s.Bytes})
		}
	}
	for k, i := range at {
		c := &all[i]
		for timer, to := range map[string]*float64{sample.CollMin: &c.Min, sample.CollMedian: &c.Median, sample.CollMax: &c.Max, sample.CollLast: &c.Last} {
			k.Timer = timer
			*to = math.NaN()
			if m := medians[k]; len(m) > 0 {
				*to = median(m)
			}
			c.Samples = max(c.Samples, samples[k])
		}
	}
	return all, nil
}

// ranksByFile reads the number of ranks of each file.
func ranksByFile(files [][]sample.Fact) ([]int, error) {
	var ranks []int
	for _, file := range files {
		value, _ := (&sample.Set{Facts: file}).Fact(sample.Ranks)
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("fit: samples of collective operations, and the fact %q is %q: it does not say of how many ranks", sample.Ranks, value)
		}
		ranks = append(ranks, n)
	}
	if ranks == nil {
		return nil, fmt.Errorf("fit: samples of collective operations, and no fact %q that says of how many ranks", sample.Ranks)
	}
	return ranks, nil
}

// CollectiveComparison sets what a model says of a collective operation beside what it took.
type CollectiveComparison struct {
	Collective
	Predicted float64 // microseconds
	By        string  // whose parameters the model takes
}

// Comparison returns the comparison as files have it: the quantity is the timer, with operation and ranks, as coll_last(bcast:8).
func (c CollectiveComparison) Comparison() Comparison {
	took, timer := c.Took()
	q := Query{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: fmt.Sprintf("%s:%d", c.Operation, c.Ranks), Protocol: c.Algorithm, Quantity: timer, Bytes: c.Bytes}
	return comparison(q, Prediction{Micros: c.Predicted}, took)
}

// Fastest is which of some algorithms is the fastest for an operation, by measurement and by the model.
type Fastest struct {
	CollectiveComparison                      // by measurement
	ByModel              CollectiveComparison // whose algorithm the model takes for the fastest
}

// Loss returns by how much, in percent, what the model takes for the fastest is slower than what is.
func (f Fastest) Loss() float64 {
	return 100 * (f.ByModel.took() - f.took()) / f.took()
}

// FastestOf returns the fastest algorithms for each operation and length, in the order of the comparisons. Where there is only one there is no choice.
func FastestOf(cs []CollectiveComparison) []Fastest {
	type what struct {
		platform, library, place, operation string
		ranks, bytes                        int
	}
	var order []what
	of := make(map[what][]CollectiveComparison)
	for _, c := range cs {
		w := what{c.Platform, c.Library, c.Place, c.Operation, c.Ranks, c.Bytes}
		if of[w] == nil {
			order = append(order, w)
		}
		of[w] = append(of[w], c)
	}
	var all []Fastest
	for _, w := range order {
		if len(of[w]) < 2 {
			continue
		}
		all = append(all, Fastest{
			slices.MinFunc(of[w], func(a, b CollectiveComparison) int { return cmp.Compare(a.took(), b.took()) }),
			slices.MinFunc(of[w], func(a, b CollectiveComparison) int { return cmp.Compare(a.Predicted, b.Predicted) }),
		})
	}
	return all
}
