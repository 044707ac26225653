package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// meanings say in plain words what a warning means, by its code.
var meanings = map[string]string{
	clean.FewSizes:         "Too few message sizes, or no small ones: measure more of them (--sizes).",
	clean.FewReps:          "Too few repetitions, so that their median is uncertain: measure more of them (--reps).",
	clean.NegativeLatency:  "o_s and o_r of these calls contain work that goes on while the message is on its way, so that they cannot be subtracted from a round trip: no latency is left. Use L of ssend, of low-level messages (--level message), or rtt/2.",
	clean.NotLinear:        "Times do not lie on a straight line: its numbers only summarize them, and ± understates how far off they are. Measure more sizes (--sizes), or use the measured times.",
	clean.RootsDisagree:    "A time depends on which processor leaves the barrier first. The shorter one counts, since a barrier can only delay, and it is a little uncertain.",
	clean.OddReps:          "Half of the repetitions should have the barrier's root at either processor, but their number is odd: something is missing in the file.",
	clean.HeavyTail:        "Some calls took far longer than most. Medians are not affected, means are: look for other load on the machine.",
	clean.CoarseTimer:      "The steps of the clock are too long for such short times: only the time of several calls together would show them.",
	clean.Drift:            "The machine became slower or faster during the run: warm up longer (--warmup), or measure again.",
	clean.Disturbed:        "Other load took most of the time in more than half of the samples of a size: they lie far above the line of the other sizes, or a train of messages took less time than one. These sizes are left out: measure again on a quiet machine.",
	clean.Falls:            "A call takes less time for longer messages. An overhead per byte is not below zero: one number stands for the range.",
	clean.DisturbedUsed:    "Other load ran on the processors of the ranks nearly all the time, or their clocks were slower, so that there are too few undisturbed samples. Numbers may be up to twice those of a quiet machine: measure longer (--budget), or see loggp doctor.",
	clean.DirectionsDiffer: "A send takes longer at one processor than at the other: overheads are those of the first.",
	clean.PlatformChanged:  "The file of the platform is not where it was, or was changed since. To see the source of its numbers, put it back, or measure again.",
	clean.Hindered:         "An earlier message, such as the barrier's last, still delays the send that timer11 times: o_s is from the same call after a wait (idle). There is nothing to do.",
	clean.Skew:             "The barrier releases the two processors at times that lie further apart than the message takes, so that a receive that should wait for it finds it there. L has bounds only, and G is from half of the samples: low-level messages (--level message) tell more.",
	clean.OneTier:          "All pairs of ranks take about as long: either no two are nearer than others, or the difference is smaller than the scatter of pairs. Low-level messages (--level message) or more repetitions (--reps) may tell more.",
	clean.TiersUnclear:     "The tiers lie so close that a rank may be in the wrong group, or that there may be fewer tiers: measure all pairs with more repetitions (--reps), or at other sizes.",
	clean.OddPairs:         "Some pairs of ranks take a longer or shorter time than the groups of their ranks suggest. They count where their ranks belong: look for other load on the machine, or for a bad link.",
	clean.PairsMissing:     "Not all pairs of the ranks were measured.",
	clean.UnequalGroups:    "The groups of ranks are not of one size, which LoGH{sSP} supposes.",
	clean.LateStarts:       "Many repetitions were dropped, as a rank came too late to a start that was agreed on. The remaining ones are from quieter moments: look for other load on the machine.",
	clean.NoCommonStart:    "Ranks had no clock by which to begin together, so that times are of the slowest rank's call behind a barrier, which ranks leave one after another.",
	clean.StartsDiffer:     "A time depends more on how repetitions begin than on the operation: do not compare it with times that were measured in the other way.",
	clean.Unidentified:     "The samples do not determine a parameter: it is too small to be distinguished from zero, or something else is the limit. Low-level messages (--level message) or more repetitions (--reps) may tell more.",
}

