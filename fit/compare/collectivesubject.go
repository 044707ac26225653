package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// CollectiveSubject is a library of a platform in one setting, with the times of its collective
// operations for any numbers of ranks.
type CollectiveSubject struct {
	Name                     string // the platform, with the facts that distinguish it from other subjects
	Platform, Library, Clock string
	Place                    string // "" if there are several
	Files                    []string
	Machines                 []int             // of those that were given, those that have its samples
	Times                    []CollectiveTimes // in their order
}

// GroupCollectiveSubjects returns the subjects whose collective operations were measured, in the
// order of the machines. Sets of one library that differ only in the number of ranks are one
// subject.
func GroupCollectiveSubjects(machines []sample.Machine) ([]CollectiveSubject, error) {
	var all []*CollectiveSubject
	for i, m := range machines {
		times, err := ReadCollectives(m.Set)
		if err != nil {
			return nil, err
		}
		for _, part := range groupByKey(times, func(c CollectiveTimes) [3]string { return [3]string{c.Platform, c.Library, c.Clock} }) {
			j := slices.IndexFunc(all, func(e *CollectiveSubject) bool {
				return e.acceptsTimes(part) && haveSameSetting(machines[e.Machines[0]].Set, m.Set)
			})
			if j < 0 {
				j, all = len(all), append(all, &CollectiveSubject{Platform: part[0].Platform, Library: part[0].Library, Clock: part[0].Clock})
			}
			e := all[j]
			e.Files, e.Machines, e.Times = append(e.Files, m.Files...), append(e.Machines, i), append(e.Times, part...)
		}
	}
	names := make([]*string, len(all))
	for i, e := range all {
		e.Name = platformName(e.Platform)
		names[i] = &e.Name
	}
	distinguishNames(names,
		func(i int) string { return strings.TrimPrefix(all[i].Platform, platformName(all[i].Platform)+":") },
		func(i int) string { return all[i].Library },
		func(i int) string { return all[i].Clock },
		func(i int) string { return firstFactWord(machines[all[i].Machines[0]].Set, sample.WaitFact) },
		func(i int) string { return firstFactWord(machines[all[i].Machines[0]].Set, sample.NoiseFact) },
		func(i int) string { return strings.Join(all[i].Files, "+") })
	var out []CollectiveSubject
	for _, e := range all {
		e.Place = e.Times[0].Place
		if slices.ContainsFunc(e.Times, func(c CollectiveTimes) bool { return c.Place != e.Place }) {
			e.Place = ""
		}
		out = append(out, *e)
	}
	return out, nil
}

// groupByKey returns the elements of each key together, in the order of the first of each.
func groupByKey[T any, K comparable](all []T, key func(T) K) [][]T {
	var out [][]T
	at := map[K]int{}
	for _, x := range all {
		i, ok := at[key(x)]
		if !ok {
			i, out = len(out), append(out, nil)
			at[key(x)] = i
		}
		out[i] = append(out[i], x)
	}
	return out
}

// firstFactWord returns the first word of a fact.
func firstFactWord(set *sample.Set, key string) string {
	value, _ := set.Fact(key)
	first, _, _ := strings.Cut(value, " ")
	return first
}

// acceptsTimes reports whether times are of the subject's library, for numbers of ranks that it
// does not have yet.
func (e *CollectiveSubject) acceptsTimes(times []CollectiveTimes) bool {
	return e.Platform == times[0].Platform && e.Library == times[0].Library && e.Clock == times[0].Clock &&
		!slices.ContainsFunc(e.Times, func(c CollectiveTimes) bool {
			return slices.ContainsFunc(times, func(d CollectiveTimes) bool { return d.Ranks == c.Ranks })
		})
}

// haveSameSetting reports whether two sets agree on all facts that change times, except the number
// of ranks.
func haveSameSetting(a, b *sample.Set) bool {
	for _, key := range []string{sample.PlatformSumFact, sample.NoiseFact, sample.WaitFact} {
		x, inA := a.Fact(key)
		y, inB := b.Fact(key)
		if inA && inB && x != y {
			return false
		}
	}
	return true
}

// CompareCollectives compares the operations that at least two subjects have measured, each by its
// fastest algorithm, in the order of the first subject. It compares times from a common start if
// all subjects have them, else those of the slowest rank after a barrier, else the mean of the
// ranks. Ratios are to the first subject of a row.
func CompareCollectives(subjects []CollectiveSubject, o clean.Options) *Table {
	t := &Table{}
	type time struct {
		CollectiveTimes
		subject int
	}
	var all []time
	for n, e := range subjects {
		t.Subjects = append(t.Subjects, Subject{Platform: e.Platform, Library: e.Library, Place: e.Place, Clock: e.Clock, Name: e.Name, MachineIndex: e.Machines[0]})
		for _, x := range e.Times {
			all = append(all, time{x, n})
		}
	}
	type what struct {
		operation    string
		ranks, bytes int
	}
	first := len(subjects)
	for _, of := range groupByKey(all, func(x time) what { return what{x.Operation, x.Ranks, x.Bytes} }) {
		r := Row{Quantity: Quantity{Name: of[0].Operation, Timer: sample.TimerCollLast, Bytes: of[0].Bytes, Ranks: of[0].Ranks, Unit: params.UnitMicros}}
		times := make([][]CollectiveTimes, len(subjects))
		for _, x := range of {
			times[x.subject] = append(times[x.subject], x.CollectiveTimes)
			if _, timer := x.RankedTime(); sample.TimerIndex(timer) < sample.TimerIndex(r.Timer) {
				r.Timer = timer
			}
		}
		if r.Timer == sample.TimerCollMean && slices.ContainsFunc(of, func(x time) bool { return math.IsNaN(x.Mean) }) {
			continue // one subject has only means, and another has none
		}
		for n, x := range times {
			if len(x) > 0 {
				r.Values = append(r.Values, fastestValue(x, r.Timer, n))
			}
		}
		if len(r.Values) > 1 {
			t.Rows = append(t.Rows, r)
			first = min(first, r.Values[0].SubjectIndex)
		}
	}
	for i := range t.Rows {
		t.Rows[i].setRatios(false, first, o.WithDefaults())
	}
	return t
}

// fastestValue returns the time of the fastest algorithm by a timer. It has an interval only if the
// timer is the one that Took returns.
func fastestValue(times []CollectiveTimes, timer string, subject int) Value {
	micros := func(c CollectiveTimes) float64 {
		switch timer {
		case sample.TimerCollMean:
			return c.Mean
		case sample.TimerCollMax:
			return c.Max
		}
		return c.LastRankEnd
	}
	best := slices.MinFunc(times, func(a, b CollectiveTimes) int { return cmp.Compare(micros(a), micros(b)) })
	v := Value{SubjectIndex: subject, Algorithm: best.Algorithm, Parameter: params.Parameter{Platform: best.Platform, Library: best.Library, Place: best.Place, Name: best.Operation,
		From: best.Bytes, To: best.Bytes, Value: micros(best), Low: math.NaN(), High: math.NaN(), Unit: params.UnitMicros, Method: timer, SampleCount: best.SampleCount, Verdict: params.GoodVerdict}}
	if _, counts := best.RankedTime(); counts == timer {
		v.Low, v.High = best.Low, best.High
	}
	if best.IsWeak() {
		v.Verdict = params.WeakVerdict
	}
	v.estimate = estimate{v.Value, v.Low, v.High, []float64{v.Value}}
	return v
}
