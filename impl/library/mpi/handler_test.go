package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// sendsNowhere returns a function with an erroneous send on a communicator.
func sendsNowhere(c *mpi.Comm) func() { return func() { mpi.Send[byte](c, nil, 99, 0) } }

// Catch returns an error if the handler of the failing call's communicator says so, whichever
// communicator Catch is called on.
func TestCatch(t *testing.T) {
	holdsEverywhere(t, 2, func(c *mpi.Comm) error {
		d := c.Dup()
		d.SetErrorHandler(mpi.ErrorsReturn)
		err := c.Catch(sendsNowhere(d))
		var e *mpi.Error
		if !errors.As(err, &e) || e.Class != mpi.ErrRank || e.Rank != c.Rank() || e.Call != "Send" || e.CallSite.Line == 0 {
			return fmt.Errorf("caught %v", err)
		}
		if err := d.Catch(func() { d.Barrier() }); err != nil {
			return fmt.Errorf("caught %v of a barrier", err)
		}
		got := make([]int32, 1) // communication continues after an error of arguments
		mpi.Sendrecv(d, []int32{int32(c.Rank())}, 1-c.Rank(), 4, got, 1-c.Rank(), 4)
		if got[0] != int32(1-c.Rank()) {
			return fmt.Errorf("received %d", got[0])
		}
		return nil
	})
}

// Ranks that get the data of a broadcast from a rank with the wrong length fail, too.
func TestErrorsSpreadInBroadcasts(t *testing.T) {
	holdsEverywhere(t, 4, func(c *mpi.Comm) error {
		c.SetErrorHandler(mpi.ErrorsReturn)
		for _, n := range []int{10, 1000, 50_000} {
			for _, theirs := range []int{n - 3, n + 3} {
				few := n
				if c.Rank() > 0 {
					few = theirs
				}
				err := c.Catch(func() { mpi.Bcast(c, make([]byte, few), 0) })
				if c.Rank() > 0 && err == nil {
					return fmt.Errorf("rank %d does not notice that the root sends %d bytes, and not %d", c.Rank(), n, few)
				}
				c.Barrier()
			}
		}
		return nil
	})
}

// In a collective operation a rank whose receive buffer is too short or of another type gets the
// error, and the others continue.
func TestTruncatedCollectives(t *testing.T) {
	const last = 2
	holdsEverywhere(t, last+1, func(c *mpi.Comm) error {
		c.SetErrorHandler(mpi.ErrorsReturn)
		expect := func(operation string, n int, want mpi.Class, call func()) error {
			switch class := mpi.ErrorClass(c.Catch(call)); {
			case c.Rank() == last && class != want:
				return fmt.Errorf("%s of %d has class %s, want %s", operation, n, class, want)
			case c.Rank() != last && class != mpi.Success:
				return fmt.Errorf("%s of %d has class %s at a rank that is right", operation, n, class)
			}
			return nil
		}
		for _, n := range []int{10, 1000, 50_000} {
			few := n
			if c.Rank() == last {
				few -= 3
			}
			given, taken, other := make([]int32, (last+1)*n), make([]int32, n), make([]float32, n)
			taken[n-1] = -5
			counts, offsets := []int{n, n, n}, []int{0, n, 2 * n}
			err := errors.Join(
				expect("Bcast", n, mpi.ErrTruncate, func() { mpi.Bcast(c, taken[:few], 0) }),
				expect("Scatterv", n, mpi.ErrTruncate, func() { c.Scatterv(mpi.BufferOf(given), counts, offsets, mpi.BufferOf(taken[:few]), 0) }),
				expect("Bcast of another type", n, mpi.ErrType, func() {
					if c.Rank() == last {
						mpi.Bcast(c, other, 0)
					} else {
						mpi.Bcast(c, taken, 0)
					}
				}),
				expect("Barrier", 0, mpi.Success, c.Barrier))
			if err == nil && c.Rank() == last && taken[n-1] != -5 {
				err = fmt.Errorf("%d elements were written where there was room for %d", n, few)
			}
			if err != nil {
				return err
			}
			sum := []int32{0}
			if mpi.Allreduce(c, []int32{int32(c.Rank())}, sum, mpi.Sum); sum[0] != 0+1+last {
				return fmt.Errorf("the sum is %d", sum[0])
			}
		}
		return nil
	})
}

// Communicators created from another one, by any call, inherit its handler and keep it.
func TestInherited(t *testing.T) {
	locally(t, 2, func(c *mpi.Comm) error {
		var told []*mpi.Comm
		h := mpi.NewErrorHandler(func(c *mpi.Comm, _ *mpi.Error) { told = append(told, c) })
		d := c.Dup()
		if d.SetErrorHandler(h); d.ErrorHandler() != h || c.ErrorHandler() != mpi.ErrorsAreFatal {
			return errors.New("the handler is not where it was set")
		}
		half := d.Split(c.Rank(), 0)
		made := []*mpi.Comm{d, d.Dup(), d.Create(d.Group()), half, d.CreateCart([]int{2}, []bool{true}), half.CreateInter(0, c, 1-c.Rank(), 7)}
		if err := h.Free(); err != nil {
			return err
		}
		for i, x := range made {
			if err := c.Catch(sendsNowhere(x)); mpi.ErrorClass(err) != mpi.ErrRank {
				return fmt.Errorf("communicator %d: %v", i, err)
			}
		}
		if !slices.Equal(told, made) {
			return fmt.Errorf("the handler was told of other communicators: %v", told)
		}
		d.SetErrorHandler(mpi.ErrorsAreFatal)
		if d.ErrorHandler() != mpi.ErrorsAreFatal || made[1].ErrorHandler() != h {
			return errors.New("a handler is not the communicator's own")
		}
		made[1].Free()
		return nil
	})
}