// importedMeanings are those of warnings about what another tool has measured, where flags of loggp measure do not help.
var importedMeanings = map[string]string{
	clean.FewSizes:        "Too few message sizes, or no small ones.",
	clean.FewReps:         "The tool prints a mean of each size, or few repetitions: how much these scatter is not known.",
	clean.NegativeLatency: "o_s and o_r of these calls contain work that goes on while the message is on its way, so that they cannot be subtracted from a round trip: no latency is left. Use rtt/2.",
	clean.NotLinear:       "Times do not lie on a straight line: its numbers only summarize them, and ± understates how far off they are. Use the measured times.",
	clean.CoarseTimer:     "The tool prints too few digits of such short times.",
	clean.Drift:           "The machine became slower or faster during the run.",
	clean.Disturbed:       "Other load took most of the time in more than half of the samples of a size: they lie far above the line of the other sizes, or a train of messages took less time than one. These sizes are left out.",
	clean.NoCommonStart:   "Ranks had no clock by which to begin together, so that times are of calls behind a barrier, which ranks leave one after another.",
	clean.Unidentified:    "The samples do not determine a parameter: the tool does not measure it, it is too small to be distinguished from zero, or something else is the limit.",
}

// meaningOf says what a kind of warnings means, without advice on measuring again if all are about what another tool has measured.
func meaningOf(code string, all []clean.Warning) string {
	own := slices.ContainsFunc(all, func(w clean.Warning) bool { return w.Code == code && !w.Imported })
	if text := importedMeanings[code]; text != "" && !own {
		return text
	}
	return meanings[code]
}

// gravest are the codes of warnings after which a number is missing or may be far off, the gravest first.
var gravest = []string{clean.DisturbedUsed, clean.Disturbed, clean.NegativeLatency, clean.Unidentified, clean.Skew, clean.LateStarts, clean.NoCommonStart, clean.NotLinear,
	clean.FewSizes, clean.FewReps, clean.CoarseTimer, clean.Drift, clean.RootsDisagree, clean.DirectionsDiffer, clean.HeavyTail}

// Warnings are shown by what they say while that are few texts, and else by where: with some names, and how many more.
const (
	fewTexts = 4
	fewNames = 8
)

// warnings is a section of warnings, those of a kind together, the gravest kind first. warnings.csv has each of them.
func warnings(ws []clean.Warning) doc.Section {
	several := slices.ContainsFunc(ws, func(w clean.Warning) bool { return placeOf(w) != placeOf(ws[0]) })
	s := doc.Section{ID: "warnings", Title: "Warnings"}
	for _, w := range ws {
		if !slices.ContainsFunc(s.Warnings, func(k doc.Warning) bool { return k.Code == w.Code }) {
			s.Warnings = append(s.Warnings, warning(w.Code, ws, several))
		}
	}
	rank := func(code string) int {
		if i := slices.Index(gravest, code); i >= 0 {
			return i
		}
		return len(gravest)
	}
	slices.SortStableFunc(s.Warnings, func(a, b doc.Warning) int { return cmp.Compare(rank(a.Code), rank(b.Code)) })
	return s
}

// placeOf says where the samples of a warning are from.
func placeOf(w clean.Warning) string { return format.Place(w.Platform, w.Library, w.Place) }

// warning is the warnings of one kind.
func warning(code string, all []clean.Warning, several bool) doc.Warning {
	k := doc.Warning{Code: code, Meaning: meaningOf(code, all)}
	var texts, places []string
	names := map[[2]string][]string{} // by text and place
	for _, w := range all {
		if w.Code != code {
			continue
		}
		k.Count++
		key := [2]string{w.Text, placeOf(w)}
		texts, places, names[key] = appendNew(texts, key[0]), appendNew(places, key[1]), appendNew(names[key], subjectOf(w))
	}
	if len(texts) <= fewTexts {
		for _, t := range texts {
			var subjects []string
			for _, p := range places {
				if of := names[[2]string{t, p}]; of != nil {
					subjects = append(subjects, strings.Join(of, ", ")+placeSuffix(p, several))
				}
			}
			k.Cases = append(k.Cases, doc.Case{Subjects: strings.Join(subjects, "; "), Text: t})
		}
		return k
	}
	for _, p := range places {
		var of []string
		for _, t := range texts {
			for _, n := range names[[2]string{t, p}] {
				of = appendNew(of, n)
			}
		}
		k.Cases = append(k.Cases, doc.Case{Subjects: some(of) + placeSuffix(p, several)})
	}
	return k
}

