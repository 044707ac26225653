package fit

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// Entrant is who takes part in contests: a platform with a library and a place, on one of several machines.
type Entrant struct {
	Machine                  int
	Platform, Library, Place string
}

// Contest is a collective operation among some ranks, on data of one length.
type Contest struct {
	Operation    string
	Ranks, Bytes int
	Timer        string       // by which entrants are compared
	Fastest      []Collective // of each entrant that by its fastest algorithm; with no Operation where it was not measured
}

// Micros returns what an entrant took, in microseconds; NaN if it was not measured.
func (c Contest) Micros(entrant int) float64 {
	switch x := c.Fastest[entrant]; {
	case x.Operation == "":
		return math.NaN()
	case c.Timer == sample.CollLast:
		return x.Last
	default:
		return x.Max
	}
}

// entry is a time of an entrant.
type entry struct {
	entrant int
	Collective
}

// Contests returns the entrants of the times of some machines, in their order, and what at least two of them have in common, in the order of the first. Times are
// compared from a common start if all had one, or else of the slowest ranks behind barriers.
func Contests(machines [][]Collective) (entrants []Entrant, all []Contest) {
	type what struct {
		operation    string
		ranks, bytes int
	}
	var order []what
	of := make(map[what][]entry)
	for n, times := range machines {
		for _, x := range times {
			who := Entrant{n, x.Platform, x.Library, x.Place}
			if !slices.Contains(entrants, who) {
				entrants = append(entrants, who)
			}
			w := what{x.Operation, x.Ranks, x.Bytes}
			if of[w] == nil {
				order = append(order, w)
			}
			of[w] = append(of[w], entry{slices.Index(entrants, who), x})
		}
	}
	for _, w := range order {
		c := Contest{Operation: w.operation, Ranks: w.ranks, Bytes: w.bytes, Timer: sample.CollLast, Fastest: make([]Collective, len(entrants))}
		if slices.ContainsFunc(of[w], func(e entry) bool { return math.IsNaN(e.Last) }) {
			c.Timer = sample.CollMax
		}
		if c.enter(of[w]) > 1 {
			all = append(all, c)
		}
	}
	return entrants, all
}

// enter finds the fastest of each entrant, and returns how many entrants there are.
func (c *Contest) enter(entries []entry) int {
	n := 0
	for _, e := range entries {
		before, took := c.Fastest[e.entrant], c.Micros(e.entrant)
		if before.Operation == "" {
			n++
		}
		if c.Fastest[e.entrant] = e.Collective; took <= c.Micros(e.entrant) {
			c.Fastest[e.entrant] = before
		}
	}
	return n
}