// Catch passes on fatal errors and errors of other packages. Calls without a communicator use the
// handler of the first communicator.
func TestNotCaught(t *testing.T) {
	cause := errors.New("cause")
	var told *mpi.Error
	tell := mpi.NewErrorHandler(func(_ *mpi.Comm, err *mpi.Error) { told = err })
	gone := mpi.NewErrorHandler(nil)
	if err := gone.Free(); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		on   *mpi.ErrorHandler
		f    func(c *mpi.Comm) error
		says string
	}{
		"fatal": {mpi.ErrorsAreFatal, func(c *mpi.Comm) error { return c.Catch(sendsNowhere(c)) }, "rank 0: Send (handler_test.go:16): MPI_ERR_RANK"},
		"another is": {mpi.ErrorsReturn, func(c *mpi.Comm) error {
			d := c.Dup()
			d.SetErrorHandler(mpi.ErrorsAreFatal)
			return c.Catch(sendsNowhere(d))
		}, "MPI_ERR_RANK"},
		"freed":             {mpi.ErrorsReturn, func(c *mpi.Comm) error { d := c.Dup(); d.Free(); return c.Catch(d.Barrier) }, "MPI_ERR_COMM"},
		"a panic":           {mpi.ErrorsReturn, func(c *mpi.Comm) error { return c.Catch(func() { panic(cause) }) }, "cause"},
		"abort":             {mpi.ErrorsReturn, func(c *mpi.Comm) error { return c.Catch(func() { c.Abort(3) }) }, "code 3"},
		"no catch":          {tell, func(c *mpi.Comm) error { sendsNowhere(c)(); return nil }, "MPI_ERR_RANK"},
		"a handler of none": {mpi.ErrorsReturn, func(c *mpi.Comm) error { return c.Catch(func() { c.Dup().SetErrorHandler(nil) }) }, "MPI_ERR_ARG: the error handler was freed"},
		"a handler freed":   {mpi.ErrorsReturn, func(c *mpi.Comm) error { return c.Catch(func() { c.SetErrorHandler(gone) }) }, "MPI_ERR_ARG: the error handler was freed"},
		"without a communicator": {mpi.ErrorsReturn, func(c *mpi.Comm) error {
			return c.Catch(func() { mpi.Contiguous(-1, mpi.Byte) })
		}, "rank 0: Contiguous"},
	} {
		t.Run(name, func(t *testing.T) {
			told = nil
			returned := false
			err := mpi.Run(loop.New(1), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
				c.SetErrorHandler(x.on)
				err := x.f(c)
				returned = err != nil
				return err
			})
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("Run returned %v, without %q", err, x.says)
			}
			if want := strings.Contains(name, "handler") || strings.Contains(name, "without"); returned != want {
				t.Errorf("caught: %v, want %v", returned, want)
			}
			if (told != nil) != (x.on == tell) {
				t.Errorf("the handler was told of %v", told)
			}
		})
	}
	if mpi.ErrorsReturn.Free() == nil || mpi.ErrorsAreFatal.Free() == nil {
		t.Error("freed a handler of the library's")
	}
}

// The report on a rank that is stopped while it waits in Catch contains its line.
func TestStoppedInCatch(t *testing.T) {
	for name, open := range map[string]func(testing.TB, int) (mpi.World, mpi.Options){
		"emulated": func(t testing.TB, n int) (mpi.World, mpi.Options) { return t3d(t, n) },
		"here": func(_ testing.TB, n int) (mpi.World, mpi.Options) {
			return loop.New(n), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}
		},
	} {
		w, o := open(t, 1)
		err := mpi.Run(w, o, func(c *mpi.Comm) error {
			return c.Catch(func() { mpi.Recv[byte](c, nil, 0, 0) })
		})
		var d *mpi.DeadlockError
		if !errors.As(err, &d) || !strings.HasPrefix(d.Waits[0].CallSite.String(), "handler_test.go:") || mpi.ErrorClass(err) != mpi.ErrOther {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every class of MPI-1.2, section 7.4, has a text, and all texts differ.
func TestErrorString(t *testing.T) {
	names := strings.Fields("SUCCESS ERR_BUFFER ERR_COUNT ERR_TYPE ERR_TAG ERR_COMM ERR_RANK ERR_REQUEST ERR_ROOT ERR_GROUP ERR_OP ERR_TOPOLOGY ERR_DIMS ERR_ARG " +
		"ERR_UNKNOWN ERR_TRUNCATE ERR_OTHER ERR_INTERN ERR_PENDING ERR_IN_STATUS")
	seen := make(map[string]bool)
	for _, n := range names {
		seen[mpi.ErrorString(mpi.Class("MPI_"+n))] = true
	}
	if len(seen) != len(names) || seen[mpi.ErrorString("MPI_ERR_NONE")] {
		t.Errorf("%d words for %d classes: %v", len(seen), len(names), seen)
	}
	for _, x := range []struct {
		err  error
		want mpi.Class
	}{{nil, mpi.Success}, {errors.New("other"), mpi.ErrUnknown}, {fmt.Errorf("in: %w", &mpi.Error{Class: mpi.ErrTag}), mpi.ErrTag}, {&mpi.AbortError{}, mpi.ErrOther}} {
		if got := mpi.ErrorClass(x.err); got != x.want {
			t.Errorf("the class of %v is %s, not %s", x.err, got, x.want)
		}
	}
}
