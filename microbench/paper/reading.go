package paper

import (
	"fmt"
	"math"
)

// What a verdict does not say: where else the claim would be decided the other way, and how near a value is to the edge of what a claim is
// read as.

// everywhere decides a claim that names no platform on the T3D. The numbers of the others stand beside it; where they say otherwise is noted.
func (r *Results) everywhere(decide func(s Subject) (holds bool, text string)) (holds bool, evidence []string) {
	holds, text := decide(t3d)
	evidence = append(evidence, text)
	decisive := *r
	r.asked = nil
	defer func() { r.asked, r.nearest, r.edges = decisive.asked, decisive.nearest, decisive.edges }()
	for _, s := range []Subject{now, convexInter, convexIntra} {
		other, text := decide(s)
		evidence = append(evidence, text)
		if other != holds {
			r.otherwise = append(r.otherwise, s)
		}
	}
	return holds, evidence
}

// closeBy is how near a value is to an edge, relative to it, if that is to be said.
const closeBy = 0.1

// inside says whether a value is in the range that a claim is read as, and notes the one that is closest to an edge of it.
func (r *Results) inside(what string, v Value, low, high float64) bool {
	for _, edge := range []float64{low, high} {
		off := math.Abs(v.V-edge) / edge
		if off < closeBy && (len(r.edges) == 0 || off < r.nearest) {
			r.nearest = off
			r.edges = []string{fmt.Sprintf("%s is %.1f %% from the edge of the reading, %s to %s", what, 100*off, digits(low), digits(high))}
		}
	}
	return low <= v.V && v.V <= high
}

// sure notes if the interval of a value reaches over the edge of the range that a claim is read as.
func (r *Results) sure(what string, v Value, low, high float64) bool {
	if v.Low < low || v.High > high {
		r.edges = append(r.edges, fmt.Sprintf("the interval of %s reaches over the edge of the reading, %s to %s", what, digits(low), digits(high)))
	}
	return low <= v.V && v.V <= high
}
