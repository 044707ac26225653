package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
)

// doubts are the warnings of all transports by kind, each kind with the transports that it concerns.
func (s *Survey) doubts(all []subject) []kindView {
	var out []kindView
	for i, x := range all {
		for _, w := range s.Results[s.Fit.Subjects[i].Machine].Warnings {
			if w.Platform != x.platform || w.Library != x.library || w.Place != x.place.place {
				continue
			}
			k := slices.IndexFunc(out, func(v kindView) bool { return v.Code == w.Code })
			if k < 0 {
				k, out = len(out), append(out, kindView{Code: w.Code, Meaning: meanings[w.Code]})
			}
			name := strings.TrimSpace(w.Mode + " " + w.Parameter)
			if ofLaunches(w.Code) {
				out[k].Cases = append(out[k].Cases, caseView{x.name, w.Text})
				continue
			}
			cases := out[k].Cases
			if n := len(cases); n == 0 || cases[n-1].Subjects != x.name {
				out[k].Cases = append(cases, caseView{x.name, name})
			} else if !slices.Contains(strings.Split(cases[n-1].Text, ", "), name) {
				cases[n-1].Text += ", " + name
			}
		}
	}
	for i := range out {
		for j := range out[i].Cases {
			c := &out[i].Cases[j]
			if !ofLaunches(out[i].Code) {
				c.Text = some(strings.Split(c.Text, ", "))
			}
		}
	}
	return byGravity(out)
}

// byGravity sorts kinds of warnings, the gravest first.
func byGravity(all []kindView) []kindView {
	rank := func(v kindView) int {
		if i := slices.Index(gravest, v.Code); i >= 0 {
			return i
		}
		return len(gravest)
	}
	slices.SortStableFunc(all, func(a, b kindView) int { return rank(a) - rank(b) })
	return all
}

// ofLaunches says whether warnings of a code are of launches as a whole, in words of their own, and not of a parameter.
func ofLaunches(code string) bool { return code == clean.DisturbedUsed }

// gravest are the codes of warnings after which a number is missing or may be far off, the gravest first.
var gravest = []string{clean.DisturbedUsed, clean.Disturbed, clean.NegativeLatency, clean.Unidentified, clean.Skew, clean.LateStarts, clean.NoCommonStart, clean.NotLinear, clean.FewSizes, clean.FewReps, clean.CoarseTimer, clean.Drift, clean.RootsDisagree, clean.DirectionsDiffer, clean.HeavyTail}

// some lists the first of many words.
func some(words []string) string {
	const few = 8
	if n := len(words); n > few+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:few], ", "), n-few)
	}
	return strings.Join(words, ", ")
}
