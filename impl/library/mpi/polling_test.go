package mpi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// On emulated machines, loops that poll for a message that never comes are a deadlock, with each
// engine. The report names the call and its arguments.
func TestEndlessPollsAreADeadlock(t *testing.T) {
	for name, poll := range map[string]func(c *mpi.Comm, other int){
		"Iprobe": func(c *mpi.Comm, other int) {
			for found := false; !found; {
				_, found = c.Iprobe(other, 3)
			}
		},
		"Test": func(c *mpi.Comm, other int) {
			r := mpi.Irecv(c, []byte{0}, other, 3)
			for done := false; !done; {
				_, done = r.Test()
			}
		},
		"TestSome": func(c *mpi.Comm, other int) {
			all := []mpi.Request{mpi.Irecv(c, []byte{0}, other, 3)}
			for mpi.TestSome(all, make([]int, 1), nil) == 0 {
			}
		},
	} {
		for _, x := range tables {
			l := x.New()
			err := mpi.Run(on("t3d")(t, l, 3), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
				switch c.Rank() {
				case 0:
					poll(c, 1)
				case 1:
					c.Barrier()
				}
				return nil
			})
			var d *mpi.DeadlockError
			if !errors.As(err, &d) || !slices.Equal(d.Ranks, []int{0, 1}) {
				t.Fatalf("%s by %s: %v, want a deadlock of ranks 0 and 1", name, x.Name, err)
			}
			if w := d.Waits[0]; w.Call != name || !w.IsPolling || w.WaitsFor != "a message from rank 1 with tag 3" || w.WaitsOnRank != 1 || w.CallSite.Line == 0 || d.Waits[1].IsPolling {
				t.Errorf("%s by %s: rank 0: %+v; rank 1: %+v", name, x.Name, w, d.Waits[1])
			}
		}
	}
}

// A rank that polls for longer than the limit gets the message of a rank that computes for a long
// time.
func TestLongPollsEnd(t *testing.T) {
	w, o := t3d(t, 2)
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			c.Compute(2 * unit.Second)
			mpi.Send(c, []byte{1}, 0, 3)
			return nil
		}
		for found := false; !found; {
			_, found = c.Iprobe(1, 3)
		}
		mpi.Recv(c, []byte{0}, 1, 3)
		return nil
	}))
}

// A list of requests is complete after as many tests, and at the same time, whether each test looks
// at the whole list or goes on where the last one stopped.
func TestRepeatedTestsOfAList(t *testing.T) {
	const n = 40
	type outcome struct {
		tests    int
		end      unit.Time
		statuses [n]mpi.Status
	}
	receive := func(isDone func(reqs []mpi.Request, st []mpi.Status) bool) (x outcome) {
		w, o := t3d(t, 2)
		holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
			reqs := make([]mpi.Request, n+1) // the last stays null
			for i := range n {
				if b := make([]byte, 5000); c.Rank() == 0 {
					reqs[i] = mpi.Irecv(c, b, 1, i)
				} else {
					mpi.Send(c, b, 0, (7*i+3)%n)
				}
			}
			if c.Rank() == 0 {
				st := make([]mpi.Status, n+1)
				for x.tests = 1; !isDone(reqs, st); x.tests++ {
				}
				copy(x.statuses[:], st)
				x.end = c.Wtime()
			}
			return nil
		}))
		return x
	}
	whole, next := receive(mpi.TestAll), 0
	again := receive(func(reqs []mpi.Request, st []mpi.Status) bool { return mpi.TestAllAgain(reqs, st, &next) })
	if whole != again || whole.tests < n || next != n+1 {
		t.Errorf("%d tests until %v, and %d until %v by TestAllAgain, which stopped at %d", whole.tests, whole.end, again.tests, again.end, next)
	}
}
