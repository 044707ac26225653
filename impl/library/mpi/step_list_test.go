package mpi

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model/collective"
)

// The steps that are decoded from a list are those that were added, also steps of extreme values.
func TestStepListKeepsSteps(t *testing.T) {
	want := []collective.Step{
		{Kind: collective.Wait, To: collective.NoRank, From: collective.NoRank},
		{IsPosted: true, To: math.MaxInt32, From: 0, Send: collective.Span{Area: collective.Tmp, Offset: math.MaxInt, Bytes: 1 << 40}},
		{Kind: collective.CombineRight, Recv: collective.Span{Area: collective.Tmp, Offset: 1, Bytes: math.MaxInt}},
	}
	for _, a := range collective.Algorithms {
		if j := (collective.Job{Ranks: 8, Bytes: 8000, ElementBytes: 8, Root: 3}); a.Serves(j) {
			for rank := range j.Ranks {
				for st := range a.Steps(j, rank) {
					want = append(want, st)
				}
			}
		}
	}
	var l stepList
	for i := range want {
		l.add(&want[i], 8)
	}
	if l.count != len(want) {
		t.Errorf("%d steps, want %d", l.count, len(want))
	}
	got := collective.Step{To: 99, From: 99} // to be overwritten
	for i, st := range want {
		if l.first = l.decodeFirst(&got); got != st {
			t.Fatalf("step %d is %+v, want %+v", i, got, st)
		}
	}
	if l.first != len(l.code) {
		t.Errorf("%d bytes behind the last step", len(l.code)-l.first)
	}
}

// The schedules of small operations of a million ranks fit in a list, so that ranks wait with a
// small stack while they are carried out.
func TestSchedulesOfManyRanksFitInStepList(t *testing.T) {
	const ranks = 1<<20 - 1
	for _, c := range []struct {
		operation collective.Operation
		algorithm string
	}{{collective.Allreduce, "recursive-doubling"}, {collective.Bcast, "binomial"}, {collective.Reduce, "binomial"}, {collective.Barrier, "dissemination"}} {
		a := collective.AlgorithmNamed(c.operation, c.algorithm)
		if a == nil {
			t.Fatalf("no algorithm %s of %v", c.algorithm, c.operation)
		}
		for _, rank := range []int{0, 1, 12345, ranks - 1} {
			var l stepList
			for st := range a.Steps(collective.Job{Ranks: ranks, Bytes: 8, ElementBytes: 8}, rank) {
				if l.isFull() {
					t.Fatalf("%v: the schedule of rank %d has more than %d bytes", a, rank, len(l.code))
				}
				l.add(&st, ranks)
			}
		}
	}
}
