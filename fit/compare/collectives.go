package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/table"
)

// CollectiveTimes has the times in microseconds of a collective operation with one algorithm and
// data size: the median over launches of the medians of each launch. A time without samples is NaN.
type CollectiveTimes struct {
	Platform, Library, Place, Clock string

	Operation, Algorithm string
	Ranks, Bytes         int

	Min, Median, Max float64 // of the ranks' own times, after a barrier
	Mean             float64 // over the ranks, if a tool prints only this
	LastRankEnd      float64 // from a common start to the end of the last rank
	Low, High        float64 // 95 % interval of the time that RankedTime returns
	SampleCount      int     // repetitions of the timer with the most samples

	sampleProblems
}

// sampleProblems are problems of the samples of the time that RankedTime returns.
type sampleProblems struct{ hasFewSamples, hasHeavyTail, hasCoarseTimer, hasDrift bool }

// RankedTime returns the time by which algorithms are ranked, and its timer: from a common start to
// the end of the last rank, otherwise that of the slowest rank, otherwise the mean of the ranks.
func (c CollectiveTimes) RankedTime() (micros float64, timer string) {
	switch {
	case !math.IsNaN(c.LastRankEnd):
		return c.LastRankEnd, sample.TimerCollLast
	case !math.IsNaN(c.Max):
		return c.Max, sample.TimerCollMax
	}
	return c.Mean, sample.TimerCollMean
}

func (c CollectiveTimes) rankedMicros() float64 {
	micros, _ := c.RankedTime()
	return micros
}

// operation identifies what algorithms are compared for: an operation with one data size, or with
// all.
type operation struct {
	platform, library, place, name string
	ranks, bytes                   int
}

func (c CollectiveTimes) operation(ofLength bool) operation {
	o := operation{c.Platform, c.Library, c.Place, c.Operation, c.Ranks, 0}
	if ofLength {
		o.bytes = c.Bytes
	}
	return o
}

// maxRelativeHalfWidth is the relative half width of the interval above which a time is weak.
const maxRelativeHalfWidth = 0.1

// IsWeak reports whether the time is uncertain: a wide interval, few repetitions, or a coarse
// clock.
func (c CollectiveTimes) IsWeak() bool {
	return c.hasFewSamples || c.hasCoarseTimer || c.hasWideInterval()
}

func (c CollectiveTimes) hasWideInterval() bool {
	return c.High-c.Low > 2*maxRelativeHalfWidth*c.rankedMicros()
}