// subjectOf names what a warning is about: a parameter of a mode, or times of an operation among some ranks, bcast:4.
func subjectOf(w clean.Warning) string {
	if operation, ranks, ok := strings.Cut(w.Mode, ":"); ok {
		return fmt.Sprintf("%s of %s ranks, %s", operation, ranks, w.Parameter)
	}
	return strings.TrimSpace(w.Mode + " " + w.Parameter)
}

func placeSuffix(place string, several bool) string {
	if !several {
		return ""
	}
	return " (" + place + ")"
}

// some lists the first of many words.
func some(words []string) string {
	if n := len(words); n > fewNames+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:fewNames], ", "), n-fewNames)
	}
	return strings.Join(words, ", ")
}

// warningsFile is all warnings, a row each.
func warningsFile(ws []clean.Warning) doc.File {
	t := &doc.Table{Name: "warnings", Columns: doc.Heads("platform", "library", "place", "mode", "of", "code", "text")}
	for _, w := range ws {
		t.Add(doc.Texts(w.Platform, w.Library, w.Place, w.Mode, w.Parameter, w.Code, w.Text)...)
	}
	return render.File(t)
}

// Advice is what was found about a machine that matters to measurements on it.
type Advice struct {
	Check, Verdict, Found string
	Why, Do               string // "": nothing is to be done

	Grave bool // it spoils numbers, or makes measuring impossible
}

// Doctor is what was found about a machine, and what to do about it.
func Doctor(all []Advice) *doc.Document {
	d := &doc.Document{Title: "What measurements on this machine depend on"}
	d.AddTables("doctor", d.Title, findingTable(all), adviceTable(all))
	t := &doc.Table{Name: "findings", Columns: doc.Heads("check", "verdict", "found", "why", "do")}
	for _, a := range all {
		t.Add(doc.Texts(a.Check, a.Verdict, a.Found, a.Why, a.Do)...)
	}
	d.Files = []doc.File{render.File(t)}
	return d
}

// findingTable has what was found.
func findingTable(all []Advice) *doc.Table {
	t := &doc.Table{Name: "doctor", Title: "What measurements on this machine depend on", Columns: []doc.Column{{Head: "check", Key: true}, {Head: "verdict", Key: true}, {Head: "found", Kind: doc.Prose}}}
	for _, a := range all {
		t.Add(doc.Words(a.Check), a.verdict(), doc.Words(a.Found))
	}
	return t
}

func (a Advice) verdict() doc.Cell {
	switch {
	case a.Grave:
		return doc.Words(a.Verdict).In(doc.Bad)
	case a.Why == "" && a.Do == "":
		return doc.Words(a.Verdict).In(doc.Good)
	}
	return doc.Words(a.Verdict)
}

// adviceTable has why it matters and what to do, what is grave before the rest.
func adviceTable(all []Advice) *doc.Table {
	t := &doc.Table{Name: "advice", Columns: []doc.Column{{Head: "check", Key: true}, {Head: "why it matters", Kind: doc.Prose}, {Head: "what to do", Kind: doc.Prose}}}
	for _, grave := range []bool{true, false} {
		for _, a := range all {
			if a.Grave != grave || a.Why == "" && a.Do == "" {
				continue
			}
			do := doc.Words(a.Do)
			if a.Do == "" {
				do = doc.None
			}
			t.Add(doc.Words(a.Check).In(doc.Strong), doc.Words(a.Why), do)
		}
	}
	return t
}
