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
		if int(n) < len(r.sim.busyPicoseconds) && !isOwnPart(c) {
			all = append(all, PartLoad{c, unit.Time(r.sim.busyPicoseconds[n])})
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
	Waiting       []PathPart // while it neither computes nor communicates, by cause: the longest first
}

// ExposedCommunication returns the time of communication while ranks do not compute, and
// WaitingTime that in which they do neither.
func (t *RankTimes) ExposedCommunication() unit.Time { return sumParts(t.Communication) }
func (t *RankTimes) WaitingTime() unit.Time          { return sumParts(t.Waiting) }

func sumParts(parts []PathPart) (sum unit.Time) {
	for _, p := range parts {
		sum += p.Time
	}
	return sum
}

// partTimes adds up times by name.
type partTimes map[string]*PathPart

func (s partTimes) add(name string, t unit.Time) {
	p := s[name]
	if p == nil {
		p = &PathPart{Name: name}
		s[name] = p
	}
	p.Count++
	p.Time += t
}

// divideByRanks returns the parts divided by n, the longest first.
func (s partTimes) divideByRanks(n unit.Time) (all []PathPart) {
	for _, p := range s {
		all = append(all, PathPart{p.Name, p.Count, p.Time / n})
	}
	sortParts(all)
	return all
}

// MeanTimes returns how ranks spend their time. A rank communicates while one of its messages, or a
// collective operation that all of its members have begun, is under way.
func (r *Result) MeanTimes() RankTimes {
	var computing unit.Time
	exposed, waiting := partTimes{}, partTimes{}
	for rank := range r.sim.ranks {
		computing += r.addRankTimes(int32(rank), exposed, waiting)
	}
	n := unit.Time(len(r.sim.ranks))
	times := RankTimes{Computing: computing / n, Communication: exposed.divideByRanks(n), Waiting: waiting.divideByRanks(n)}
	if rest := r.Finish - times.Computing - times.ExposedCommunication() - sumParts(times.Waiting); len(times.Waiting) > 0 {
		times.Waiting[0].Time += rest // picoseconds that divisions have lost
	} else {
		times.Computing += rest
	}
	return times
}

// addRankTimes adds the exposed communication and the waiting of a rank, and returns its computing.
func (r *Result) addRankTimes(rank int32, exposed, waiting partTimes) unit.Time {
	s := r.sim
	computes, transfers := s.intervals(rank)
	finder := s.newWaitFinder(rank, computes)
	computes = mergeIntervals(computes)
	busy := newBusyTime(computes)
	covered := unit.Time(0)
	slices.SortFunc(transfers, func(a, b opInterval) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.op, b.op)) })
	for _, x := range transfers {
		from := max(x.from, covered)
		if x.to <= from {
			continue
		}
		covered = x.to
		if t := x.to - from - (busy.busyBefore(x.to) - busy.busyBefore(from)); t > 0 {
			exposed.add(s.partName(rankOp{rank, x.op}), t)
		}
	}
	computing := busy.busyBefore(r.Finish)
	forEachGap(mergeIntervals(slices.Concat(computes, transfers)), r.Finish, func(from, to unit.Time) {
		waiting.add(finder.waitCause(from, to), to-from)
	})
	return computing
}

// opInterval is the time of an operation of a rank.
type opInterval struct {
	from, to unit.Time
	op       int32
}

// intervals returns when a rank computes, and when its messages and collective operations are under
// way.
func (s *simulation) intervals(rank int32) (computes, transfers []opInterval) {
	r := &s.ranks[rank]
	for i, o := range r.Ops() {
		x := opInterval{r.startTimes[i], r.endTimes[i], int32(i)}
		switch o.Kind {
		case workload.Compute:
			x.from = x.to - unit.Time(o.Size)*unit.Nanosecond
			computes = append(computes, x)
			continue
		case workload.Recv, workload.Collective:
			cause := r.startCauses[i]
			x.from = max(x.from, s.ranks[cause.rank].startTimes[cause.op])
		}
		transfers = append(transfers, x)
	}
	return computes, transfers
}

// mergeIntervals sorts intervals and joins those that overlap.
func mergeIntervals(all []opInterval) []opInterval {
	slices.SortFunc(all, func(a, b opInterval) int { return cmp.Compare(a.from, b.from) })
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
	intervals      []opInterval
	busyTimeBefore []unit.Time // the sum of those before each
}

func newBusyTime(all []opInterval) *busyTime {
	b := &busyTime{all, make([]unit.Time, len(all)+1)}
	for i, x := range all {
		b.busyTimeBefore[i+1] = b.busyTimeBefore[i] + x.to - x.from
	}
	return b
}

// busyBefore returns the time of the intervals up to a time.
func (b *busyTime) busyBefore(t unit.Time) unit.Time {
	i, _ := slices.BinarySearchFunc(b.intervals, t, func(x opInterval, t unit.Time) int { return cmp.Compare(x.from, t) })
	if i == 0 {
		return 0
	}
	last := b.intervals[i-1]
	return b.busyTimeBefore[i-1] + min(t, last.to) - last.from
}