// ReadCollectives returns the times of a set's collective operations, in the order of its series.
// It fails if the facts do not state the number of ranks.
func ReadCollectives(set *sample.Set) ([]CollectiveTimes, error) {
	var together []*sample.Series
	for i := range set.Series {
		if s := &set.Series[i]; sample.IsCollectiveTimer(s.Timer) && len(s.Times) > 0 {
			together = append(together, s)
		}
	}
	if together == nil {
		return nil, nil
	}
	runs, err := set.Runs()
	if err != nil {
		return nil, err
	}
	ranksOf := func(s *sample.Series) int {
		if s.Ranks == 0 && s.File < len(runs) {
			return runs[s.File].RankCount
		}
		return s.Ranks
	}
	if slices.ContainsFunc(together, func(s *sample.Series) bool { return ranksOf(s) == 0 }) {
		return nil, fmt.Errorf("fit: samples of collective operations, and no fact %q that says of how many ranks", sample.RanksFact)
	}
	var all []CollectiveTimes
	sameTime := func(s *sample.Series) sample.Key { // whatever launch and timer
		k := s.Key
		k.Launch, k.Timer = 0, ""
		return k
	}
	for _, of := range groupByKey(together, sameTime) {
		from := of[0]
		k := of[0].Key
		c := CollectiveTimes{Platform: k.Platform, Library: k.Library, Place: k.Place, Clock: k.Clock, Operation: k.Mode, Algorithm: k.Protocol, Bytes: k.Bytes,
			Min: math.NaN(), Median: math.NaN(), Max: math.NaN(), Mean: math.NaN(), LastRankEnd: math.NaN()}
		var counts clean.Cell
		for _, x := range []struct {
			timer string
			to    *float64
		}{{sample.TimerCollMin, &c.Min}, {sample.TimerCollMedian, &c.Median}, {sample.TimerCollMean, &c.Mean}, {sample.TimerCollMax, &c.Max}, {sample.TimerCollLast, &c.LastRankEnd}} { // the time that counts comes last
			series := slices.DeleteFunc(slices.Clone(of), func(s *sample.Series) bool { return s.Timer != x.timer })
			if len(series) > 0 {
				counts = clean.NewCell(series, clean.PoolRoots, runs, clean.Options{}.WithDefaults())
				*x.to, c.SampleCount, from = counts.Value, max(c.SampleCount, counts.SampleCount), series[0]
			}
		}
		var run sample.RunFacts
		if from.File < len(runs) {
			run = runs[from.File]
		}
		c.Ranks, c.Low, c.High = ranksOf(from), counts.Low, counts.High
		c.sampleProblems = sampleProblems{hasFewSamples: counts.SampleCount < clean.MinSamplesForInterval && (k.Clock != "virtual" || run.IsNoisy), hasHeavyTail: counts.HasHeavyTail, hasCoarseTimer: counts.HasCoarseTimer, hasDrift: counts.HasDrift}
		if c.hasFewSamples {
			c.Low, c.High = math.NaN(), math.NaN()
		}
		all = append(all, c)
	}
	return all, nil
}

// CollectiveWarnings returns warnings about the starts of repetitions on each machine, and about
// the times of each subject, by operation in the order of the times.
func CollectiveWarnings(machines []sample.Machine, subjects []CollectiveSubject) []clean.Warning {
	var out []clean.Warning
	for _, m := range machines {
		out = append(out, startWarnings(m.Set)...)
	}
	for _, e := range subjects {
		out = append(out, e.warnings()...)
	}
	for _, m := range machines {
		if slices.Contains(m.ImportedFiles(), true) {
			clean.MarkImportedWarnings(out, m.Set)
		}
	}
	return out
}

// warnings returns warnings about the times.
func (e *CollectiveSubject) warnings() []clean.Warning {
	var out []clean.Warning
	groups := groupByKey(e.Times, func(c CollectiveTimes) operation { return c.operation(false) })
	for _, test := range collectiveDoubts {
		for _, of := range groups {
			n, w := 0, of[0]
			for _, c := range of {
				if test.is(c) {
					n++
				}
			}
			if n > 0 {
				out = append(out, clean.Warning{Platform: w.Platform, Library: w.Library, Place: w.Place, Mode: fmt.Sprintf("%s:%d", w.Operation, w.Ranks),
					Parameter: fmt.Sprintf("%d of %d times", n, len(of)), Code: test.code, Text: test.text, AffectedSizeCount: n, SizeCount: len(of)})
			}
		}
	}
	return out
}

// collectiveDoubts are the tests of a time.
var collectiveDoubts = []struct {
	code, text string
	is         func(CollectiveTimes) bool
}{
	{clean.CodeFewReps, fmt.Sprintf("fewer than %d repetitions", clean.MinSamplesForInterval), func(c CollectiveTimes) bool { return c.hasFewSamples }},
	{clean.CodeFewReps, "the median may be 10 % off, and more", func(c CollectiveTimes) bool { return !c.hasFewSamples && c.hasWideInterval() }},
	{clean.CodeCoarseTimer, "the steps of the clock show", func(c CollectiveTimes) bool { return c.hasCoarseTimer }},
	{clean.CodeHeavyTail, "more than one repetition in a hundred is far above the median", func(c CollectiveTimes) bool { return c.hasHeavyTail }},
	{clean.CodeDrift, "later repetitions differ from earlier ones", func(c CollectiveTimes) bool { return c.hasDrift }},
	{clean.CodeStartsDiffer, "from a common start it takes more than twice as long as the slowest rank behind a barrier, or less than half", func(c CollectiveTimes) bool { return c.LastRankEnd > 2*c.Max || c.Max > 2*c.LastRankEnd }},
}

