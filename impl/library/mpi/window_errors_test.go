package mpi_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// wrongAccesses are wrong uses of a window with 10 numbers on each of two ranks, and the expected
// error of rank 0. Rank 1 only frees the window.
var wrongAccesses = []struct {
	name  string
	do    func(c *mpi.Comm, w *mpi.Window)
	class mpi.Class
	text  string
}{
	{"put without an epoch", func(_ *mpi.Comm, w *mpi.Window) { w.Put(one(int64(1)), 1, 0, 1, mpi.Int64) }, mpi.ErrRMASync, "there is no epoch: call Fence, Start, Lock or LockAll before"},
	{"access of a rank that is not locked", func(_ *mpi.Comm, w *mpi.Window) {
		w.Lock(mpi.LockShared, 1, 0)
		w.Put(one(int64(1)), 0, 0, 1, mpi.Int64)
	}, mpi.ErrRMASync, "rank 0 is not locked"},
	{"unlock without lock", func(_ *mpi.Comm, w *mpi.Window) { w.Unlock(1) }, mpi.ErrRMASync, "rank 1 is not locked"},
	{"lock twice", func(_ *mpi.Comm, w *mpi.Window) { w.Lock(mpi.LockShared, 1, 0); w.Lock(mpi.LockShared, 1, 0) }, mpi.ErrRMASync, "rank 1 is locked already"},
	{"flush outside of an epoch", func(_ *mpi.Comm, w *mpi.Window) { w.Flush(1) }, mpi.ErrRMASync, "Lock or LockAll was not called: this is no epoch"},
	{"request outside of an epoch", func(_ *mpi.Comm, w *mpi.Window) { w.Rput(one(int64(1)), 1, 0, 1, mpi.Int64) }, mpi.ErrRMASync, "accesses with a request need Lock or LockAll, and this is no epoch"},
	{"complete without start", func(_ *mpi.Comm, w *mpi.Window) { w.Complete() }, mpi.ErrRMASync, "Start was not called: this is no epoch"},
	{"wait without post", func(_ *mpi.Comm, w *mpi.Window) { w.Wait() }, mpi.ErrRMASync, "the memory is not exposed: Post was not called"},
	{"fence in an epoch of a lock", func(_ *mpi.Comm, w *mpi.Window) { w.LockAll(0); w.Fence(0) }, mpi.ErrRMASync, "an epoch of LockAll is open"},
	{"free in an epoch", func(_ *mpi.Comm, w *mpi.Window) { w.LockAll(0); w.Free() }, mpi.ErrRMASync, "an epoch of LockAll is open"},
	{"rank", func(_ *mpi.Comm, w *mpi.Window) { w.Lock(mpi.LockShared, 2, 0) }, mpi.ErrRank, "rank 2 is not in a communicator of 2"},
	{"beyond the window", func(_ *mpi.Comm, w *mpi.Window) { w.LockAll(0); w.Put(one(int64(1)), 1, 10, 1, mpi.Int64) }, mpi.ErrRMARange,
		"displacement 10 of unit 8: the access is from byte 80 to byte 88 of the window of rank 1, which has 80 bytes"},
	{"negative displacement", func(_ *mpi.Comm, w *mpi.Window) { w.LockAll(0); w.Put(one(int64(1)), 1, -1, 1, mpi.Int64) }, mpi.ErrDisp, "displacement -1 is negative"},
	{"different sizes", func(_ *mpi.Comm, w *mpi.Window) { w.LockAll(0); w.Put(one(int64(1)), 1, 0, 1, mpi.Int32) }, mpi.ErrType, "the data has 8 bytes, and the elements at the target have 4"},
	{"operation of the program", func(_ *mpi.Comm, w *mpi.Window) {
		w.LockAll(0)
		w.Accumulate(one(int64(1)), 1, 0, 1, mpi.Int64, mpi.NewOp(func(_, _ mpi.Buffer) {}, true))
	}, mpi.ErrOp, "accumulates do not take those of programs"},
	{"operation on other elements", func(_ *mpi.Comm, w *mpi.Window) {
		w.LockAll(0)
		w.Accumulate(one(1.0), 1, 0, 1, mpi.Float64, mpi.Band)
	}, mpi.ErrOp, "Band is not for elements of Float64"},
	{"assertion", func(_ *mpi.Comm, w *mpi.Window) { w.Fence(mpi.NoCheck) }, mpi.ErrAssert, "assertion 0x1 is not for this call"},
	{"lock type", func(_ *mpi.Comm, w *mpi.Window) { w.Lock(7, 1, 0) }, mpi.ErrLockType, "lock type 7 is neither LockShared nor LockExclusive"},
	{"attach", func(_ *mpi.Comm, w *mpi.Window) { w.Attach(nil) }, mpi.ErrRMAFlavor, "memory is attached to dynamic windows only"},
	{"attach twice", func(c *mpi.Comm, _ *mpi.Window) {
		w, memory := c.Self().CreateDynamicWindow(), make([]byte, 8)
		w.Attach(memory)
		w.Attach(memory[4:])
	}, mpi.ErrRMAAttach, "the 4 bytes overlap 8 bytes that are attached already"},
	{"detach what is not attached", func(c *mpi.Comm, _ *mpi.Window) {
		w := c.Self().CreateDynamicWindow()
		w.Detach(5)
	}, mpi.ErrRMAAttach, "no memory that begins there is attached"},
	{"access to what is not attached", func(c *mpi.Comm, _ *mpi.Window) {
		w := c.Self().CreateDynamicWindow()
		w.Lock(mpi.LockShared, 0, 0)
		w.Put(one(int64(1)), 0, 16, 1, mpi.Int64)
	}, mpi.ErrRMARange, "rank 0 accesses 8 bytes that are not within memory that rank 0 has attached to the window"},
	{"shared memory of another window", func(_ *mpi.Comm, w *mpi.Window) { w.SharedMemory(0) }, mpi.ErrRMAFlavor, "the window is not shared"},
	{"size", func(c *mpi.Comm, _ *mpi.Window) { c.AllocateWindow(-1, 1, nil) }, mpi.ErrSize, "a window of -1 bytes: a size is not negative"},
	{"displacement unit", func(c *mpi.Comm, _ *mpi.Window) { c.CreateWindow(nil, 0) }, mpi.ErrDisp, "displacement unit 0: it must be positive"},
}

