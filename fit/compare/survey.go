package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

// Survey is what is asked first of transports that were measured on real machines, side by side. Times are in microseconds.
type Survey struct {
	Subjects  []Subject
	Standings []Standing
	Overlaps  []Overlap
	Halves    []Crossover // from which size on a send that does not block may leave half of the way to the program
	Scatters  []Scatter
	Tails     []Tail
}

// The sizes at which a survey shows numbers, or the nearest that all subjects have.
const (
	surveyedSmall  = 8
	surveyedMiddle = 1024
	surveyedLarge  = 65536
)

// NewSurvey surveys the subjects of some sets, each of which is fitted by itself. The errors are those of Fit.
func NewSurvey(machines []sample.Machine, o clean.Options) (*Survey, error) {
	o = o.Defaults()
	all, err := parties(machines, o)
	if err != nil {
		return nil, err
	}
	s := &Survey{}
	for _, p := range all {
		s.Subjects = append(s.Subjects, p.Subject)
		s.Scatters = append(s.Scatters, p.scatters(len(s.Subjects)-1, all)...)
		s.Tails = append(s.Tails, p.tails(len(s.Subjects)-1, all)...)
	}
	s.Standings = standings(all, o)
	s.Overlaps, s.Halves = free(all, o)
	return s, nil
}

// commonNear returns the size nearest to a wish, by their ratio, at which a timer of a mode was measured by all subjects that have it; or -1.
func commonNear(all []*party, modeName, timer string, wish int) int {
	var common []int
	first := true
	for _, p := range all {
		c := p.Curve(modeName, timer)
		if c == nil {
			continue
		}
		var sizes []int
		for _, x := range slices.Concat(c.Cells, c.Held) {
			if first || slices.Contains(common, x.Bytes) {
				sizes = append(sizes, x.Bytes)
			}
		}
		common, first = sizes, false
	}
	best, least := -1, math.Inf(1)
	for _, k := range common {
		if d := math.Abs(math.Log(float64(max(k, 1))) - math.Log(float64(wish))); d < least {
			best, least = k, d
		}
	}
	return best
}

// sizeFor returns the size nearest to a wish at which a subject is looked at: that of all subjects, if they have one that is not twice as long or half as long, or else its own.
func (p *party) sizeFor(all []*party, modeName, timer string, wish int) int {
	k := commonNear(all, modeName, timer, wish)
	if k >= 0 && max(k, wish) < 2*max(min(k, wish), 1) {
		return k
	}
	if own := commonNear([]*party{p}, modeName, timer, wish); own >= 0 {
		return own
	}
	return k
}

// longest returns the longest message that all subjects with a timer of a mode were measured at or beyond, or -1.
func longest(all []*party, modeName, timer string) int {
	k := -1
	for _, p := range all {
		if c := p.Curve(modeName, timer); c != nil {
			if own := c.Cells[len(c.Cells)-1].Bytes; k < 0 || own < k {
				k = own
			}
		}
	}
	return k
}