// startWarnings returns warnings about the starts of repetitions, by file.
func startWarnings(set *sample.Set) []clean.Warning {
	const many = 10 // one in so many
	var out []clean.Warning
	runs, _ := set.Runs() // ReadCollectives has read them
	for i, run := range runs {
		s := slices.IndexFunc(set.Series, func(s sample.Series) bool { return s.File == i && sample.IsCollectiveTimer(s.Timer) })
		if s < 0 {
			continue
		}
		where := set.Series[s].Key
		warn := func(code, text string) {
			out = append(out, clean.Warning{Platform: where.Platform, Library: where.Library, Place: where.Place, Parameter: sample.StartFact, Code: code, Text: text})
		}
		if run.LateStartCount*many > run.AgreedStartAttempts {
			warn(clean.CodeLateStarts, fmt.Sprintf("a rank came too late to %d of %d common starts", run.LateStartCount, run.AgreedStartAttempts))
		}
		if run.NoCommonStartReason != "" {
			warn(clean.CodeNoCommonStart, run.NoCommonStartReason)
		}
	}
	return out
}

// CollectiveComparison is a measured collective operation with its prediction.
type CollectiveComparison struct {
	CollectiveTimes
	Predicted float64 // microseconds; NaN: there is no model
	Model     string  // the source of the model's parameters; "": there is no model

	LibraryChoice string // the algorithm that the library takes if none is forced; "": not known
}

// IsUnforced reports whether no algorithm was forced: the time is that of the library's choice.
func (c CollectiveTimes) IsUnforced() bool {
	return c.Algorithm == "" || c.Algorithm == sample.UnforcedAlgorithm
}

// IsLibraryChoice reports whether the time is that of the algorithm that the library takes.
func (c CollectiveComparison) IsLibraryChoice() bool {
	return c.IsUnforced() || c.Algorithm == c.LibraryChoice
}

// WithoutPrediction returns times without a model.
func WithoutPrediction(times []CollectiveTimes) []CollectiveComparison {
	var all []CollectiveComparison
	for _, c := range times {
		all = append(all, CollectiveComparison{CollectiveTimes: c, Predicted: math.NaN()})
	}
	return all
}

const collectiveHeader = "platform,library,place,clock,operation,algorithm,ranks,bytes,min_us,median_us,max_us,last_us,low_us,high_us,repetitions,predicted_us"

// WriteCollectives writes times and predictions of collective operations as CSV, a row each.
// Unknown values are empty.
func WriteCollectives(w io.Writer, cs []CollectiveComparison) error {
	var rows [][]string
	for _, c := range cs {
		row := []string{c.Platform, c.Library, c.Place, c.Clock, c.Operation, c.Algorithm, strconv.Itoa(c.Ranks), table.SizeText(c.Bytes)}
		for _, v := range []float64{c.Min, c.Median, c.Max, c.LastRankEnd, c.Low, c.High} {
			row = append(row, table.NumberText(clean.RoundDigits(v)))
		}
		rows = append(rows, append(row, strconv.Itoa(c.SampleCount), table.NumberText(clean.RoundDigits(c.Predicted))))
	}
	return table.WriteText(w, "times of collective operations", collectiveHeader, rows)
}

// Comparison returns the comparison as files have it: the quantity is the timer, with operation and
// ranks, as coll_last(bcast:8).
func (c CollectiveComparison) Comparison() Comparison {
	took, timer := c.RankedTime()
	q := PredictionQuery{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: fmt.Sprintf("%s:%d", c.Operation, c.Ranks), Protocol: c.Algorithm, Quantity: timer, Bytes: c.Bytes}
	return newComparison(q, Prediction{Micros: c.Predicted}, took)
}
