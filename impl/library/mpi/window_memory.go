package mpi

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/model/unit"
)

// This file has the memory of dynamic and shared windows.

// windowRegion is memory attached to a dynamic window.
type windowRegion struct {
	address int
	memory  []byte
}

// Attach attaches memory of this rank to a dynamic window (MPI_Win_attach). It returns the
// displacement of the first byte, which is its address. The program must tell it to the origins.
func (w *Window) Attach(memory []byte) int {
	w.enterCall("Window.Attach")
	w.checkFlavor(DynamicWindow, "memory is attached to dynamic windows only")
	x := windowRegion{int(datatype.Address(memory)), memory}
	for _, y := range w.attachedRegions {
		if max(x.address, y.address) < min(x.address+len(x.memory), y.address+len(y.memory)) {
			w.comm.engine.Fail(ErrRMAAttach, "the %d bytes overlap %d bytes that are attached already", len(x.memory), len(y.memory))
		}
	}
	w.attachedRegions = append(w.attachedRegions, x)
	slices.SortFunc(w.attachedRegions, func(a, b windowRegion) int { return cmp.Compare(a.address, b.address) })
	return x.address
}

// Detach detaches the memory that starts at a displacement (MPI_Win_detach).
func (w *Window) Detach(displacement int) {
	w.enterCall("Window.Detach")
	w.checkFlavor(DynamicWindow, "memory is detached from dynamic windows only")
	i := slices.IndexFunc(w.attachedRegions, func(x windowRegion) bool { return x.address == displacement })
	if i < 0 {
		w.comm.engine.Fail(ErrRMAAttach, "no memory that begins there is attached")
	}
	w.attachedRegions = slices.Delete(w.attachedRegions, i, i+1)
}

// extendRegion returns the memory of an attached region, with as many of the regions that follow it
// without a gap as an access up to a length needs.
func (w *Window) extendRegion(i, length int) []byte {
	first := w.attachedRegions[i]
	total := len(first.memory)
	for _, x := range w.attachedRegions[i+1:] {
		if total >= length || x.address != first.address+total {
			break
		}
		total += len(x.memory)
	}
	return unsafe.Slice(unsafe.SliceData(first.memory), total)
}

func (w *Window) checkFlavor(want WindowFlavor, text string) {
	if w.flavor != want {
		w.comm.engine.Fail(ErrRMAFlavor, "%s", text)
	}
}

// sharedPollTime is the virtual time of one poll of memory to which other ranks store. Such stores
// send no message, so without this cost a polling loop would never advance the clock.
const sharedPollTime = 100 * unit.Nanosecond

// AllocateSharedWindow creates a window whose memory all ranks can access by loads and stores
// (MPI_Win_allocate_shared). Each rank contributes size bytes, which are consecutive in the order
// of ranks. All ranks must be on one node. allocate returns the memory if all ranks are in one
// process; nil: Go allocates it.
func (c *Comm) AllocateSharedWindow(size, unit int, allocate func(size int) []byte) *Window {
	c.enterWindow("AllocateSharedWindow", size, unit)
	p := c.gatherPlacement(size)
	if p.firstRemoteRank >= 0 {
		c.engine.Fail(ErrRMAShared, "ranks %d and 0 are on different nodes, which share no memory: divide the communicator by MPI_COMM_TYPE_SHARED", p.firstRemoteRank)
	}
	m, err := c.shareMemory(p, 1, allocate)
	if err != nil {
		c.engine.Fail(ErrRMAShared, "%d bytes of memory cannot be shared: %v", p.totalBytes(1), err)
	}
	return c.newWindow(SharedWindow, m.parts[c.rank], unit, m)
}

// windowPlacement says on which nodes the ranks of a window are, and how many bytes each requests.
type windowPlacement struct {
	rankBytes       []int
	firstRemoteRank int // the first rank on another node than rank 0; negative: all are on one node
	isOneProcess    bool
}

// gatherPlacement returns the placement of all ranks.
func (c *Comm) gatherPlacement(size int) *windowPlacement {
	node := fnv.New64a()
	node.Write([]byte(c.engine.Port().Node()))
	all := c.allgatherInts(size, int(node.Sum64()), processID)
	p := &windowPlacement{rankBytes: make([]int, c.size), firstRemoteRank: -1, isOneProcess: true}
	for i := range p.rankBytes {
		p.rankBytes[i] = all[3*i]
		p.isOneProcess = p.isOneProcess && all[3*i+2] == processID
		if all[3*i+1] != all[1] && p.firstRemoteRank < 0 {
			p.firstRemoteRank = i
		}
	}
	return p
}

