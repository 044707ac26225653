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

// warningMeanings say in plain words what a warning means, by its code.
var warningMeanings = map[string]string{
	clean.CodeFewSizes:         "Too few message sizes, or no small ones: measure more of them (--sizes).",
	clean.CodeFewReps:          "Too few repetitions, so that their median is uncertain: measure more of them (--reps).",
	clean.CodeNegativeLatency:  "o_s and o_r of these calls contain work that overlaps with the transfer, so they cannot be subtracted from a round trip: the result would be negative. Use L of ssend, of low-level messages (--level message), or rtt/2.",
	clean.CodeNotLinear:        "Times do not lie on a straight line: its numbers only summarize them, and ± understates how far off they are. Measure more sizes (--sizes), or use the measured times.",
	clean.CodeRootsDisagree:    "A time depends on which processor leaves the barrier first. The shorter time is used, because a barrier can only delay; it is slightly uncertain.",
	clean.CodeOddReps:          "The number of repetitions is odd, but half of them should have the barrier's root at each processor: samples are missing in the file.",
	clean.CodeHeavyTail:        "Some calls took far longer than most. This affects means, but not medians: look for other load on the machine.",
	clean.CodeCoarseTimer:      "The clock is too coarse for such short times: only several calls timed together would show them.",
	clean.CodeDrift:            "The machine became slower or faster during the run: warm up longer (--warmup), or measure again.",
	clean.CodeDisturbed:        "Other load took most of the time in more than half of the samples of a size: they lie far above the line of the other sizes, or a train of messages took less time than one. These sizes are left out: measure again on a quiet machine.",
	clean.CodeFallingTimes:     "A call takes less time for longer messages. As an overhead per byte cannot be negative, one number is used for the range.",
	clean.CodeDisturbedUsed:    "Other load ran on the processors of the ranks nearly all the time, or their clocks were slower, so that there are too few undisturbed samples. Numbers may be up to twice those of a quiet machine: measure longer (--budget), or see loggp doctor.",
	clean.CodeDirectionsDiffer: "A send takes longer at one processor than at the other: overheads are those of the first.",
	clean.CodePlatformChanged:  "The platform file was moved or changed after the measurement. To see the source of its numbers, restore it, or measure again.",
	clean.CodeHindered:         "An earlier message, such as the barrier's last one, delays the send that timer11 measures, so o_s is from the same call after a wait (idle). You need not do anything.",
	clean.CodeSkew:             "The barrier releases the two processors further apart in time than the message takes, so a receive that should wait for the message finds it there. L has only bounds, and G is from half of the samples. Low-level messages (--level message) give more.",
	clean.CodeOneTier:          "All pairs of ranks take about the same time: either there is one tier, or the tiers differ by less than the scatter of the pairs. Low-level messages (--level message) or more repetitions (--reps) may show more.",
	clean.CodeTiersUnclear:     "The tiers lie so close that a rank may be in the wrong group, or that there may be fewer tiers: measure all pairs with more repetitions (--reps), or at other sizes.",
	clean.CodeOddPairs:         "Some pairs of ranks are slower or faster than other pairs of their tier. Look for other load on the machine, or for a bad link.",
	clean.CodePairsMissing:     "Not all pairs of the ranks were measured.",
	clean.CodeUnequalGroups:    "The groups of ranks differ in size, but LoGH{sSP} assumes equal groups.",
	clean.CodeLateStarts:       "Many repetitions were dropped because a rank missed the common start. The others are from quieter moments: look for other load on the machine.",
	clean.CodeNoCommonStart:    "The ranks have no common clock to start by, so times are those of the slowest rank's call after a barrier, which ranks leave one after another.",
	clean.CodeStartsDiffer:     "A time depends more on how repetitions start than on the operation: do not compare it with times that were started the other way.",
	clean.CodeUnidentified:     "The samples do not determine a parameter: it is too small to be distinguished from zero, or something else is the limit. Low-level messages (--level message) or more repetitions (--reps) may show more.",
}

