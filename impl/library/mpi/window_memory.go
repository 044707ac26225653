package mpi

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"github.com/loggp/loggp/model/unit"
)

// This file has the memory of dynamic and shared windows.

// windowRegion is memory that is attached to a dynamic window.
type windowRegion struct {
	address int
	memory  []byte
}

// Attach lets others access memory of this rank by a dynamic window, and returns the displacement
// of its first byte there, which is its address (MPI_Win_attach). Other ranks have to be told.
func (w *Window) Attach(memory []byte) int {
	w.enter("Window.Attach")
	w.checkFlavor(DynamicWindow, "memory is attached to dynamic windows only")
	x := windowRegion{int(uintptr(unsafe.Pointer(unsafe.SliceData(memory)))), memory}
	for _, y := range w.regions {
		if max(x.address, y.address) < min(x.address+len(x.memory), y.address+len(y.memory)) {
			w.c.e.Fail(ErrRMAAttach, "the %d bytes overlap %d bytes that are attached already", len(x.memory), len(y.memory))
		}
	}
	w.regions = append(w.regions, x)
	slices.SortFunc(w.regions, func(a, b windowRegion) int { return cmp.Compare(a.address, b.address) })
	return x.address - w.Origin
}

// Detach ends that, for memory that begins at the displacement (MPI_Win_detach).
func (w *Window) Detach(displacement int) {
	w.enter("Window.Detach")
	w.checkFlavor(DynamicWindow, "memory is detached from dynamic windows only")
	i := slices.IndexFunc(w.regions, func(x windowRegion) bool { return x.address == displacement+w.Origin })
	if i < 0 {
		w.c.e.Fail(ErrRMAAttach, "no memory that begins there is attached")
	}
	w.regions = slices.Delete(w.regions, i, i+1)
}

func (w *Window) checkFlavor(want WindowFlavor, text string) {
	if w.flavor != want {
		w.c.e.Fail(ErrRMAFlavor, "%s", text)
	}
}

// sharedPollTime is how long a look at memory takes to which others store: without a message, so
// that nothing could end a loop of such looks.
const sharedPollTime = 100 * unit.Nanosecond

// AllocateSharedWindow makes a window of memory that all ranks can load from and store to
// (MPI_Win_allocate_shared): size bytes of each rank, one rank's behind the other's. The ranks are
// of one node. allocate returns memory in a process that has all ranks; nil: Go's memory.
func (c *Comm) AllocateSharedWindow(size, unit int, allocate func(size int) []byte) *Window {
	c.enterWindow("AllocateSharedWindow", size, unit)
	node := fnv.New64a()
	node.Write([]byte(c.e.Port().Node()))
	all := c.allgatherInts(size, int(node.Sum64()), processID)
	sizes, total, oneProcess := make([]int, c.size), 0, true
	for i := range sizes {
		sizes[i] = all[3*i]
		total += sizes[i]
		oneProcess = oneProcess && all[3*i+2] == processID
		if all[3*i+1] != all[1] {
			c.e.Fail(ErrRMAShared, "ranks %d and 0 are on different nodes, which share no memory: divide the communicator by MPI_COMM_TYPE_SHARED", i)
		}
	}
	var memory []byte
	var unmap func()
	if oneProcess {
		memory = c.shareWithinProcess(total, allocateOr(allocate))
	} else {
		memory, unmap = c.shareByFile(total)
	}
	parts := make([][]byte, c.size)
	for i, n := range sizes {
		parts[i], memory = memory[:n:n], memory[n:]
	}
	w := c.newWindow(SharedWindow, parts[c.rank], unit)
	w.shared, w.unmap = parts, unmap
	return w
}

// sharedSegments is memory that ranks of one process share, while a window is made.
type sharedSegments struct {
	mu   sync.Mutex
	made map[segmentKey][]byte
}

// segmentKey names a communicator: those of different ranks may have the same context.
type segmentKey struct {
	context uint32
	first   int // its first rank, in the job
}

// shareWithinProcess returns memory that the first rank allocates, at all ranks.
func (c *Comm) shareWithinProcess(total int, allocate func(int) []byte) []byte {
	s, key := c.state.segments, segmentKey{c.context, c.jobRank(0)}
	if c.rank == 0 {
		memory := allocate(total)
		s.mu.Lock()
		s.made[key] = memory
		s.mu.Unlock()
	}
	c.barrier()
	s.mu.Lock()
	memory := s.made[key]
	s.mu.Unlock()
	c.barrier()
	if c.rank == 0 {
		s.mu.Lock()
		delete(s.made, key)
		s.mu.Unlock()
	}
	return memory
}

// shareByFile returns memory of a file that ranks in several processes map, and a function that
// gives it back.
func (c *Comm) shareByFile(total int) ([]byte, func()) {
	name, f, err := "", (*os.File)(nil), error(nil)
	if c.rank == 0 {
		if f, err = os.CreateTemp(sharedMemoryDir(), "loggp-window-"); err == nil {
			name = f.Name()
			err = f.Truncate(int64(max(total, 1)))
		}
	}
	name = string(c.broadcastBytes([]byte(name), 0))
	if c.rank != 0 && name != "" {
		f, err = os.OpenFile(name, os.O_RDWR, 0)
	}
	var memory []byte
	if err == nil && f != nil {
		memory, err = syscall.Mmap(int(f.Fd()), 0, max(total, 1), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		f.Close()
	}
	failed := uint32(0)
	if err != nil || name == "" {
		failed = 1
	}
	anyFailed := c.allreduceMax(failed)
	if c.rank == 0 && name != "" {
		os.Remove(name)
	}
	if anyFailed > 0 {
		if err == nil {
			err = fmt.Errorf("another rank could not map it")
		}
		c.e.Fail(ErrRMAShared, "%d bytes of memory cannot be shared: %v", total, err)
	}
	return memory[:total], func() { syscall.Munmap(memory) }
}

// sharedMemoryDir is where files are memory.
func sharedMemoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return filepath.Clean(os.TempDir())
}

// Shared returns the memory of a rank in a shared window, and its displacement unit, for loads and
// stores; of ProcNull, that of the first rank that has any (MPI_Win_shared_query).
func (w *Window) Shared(rank int) (memory []byte, unit int) {
	w.enter("Window.Shared")
	w.checkFlavor(SharedWindow, "the window is not shared")
	if rank == ProcNull {
		rank = max(0, slices.IndexFunc(w.shared, func(b []byte) bool { return len(b) > 0 }))
	}
	w.c.checkRank(rank)
	return w.shared[rank], w.spanOf(rank).unit
}
