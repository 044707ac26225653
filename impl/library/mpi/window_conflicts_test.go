package mpi_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// windowAccess makes an access of 8 bytes at a displacement in the window of rank 0.
type windowAccess func(w *mpi.Window, at int)

var conflictAccesses = map[string]windowAccess{
	"put": func(w *mpi.Window, at int) { w.Put(one(int64(1)), 0, at, 1, mpi.Int64) },
	"get": func(w *mpi.Window, at int) { w.Get(one(int64(1)), 0, at, 1, mpi.Int64) },
	"sum": func(w *mpi.Window, at int) { w.Accumulate(one(int64(1)), 0, at, 1, mpi.Int64, mpi.Sum) },
	"max": func(w *mpi.Window, at int) {
		w.GetAccumulate(one(int64(1)), one(int64(1)), 0, at, 1, mpi.Int64, mpi.Max)
	},
	"read": func(w *mpi.Window, at int) {
		w.FetchAndOp(mpi.Buffer{}, one(int64(1)), 0, at, mpi.NoOp)
	},
	"compare": func(w *mpi.Window, at int) {
		w.CompareAndSwap(one(int64(1)), one(int64(1)), one(int64(1)), 0, at)
	},
	"strided put": func(w *mpi.Window, at int) {
		t := must(datatype.Vector(3, 1, 2, mpi.Int64))
		w.Put(mpi.BufferOf(make([]int64, 3)), 0, at, 1, t)
	},
}

// conflictEpochs are epochs in which two accesses are not ordered.
var conflictEpochs = map[string]func(c *mpi.Comm, w *mpi.Window, access func()){
	"fence": func(_ *mpi.Comm, w *mpi.Window, access func()) { w.Fence(0); access(); w.Fence(0) },
	"start": func(_ *mpi.Comm, w *mpi.Window, access func()) {
		w.Post(w.Group(), 0)
		w.Start(w.Group(), 0)
		access()
		w.Complete()
		w.Wait()
	},
	"lock all": func(c *mpi.Comm, w *mpi.Window, access func()) {
		w.LockAll(0)
		access()
		c.Barrier()
		w.UnlockAll()
	},
}

// Accesses of two ranks to one byte conflict, unless both read or both combine with the same
// operation.
func TestConflictsAreErrors(t *testing.T) {
	harmless := map[string]bool{"get get": true, "get read": true, "read read": true, "sum sum": true, "sum read": true, "max max": true, "max read": true,
		"compare compare": true, "compare sum": true, "compare max": true, "compare read": true}
	text := regexp.MustCompile(`^bytes 16 to 24 of the window's memory of rank 0 are (read|written|combined) here and (read|written|combined) by Window\.\w+ \(window_conflicts_test\.go:\d+\) of rank [01], and nothing orders the two`)
	names := slices.Sorted(maps.Keys(conflictAccesses))
	for epoch, enclose := range conflictEpochs {
		for i, first := range names {
			for _, second := range names[:i+1] {
				want := !harmless[first+" "+second] && !harmless[second+" "+first]
				for world, open := range conflictWorlds {
					err := runStrictly(t, open, func(c *mpi.Comm) error {
						w := c.AllocateWindow(80, 8, nil)
						enclose(c, w, func() { conflictAccesses[[]string{first, second}[c.Rank()]](w, 2) })
						w.Free()
						return nil
					})
					var e *mpi.Error
					if errors.As(err, &e); want && (e == nil || e.Class != mpi.ErrRMAConflict || !text.MatchString(e.Text) || e.CallSite.Line == 0) || !want && err != nil {
						t.Errorf("%s, %s: %s and %s: %v, want an error: %v", world, epoch, first, second, err, want)
					}
				}
			}
		}
	}
}

var conflictWorlds = map[string]func(testing.TB, int) device.World{
	"t3d": func(t testing.TB, n int) device.World {
		return enginetest.OpenEmulated("t3d", nil, 0)(t, enginetest.LibraryOfProtocol("T"), n)
	},
	"t3d by messages": func(t testing.TB, n int) device.World {
		return enginetest.HideRemoteMemory(enginetest.OpenEmulated("t3d", nil, 0)(t, enginetest.LibraryOfProtocol("T"), n))
	},
}

func runStrictly(t *testing.T, open func(testing.TB, int) device.World, program func(*mpi.Comm) error) error {
	l := enginetest.LibraryOfProtocol("T")
	return mpi.Run(open(t, 2), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, program)
}

