package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// trustSentences says in a few sentences how far the numbers go.
func (r *CollectiveReport) trustSentences(all []reportSubject) []string {
	var out []string
	for i := range all {
		out = append(out, soundnessSentence(all[i].name, r.Times[i]))
		if s := modelErrorSentence(all[i].name, r.Times[i]); s != "" {
			out = append(out, s)
		}
	}
	for i := range all {
		out = append(out, repetitionStartSentences(&all[i])...)
	}
	for i := range all {
		if once := singleLaunchNote(all[i : i+1]); once != "" && r.Subjects[i].Clock == "real" {
			out = append(out, once)
		}
		if v := all[i].factValues(sample.FailedChecksFact); v != "" {
			out = append(out, all[i].name+" was disturbed: "+truncateToColumn(v)+".")
		}
	}
	return append(out, differingSettings(all)...)
}

// trustKeys say of each subject whether its times are sound, and why not.
func (r *CollectiveReport) trustKeys(all []reportSubject) []doc.KeyNumber {
	var out []doc.KeyNumber
	for i, x := range all {
		weak := 0
		for _, c := range r.Times[i] {
			if c.IsWeak() {
				weak++
			}
		}
		n := len(r.Times[i])
		k := doc.KeyNumber{Value: "sound", Tone: doc.GoodTone, Note: fmt.Sprintf("%d of %s", n-weak, format.Plural(n, "time")), IsTrust: true}
		if float64(n-weak) < doc.MinSoundShare*float64(n) {
			k.Value, k.Tone, k.Note = "weak", doc.BadTone, "only "+k.Note+" are sound"
		}
		switch {
		case r.Subjects[i].Clock == "virtual" && k.Value == "sound":
			k = doc.EmulationTrust()
		case x.factValues(sample.FailedChecksFact) != "":
			k.Value, k.Tone, k.Note = "weak", doc.BadTone, "the machine was busy; "+k.Note
		}
		k.Name = x.name + ", trust"
		out = append(out, k)
	}
	return out
}

// maxModelError is the error of a model, in percent, from which on it is not to be relied on.
const maxModelError = 25

// modelErrorSentence says of a model that is far from what was measured that it is, and what comes
// closer.
func modelErrorSentence(name string, cs []compare.CollectiveComparison) string {
	var errs []float64
	by := ""
	for _, c := range cs {
		if c.Model != "" {
			errs, by = append(errs, math.Abs(c.Comparison().Error)), c.Model
		}
	}
	if len(errs) == 0 {
		return ""
	}
	slices.Sort(errs)
	middle := quantile.UpperMedian(errs)
	if middle <= maxModelError {
		return ""
	}
	return fmt.Sprintf("%s: its model (%s) is off by %.0f %% at the median: go by what was measured. Parameters of single calls come closer: give samples of 'loggp measure' of the same library beside, or --params.",
		name, by, middle)
}

// soundnessSentence counts the times that are weak, and the lengths at which one algorithm is the
// fastest for sure.
func soundnessSentence(name string, cs []compare.CollectiveComparison) string {
	var weak []string
	n := 0
	for _, c := range cs {
		if !c.IsWeak() {
			continue
		}
		n++
		if w := operationTitle(c.Operation, c.Ranks); !slices.Contains(weak, w) {
			weak = append(weak, w)
		}
	}
	out := fmt.Sprintf("%s: %d of %d times are sound", name, len(cs)-n, len(cs))
	if n > 0 {
		out += "; weak, and marked !, are some of " + listFirstNames(weak)
	}
	if fs := compare.FastestAlgorithms(cs); len(fs) > 0 {
		clear := 0
		for _, f := range fs {
			if f.IsClear {
				clear++
			}
		}
		out += fmt.Sprintf(". Of %d lengths with several algorithms one is clearly the fastest at %d", len(fs), clear)
	}
	return out + "."
}

