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
	"github.com/loggp/loggp/model/unit"
)

// Two ranks of a torus node have the node's name and timer. Ranks on this computer have the same
// name and some clock.
func TestWhereabouts(t *testing.T) {
	if v, sub := mpi.Version(); v != 4 || sub != 1 {
		t.Errorf("version %d.%d", v, sub)
	}
	names := make([]string, 4)
	w, o := t3d(t, 4)
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		names[c.Rank()] = c.ProcessorName()
		if tick := c.Wtick(); tick != machine().TimerResolution {
			return fmt.Errorf("the clock has steps of %v, not of %v", tick, machine().TimerResolution)
		}
		return nil
	}))
	if want := "torus, node 0;torus, node 0;torus, node 1;torus, node 1"; strings.Join(names, ";") != want {
		t.Errorf("the ranks are on %q", names)
	}
	locally(t, 2, func(c *mpi.Comm) error {
		name := []byte(c.ProcessorName())
		mpi.Bcast(c, name, 0)
		if tick := c.Wtick(); string(name) != c.ProcessorName() || tick <= 0 || tick > unit.Millisecond {
			return fmt.Errorf("rank %d is on %q, rank 0 on %q; a tick is %v", c.Rank(), c.ProcessorName(), name, tick)
		}
		return nil
	})
}

func TestInitialized(t *testing.T) {
	var kept *mpi.Comm
	if kept.Initialized() {
		t.Error("no communicator can be used")
	}
	locally(t, 1, func(c *mpi.Comm) error {
		if kept = c; !c.Initialized() || !c.Dup().Initialized() {
			return errors.New("the communicator cannot be used")
		}
		return nil
	})
	if kept.Initialized() {
		t.Error("it can be used after the end")
	}
}

// Abort ends all ranks, including those that wait.
func TestAbort(t *testing.T) {
	everywhere(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			c.Abort(42)
		}
		c.Barrier()
		return nil
	}, func(t *testing.T, err error) {
		var e *mpi.AbortError
		if !errors.As(err, &e) || *e != (mpi.AbortError{Rank: 1, Code: 42}) || !strings.Contains(err.Error(), "rank 1: Abort: the program ends the job with code 42") {
			t.Errorf("Run returned %v", err)
		}
	})
}

// entered returns all calls but the last that OnCall reports for rank 0.
func entered(t *testing.T, ranks int, program func(c *mpi.Comm)) []string {
	t.Helper()
	var calls []string
	o := mpi.Options{Engine: carry, Library: enginetest.T3DLibrary(), OnCall: func(rank int, call string) {
		if rank == 0 && call != "" && call != "Finalize" {
			calls = append(calls, call)
		}
	}}
	if err := mpi.Run(loop.New(ranks), o, func(c *mpi.Comm) error { program(c); return nil }); err != nil {
		t.Fatal(err)
	}
	return calls
}

