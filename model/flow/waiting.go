package flow

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// Causes of waiting, beside late members of collective operations.
const (
	bubblePart   = "bubble of the pipeline"
	latePeerPart = "a peer that sends late"
	endedPart    = "the last rank to end"
	otherPart    = "other operations"
)

// waitFinder names what a rank waits for while it neither computes nor communicates.
type waitFinder struct {
	*simulation
	rank             int32
	computeIntervals []opInterval // of what computes, in order
	finishOp         int32        // the operation that ends last
}

// newWaitFinder returns that of a rank, with when it computes.
func (s *simulation) newWaitFinder(rank int32, computes []opInterval) *waitFinder {
	f := &waitFinder{s, rank, slices.Clone(computes), int32(s.lastOp(rank))}
	slices.SortFunc(f.computeIntervals, func(a, b opInterval) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.op, b.op)) })
	return f
}

// waitCause returns what the rank waits for from a time on: the operation that was open then, among
// those for which the next computing waits, each of which waited for the one before. After all
// computing it is among those for which the end of the rank waits.
func (f *waitFinder) waitCause(from, to unit.Time) string {
	r := &f.ranks[f.rank]
	op := f.finishOp
	if r.endTimes[op] <= from {
		if r.HasBubbles() {
			return bubblePart
		}
		return endedPart
	}
	if i, _ := slices.BinarySearchFunc(f.computeIntervals, to, func(x opInterval, t unit.Time) int { return cmp.Compare(x.from, t) }); i < len(f.computeIntervals) {
		op = f.computeIntervals[i].op
	}
	for r.startTimes[op] > from {
		before := f.causeOfStart(rankOp{f.rank, op}).op
		if before == op {
			return otherPart
		}
		op = before
	}
	return f.describeWait(op)
}

// describeWait says what an operation waits for.
func (f *waitFinder) describeWait(op int32) string {
	r := &f.ranks[f.rank]
	kind := r.Ops()[op].Kind
	switch {
	case kind != workload.Recv && kind != workload.Collective:
		return otherPart
	case r.IsBubble(op):
		return bubblePart
	case kind == workload.Recv:
		return latePeerPart
	}
	return "a late member, " + f.partName(rankOp{f.rank, op})
}

// forEachGap calls each for the times from 0 to finish that are in none of some intervals, which do
// not overlap and are in order.
func forEachGap(busy []opInterval, finish unit.Time, each func(from, to unit.Time)) {
	at := unit.Time(0)
	for _, x := range busy {
		if x.from > at {
			each(at, min(x.from, finish))
		}
		at = max(at, x.to)
	}
	if at < finish {
		each(at, finish)
	}
}