// importedWarningMeanings are those of warnings about what another tool has measured, where flags
// of loggp measure do not help.
var importedWarningMeanings = map[string]string{
	clean.CodeFewSizes:        "Too few message sizes, or no small ones.",
	clean.CodeFewReps:         "The tool prints one mean for each size, or few repetitions, so the scatter is unknown.",
	clean.CodeNegativeLatency: "o_s and o_r of these calls contain work that overlaps with the transfer, so they cannot be subtracted from a round trip: the result would be negative. Use rtt/2.",
	clean.CodeNotLinear:       "Times do not lie on a straight line: its numbers only summarize them, and ± understates how far off they are. Use the measured times.",
	clean.CodeCoarseTimer:     "The tool prints too few digits for such short times.",
	clean.CodeDrift:           "The machine became slower or faster during the run.",
	clean.CodeDisturbed:       "Other load took most of the time in more than half of the samples of a size: they lie far above the line of the other sizes, or a train of messages took less time than one. These sizes are left out.",
	clean.CodeNoCommonStart:   "The ranks have no common clock to start by, so times are those of calls after a barrier, which ranks leave one after another.",
	clean.CodeUnidentified:    "The samples do not determine a parameter: the tool does not measure it, it is too small to be distinguished from zero, or something else is the limit.",
}

// warningMeaning says what a kind of warnings means, without advice on measuring again if all are
// about what another tool has measured.
func warningMeaning(code string, all []clean.Warning) string {
	own := slices.ContainsFunc(all, func(w clean.Warning) bool { return w.Code == code && !w.IsImported })
	if text := importedWarningMeanings[code]; text != "" && !own {
		return text
	}
	return warningMeanings[code]
}

// warningOrder are the codes of warnings after which a number is missing or may be far off, the
// gravest first.
var warningOrder = []string{clean.CodeDisturbedUsed, clean.CodeDisturbed, clean.CodeNegativeLatency, clean.CodeUnidentified, clean.CodeSkew, clean.CodeLateStarts, clean.CodeNoCommonStart, clean.CodeNotLinear,
	clean.CodeFewSizes, clean.CodeFewReps, clean.CodeCoarseTimer, clean.CodeDrift, clean.CodeRootsDisagree, clean.CodeDirectionsDiffer, clean.CodeHeavyTail}

// notes are codes of warnings after which numbers can be used as they are.
var notes = []string{clean.CodeRootsDisagree, clean.CodeHindered, clean.CodeDirectionsDiffer, clean.CodeHeavyTail}

// Warnings are shown by what they say while that are few texts, and else by where: with some names,
// and how many more.
const (
	maxListedTexts = 4
	maxListedNames = 8
)

// warningSection is a section of warnings, those of a kind together, the gravest kind first.
// warnings.csv has each of them.
func warningSection(ws []clean.Warning) doc.Section {
	several := slices.ContainsFunc(ws, func(w clean.Warning) bool { return warningPlace(w) != warningPlace(ws[0]) })
	s := doc.Section{ID: "warnings", Title: "Warnings"}
	for _, w := range ws {
		if !slices.ContainsFunc(s.Warnings, func(k doc.Warning) bool { return k.Code == w.Code }) {
			s.Warnings = append(s.Warnings, warningOfKind(w.Code, ws, several))
		}
	}
	rank := func(code string) int {
		if i := slices.Index(warningOrder, code); i >= 0 {
			return i
		}
		return len(warningOrder)
	}
	slices.SortStableFunc(s.Warnings, func(a, b doc.Warning) int { return cmp.Compare(rank(a.Code), rank(b.Code)) })
	return s
}

// warningPlace says where the samples of a warning are from.
func warningPlace(w clean.Warning) string { return format.PlaceName(w.Platform, w.Library, w.Place) }

