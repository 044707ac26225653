package shm

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, n int) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() != int64(n) {
		return nil, fmt.Errorf("it has %d bytes, and should have %d", st.Size(), n)
	}
	return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
}

func unmapFile(b []byte) { unix.Munmap(b) }

// From <linux/futex.h>. The words are in memory that several processes share, so these are not the
// private variants.
const (
	futexWaitOperation = 0
	futexWakeOperation = 1
)

// futexSleep sleeps while the word has the value, and may return sooner.
func futexSleep(word *atomic.Uint32, value uint32) {
	syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOperation, uintptr(value), 0, 0, 0)
}

// futexWakeOne wakes the process that sleeps on the word.
func futexWakeOne(word *atomic.Uint32) {
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOperation, 1, 0, 0, 0)
}

// allowMemoryAccess lets other processes of the user access the memory of this one, which some
// systems (Yama) permit to its ancestors only. On other systems this fails, and is not needed.
func allowMemoryAccess() { unix.Prctl(unix.PR_SET_PTRACER, unix.PR_SET_PTRACER_ANY, 0, 0, 0) }

// denyMemoryAccess undoes it.
func denyMemoryAccess() { unix.Prctl(unix.PR_SET_PTRACER, 0, 0, 0, 0) }

// readProcessMemory reads the memory of another process.
func readProcessMemory(pid int, where uintptr, b []byte) error {
	var v processCopier
	return v.copyBytes(pid, where, b, false)
}

// processCopier has the arguments of a transfer. It is kept so that transfers allocate nothing.
type processCopier struct {
	localVector  [1]unix.Iovec
	remoteVector [1]unix.RemoteIovec
}

// copyBytes gets bytes of another process, or puts them there. The kernel may move a part of them
// at a time.
func (v *processCopier) copyBytes(pid int, where uintptr, b []byte, put bool) error {
	move := unix.ProcessVMReadv
	if put {
		move = unix.ProcessVMWritev
	}
	for len(b) > 0 {
		v.localVector[0].Base = &b[0]
		v.localVector[0].SetLen(len(b))
		v.remoteVector[0] = unix.RemoteIovec{Base: where, Len: len(b)}
		n, err := move(pid, v.localVector[:], v.remoteVector[:], 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b, where = b[n:], where+uintptr(n)
	}
	v.localVector[0].Base = nil
	return nil
}
