package mpi_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/reduction"
)

// Ranks that combine by different operations hear so, in every operation that combines, before
// anything else that differs on account of it, and of the operations that programs make whether
// they commute.
func TestReductionsDiffer(t *testing.T) {
	keeps := func(in, inout mpi.Buffer) {}
	own, alike, commutes := reduction.New(keeps, false), reduction.New(keeps, false), reduction.New(keeps, true)
	x := func(n int) mpi.Buffer { return mpi.Of(make([]int32, n)) }
	calls := map[string]func(c *mpi.Comm, op *mpi.Op){
		"Reduce":        func(c *mpi.Comm, op *mpi.Op) { c.Reduce(x(6), x(6), op, 0) },
		"Allreduce":     func(c *mpi.Comm, op *mpi.Op) { c.Allreduce(x(6), x(6), op) },
		"Scan":          func(c *mpi.Comm, op *mpi.Op) { c.Scan(x(6), x(6), op) },
		"ReduceScatter": func(c *mpi.Comm, op *mpi.Op) { c.ReduceScatter(x(6), x(2), []int{2, 2, 2}, op) },
		"ReduceScatter parts": func(c *mpi.Comm, op *mpi.Op) {
			c.ReduceScatter(x(6), x([]int{3, 2, 1}[c.Rank()]), []int{3, 2, 1}, op)
		},
	}
	for name, call := range calls {
		for _, ops := range []struct {
			one, other *mpi.Op
			says       string
		}{
			{mpi.Sum, mpi.Max, "Sum, Max"}, {mpi.Band, mpi.Bor, "Band, Bor"}, {mpi.Prod, own, "Prod, a user's operation"},
			{own, commutes, "a user's operation, a user's operation that commutes"}, {own, alike, ""},
		} {
			for _, at := range places {
				l := enginetest.Default()
				err := mpi.Run(at.Open(t, l, 3), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
					if c.Rank() == 2 {
						call(c, ops.other)
					} else {
						call(c, ops.one)
					}
					return nil
				})
				if ops.says == "" {
					if err != nil {
						t.Errorf("%s on %s: %v", name, at.Name, err)
					}
					continue
				}
				var e *mpi.Error
				one, other, _ := strings.Cut(ops.says, ", ")
				if !errors.As(err, &e) || e.Class != mpi.ErrOp || e.Call != strings.Fields(name)[0] ||
					!strings.HasSuffix(e.Text, fmt.Sprintf("combines by %s, and this one by %s", one, other)) && !strings.HasSuffix(e.Text, fmt.Sprintf("combines by %s, and this one by %s", other, one)) {
					t.Errorf("%s on %s, by %s: %v", name, at.Name, ops.says, err)
				}
			}
		}
	}
}

// Data of another kind or length is the smaller trouble where the calls differ.
func TestCallsDifferFirst(t *testing.T) {
	for want, program := range map[string]func(c *mpi.Comm){
		"is in scan, and this one in bcast":              func(c *mpi.Comm) { c.Bcast(mpi.Of(make([]float64, 4)), 0) },
		"is in scan, and this one in allgather":          func(c *mpi.Comm) { c.Allgather(mpi.Of(make([]int32, 1)), mpi.Of(make([]int32, 2)).Part(0, 1)) },
		"is in scan, and this one in gather":             func(c *mpi.Comm) { c.Gather(mpi.Of(make([]int32, 7)), mpi.Of(make([]int32, 14)).Part(0, 7), 1) },
		"combines by Sum, and this one by Max":           func(c *mpi.Comm) { c.Scan(mpi.Of(make([]float32, 7)), mpi.Of(make([]float32, 7)), mpi.Max) },
		"gives Int32, and this one takes Float32":        func(c *mpi.Comm) { c.Scan(mpi.Of(make([]float32, 7)), mpi.Of(make([]float32, 7)), mpi.Sum) },
		"is in scan, and this one in barrier":            func(c *mpi.Comm) { c.Dup() },
		"rank 0 sent 28 bytes of scan where 32 were exp": func(c *mpi.Comm) { c.Scan(mpi.Of(make([]int32, 8)), mpi.Of(make([]int32, 8)), mpi.Sum) },
		"rank 0 sent 28 bytes where 24 were expected":    func(c *mpi.Comm) { c.Scan(mpi.Of(make([]int32, 6)), mpi.Of(make([]int32, 6)), mpi.Sum) },
	} {
		err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.By("T"), Check: true}, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				c.Scan(mpi.Of(make([]int32, 7)), mpi.Of(make([]int32, 7)), mpi.Sum)
				c.Probe(1, 5) // so that it does not see what the other sends
			} else {
				program(c)
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "; rank 0: Scan (agreement_test.go:") {
			t.Errorf("no %q, or no line of rank 0, in %v", want, err)
		}
	}
}