// A call of the program is reported as one call, whatever the library calls within it.
func TestOneCall(t *testing.T) {
	x := func(n int) mpi.Buffer { return mpi.BufferOf(make([]int32, n)) }
	for name, call := range map[string]func(c *mpi.Comm){
		"Sendrecv": func(c *mpi.Comm) { c.Sendrecv(x(1), 1-c.Rank(), 0, x(1), 1-c.Rank(), 0) },
		"SendrecvReplace": func(c *mpi.Comm) {
			c.SendrecvReplace(x(1), 1-c.Rank(), 0, 1-c.Rank(), 0)
		},
		"Split":         func(c *mpi.Comm) { c.Split(0, c.Rank()) },
		"Compare":       func(c *mpi.Comm) { c.Compare(c) },
		"Dup":           func(c *mpi.Comm) { c.Dup() },
		"CreateInter":   func(c *mpi.Comm) { halves[c.Rank()].CreateInter(0, c, 1-c.Rank(), 0) },
		"CartSub":       func(c *mpi.Comm) { grids[c.Rank()].CartSub([]bool{true, false}) },
		"CartShift":     func(c *mpi.Comm) { grids[c.Rank()].CartShift(0, 1) },
		"ReduceScatter": func(c *mpi.Comm) { c.ReduceScatter(x(3), x(2-c.Rank()), []int{2, 1}, mpi.Sum) },
	} {
		calls := entered(t, 2, func(c *mpi.Comm) {
			halves[c.Rank()], grids[c.Rank()] = c.Split(c.Rank(), 0), c.CreateCart([]int{2, 1}, []bool{true, true})
			call(c)
		})
		if want := []string{"Split", "CreateCart", name}; !slices.Equal(calls, want) {
			t.Errorf("%v, not %v", calls, want)
		}
	}
	calls := entered(t, 2, func(c *mpi.Comm) {
		var reqs []mpi.Request
		for i := range 3 {
			reqs = append(reqs, mpi.Isend[byte](c, nil, 1-c.Rank(), i), mpi.Irecv[byte](c, nil, 1-c.Rank(), i), mpi.Request{})
		}
		mpi.WaitAll(reqs[2:], nil)
		mpi.TestAny(reqs)
		mpi.WaitAll(reqs, nil)
		mpi.WaitAll(reqs, nil)
	})
	if got, want := strings.Join(calls, " "), "Isend Irecv Isend Irecv Isend Irecv WaitAll TestAny WaitAll"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// halves and grids are communicators of ranks that are created before the calls under test.
var halves, grids [2]*mpi.Comm

// An error within a nested call carries the name of the program's call. The ranks differ only after
// the first nested call.
func TestNameOfCall(t *testing.T) {
	x := func(n int) mpi.Buffer { return mpi.BufferOf(make([]int32, n)) }
	for name, c := range map[string]struct{ call, other func(c *mpi.Comm) }{
		"Split":         {func(c *mpi.Comm) { c.Split(0, 0) }, func(c *mpi.Comm) { c.Create(c.Group()); c.Bcast(x(1), 1) }},
		"CartSub":       {func(c *mpi.Comm) { grids[0].CartSub([]bool{true, false}) }, func(c *mpi.Comm) { grids[1].Create(c.Group()); grids[1].Bcast(x(1), 1) }},
		"ReduceScatter": {func(c *mpi.Comm) { c.ReduceScatter(x(3), x(2), []int{2, 1}, mpi.Sum) }, func(c *mpi.Comm) { c.Reduce(x(3), mpi.Buffer{}, mpi.Sum, 0); c.Allreduce(x(1), x(1), mpi.Sum) }},
		"CreateInter":   {func(c *mpi.Comm) { halves[0].CreateInter(0, c, 7, 0) }, func(*mpi.Comm) {}},
	} {
		err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.T3DLibrary()}, func(comm *mpi.Comm) error {
			r := comm.Rank()
			halves[r], grids[r] = comm.Split(r, 0), comm.CreateCart([]int{2, 1}, []bool{true, true})
			if r == 0 {
				c.call(comm)
			} else {
				c.other(comm)
			}
			return nil
		})
		var e *mpi.Error
		if !errors.As(err, &e) || e.Rank == 0 && e.Call != name || strings.Contains(err.Error(), "Allgather") || strings.Contains(err.Error(), "Scatterv") || !strings.Contains(err.Error(), name) && name != "ReduceScatter" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If an argument of either half of Sendrecv is wrong, nothing is left under way: another receive
// gets the message.
func TestSendrecvWrong(t *testing.T) {
	bare := mpi.Buffer{Bytes: make([]byte, 64), Count: 2}
	x := mpi.BufferOf(make([]int32, 2))
	for name, call := range map[string]func(c *mpi.Comm){
		"to no rank":       func(c *mpi.Comm) { c.Sendrecv(x, 9, 0, x, 1, 5) },
		"with a wrong tag": func(c *mpi.Comm) { c.Sendrecv(x, 1, -3, x, 1, 5) },
		"of no type":       func(c *mpi.Comm) { c.Sendrecv(bare, 1, 0, x, 1, 5) },
		"replaced":         func(c *mpi.Comm) { c.SendrecvReplace(x, 9, 0, 1, 5) },
		"from no rank":     func(c *mpi.Comm) { c.Sendrecv(x, 1, 7, x, 9, 5) },
	} {
		err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.T3DLibrary()}, func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				mpi.Send(c, []int32{3, 4}, 0, 5)
				return nil
			}
			c.SetErrorHandler(mpi.ErrorsReturn)
			if err := c.Catch(func() { call(c) }); err == nil {
				return errors.New("it passes")
			}
			got := make([]int32, 2)
			if st := mpi.Recv(c, got, 1, 5); st.Bytes != 8 || got[1] != 4 {
				return fmt.Errorf("received %v of %v", got, st)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
