package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

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

// Contests returns what at least two entrants have in common, in the order of the first. Times are compared from a common start if all had one, or else of the slowest
// ranks behind barriers.
func Contests(entrants []Entrant) []Contest {
	type what struct {
		operation    string
		ranks, bytes int
	}
	var order []what
	of := make(map[what][]entry)
	for n, e := range entrants {
		for _, x := range e.Times {
			w := what{x.Operation, x.Ranks, x.Bytes}
			if of[w] == nil {
				order = append(order, w)
			}
			of[w] = append(of[w], entry{n, x})
		}
	}
	var all []Contest
	for _, w := range order {
		c := Contest{Operation: w.operation, Ranks: w.ranks, Bytes: w.bytes, Timer: sample.CollLast, Fastest: make([]Collective, len(entrants))}
		if slices.ContainsFunc(of[w], func(e entry) bool { return math.IsNaN(e.Last) }) {
			c.Timer = sample.CollMax
		}
		if c.enter(of[w]) > 1 {
			all = append(all, c)
		}
	}
	return all
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
