package mpi_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/library/reduction"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model/unit"
)

// Reductions with different operations fail on all ranks, in every collective operation that
// combines. The error precedes any other difference that follows from it, and says of operations
// made by programs whether they commute.
func TestReductionsDiffer(t *testing.T) {
	keeps := func(in, inout mpi.Buffer) {}
	own, alike, commutes := reduction.New(keeps, false), reduction.New(keeps, false), reduction.New(keeps, true)
	x := func(n int) mpi.Buffer { return mpi.BufferOf(make([]int32, n)) }
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
				l := enginetest.T3DLibrary()
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

// An error about differing calls takes precedence over a wrong type or length of data.
func TestCallsDifferFirst(t *testing.T) {
	for want, program := range map[string]func(c *mpi.Comm){
		"is in scan, and this one in bcast": func(c *mpi.Comm) { c.Bcast(mpi.BufferOf(make([]float64, 4)), 0) },
		"is in scan, and this one in allgather": func(c *mpi.Comm) {
			c.Allgather(mpi.BufferOf(make([]int32, 1)), mpi.BufferOf(make([]int32, 2)).SubBuffer(0, 1))
		},
		"is in scan, and this one in gather": func(c *mpi.Comm) {
			c.Gather(mpi.BufferOf(make([]int32, 7)), mpi.BufferOf(make([]int32, 14)).SubBuffer(0, 7), 1)
		},
		"combines by Sum, and this one by Max":           func(c *mpi.Comm) { c.Scan(mpi.BufferOf(make([]float32, 7)), mpi.BufferOf(make([]float32, 7)), mpi.Max) },
		"gives Int32, and this one takes Float32":        func(c *mpi.Comm) { c.Scan(mpi.BufferOf(make([]float32, 7)), mpi.BufferOf(make([]float32, 7)), mpi.Sum) },
		"is in scan, and this one in barrier":            func(c *mpi.Comm) { c.Dup() },
		"rank 0 sent 28 bytes of scan where 32 were exp": func(c *mpi.Comm) { c.Scan(mpi.BufferOf(make([]int32, 8)), mpi.BufferOf(make([]int32, 8)), mpi.Sum) },
		"rank 0 sent 28 bytes where 24 were expected":    func(c *mpi.Comm) { c.Scan(mpi.BufferOf(make([]int32, 6)), mpi.BufferOf(make([]int32, 6)), mpi.Sum) },
	} {
		err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T"), Check: mpi.CheckStrict}, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				c.Scan(mpi.BufferOf(make([]int32, 7)), mpi.BufferOf(make([]int32, 7)), mpi.Sum)
				c.Probe(1, 5) // keeps it from seeing what the other rank sends
			} else {
				program(c)
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "; rank 0: Scan (checks_test.go:") {
			t.Errorf("no %q, or no line of rank 0, in %v", want, err)
		}
	}
}

