package recorder_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/engine/recorder"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

func library() *model.Library {
	l := &model.Library{Name: "test", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 16}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "T"})
	}
	l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	return l
}

// An engine that is recorded obeys the laws of package engine.
func TestEngine(t *testing.T) {
	enginetest.Test(t, enginetest.Subject{Name: "recorded", NewJobEngines: (&recorder.Recorder{}).WrapEngines(proto.New), Library: library})
}

const want = `num_ranks 2

rank 0 {
l0: recv 3b from 1 tag 7
l1: calc 0
l2: send 4b to 1 tag 1
l3: send 5b to 1 tag 2
l4: send 6b to 1 tag 2
l5: recv 8b from 1 tag 6
l6: send 0b to 1 tag 5
l7: recv 0b from 1 tag 8
l8: send 0b to 1 tag 8
l1 requires l0
l2 requires l1
l2 irequires l1
l3 irequires l2
l4 requires l2
l4 requires l3
l4 irequires l3
l5 requires l4
l6 irequires l5
l7 requires l5
l7 requires l6
l8 requires l7
}

rank 1 {
l0: send 3b to 0 tag 7
l1: recv 4b from 0 tag 1
l2: recv 5b from 0 tag 2
l3: recv 6b from 0 tag 2
l4: recv 0b from 0 tag 5
l5: send 8b to 0 tag 6
l6: send 0b to 0 tag 8
l7: recv 0b from 0 tag 8
l1 irequires l0
l2 requires l1
l3 requires l2
l3 irequires l2
l4 requires l3
l4 irequires l3
l5 requires l4
l6 irequires l5
l7 requires l6
}
`

// Each kind of call is in the schedule, with what the program waited for before it.
func TestSchedule(t *testing.T) {
	r := recorder.Recorder{WorkTime: func(int) unit.Time { return 0 }}
	err := mpi.Run(loop.New(2), mpi.Options{Engine: r.WrapEngines(proto.New), Library: library()}, func(c *mpi.Comm) error {
		r.BeginRank(c.Rank())
		defer r.EndRank(c.Rank())
		b := make([]byte, 8)
		if c.Rank() == 1 {
			c.AttachBuffer(make([]byte, 100))
			mpi.Bsend(c, b[:3], 0, 7)
			mpi.Recv(c, b[:4], 0, 1)
			p := mpi.RecvInit(c, b, 0, 2)
			for range 2 {
				p.Start()
				p.Wait()
			}
			p.Free()
			mpi.Recv(c, b, 0, 5)
			given := mpi.Isend(c, b, 0, 6)
			given.Free()
			c.Barrier()
			c.DetachBuffer()
			return nil
		}
		mpi.Recv(c, b, mpi.AnySource, mpi.AnyTag) // of 3 bytes
		lost := mpi.Irecv(c, make([]byte, 1), 1, 8)
		lost.Cancel()
		lost.Wait()
		reqs := []mpi.Request{mpi.Isend(c, b[:4], 1, 1), mpi.Isend(c, b[:5], 1, 2)}
		mpi.WaitAll(reqs, nil)
		mpi.Send(c, b[:6], 1, 2)
		got := mpi.Irecv(c, b, 1, 6)
		mpi.Send(c, b[:0], 1, 5)
		got.Wait()
		c.Compute(0)
		c.Barrier()
		c.ReduceLocal(mpi.Sum, mpi.BufferOf([]int32{1}), mpi.BufferOf([]int32{1}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Schedule(2)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := s.Write(&text); err != nil {
		t.Fatal(err)
	}
	if text.String() != want {
		t.Errorf("got\n%s", text.String())
	}
}

// The messages of a call of Alltoallv are marked, also if they come from another process.
func TestCalls(t *testing.T) {
	const ranks = 3
	r := recorder.Recorder{WorkTime: func(int) unit.Time { return 0 }}
	o := mpi.Options{Engine: r.WrapEngines(proto.New), Library: library(), OnCall: r.EnterCall}
	err := mpi.Run(loop.New(ranks), o, func(c *mpi.Comm) error {
		b, n, at := make([]byte, ranks), []int{1, 1, 1}, []int{0, 1, 2}
		all := mpi.BufferOf(make([]byte, ranks))
		for range 2 {
			c.Alltoallv(mpi.BufferOf(b), n, at, all, n, at)
			c.Barrier()
		}
		c.Split(c.Rank(), 0).Alltoallv(mpi.BufferOf(b[:1]), n[:1], at[:1], mpi.BufferOf(make([]byte, 1)), n[:1], at[:1]) // no messages
		mpi.Alltoall(c, b, all.Bytes)
		r.EndRank(c.Rank())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := r.Schedule(ranks)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			calls := s.Calls(rank)
			if len(calls) != 2 {
				t.Fatalf("rank %d has calls %v", rank, calls)
			}
			for _, c := range calls {
				if c.Name != "Alltoallv" || c.Ops != 2*(ranks-1) {
					t.Errorf("rank %d: %v", rank, c)
				}
				for i, o := range s.OpsOfRank(rank)[c.First:][:c.Ops] {
					if send := o.Kind == schedule.Send; o.Size != 1 || send != (i >= ranks-1) {
						t.Errorf("rank %d: operation %d of a call is %v", rank, i, o)
					}
				}
			}
			r.DecodeRank(rank, r.EncodeRank(rank))
		}
	}
}

// Synchronous sends are marked, also if they come from another process.
func TestSynchronous(t *testing.T) {
	r := recorder.Recorder{WorkTime: func(int) unit.Time { return 0 }}
	err := mpi.Run(loop.New(2), mpi.Options{Engine: r.WrapEngines(proto.New), Library: library(), OnCall: r.EnterCall}, func(c *mpi.Comm) error {
		b := make([]byte, 8)
		if c.Rank() == 0 {
			mpi.Send(c, b, 1, 0)
			mpi.Ssend(c, b, 1, 0)
			mine := mpi.Issend(c, b, 1, 0)
			mine.Wait()
		} else {
			for range 3 {
				mpi.Recv(c, b, 0, 0)
			}
		}
		r.EndRank(c.Rank())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := r.Schedule(2)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Calls(0); !slices.Equal(got, []schedule.Call{{Name: schedule.SynchronousSendCall, First: 1, Ops: 1}, {Name: schedule.SynchronousSendCall, First: 2, Ops: 1}}) || len(s.Calls(1)) > 0 {
			t.Errorf("calls %v and %v", got, s.Calls(1))
		}
		r.DecodeRank(0, r.EncodeRank(0))
	}
}
