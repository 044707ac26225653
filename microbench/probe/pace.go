package probe

import (
	"slices"

	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// looks are how long it took P1 and P2 to look at their pace, in ns.
type looks [2]int64

// better returns the shorter ones, of those that there are.
func (a looks) better(b looks) looks {
	for i, t := range b {
		if t > 0 && (a[i] == 0 || t < a[i]) {
			a[i] = t
		}
	}
	return a
}

// paces are what the program calls paces, and whether samples of them are disturbed.
var paces = map[string]bool{"full": false, "p1": true, "p2": true, "both": true, "unknown": false}

// atOnePace returns for each timer of a cell one series, without a pace: the samples at full pace, or all if these are too few.
func atOnePace(parts []sample.Series) []sample.Series {
	const enough = 16 // so many have an interval with each root
	var all []sample.Series
	for len(parts) > 0 {
		s := parts[0]
		s.Disturbed = false
		of := func(x sample.Series) bool { x.Disturbed = false; return x.Key != s.Key }
		n := slices.IndexFunc(parts, of)
		if n < 0 {
			n = len(parts)
		}
		if parts[0].Disturbed || len(s.Times) < enough {
			s.Times = joined(parts[:n])
		}
		all, parts = append(all, s), parts[n:]
	}
	return all
}

// joined returns the samples of parts together: those with the first root, and then those with the second.
func joined(parts []sample.Series) []unit.Time {
	var times [2][]unit.Time
	for _, s := range parts {
		half := len(s.Times) / 2
		times[0], times[1] = append(times[0], s.Times[:half]...), append(times[1], s.Times[half:]...)
	}
	return slices.Concat(times[0], times[1])
}

// relabel says anew at which pace samples were made, now that the best looks of all launches are known: a processor that was slowed all through a launch had
// none as good in it. used are those that told the samples of each launch.
func relabel(series []sample.Series, used []looks, best looks) []sample.Series {
	var all []sample.Series
	place := make(map[sample.Key]int)
	for _, s := range series {
		for r, t := range used[s.Launch] {
			if float64(t) > machine.PaceTolerance*float64(best[r]) {
				s.Disturbed = s.Disturbed || r == 0 || !microbench.Alone(s.Mode, s.Timer)
			}
		}
		if n, there := place[s.Key]; there {
			all[n].Times = joined([]sample.Series{all[n], s})
			continue
		}
		place[s.Key] = len(all)
		all = append(all, s)
	}
	return all
}