// Messages without data tell calls apart as well.
func TestCallsWithoutDataDiffer(t *testing.T) {
	none := mpi.Of([]int32{})
	for want, program := range map[string]func(c *mpi.Comm){
		"is in scan, and this one in barrier":  func(c *mpi.Comm) { c.Barrier() },
		"is in scan, and this one in bcast":    func(c *mpi.Comm) { c.Bcast(none, 0) },
		"combines by Sum, and this one by Lor": func(c *mpi.Comm) { c.Scan(none, none, mpi.Lor) },
	} {
		err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.By("T")}, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				c.Scan(none, none, mpi.Sum)
				c.Probe(1, 5)
			} else {
				program(c)
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// Of programs that are checked the other rank's call is known, also where it has gone on: the one
// of the same number on the same communicator.
func TestOtherCall(t *testing.T) {
	const many = 40
	for _, c := range []struct {
		name          string
		before, after int // calls that go together, and calls that the other rank makes meanwhile; negative: that this one makes before
		known         bool
	}{{"the first", 0, 0, true}, {"a later one", 7, 0, true}, {"long after", many, 0, true}, {"gone on", 3, 20, true}, {"gone on far", 3, many, false}, {"not come so far", many, -3, false}} {
		for _, at := range places {
			for _, check := range []bool{true, false} {
				l := enginetest.By("T")
				err := mpi.Run(at.Open(t, l, 3), mpi.Options{Engine: carry, Library: l, Check: check}, func(all *mpi.Comm) error {
					half := all.Split(all.Rank()%2, -all.Rank()) // ranks 2 and 0 of the job, in this order
					if all.Rank() == 1 {
						return nil
					}
					for range c.before {
						half.Bcast(mpi.Of(make([]int32, 1)), 0)
						mpi.Allreduce(half, []int32{1}, make([]int32, 1), mpi.Sum)
					}
					if half.Rank() == 0 { // sends, and goes on
						half.Bcast(mpi.Of(make([]int32, 1)), 0)
						for range c.after {
							half.Scatter(mpi.Of(make([]int32, 2)).Part(0, 1), mpi.Of(make([]int32, 1)), 0)
						}
						mpi.Send(all, []int32{0}, 0, 1)
						return nil
					}
					for range -c.after {
						half.Gather(mpi.Of(make([]int32, 1)), mpi.Of([]int32{}), 0)
					}
					mpi.Recv(all, []int32{0}, 2, 1)
					half.Scan(mpi.Of(make([]int32, 1)), mpi.Of(make([]int32, 1)), mpi.Sum)
					return nil
				})
				var e *mpi.Error
				if !errors.As(err, &e) || e.Rank != 0 || e.Call != "Scan" || e.Other == nil || e.Other.Rank != 2 || !strings.Contains(e.Text, "rank 0 of a communicator of 2 (rank 2 of the job) is in bcast") {
					t.Fatalf("%s on %s: %v", c.name, at.Name, err)
				}
				if known := c.known && check; known != (e.Other.Call == "Bcast") || known != (filepath.Base(e.Other.At.File) == "agreement_test.go") || known != strings.Contains(err.Error(), "; rank 2: Bcast (agreement_test.go:") {
					t.Errorf("%s on %s, checked %v: %v", c.name, at.Name, check, err)
				}
				if p := e.Other.At.Line - e.At.Line; c.known && check && p >= 0 {
					t.Errorf("%s on %s: %v", c.name, at.Name, err)
				}
			}
		}
	}
}

// Of communicators that were freed nothing is kept of the calls on them.
func TestCallsAreForgotten(t *testing.T) {
	const many = 2000
	l := enginetest.By("T")
	holds(t, mpi.Run(on("loggp")(t, l, 1), mpi.Options{Engine: carry, Library: l, Check: true}, func(c *mpi.Comm) error {
		use := func() {
			for range many {
				d := c.Dup()
				d.Barrier()
				d.Free()
			}
		}
		held := func() uint64 {
			runtime.GC()
			runtime.GC() // weak pointers take two
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		use()
		before := held()
		use()
		if after := held(); after > before+100*many {
			return fmt.Errorf("%d bytes more are held after %d communicators", after-before, many)
		}
		return nil
	}))
}
