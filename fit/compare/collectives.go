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

// Collective has the times of a collective operation by one algorithm on data of one length, in
// microseconds: the median over launches of the medians of each launch. A time without samples is
// NaN.
type Collective struct {
	Platform, Library, Place, Clock string

	Operation, Algorithm string
	Ranks, Bytes         int

	Min, Median, Max float64 // of the ranks' own times, behind a barrier
	Mean             float64 // of the ranks, if a tool prints nothing else
	Last             float64 // from a common start until the last rank has ended
	Low, High        float64 // 95 % interval of the time that counts: see Took
	Samples          int     // repetitions, of the timer that has most

	sampleProblems
}

// sampleProblems are problems of the samples of the time that Took returns.
type sampleProblems struct{ few, tail, coarse, drift bool }

// RankedTime returns the time that algorithms are ranked by, and its timer: from a common start
// until the last rank has ended, else that of the slowest rank, else the mean of the ranks.
func (c Collective) RankedTime() (micros float64, timer string) {
	switch {
	case !math.IsNaN(c.Last):
		return c.Last, sample.TimerCollLast
	case !math.IsNaN(c.Max):
		return c.Max, sample.TimerCollMax
	}
	return c.Mean, sample.TimerCollMean
}

func (c Collective) rankedMicros() float64 {
	micros, _ := c.RankedTime()
	return micros
}

// operation identifies what algorithms are compared for: an operation on one length of data, or on
// all.
type operation struct {
	platform, library, place, name string
	ranks, bytes                   int
}

func (c Collective) operation(ofLength bool) operation {
	o := operation{c.Platform, c.Library, c.Place, c.Operation, c.Ranks, 0}
	if ofLength {
		o.bytes = c.Bytes
	}
	return o
}

// maxHalfWidth is half of the interval, relative to the time, above which a time is weak.
const maxHalfWidth = 0.1

// IsWeak reports whether the time is uncertain: its interval is wide, repetitions are few, or the
// clock is coarse.
func (c Collective) IsWeak() bool { return c.few || c.coarse || c.isWide() }

func (c Collective) isWide() bool { return c.High-c.Low > 2*maxHalfWidth*c.rankedMicros() }

// ReadCollectives returns the times of the collective operations of a set, in the order of its
// series. It is an error if the facts do not have the number of ranks.
func ReadCollectives(set *sample.Set) ([]Collective, error) {
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
			return runs[s.File].Ranks
		}
		return s.Ranks
	}
	if slices.ContainsFunc(together, func(s *sample.Series) bool { return ranksOf(s) == 0 }) {
		return nil, fmt.Errorf("fit: samples of collective operations, and no fact %q that says of how many ranks", sample.RanksFact)
	}
	var all []Collective
	sameTime := func(s *sample.Series) sample.Key { // whatever launch and timer
		k := s.Key
		k.Launch, k.Timer = 0, ""
		return k
	}
	for _, of := range groupByKey(together, sameTime) {
		from := of[0]
		k := of[0].Key
		c := Collective{Platform: k.Platform, Library: k.Library, Place: k.Place, Clock: k.Clock, Operation: k.Mode, Algorithm: k.Protocol, Bytes: k.Bytes,
			Min: math.NaN(), Median: math.NaN(), Max: math.NaN(), Mean: math.NaN(), Last: math.NaN()}
		var counts clean.Cell
		for _, x := range []struct {
			timer string
			to    *float64
		}{{sample.TimerCollMin, &c.Min}, {sample.TimerCollMedian, &c.Median}, {sample.TimerCollMean, &c.Mean}, {sample.TimerCollMax, &c.Max}, {sample.TimerCollLast, &c.Last}} { // the time that counts comes last
			series := slices.DeleteFunc(slices.Clone(of), func(s *sample.Series) bool { return s.Timer != x.timer })
			if len(series) > 0 {
				counts = clean.NewCell(series, clean.PoolRoots, runs, clean.Options{}.Defaults())
				*x.to, c.Samples, from = counts.Value, max(c.Samples, counts.Samples), series[0]
			}
		}
		var run sample.Run
		if from.File < len(runs) {
			run = runs[from.File]
		}
		c.Ranks, c.Low, c.High = ranksOf(from), counts.Low, counts.High
		c.sampleProblems = sampleProblems{few: counts.Samples < clean.LeastForInterval && (k.Clock != "virtual" || run.Noisy), tail: counts.Tail, coarse: counts.Coarse, drift: counts.Drift}
		if c.few {
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
	groups := groupByKey(e.Times, func(c Collective) operation { return c.operation(false) })
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
					Parameter: fmt.Sprintf("%d of %d times", n, len(of)), Code: test.code, Text: test.text, Sizes: n, Of: len(of)})
			}
		}
	}
	return out
}

// collectiveDoubts are the tests of a time.
var collectiveDoubts = []struct {
	code, text string
	is         func(Collective) bool
}{
	{clean.FewReps, fmt.Sprintf("fewer than %d repetitions", clean.LeastForInterval), func(c Collective) bool { return c.few }},
	{clean.FewReps, "the median may be 10 % off, and more", func(c Collective) bool { return !c.few && c.isWide() }},
	{clean.CoarseTimer, "the steps of the clock show", func(c Collective) bool { return c.coarse }},
	{clean.HeavyTail, "more than one repetition in a hundred is far above the median", func(c Collective) bool { return c.tail }},
	{clean.Drift, "later repetitions differ from earlier ones", func(c Collective) bool { return c.drift }},
	{clean.StartsDiffer, "from a common start it takes more than twice as long as the slowest rank behind a barrier, or less than half", func(c Collective) bool { return c.Last > 2*c.Max || c.Max > 2*c.Last }},
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
		if run.LateStarts*many > run.Starts {
			warn(clean.LateStarts, fmt.Sprintf("a rank came too late to %d of %d common starts", run.LateStarts, run.Starts))
		}
		if run.NoCommonStart != "" {
			warn(clean.NoCommonStart, run.NoCommonStart)
		}
	}
	return out
}

// CollectiveComparison is a measured collective operation with its prediction.
type CollectiveComparison struct {
	Collective
	Predicted float64 // microseconds; NaN: there is no model
	Model     string  // the source of the model's parameters; "": there is no model
}

// WithoutPrediction returns times without a model.
func WithoutPrediction(times []Collective) []CollectiveComparison {
	var all []CollectiveComparison
	for _, c := range times {
		all = append(all, CollectiveComparison{Collective: c, Predicted: math.NaN()})
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
		for _, v := range []float64{c.Min, c.Median, c.Max, c.Last, c.Low, c.High} {
			row = append(row, table.NumberText(clean.RoundDigits(v)))
		}
		rows = append(rows, append(row, strconv.Itoa(c.Samples), table.NumberText(clean.RoundDigits(c.Predicted))))
	}
	return table.WriteText(w, "times of collective operations", collectiveHeader, rows)
}

// Comparison returns the comparison as files have it: the quantity is the timer, with operation and
// ranks, as coll_last(bcast:8).
func (c CollectiveComparison) Comparison() Comparison {
	took, timer := c.RankedTime()
	q := Query{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: fmt.Sprintf("%s:%d", c.Operation, c.Ranks), Protocol: c.Algorithm, Quantity: timer, Bytes: c.Bytes}
	return newComparison(q, Prediction{Micros: c.Predicted}, took)
}