// Calls whose messages have no data are distinguished as well.
func TestCallsWithoutDataDiffer(t *testing.T) {
	none := mpi.BufferOf([]int32{})
	for want, program := range map[string]func(c *mpi.Comm){
		"is in scan, and this one in barrier":  func(c *mpi.Comm) { c.Barrier() },
		"is in scan, and this one in bcast":    func(c *mpi.Comm) { c.Bcast(none, 0) },
		"combines by Sum, and this one by Lor": func(c *mpi.Comm) { c.Scan(none, none, mpi.Lor) },
	} {
		err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
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

// In checked programs an error names the other rank's call that belongs to this one: the one with
// the same number on the same communicator, even if the other rank has continued.
func TestOtherCall(t *testing.T) {
	const many = 40
	for _, c := range []struct {
		name          string
		before, after int // matching calls, and calls that the other rank makes after it; negative: calls that this rank makes before
		known         bool
	}{{"the first", 0, 0, true}, {"a later one", 7, 0, true}, {"long after", many, 0, true}, {"gone on", 3, 20, true}, {"gone on far", 3, many, false}, {"not come so far", many, -3, false}} {
		for _, at := range places {
			for _, check := range []mpi.CheckMode{mpi.CheckStrict, mpi.CheckOff} {
				l := enginetest.LibraryOfProtocol("T")
				err := mpi.Run(at.Open(t, l, 3), mpi.Options{Engine: carry, Library: l, Check: check}, func(all *mpi.Comm) error {
					half := all.Split(all.Rank()%2, -all.Rank()) // ranks 2 and 0 of the job, in this order
					if all.Rank() == 1 {
						return nil
					}
					for range c.before {
						half.Bcast(mpi.BufferOf(make([]int32, 1)), 0)
						mpi.Allreduce(half, []int32{1}, make([]int32, 1), mpi.Sum)
					}
					if half.Rank() == 0 { // sends, and continues
						half.Bcast(mpi.BufferOf(make([]int32, 1)), 0)
						for range c.after {
							half.Scatter(mpi.BufferOf(make([]int32, 2)).SubBuffer(0, 1), mpi.BufferOf(make([]int32, 1)), 0)
						}
						mpi.Send(all, []int32{0}, 0, 1)
						return nil
					}
					for range -c.after {
						half.Gather(mpi.BufferOf(make([]int32, 1)), mpi.BufferOf([]int32{}), 0)
					}
					mpi.Recv(all, []int32{0}, 2, 1)
					half.Scan(mpi.BufferOf(make([]int32, 1)), mpi.BufferOf(make([]int32, 1)), mpi.Sum)
					return nil
				})
				var e *mpi.Error
				if !errors.As(err, &e) || e.Rank != 0 || e.Call != "Scan" || e.OtherCall == nil || e.OtherCall.Rank != 2 || !strings.Contains(e.Text, "rank 0 of a communicator of 2 (rank 2 of the job) is in bcast") {
					t.Fatalf("%s on %s: %v", c.name, at.Name, err)
				}
				if known := c.known && check == mpi.CheckStrict; known != (e.OtherCall.Call == "Bcast") || known != (filepath.Base(e.OtherCall.Site.File) == "checks_test.go") || known != strings.Contains(err.Error(), "; rank 2: Bcast (checks_test.go:") {
					t.Errorf("%s on %s, checked %v: %v", c.name, at.Name, check, err)
				}
				if p := e.OtherCall.Site.Line - e.CallSite.Line; c.known && check == mpi.CheckStrict && p >= 0 {
					t.Errorf("%s on %s: %v", c.name, at.Name, err)
				}
			}
		}
	}
}

// No calls on freed communicators are kept.
func TestCallsAreForgotten(t *testing.T) {
	const many = 2000
	l := enginetest.LibraryOfProtocol("T")
	holds(t, mpi.Run(on("loggp")(t, l, 1), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, func(c *mpi.Comm) error {
		use := func() {
			for range many {
				d := c.Dup()
				d.Barrier()
				d.Free()
			}
		}
		held := func() uint64 {
			runtime.GC()
			runtime.GC() // weak pointers need two collections
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

// elsewhere calls f in another goroutine and returns what it panics with.
func elsewhere(f func()) (v any) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	return <-done
}

// A call by any other goroutine fails in that goroutine and changes nothing, so that the rank can
// continue.
func TestCallsFromElsewhere(t *testing.T) {
	calls := func(c *mpi.Comm, r *mpi.Request) map[string]func() {
		b := make([]byte, 8)
		return map[string]func(){
			"Send":      func() { mpi.Send(c, b, 0, 9) },
			"Isend":     func() { mpi.Isend(c, b, 0, 9) },
			"Recv":      func() { c.Recv(mpi.BufferOf(b), 0, 9) },
			"Irecv":     func() { mpi.Irecv(c, b, 0, 9) },
			"Sendrecv":  func() { c.Sendrecv(mpi.BufferOf(b), 0, 9, mpi.BufferOf(b), 0, 9) },
			"Iprobe":    func() { c.Iprobe(mpi.AnySource, 9) },
			"SendInit":  func() { c.SendInit(mpi.BufferOf(b), 0, 9) },
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
			if !ok || e.Rank != c.Rank() || e.Call != name || e.Class != mpi.ErrOther || filepath.Base(e.CallSite.File) != "checks_test.go" {
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
		l := enginetest.T3DLibrary()
		holds(t, mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, program))
	}
	for _, at := range enginetest.ProcessWorlds {
		if enginetest.RaceDetectorOn {
			break
		}
		t.Run(at.Name, func(t *testing.T) {
			l := enginetest.T3DLibrary()
			holds(t, mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, program))
		})
	}
}

// Use of another rank's communicator fails, and does not disturb that rank.
func TestCallsOfOtherRanks(t *testing.T) {
	for _, at := range places {
		l := enginetest.T3DLibrary()
		comms := make(chan *mpi.Comm, 1)
		rob := func(use func(theirs *mpi.Comm) error) error {
			return mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					return use(<-comms)
				}
				comms <- c
				c.Recv(mpi.BufferOf([]byte{0}), 1, 1)
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

// column returns a column of a 3 × 3 matrix.
func column(matrix []int32, i int) mpi.Buffer {
	return mpi.Buffer{Bytes: mpi.BytesOf(matrix), Origin: 4 * i, Count: 1, Type: columns}
}

var columns = mpi.Vector(3, 1, 3, mpi.Int32).Commit()

// Programs that both ranks run. says is "" if the program is correct.
var memories = []struct {
	name    string
	says    string
	program func(c *mpi.Comm, other int)
}{
	{"receives beside each other", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		r := []mpi.Request{mpi.Irecv(c, x[:50], other, 0), mpi.Irecv(c, x[50:], other, 1)}
		mpi.Send(c, x[:0], other, 0)
		mpi.Send(c, x[:0], other, 1)
		mpi.WaitAll(r, nil)
	}},
	{"a receive within another", "bytes 0 to 0 of this call and bytes 99 to 99 of Irecv", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x, other, 0)
		mpi.Irecv(c, x[99:], other, 1)
	}},
	{"a receive around another", "bytes 7 to 7 of this call and bytes 0 to 0 of Irecv", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x[7:8], other, 0)
		mpi.Irecv(c, x, other, 1)
	}},
	{"empty receives", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		r := []mpi.Request{mpi.Irecv(c, x, other, 0), mpi.Irecv(c, x[50:50], other, 1)}
		mpi.Send(c, make([]byte, 0), other, 0)
		mpi.Send(c, make([]byte, 0), other, 1)
		mpi.WaitAll(r, nil)
	}},
	{"one after another", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		for range 3 {
			r := mpi.Irecv(c, x, other, 0)
			mpi.Send(c, make([]byte, 100), other, 0)
			r.Wait()
		}
	}},
	{"a receive that has come and is not completed", "bytes 0 to 99 of this call", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x, other, 0)
		mpi.Send(c, make([]byte, 100), other, 0)
		mpi.Sendrecv(c, make([]byte, 1), other, 1, make([]byte, 1), other, 1)
		mpi.Recv(c, x, other, 2)
	}},
	{"sends of the same", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		s := []mpi.Request{mpi.Isend(c, x, other, 0), mpi.Issend(c, x[10:20], other, 1), mpi.Isend(c, x[5:], other, 2)}
		for i := range s {
			mpi.Recv(c, make([]byte, 100), other, i)
		}
		mpi.WaitAll(s, nil)
	}},
	{"a receive over a send", "what is sent may be written over", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Isend(c, x, other, 0)
		mpi.Isend(c, x[50:60], other, 0)
		mpi.Irecv(c, x[98:99], other, 0)
	}},
	{"a receive over a message in the buffer", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		c.AttachBuffer(make([]byte, 1000))
		mpi.Bsend(c, x, other, 0)
		s := mpi.Ibsend(c, x, other, 1)
		mpi.Recv(c, x, other, 0)
		mpi.Recv(c, x, other, 1)
		s.Wait()
		c.DetachBuffer()
	}},
	{"a message in the buffer of what is received", "may have been written over", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		c.AttachBuffer(make([]byte, 1000))
		mpi.Irecv(c, x, other, 0)
		mpi.Bsend(c, x, other, 0)
	}},
	{"there and back", "are the same memory", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Sendrecv(c, x, other, 0, x, other, 0)
	}},
	{"there and back in place", "", func(c *mpi.Comm, other int) {
		c.SendrecvReplace(mpi.BufferOf(make([]byte, 100)), other, 0, other, 0)
	}},
	{"columns beside each other", "", func(c *mpi.Comm, other int) {
		m := make([]int32, 9)
		r := []mpi.Request{c.Irecv(column(m, 0), other, 0), c.Irecv(column(m, 2), other, 2)}
		c.Send(column(m, 1), other, 0)
		c.Send(column(m, 1), other, 2)
		mpi.WaitAll(r, nil)
	}},
	{"a column and a row", "bytes 4 to 7 of this call and bytes 4 to 7 of Irecv", func(c *mpi.Comm, other int) {
		m := make([]int32, 9)
		c.Irecv(column(m, 1), other, 0)
		mpi.Irecv(c, m[3:6], other, 1)
	}},
	{"a column that is received is sent", "may have been written over", func(c *mpi.Comm, other int) {
		m := make([]int32, 9)
		c.Irecv(column(m, 1), other, 0)
		c.Isend(column(m, 1), other, 0)
	}},
	{"a collective of what is received", "are the same memory", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x, other, 0)
		mpi.Bcast(c, x, 0)
	}},
}

