package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// joinSentences joins those that are not empty.
func joinSentences(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// libraryChoiceSentences say how often each library takes the fastest algorithm, and what the best
// would save.
func (r *CollectiveReport) libraryChoiceSentences(all []reportSubject) string {
	var sentences []string
	for i, x := range all {
		sentences = append(sentences, libraryChoiceSentence(libraryTitle(r.Subjects[i].Library, x.name), r.Times[i]))
	}
	return joinSentences(sentences...)
}

// libraryTitle names a library of a subject, with the subject's name if that does not contain it.
func libraryTitle(library, name string) string {
	if library == "" || strings.Contains(name, library) {
		return name
	}
	return library + " on " + name
}

// libraryChoiceSentence says it of one library. It is empty if several algorithms were not measured
// and it is not known which one the library takes.
func libraryChoiceSentence(name string, cs []compare.CollectiveComparison) string {
	fs := compare.FastestAlgorithms(cs)
	if len(fs) == 0 {
		return unforcedChoiceSentence(name, cs)
	}
	var known []compare.FastestAlgorithm
	fastest := 0
	var most compare.FastestAlgorithm // with the largest saving
	absent := map[string]bool{}       // algorithms that the library takes and that were not measured
	for _, f := range fs {
		switch {
		case f.Taken.Operation != "":
			known = append(known, f)
			if f.SavingPercent() == 0 {
				fastest++
			} else if most.Operation == "" || f.SavingPercent() > most.SavingPercent() {
				most = f
			}
		case f.LibraryChoice != "":
			absent[f.LibraryChoice] = true
		}
	}
	var text string
	switch {
	case len(known) == 0 && len(absent) == 0:
		return fmt.Sprintf("Which algorithm %s takes is not known.", name)
	case len(known) > 0 && fastest == len(known):
		text = fmt.Sprintf("%s takes the fastest one at all %d lengths.", name, len(known))
		if len(known) == 1 {
			text = fmt.Sprintf("%s takes the fastest one.", name)
		}
	case len(known) > 0:
		text = fmt.Sprintf("%s takes the fastest one at %d of %s; the most is saved by %s instead of %s for %s: %s%s%%.", name, fastest, format.Plural(len(known), "length"),
			most.Algorithm, takenAlgorithm(most), callTitle(most.CollectiveComparison), format.WithDecimals(most.SavingPercent(), 0), format.NonBreakingSpace)
	}
	if len(absent) > 0 {
		var names []string
		for a := range absent {
			names = append(names, a)
		}
		slices.Sort(names)
		text = joinSentences(text, fmt.Sprintf("%s also takes %s, which %s not measured.", name, listFirstNames(names), wasOrWere(len(names))))
	}
	return text
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// unforcedChoiceSentence says which algorithms a library takes that was measured by its own choice
// alone, if its rules are known.
func unforcedChoiceSentence(name string, cs []compare.CollectiveComparison) string {
	unforced := slices.DeleteFunc(slices.Clone(cs), func(c compare.CollectiveComparison) bool { return !c.IsUnforced() })
	if len(unforced) == 0 {
		return ""
	}
	var words []string
	for i, c := range unforced {
		if c.LibraryChoice == "" {
			return fmt.Sprintf("Which algorithm %s takes is not known.", name)
		}
		isNext := i > 0 && unforced[i-1].Operation == c.Operation && unforced[i-1].Ranks == c.Ranks
		if isNext && unforced[i-1].LibraryChoice == c.LibraryChoice {
			continue
		}
		if word := c.LibraryChoice + " for " + callTitle(c); isNext {
			words = append(words, fmt.Sprintf("%s from %s on", c.LibraryChoice, format.Size(c.Bytes)))
		} else {
			words = append(words, word)
		}
	}
	const most = 3
	rest := ""
	if len(words) > most {
		words, rest = words[:most], ", and more in the tables"
	}
	return fmt.Sprintf("By the rules of its version, %s takes %s%s.", name, strings.Join(words, ", "), rest)
}

// callTitle names an operation of a length among some ranks.
func callTitle(c compare.CollectiveComparison) string {
	text := c.Operation
	if c.Bytes > 0 {
		text += " of " + format.Size(c.Bytes)
	}
	return text + " among " + format.Plural(c.Ranks, "rank")
}

// minSavingPercent is the smallest predicted saving that counts: models are not as accurate.
const minSavingPercent = 1

// predictedChoiceSentence says how often the library takes the algorithm that is the fastest by the
// model, and what that would save.
func predictedChoiceSentence(all []PredictedCollective) string {
	if len(all) == 0 {
		return ""
	}
	library := all[0].Library
	known, fastest, most := 0, 0, 0.0
	var example string
	for _, c := range all {
		if c.Choices == nil {
			return fmt.Sprintf("Which algorithm %s takes is not known.", cmp.Or(library, "the library"))
		}
		for i, k := range c.Sizes {
			taken, ranked := c.Algorithms[c.Choices[i]], c.rankedAt(i)
			if !taken.Positions[i].HasTime() {
				continue
			}
			saved := 100 * (1 - timeRatio(ranked[0].Costs[i].LastEnd.Micros(), taken.Costs[i].LastEnd.Micros()))
			if known++; saved < minSavingPercent {
				fastest++
			} else if saved > most {
				most, example = saved, fmt.Sprintf("%s instead of %s for %s", ranked[0].Name, taken.Name, c.lengthTitle(k))
			}
		}
	}
	if known == 0 {
		return ""
	}
	text := fmt.Sprintf("By the model, %s takes the fastest algorithm at %d of %s", library, fastest, format.Plural(known, "length"))
	if example == "" {
		return text + "."
	}
	return fmt.Sprintf("%s; the most is saved by %s: %s%s%%.", text, example, format.WithDecimals(most, 0), format.NonBreakingSpace)
}

// lengthTitle names the operation and a length.
func (c PredictedCollective) lengthTitle(bytes int) string {
	if bytes == 0 {
		return c.Operation
	}
	return c.Operation + " of " + format.Size(bytes)
}

// rankedAt returns the algorithms with a time at a size, the fastest first.
func (c PredictedCollective) rankedAt(i int) []PredictedAlgorithm {
	known := slices.DeleteFunc(slices.Clone(c.Algorithms), func(a PredictedAlgorithm) bool { return !a.Positions[i].HasTime() })
	slices.SortStableFunc(known, func(a, b PredictedAlgorithm) int { return cmp.Compare(a.Costs[i].LastEnd, b.Costs[i].LastEnd) })
	return known
}

// timeRatio returns the ratio of two times, which is 1 if both are 0, as among one rank.
func timeRatio(t, reference float64) float64 {
	if t == reference {
		return 1
	}
	return t / reference
}

// Chart returns bars of the algorithms at each size, the fastest first, with what the library takes
// in another colour. Sizes have axes of their own, because times differ by orders of magnitude:
// bars are relative to the fastest.
func (c PredictedCollective) Chart(title string) *chart.Chart {
	p := chart.StripPlot{XLabel: "time relative to the fastest"}
	for i, k := range c.Sizes {
		ranked := c.rankedAt(i)
		if len(ranked) == 0 {
			continue
		}
		g := chart.StripGroup{Name: c.lengthTitle(k)}
		best := ranked[0].Costs[i].LastEnd.Micros()
		for _, a := range ranked {
			us := a.Costs[i].LastEnd.Micros()
			row := chart.StripRow{Name: a.Name, Note: format.MicrosWithUnit(us), Bars: []chart.Bar{{End: timeRatio(us, best), Color: chart.Blue}}}
			if c.Choices != nil && c.Algorithms[c.Choices[i]].Name == a.Name {
				row.Name += ", " + libraryChoice
				row.Bars[0].Color = chart.Orange
			}
			g.Rows = append(g.Rows, row)
		}
		p.Groups = append(p.Groups, g)
	}
	return p.Chart(format.FileName(c.Operation, "algorithms"), c.Operation+" of "+title, predictedChoiceSentence([]PredictedCollective{c}))
}
