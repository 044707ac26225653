package collective

import (
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The transfers of a rank are its steps without posting and without local steps, whose time they
// have, in any number of batches.
func TestTransfersAreTheStepsOfTheSchedule(t *testing.T) {
	m := Machine{Copying: model.ConstantCurve(3), Combining: unit.PerByte(5)}
	names := make([]int, 64)
	for rank := range names {
		names[rank] = rank / 3
	}
	for _, a := range extendedAlgorithms() {
		for _, ranks := range []int{1, 5, 64} {
			j := a.Operation.StandardJob(ranks, 9000, NewNodes(names[:ranks]))
			if !a.Serves(j) {
				continue
			}
			for rank := 0; rank < ranks; rank += 7 {
				var source transferSource
				stop := source.start(&m, a, j, rank)
				var work, want unit.Time
				for st := range withoutPosting(a.Steps(j, rank)) {
					switch st.Kind {
					case Copy:
						want += m.Copying.Time(st.Send.Bytes)
						continue
					case CombineLeft, CombineRight:
						want += m.Combining.Time(st.Send.Bytes)
						continue
					}
					x := source.next()
					work += x.workBefore
					if x.isScheduleEnd || int(x.to) != st.To || int(x.from) != st.From || x.bytes != st.Send.Bytes || x.isPosted != st.IsPosted || x.isWait != (st.Kind == Wait) || work != want {
						t.Fatalf("%v of %d ranks, rank %d: %+v after work of %v, want %+v after %v", a, ranks, rank, x, work, st, want)
					}
				}
				if x := source.next(); !x.isScheduleEnd || work+x.workBefore != want {
					t.Errorf("%v of %d ranks, rank %d: %+v after the last step", a, ranks, rank, x)
				}
				stop()
			}
		}
	}
}

// A cost allocates for ranks and not for messages, and what messages of a rank to the same
// destination occupy is computed once.
func TestCostOfManyMessagesAllocatesForRanksOnly(t *testing.T) {
	calls := 0
	m := machineOf(5*us, us, us, 5*us, 100) // the gap keeps a root from running ahead of its receivers
	m.SharedOccupations = func(into []model.Occupation, from, to, _ int) []model.Occupation {
		calls++
		return append(into, model.Occupation{Component: model.Component{Name: "link", Index: from}, Time: us}, model.Occupation{Component: model.Component{Name: "link", Index: to}, Time: us, AtReceiver: true})
	}
	for _, c := range []struct {
		operation Operation
		name      string
		bytes     int
	}{{Bcast, "pipelined-1KiB", 4 << 20}, {Allgather, "ring", 64}} {
		a := AlgorithmNamed(c.operation, c.name)
		for _, ranks := range []int{8, 128} {
			j := c.operation.StandardJob(ranks, c.bytes/ranks*ranks, nil)
			calls = 0
			messages := m.Cost(a, j).Messages
			if most := 2 * ranks; calls > most {
				t.Errorf("%v of %d ranks and %d messages: shared components are asked for %d times, more than %d", a, ranks, messages, calls, most)
			}
			if got, most := testing.AllocsPerRun(1, func() { m.Cost(a, j) }), 60*ranks+100; got > float64(most) {
				t.Errorf("%v of %d ranks and %d messages: %v allocations, more than %d", a, ranks, messages, got, most)
			}
		}
	}
}

// The number of messages is that of the cost, and copies and combinations count a little.
func TestHasMoreMessages(t *testing.T) {
	m := machineOf(5*us, us, us, us, 100)
	for _, a := range Algorithms {
		j := a.Operation.StandardJob(32, 4096, NewNodes(make([]int, 32)))
		if !a.Serves(j) {
			continue
		}
		n := m.Cost(a, j).Messages
		if !a.HasMoreMessages(j, n-1) || a.HasMoreMessages(j, 2*n+32) {
			t.Errorf("%v has %d messages: more than that less one: %v, than twice as many: %v", a, n, a.HasMoreMessages(j, n-1), a.HasMoreMessages(j, 2*n+32))
		}
	}
	bruck := AlgorithmNamed(Alltoall, "bruck")
	j := Job{Ranks: 1024, Bytes: 8}
	if n := 1024 * 10; !bruck.HasMoreMessages(j, 10*n) || bruck.HasMoreMessages(j, 30*n) {
		t.Error("the copies of alltoall bruck count wrongly")
	}
}