// repetitionStartSentences says how repetitions began.
func repetitionStartSentences(x *reportSubject) []string {
	late, of := 0, 0
	var out []string
	for _, facts := range x.facts {
		for _, f := range facts {
			a, b, ok := f.ParseLateStarts()
			if ok {
				late, of = late+a, of+b
			} else if f.Key == sample.StartFact {
				out = append(out, x.name+": "+f.Value+".")
			}
		}
	}
	switch {
	case of == 0:
	case late == 0:
		out = append(out, fmt.Sprintf("%s: all ranks came in time to %d common starts.", x.name, of))
	default:
		out = append(out, fmt.Sprintf("%s: of %d common starts %d were dropped, as a rank came too late.", x.name, of, late))
	}
	return out
}

// measuredSentence says what was measured.
func (r *CollectiveReport) measuredSentence() string {
	var all []compare.CollectiveComparison
	var algorithms []string
	var sizes []int
	for _, times := range r.Times {
		all = append(all, times...)
	}
	for _, c := range all {
		if a := c.Operation + " " + c.Algorithm; !slices.Contains(algorithms, a) {
			algorithms = append(algorithms, a)
		}
		sizes = append(sizes, c.Bytes)
	}
	samples := 0
	for _, m := range r.Machines {
		for i := range m.Series {
			if sample.IsCollectiveTimer(m.Series[i].Timer) {
				samples += len(m.Series[i].Times)
			}
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	ranks := strings.Trim(strings.ReplaceAll(fmt.Sprint(measuredRankCounts(all)), " ", ", "), "[]")
	return fmt.Sprintf("%d samples of %s by %s among %s ranks, at %s from %s.", samples, strings.Join(r.operationNames(), ", "), format.Plural(len(algorithms), "algorithm"), ranks,
		format.Plural(len(sizes), "length"), format.SizeRange(sizes[0], sizes[len(sizes)-1]))
}

// keyNumbers are what the fastest algorithm takes for the shortest data among the most ranks, of
// each operation, if these are few.
func (r *CollectiveReport) keyNumbers(all []reportSubject) []doc.KeyNumber {
	const most = 8
	var out []doc.KeyNumber
	for _, operation := range r.operationNames() {
		for i := range all {
			cs := filterCollectives(r.Times[i], operation, 0)
			if len(cs) == 0 {
				continue
			}
			cs = filterCollectives(cs, operation, slices.Max(measuredRankCounts(cs)))
			slices.SortStableFunc(cs, func(a, b compare.CollectiveComparison) int {
				x, _ := a.RankedTime()
				y, _ := b.RankedTime()
				return cmp.Or(a.Bytes-b.Bytes, cmp.Compare(x, y))
			})
			took, _ := cs[0].RankedTime()
			in := displayUnitOf(params.UnitMicros, took)
			out = append(out, doc.KeyNumber{Name: all[i].name + ", " + operation, Value: format.Number(took*in.factor) + " " + in.unit, Note: fmt.Sprintf("%s, %s, %d ranks", cs[0].Algorithm, format.Size(cs[0].Bytes), cs[0].Ranks)})
		}
	}
	return out[:min(len(out), most)]
}

// collectiveTerms explain what stands on the page.
var collectiveTerms = []doc.Term{
	{Name: "min, median, max", Meaning: "Of one repetition, which begins behind a barrier: how long the call of the quickest rank took, the median of the ranks' calls, and that of the slowest. Ranks leave a barrier one after another, and that is in these times."},
	{Name: "last", Meaning: "From a time that ranks have agreed on, by a clock that they have in common, until the last rank's call has ended: what models speak of."},
	{Name: "bytes", Meaning: "Of the whole data; of a rank's block where there is one for each rank, as in scatter, gather, allgather, alltoall and reduce-scatter."},
	{Name: "two-level", Meaning: "Algorithms that cross between nodes once: ranks give what they have to a leader of their node, and leaders talk among themselves."},
	{Name: "model", Meaning: "LogGP: an algorithm is a schedule of messages, and its cost what they add up to, rank by rank. Rendezvous, contention on links and copying are left out, and combining where the machine does not say what an operation takes."},
	{Name: "loss", Meaning: "By how much what the model takes for the fastest is slower than what is."},
	{Name: "±", Meaning: "95 % interval: the value lies in it unless one of twenty such intervals happens to be wrong. It says nothing about systematic errors."},
	{Name: "KB, KiB", Meaning: "1000 and 1024 bytes."},
}
