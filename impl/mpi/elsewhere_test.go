package mpi_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/mpi"
)

// elsewhere calls f in another goroutine and returns what it panics with.
func elsewhere(f func()) (v any) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	return <-done
}

// Calls of other goroutines fail there, whichever they are, and leave everything as it was, so that
// the rank may go on.
func TestCallsFromElsewhere(t *testing.T) {
	calls := func(c *mpi.Comm, r *mpi.Request) map[string]func() {
		b := make([]byte, 8)
		return map[string]func(){
			"Send":      func() { mpi.Send(c, b, 0, 9) },
			"Isend":     func() { mpi.Isend(c, b, 0, 9) },
			"Recv":      func() { c.Recv(mpi.Of(b), 0, 9) },
			"Irecv":     func() { mpi.Irecv(c, b, 0, 9) },
			"Sendrecv":  func() { c.Sendrecv(mpi.Of(b), 0, 9, mpi.Of(b), 0, 9) },
			"Iprobe":    func() { c.Iprobe(mpi.AnySource, 9) },
			"SendInit":  func() { c.SendInit(mpi.Of(b), 0, 9) },
			"Wait":      func() { r.Wait() },
			"Test":      func() { r.Test() },
			"Cancel":    func() { r.Cancel() },
			"Free":      func() { r.Free() },
			"WaitAll":   func() { mpi.WaitAll([]mpi.Request{*r}, nil) },
			"Barrier":   func() { c.Barrier() },
			"Allreduce": func() { mpi.Allreduce(c, []int32{1}, []int32{1}, mpi.Sum) },
			"Dup":       func() { c.Dup() },
			"Split":     func() { c.Split(0, 0) },
			"Wtime":     func() { c.Wtime() },
			"Compute":   func() { c.Compute(us) },
		}
	}
	program := func(c *mpi.Comm) error {
		other := 1 - c.Rank()
		b := make([]byte, 4)
		r := mpi.Irecv(c, b, other, 1)
		for name, call := range calls(c, &r) {
			e, ok := elsewhere(call).(*mpi.Error)
			if !ok || e.Rank != c.Rank() || e.Call != name || e.Class != mpi.ErrOther || filepath.Base(e.At.File) != "elsewhere_test.go" {
				return fmt.Errorf("%s: %v", name, e)
			}
		}
		mpi.Send(c, []byte{1, 2, 3, byte(c.Rank())}, other, 1)
		if st := r.Wait(); st.Bytes != 4 || b[3] != byte(other) {
			return fmt.Errorf("received %+v: %v", st, b)
		}
		return nil
	}
	for _, at := range places {
		l := enginetest.Default()
		holds(t, mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: true}, program))
	}
	for _, at := range processes {
		if enginetest.Racing {
			break
		}
		t.Run(at.Name, func(t *testing.T) {
			l := enginetest.Default()
			holds(t, mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: true}, program))
		})
	}
}

// Who uses the communicator of another rank fails, and that rank does not notice: it is where it
// was.
func TestCallsOfOtherRanks(t *testing.T) {
	for _, at := range places {
		l := enginetest.Default()
		comms := make(chan *mpi.Comm, 1)
		rob := func(use func(theirs *mpi.Comm) error) error {
			return mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: true}, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					return use(<-comms)
				}
				comms <- c
				c.Recv(mpi.Of([]byte{0}), 1, 1)
				return nil
			})
		}
		var e *mpi.Error
		if err := rob(func(theirs *mpi.Comm) error { mpi.Send(theirs, []byte{0}, 0, 1); return nil }); !errors.As(err, &e) || e.Rank != 0 || e.Call != "Send" {
			t.Errorf("%s: %v", at.Name, err)
		}
		var d *mpi.DeadlockError
		if err := rob(func(theirs *mpi.Comm) error {
			if e, ok := elsewhere(func() { mpi.Send(theirs, []byte{0}, 0, 1) }).(*mpi.Error); !ok || e.Call != "Send" {
				return fmt.Errorf("a goroutine uses it: %v", e)
			}
			return nil
		}); !errors.As(err, &d) || d.Waits[0].Call != "Recv" {
			t.Errorf("%s: %v", at.Name, err)
		}
	}
}