// warningOfKind is the warnings of one kind.
func warningOfKind(code string, all []clean.Warning, several bool) doc.Warning {
	k := doc.Warning{Code: code, Meaning: warningMeaning(code, all), IsNote: slices.Contains(notes, code)}
	var texts, places []string
	names := map[[2]string][]string{} // by text and place
	for _, w := range all {
		if w.Code != code {
			continue
		}
		k.Count++
		key := [2]string{w.Text, warningPlace(w)}
		texts, places, names[key] = appendUnique(texts, key[0]), appendUnique(places, key[1]), appendUnique(names[key], warningSubject(w))
	}
	if len(texts) <= maxListedTexts {
		for _, t := range texts {
			var subjects []string
			for _, p := range places {
				if of := names[[2]string{t, p}]; of != nil {
					subjects = append(subjects, strings.Join(of, ", ")+placeSuffix(p, several))
				}
			}
			k.Cases = append(k.Cases, doc.WarningCase{Subjects: strings.Join(subjects, "; "), Text: t})
		}
		return k
	}
	for _, p := range places {
		var of []string
		for _, t := range texts {
			for _, n := range names[[2]string{t, p}] {
				of = appendUnique(of, n)
			}
		}
		k.Cases = append(k.Cases, doc.WarningCase{Subjects: listFirstNames(of) + placeSuffix(p, several)})
	}
	return k
}

// warningSubject names what a warning is about: a parameter of a mode, or times of an operation
// among some ranks, bcast:4.
func warningSubject(w clean.Warning) string {
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

// listFirstNames lists the first of many words.
func listFirstNames(words []string) string {
	if n := len(words); n > maxListedNames+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:maxListedNames], ", "), n-maxListedNames)
	}
	return strings.Join(words, ", ")
}

// warningsFile is all warnings, a row each.
func warningsFile(ws []clean.Warning) doc.File {
	t := &doc.Table{Name: "warnings", Columns: doc.TextColumns("platform", "library", "place", "mode", "of", "code", "text")}
	for _, w := range ws {
		t.AddRow(doc.TextCells(w.Platform, w.Library, w.Place, w.Mode, w.Parameter, w.Code, w.Text)...)
	}
	return render.TableFile(t)
}

// HostCheck is what was found about a machine that matters to measurements on it.
type HostCheck struct {
	Check, Verdict, Finding string
	Reason, Remedy          string // "": nothing is to be done

	IsSerious bool // it spoils numbers, or makes measuring impossible
}

// HostChecks is what was found about a machine, and what to do about it.
func HostChecks(all []HostCheck) *doc.Document {
	d := &doc.Document{Title: "What measurements on this machine depend on"}
	d.AddTables("doctor", d.Title, findingTable(all), adviceTable(all))
	t := &doc.Table{Name: "findings", Columns: doc.TextColumns("check", "verdict", "found", "why", "do")}
	for _, a := range all {
		t.AddRow(doc.TextCells(a.Check, a.Verdict, a.Finding, a.Reason, a.Remedy)...)
	}
	d.Files = []doc.File{render.TableFile(t)}
	return d
}

// findingTable has what was found.
func findingTable(all []HostCheck) *doc.Table {
	t := &doc.Table{Name: "doctor", Title: "What measurements on this machine depend on", Columns: []doc.Column{{Heading: "check", IsKey: true}, {Heading: "verdict", IsKey: true}, {Heading: "found", Kind: doc.ProseColumn}}}
	for _, a := range all {
		t.AddRow(doc.TextCell(a.Check), a.verdictCell(), doc.TextCell(a.Finding))
	}
	return t
}

func (a HostCheck) verdictCell() doc.Cell {
	switch {
	case a.IsSerious:
		return doc.TextCell(a.Verdict).WithTone(doc.BadTone)
	case a.Reason == "" && a.Remedy == "":
		return doc.TextCell(a.Verdict).WithTone(doc.GoodTone)
	}
	return doc.TextCell(a.Verdict)
}

// adviceTable has why it matters and what to do, what is grave before the rest.
func adviceTable(all []HostCheck) *doc.Table {
	t := &doc.Table{Name: "advice", Columns: []doc.Column{{Heading: "check", IsKey: true}, {Heading: "why it matters", Kind: doc.ProseColumn}, {Heading: "what to do", Kind: doc.ProseColumn}}}
	for _, grave := range []bool{true, false} {
		for _, a := range all {
			if a.IsSerious != grave || a.Reason == "" && a.Remedy == "" {
				continue
			}
			do := doc.TextCell(a.Remedy)
			if a.Remedy == "" {
				do = doc.EmptyCell
			}
			t.AddRow(doc.TextCell(a.Check).WithTone(doc.StrongTone), doc.TextCell(a.Reason), do)
		}
	}
	return t
}