// Overlapping memory is found if the check is on, and only then.
func TestMemoryOfCalls(t *testing.T) {
	for _, m := range memories {
		t.Run(m.name, func(t *testing.T) {
			for _, protocol := range []string{"T", "TA", "RTA", "RAT", "PTAT"} {
				run := func(check mpi.CheckMode) error {
					return mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol(protocol), Check: check}, func(c *mpi.Comm) error {
						m.program(c, 1-c.Rank())
						return nil
					})
				}
				err := run(mpi.CheckStrict)
				if m.says == "" {
					if err != nil {
						t.Errorf("by %s: %v", protocol, err)
					}
					continue
				}
				var e *mpi.Error
				if !errors.As(err, &e) || e.Class != engine.ErrBuffer || !strings.Contains(e.Text, m.says) || !strings.Contains(e.Text, "checks_test.go:") {
					t.Errorf("by %s: %v, want %q", protocol, err, m.says)
				}
				if enginetest.RaceDetectorOn { // the detector would report the programs' faults
					continue
				}
				if err := run(mpi.CheckOff); errors.As(err, &e) && e.Class == engine.ErrBuffer {
					t.Errorf("by %s, not checked: %v", protocol, err)
				}
			}
		})
	}
}

// Checks take no virtual time.
func TestCheckTakesNoTime(t *testing.T) {
	var ends [2]unit.Time
	for i, check := range []mpi.CheckMode{mpi.CheckOff, mpi.CheckStrict} {
		w, o := t3d(t, 4)
		o.Check = check
		holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
			c.SendrecvReplace(mpi.BufferOf(make([]byte, 3000)), (c.Rank()+1)%4, 0, (c.Rank()+3)%4, 0)
			mpi.Alltoall(c, make([]int32, 400), make([]int32, 400))
			if c.Rank() == 3 {
				ends[i] = c.Wtime()
			}
			return nil
		}))
	}
	if ends[0] != ends[1] || ends[0] == 0 {
		t.Errorf("%v, and %v with the check", ends[0], ends[1])
	}
}

// A warning about the memory of two calls names the lines of these two, whatever calls the rank has
// made before.
func TestOverlapNamesBothLines(t *testing.T) {
	l := enginetest.T3DLibrary()
	var line int
	err := mpi.Run(loop.New(1), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, func(c *mpi.Comm) error {
		x, y := make([]byte, 1), make([]byte, 1)
		before := mpi.Irecv(c, y, 0, 1)
		mpi.Send(c, []byte{1}, 0, 1)
		before.Wait()
		_, _, line, _ = runtime.Caller(0)
		mpi.Irecv(c, x, 0, 2)
		mpi.Irecv(c, x, 0, 3)
		return nil
	})
	var e *mpi.Error
	if want := fmt.Sprintf("of Irecv (checks_test.go:%d)", line+1); !errors.As(err, &e) || e.CallSite.Line != line+2 || !strings.Contains(e.Text, want) {
		t.Errorf("%v, want %s", err, want)
	}
}