// Local memory of incomplete accesses may be neither written twice nor both read and written.
func TestConflictsOfLocalMemory(t *testing.T) {
	for name, x := range map[string]struct {
		do   func(w *mpi.Window, b mpi.Buffer)
		text string
	}{
		"get twice": {func(w *mpi.Window, b mpi.Buffer) { w.Get(b, 0, 0, 1, mpi.Int64); w.Get(b, 1, 0, 1, mpi.Int64) },
			`^8 bytes of local memory are written here and written by Window.Get \(window_conflicts_test.go:\d+\) of rank 0, which is not complete`},
		"get and put": {func(w *mpi.Window, b mpi.Buffer) { w.Get(b, 0, 0, 1, mpi.Int64); w.Put(b, 1, 0, 1, mpi.Int64) },
			`^8 bytes of local memory are read here and written by Window.Get`},
		"put and get": {func(w *mpi.Window, b mpi.Buffer) { w.Put(b, 0, 0, 1, mpi.Int64); w.Get(b, 1, 0, 1, mpi.Int64) },
			`^8 bytes of local memory are written here and read by Window.Put`},
		"complete": {func(w *mpi.Window, b mpi.Buffer) {
			w.Get(b, 0, 0, 1, mpi.Int64)
			w.FlushLocal(0)
			w.Put(b, 1, 0, 1, mpi.Int64)
			w.Put(b, 0, 1, 1, mpi.Int64)
			w.Flush(1)
			w.FlushAll()
			w.Get(b, 1, 0, 1, mpi.Int64)
		}, ""},
	} {
		for world, open := range conflictWorlds {
			err := runStrictly(t, open, func(c *mpi.Comm) error {
				w := c.AllocateWindow(80, 8, nil)
				if c.Rank() == 0 {
					w.LockAll(0)
					x.do(w, one(int64(1)))
					w.UnlockAll()
				}
				w.Free()
				return nil
			})
			var e *mpi.Error
			if errors.As(err, &e); x.text == "" && err != nil || x.text != "" && (e == nil || e.Class != mpi.ErrRMAConflict || !regexp.MustCompile(x.text).MatchString(e.Text)) {
				t.Errorf("%s, %s: %v, want %q", world, name, err, x.text)
			}
		}
	}
}

// Ordered accesses, and accesses to different bytes, do not conflict.
func TestOrderedAccessesDoNotConflict(t *testing.T) {
	put := conflictAccesses["put"]
	for name, program := range map[string]func(c *mpi.Comm, w *mpi.Window){
		"different bytes": func(c *mpi.Comm, w *mpi.Window) {
			w.Fence(0)
			put(w, c.Rank())
			conflictAccesses["strided put"](w, 2+c.Rank())
			w.Fence(0)
		},
		"fences": func(c *mpi.Comm, w *mpi.Window) {
			for r := range 2 {
				w.Fence(0)
				if c.Rank() == r {
					put(w, 0)
				}
			}
			w.Fence(0)
		},
		"exclusive locks": func(c *mpi.Comm, w *mpi.Window) {
			for range 5 {
				w.Lock(mpi.LockExclusive, 0, 0)
				put(w, 0)
				w.Flush(0)
				conflictAccesses["get"](w, 0)
				w.Unlock(0)
			}
		},
		"a flush and a message": func(c *mpi.Comm, w *mpi.Window) {
			w.LockAll(0)
			if c.Rank() == 0 {
				put(w, 0)
				w.Flush(0)
				mpi.Send(c, []byte{1}, 1, 0)
			} else {
				mpi.Recv(c, make([]byte, 1), 0, 0)
				put(w, 0)
			}
			w.UnlockAll()
		},
		"exposures": func(c *mpi.Comm, w *mpi.Window) {
			for range 3 {
				if c.Rank() == 0 {
					w.Post(w.Group().Include([]int{1}), 0)
					w.Wait()
				} else {
					w.Start(w.Group().Include([]int{0}), 0)
					put(w, 0)
					w.Complete()
				}
			}
		},
		"windows one after the other": func(c *mpi.Comm, w *mpi.Window) {
			for range 2 {
				x := c.AllocateWindow(8, 8, nil)
				x.Fence(0)
				if c.Rank() == 0 {
					put(x, 0)
				}
				x.Fence(mpi.NoSucceed)
				x.Free()
			}
		},
	} {
		for world, open := range conflictWorlds {
			if err := runStrictly(t, open, func(c *mpi.Comm) error {
				w := c.AllocateWindow(80, 8, nil)
				program(c, w)
				w.Free()
				return nil
			}); err != nil {
				t.Errorf("%s, %s: %v", world, name, err)
			}
		}
	}
}

// Correct programs have no conflicts.
func TestRightProgramsHaveNoConflicts(t *testing.T) {
	program := func(c *mpi.Comm) error {
		for _, name := range slices.Sorted(maps.Keys(windowPrograms)) {
			if err := windowPrograms[name](c); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		for seed := range uint64(3) {
			if err := randomWindowProgram(9000 + seed)(c); err != nil {
				return err
			}
		}
		return nil
	}
	everywhereChecked(t, 4, mpi.CheckStrict, program, holds)
}