// totalBytes returns the sum of all requests, each rounded up to a multiple of align.
func (p *windowPlacement) totalBytes(align int) (total int) {
	for _, n := range p.rankBytes {
		total += roundUp(n, align)
	}
	return total
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// sharedMemory is memory that several ranks can access by loads and stores.
type sharedMemory struct {
	parts [][]byte    // by rank
	lock  sync.Locker // held while elements are combined
	unmap func()      // releases the memory; nil: not needed
}

// shareMemory allocates shared memory for all ranks of a node. Each rank's part starts at a
// multiple of align.
func (c *Comm) shareMemory(p *windowPlacement, align int, allocate func(int) []byte) (*sharedMemory, error) {
	m := &sharedMemory{parts: make([][]byte, c.size)}
	total := p.totalBytes(align)
	var memory []byte
	if p.isOneProcess {
		x := c.shareWithinProcess(total, allocatorOrDefault(allocate))
		memory, m.lock = x.memory, &x.lock
	} else {
		lockAt := roundUp(total, 8)
		all, err := c.mapSharedFile(lockAt + 8)
		if err != nil {
			return nil, err
		}
		memory, m.lock = all, (*spinLock)(unsafe.Pointer(&all[lockAt]))
		m.unmap = func() { syscall.Munmap(all) }
	}
	for i, n := range p.rankBytes {
		m.parts[i], memory = memory[:n:n], memory[roundUp(n, align):]
	}
	return m, nil
}

// spinLock is a lock in memory that processes share. A rank holds it while it combines the elements
// of one access.
type spinLock uint32

// Lock and Unlock implement sync.Locker.
func (l *spinLock) Lock() {
	for !atomic.CompareAndSwapUint32((*uint32)(l), 0, 1) {
		runtime.Gosched()
	}
}

func (l *spinLock) Unlock() { atomic.StoreUint32((*uint32)(l), 0) }

// processMemory is what the ranks of one process share while they create a window.
type processMemory struct {
	mu       sync.Mutex
	segments map[commKey]*lockedMemory

	conflicts map[commKey]*windowConflicts // by window; kept until the window is freed
}

// commKey identifies a communicator within a process. Disjoint communicators may have the same
// context.
type commKey struct {
	context uint32
	first   int // rank in the job of its first rank
}

// lockedMemory is shared memory with the lock for its accumulates.
type lockedMemory struct {
	memory []byte
	lock   sync.Mutex
}

// shareWithinProcess returns memory that the first rank allocates, on all ranks of one process.
func (c *Comm) shareWithinProcess(total int, allocate func(int) []byte) *lockedMemory {
	s, key := c.state.processMemory, commKey{c.context, c.jobRank(0)}
	if c.rank == 0 {
		memory := allocate(total)
		s.mu.Lock()
		s.segments[key] = &lockedMemory{memory: memory}
		s.mu.Unlock()
	}
	c.barrier()
	s.mu.Lock()
	x := s.segments[key]
	s.mu.Unlock()
	c.barrier()
	if c.rank == 0 {
		s.mu.Lock()
		delete(s.segments, key)
		s.mu.Unlock()
	}
	return x
}

// mapSharedFile returns memory of a file that ranks in several processes map.
func (c *Comm) mapSharedFile(total int) (memory []byte, err error) {
	err = c.createSharedFile("loggp-window-", func(f *os.File) error { return reserveFile(f, int64(total)) }, func(f *os.File) (err error) {
		defer f.Close()
		memory, err = syscall.Mmap(int(f.Fd()), 0, total, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		return err
	})
	if err != nil && memory != nil {
		syscall.Munmap(memory)
		memory = nil
	}
	return memory, err
}

// createSharedFile creates a file in memory. Rank 0 calls fill on it, then each rank calls use, and
// the file's name is removed. An error of any rank is returned on all.
func (c *Comm) createSharedFile(prefix string, fill, use func(f *os.File) error) error {
	name, f, err := "", (*os.File)(nil), error(nil)
	if c.rank == 0 {
		if f, err = os.CreateTemp(sharedMemoryDir(), prefix); err == nil {
			name = f.Name()
			err = fill(f)
		}
	}
	name = string(c.broadcastBytes([]byte(name), 0))
	if c.rank != 0 && name != "" {
		f, err = os.OpenFile(name, os.O_RDWR, 0)
	}
	if err == nil && f != nil {
		err = use(f)
	}
	failed := uint32(0)
	if err != nil || name == "" {
		failed = 1
	}
	anyFailed := c.allreduceMax(failed)
	if c.rank == 0 && name != "" {
		os.Remove(name)
	}
	if anyFailed != 0 && err == nil {
		err = fmt.Errorf("another rank could not open it")
	}
	return err
}

// reserveFile sets the size of a file in memory and reserves its pages. Without a reserved page a
// store to it would end the process with SIGBUS.
func reserveFile(f *os.File, bytes int64) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if e := conn.Control(func(fd uintptr) { err = allocateFile(int(fd), bytes) }); e != nil {
		return e
	}
	return err
}

// sharedMemoryDir returns a directory whose files are in memory.
func sharedMemoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return filepath.Clean(os.TempDir())
}

// SharedMemory returns the memory of a rank in a shared window, for loads and stores, and its
// displacement unit in bytes (MPI_Win_shared_query). For ProcNull it returns those of the first
// rank with a nonzero size.
func (w *Window) SharedMemory(rank int) (memory []byte, unit int) {
	w.enterCall("Window.SharedMemory")
	w.checkFlavor(SharedWindow, "the window is not shared")
	if rank == ProcNull {
		rank = max(0, slices.IndexFunc(w.sharedMemory.parts, func(b []byte) bool { return len(b) > 0 }))
	}
	w.comm.checkRank(rank)
	return w.sharedMemory.parts[rank], w.spanOf(rank).displacementUnit
}
