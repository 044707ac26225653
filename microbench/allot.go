package microbench

import (
	"math"

	"github.com/loggp/loggp/model/unit"
)

// Time is too short for everything to be known, so that it is given to what is farthest from it, and gains most by it.

// need is what an item lacks.
type need struct {
	scatter   float64   // half of the interval of one sample, over what is wanted: n samples have scatter/√n, and scatter² are enough
	cost      unit.Time // of a sample
	had, most int       // samples
}

// allot returns how many samples each item gets in some time, on average. Their number n is to be
//
//	n ∝ scatter/√cost
//
// for which the sum of the squares of all intervals is the least that there is for the time (Neyman, On the Two Different Aspects of the
// Representative Method, 1934, §IV), but none gets more than it needs.
func allot(needs []need, time unit.Time) []float64 {
	low, high := 0.0, 1.0
	for high < math.MaxInt32 && taken(needs, high) < float64(time) {
		low, high = high, 2*high
	}
	for range 30 {
		if middle := (low + high) / 2; taken(needs, middle) <= float64(time) {
			low = middle
		} else {
			high = middle
		}
	}
	samples := make([]float64, len(needs))
	for i, n := range needs {
		samples[i] = n.more(low)
	}
	return samples
}

// more returns how many samples an item gets where a unit of scatter/√cost gets so many.
func (n need) more(rate float64) float64 {
	wanted := math.Min(math.Ceil(n.scatter*n.scatter), float64(n.most))
	return math.Max(0, math.Min(wanted, rate*n.scatter/math.Sqrt(float64(n.cost)))-float64(n.had))
}

// taken returns how long that takes all of them.
func taken(needs []need, rate float64) float64 {
	sum := 0.0
	for _, n := range needs {
		sum += n.more(rate) * float64(n.cost)
	}
	return sum
}

// blind is how far, in what is wanted, the median of an item is from known that has too few samples for an interval.
const blind = 4

// lacks returns the scatter of an item as its samples show it, or as those of earlier launches did; 0: none do.
func (l *leader) lacks(i *item) float64 {
	if n := l.need(i); n.had >= seen {
		return n.scatter
	}
	return i.scatter
}

// need returns what an item lacks: what the timer lacks of which least is known.
func (l *leader) need(i *item) need {
	unseen := i.scatter
	if unseen == 0 {
		unseen = blind * math.Sqrt(seen)
	}
	n := need{cost: i.cost, had: i.rounds, most: l.limit(i)}
	if i.rounds == 0 {
		n.scatter = unseen
	}
	for _, t := range l.timers(i) {
		if !judged(t.name) {
			continue
		}
		e, had := l.aimed(i, t)
		away, of := e.away(l.wanted(i), l.Step), had
		scatter := away * math.Sqrt(float64(of))
		if math.IsInf(away, 1) {
			scatter = unseen
		}
		if scatter > n.scatter {
			n.scatter, n.had = scatter, had
		}
	}
	return n
}
