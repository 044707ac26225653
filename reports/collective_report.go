package reports

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
)

// CollectiveReport is what is shown of collective operations that were measured on machines.
type CollectiveReport struct {
	Title    string                           // default: of the entrants
	Machines []sample.Machine                 // what was measured
	Entrants []compare.Entrant                // whose
	Times    [][]compare.CollectiveComparison // of each entrant, with what a model says of them, if there is one
	Unknown  []string                         // why there is no model of some of them
	Contests []compare.Contest                // of the entrants, if there are several
	Warnings []clean.Warning                  // of all of them
}

// subjects are the entrants as a page shows them.
func (r *CollectiveReport) subjects() []subject {
	var all []subject
	for i, e := range r.Entrants {
		x := subject{name: transport(e.Platform, e.Library, e.Name), ink: subjectInks[i%len(subjectInks)], shape: i % len(solidGlyphs)}
		for _, m := range e.Machines {
			x.facts = append(x.facts, r.Machines[m].FactsByFile()...)
			x.launches = max(x.launches, launchesOf(r.Machines[m], e.Platform, e.Library, ""))
		}
		all = append(all, x)
	}
	return all
}

// operations returns what was measured, in the order of the times.
func (r *CollectiveReport) operations() []string {
	var names []string
	for _, times := range r.Times {
		for _, c := range times {
			if !slices.Contains(names, c.Operation) {
				names = append(names, c.Operation)
			}
		}
	}
	return names
}

// only returns the times of an operation, of all ranks or, if ranks is not 0, of so many.
func only(cs []compare.CollectiveComparison, operation string, ranks int) []compare.CollectiveComparison {
	var out []compare.CollectiveComparison
	for _, c := range cs {
		if c.Operation == operation && (c.Ranks == ranks || ranks == 0) {
			out = append(out, c)
		}
	}
	return out
}

// ranksOf returns the numbers of ranks that there are times of, the least first.
func ranksOf(cs []compare.CollectiveComparison) []int {
	var all []int
	for _, c := range cs {
		all = append(all, c.Ranks)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// real says whether any of it was measured by a real clock.
func (r *CollectiveReport) real() bool {
	return slices.ContainsFunc(r.Entrants, func(e compare.Entrant) bool { return e.Clock == "real" })
}