func TestWrongAccessesAreErrorsOfTheirClass(t *testing.T) {
	for _, x := range wrongAccesses {
		t.Run(x.name, func(t *testing.T) {
			err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
				w := c.CreateWindow(make([]byte, 80), 8)
				if c.Rank() == 0 {
					x.do(c, w)
				}
				w.Free()
				return nil
			})
			var e *mpi.Error
			if !errors.As(err, &e) || e.Class != x.class || !strings.Contains(e.Text, x.text) || e.Rank != 0 {
				t.Errorf("%v, want %s: %s", err, x.class, x.text)
			}
		})
	}
}

func TestWindowErrorsGoToTheHandlerOfTheWindow(t *testing.T) {
	holds(t, mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
		c.SetErrorHandler(mpi.ErrorsReturn)
		w := c.AllocateWindow(8, 8, nil)
		if w.Comm().ErrorHandler() != mpi.ErrorsAreFatal {
			return errors.New("a new window has the handler of its communicator")
		}
		w.Comm().SetErrorHandler(mpi.ErrorsReturn)
		if err := c.Catch(func() { w.Flush(0) }); mpi.ErrorClass(err) != mpi.ErrRMASync {
			return err
		}
		w.Free()
		return nil
	}))
}

// Deadlocks with windows are detected on emulated machines and explained.
func TestDeadlocksWithWindowsAreExplained(t *testing.T) {
	for _, x := range []struct {
		name    string
		program func(c *mpi.Comm, w *mpi.Window)
		want    []string
	}{
		{"locks", func(c *mpi.Comm, w *mpi.Window) {
			w.Lock(mpi.LockExclusive, c.Rank(), 0)
			c.Barrier()
			other := 1 - c.Rank()
			w.Lock(mpi.LockExclusive, other, 0)
			w.Unlock(other)
			w.Unlock(c.Rank())
		}, []string{"rank 0: in Window.Lock", "waits for a lock of the memory of rank 1", "rank 0 → rank 1 → rank 0"}},
		{"no post", func(c *mpi.Comm, w *mpi.Window) {
			if c.Rank() == 0 {
				w.Start(w.Group(), 0)
				w.Complete()
			}
		}, []string{"rank 0: in Window.Complete", "waits for rank 0 to expose its memory"}},
		{"no complete", func(c *mpi.Comm, w *mpi.Window) {
			if c.Rank() == 0 {
				w.Post(w.Group().Include([]int{1}), 0)
				w.Wait()
			}
		}, []string{"rank 0: in Window.Wait", "waits for accesses by rank 1 to complete"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			world, o := synthetic(t, 2)
			err := mpi.Run(world, o, func(c *mpi.Comm) error {
				w := c.AllocateWindow(8, 8, nil)
				x.program(c, w)
				w.Free()
				return nil
			})
			for _, part := range x.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in\n%v", part, err)
				}
			}
		})
	}
}

// A window that was left open is reported, and freed at the end of the job.
func TestOpenWindowsAreReported(t *testing.T) {
	program := func(c *mpi.Comm) error {
		w := c.AllocateWindow(8, 8, nil)
		w.Fence(0)
		w.Put(one(int64(1)), 1-c.Rank(), 0, 1, mpi.Int64)
		return nil
	}
	var warnings []mpi.Warning
	world, o := synthetic(t, 2)
	o.Check, o.OnWarning = mpi.CheckWarn, func(x mpi.Warning) { warnings = append(warnings, x) }
	if err := mpi.Run(world, o, program); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "1 window was not freed") {
		t.Errorf("%v, warnings %v", err, warnings)
	}
	world, o = synthetic(t, 2)
	o.Check = mpi.CheckStrict
	if err := mpi.Run(world, o, program); mpi.ErrorClass(err) != mpi.ErrWin {
		t.Errorf("strict: %v", err)
	}
}

// A file that was left open is reported.
func TestOpenFilesAreReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	program := func(c *mpi.Comm) error {
		c.OpenFile(path, mpi.FileReadWrite|mpi.FileCreate).Close()
		c.OpenFile(path, mpi.FileReadWrite|mpi.FileDeleteOnClose)
		return nil
	}
	var warnings []mpi.Warning
	world, o := synthetic(t, 2)
	o.Check, o.OnWarning = mpi.CheckWarn, func(x mpi.Warning) { warnings = append(warnings, x) }
	if err := mpi.Run(world, o, program); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "1 file was not closed; the first is "+path) {
		t.Errorf("%v, warnings %v", err, warnings)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there after the job: %v", err)
	}
	world, o = synthetic(t, 2)
	o.Check = mpi.CheckStrict
	if err := mpi.Run(world, o, program); mpi.ErrorClass(err) != mpi.ErrFile {
		t.Errorf("strict: %v", err)
	}
}
