package flow

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// PartLoad is a part of the machine with the time for which it was busy.
type PartLoad struct {
	model.Component
	Busy unit.Time
}

// PartLoads returns the parts of the machine that were used, the busiest first. The interfaces and
// processors that each rank has for itself are left out.
func (r *Result) PartLoads() []PartLoad {
	var all []PartLoad
	for c, n := range r.sim.parts {
		if int(n) < len(r.sim.busy) && !isOwnPart(c) {
			all = append(all, PartLoad{c, unit.Time(r.sim.busy[n])})
		}
	}
	slices.SortFunc(all, func(a, b PartLoad) int {
		return cmp.Or(cmp.Compare(b.Busy, a.Busy), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
	})
	return all
}

// RankTimes is how ranks spend the time until the last one ends, as means over ranks. It adds up to
// Finish.
type RankTimes struct {
	Computing     unit.Time
	Communication []PathPart // while the rank does not compute, by kind: the longest first
	Waiting       unit.Time  // for other ranks, or at the end
}

// Exposed returns the time of communication while ranks do not compute.
func (t *RankTimes) Exposed() (sum unit.Time) {
	for _, p := range t.Communication {
		sum += p.Time
	}
	return sum
}

// MeanTimes returns how ranks spend their time. A rank communicates while one of its messages, or a
// collective operation that all of its members have begun, is under way.
func (r *Result) MeanTimes() RankTimes {
	s := r.sim
	var computing, exposed unit.Time
	byName := map[string]*PathPart{}
	var computes, transfers []interval
	for rank := range s.ranks {
		computes, transfers = s.intervals(int32(rank), computes[:0], transfers[:0])
		computes = mergeIntervals(computes)
		busy := newBusyTime(computes)
		computing += busy.until(r.Finish)
		covered := unit.Time(0)
		slices.SortFunc(transfers, func(a, b interval) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.op, b.op)) })
		for _, x := range transfers {
			from := max(x.from, covered)
			if x.to <= from {
				continue
			}
			covered = x.to
			t := x.to - from - (busy.until(x.to) - busy.until(from))
			if t <= 0 {
				continue
			}
			name := s.partName(member{int32(rank), x.op})
			p := byName[name]
			if p == nil {
				p = &PathPart{Name: name}
				byName[name] = p
			}
			p.Count++
			p.Time += t
			exposed += t
		}
	}
	n := unit.Time(len(s.ranks))
	times := RankTimes{Computing: computing / n}
	for _, p := range byName {
		p.Time /= n
		times.Communication = append(times.Communication, *p)
	}
	sortParts(times.Communication)
	times.Waiting = r.Finish - times.Computing - times.Exposed()
	return times
}

// interval is the time of an operation of a rank.
type interval struct {
	from, to unit.Time
	op       int32
}

// intervals appends when a rank computes, and when its messages and collective operations are under
// way.
func (s *simulation) intervals(rank int32, computes, transfers []interval) (_, _ []interval) {
	r := &s.ranks[rank]
	for i, o := range r.Ops() {
		x := interval{r.starts[i], r.ends[i], int32(i)}
		switch o.Kind {
		case workload.Compute:
			x.from = x.to - unit.Time(o.Size)*unit.Nanosecond
			computes = append(computes, x)
			continue
		case workload.Recv, workload.Collective:
			cause := r.causes[i]
			x.from = max(x.from, s.ranks[cause.rank].starts[cause.op])
		}
		transfers = append(transfers, x)
	}
	return computes, transfers
}

// mergeIntervals sorts intervals and joins those that overlap.
func mergeIntervals(all []interval) []interval {
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	n := 0
	for _, x := range all {
		if n > 0 && x.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, x.to)
			continue
		}
		all[n] = x
		n++
	}
	return all[:n]
}

// busyTime adds up the times of intervals that do not overlap.
type busyTime struct {
	intervals []interval
	before    []unit.Time // the sum of those before each
}

func newBusyTime(all []interval) *busyTime {
	b := &busyTime{all, make([]unit.Time, len(all)+1)}
	for i, x := range all {
		b.before[i+1] = b.before[i] + x.to - x.from
	}
	return b
}

// until returns the time of the intervals up to a time.
func (b *busyTime) until(t unit.Time) unit.Time {
	i, _ := slices.BinarySearchFunc(b.intervals, t, func(x interval, t unit.Time) int { return cmp.Compare(x.from, t) })
	if i == 0 {
		return 0
	}
	last := b.intervals[i-1]
	return b.before[i-1] + min(t, last.to) - last.from
}
