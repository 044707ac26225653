package host

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rusageThread selects the calling thread.
const rusageThread = 1 // RUSAGE_THREAD of <bits/resource.h>

// threadPreemptions returns the number of involuntary context switches of the calling thread.
func threadPreemptions() (n int, known bool) {
	var u unix.Rusage
	err := unix.Getrusage(rusageThread, &u)
	return int(u.Nivcsw), err == nil
}

// TryProcessCopy returns why the kernel does not copy between processes, or nil if it does. It
// tries to copy within this process, which a filter of system calls forbids as well.
func TryProcessCopy() error {
	there, here := uint64(1), uint64(0)
	local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&here))}
	local.SetLen(8)
	remote := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&there)), Len: 8}
	if n, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0); err != nil {
		return fmt.Errorf("process_vm_readv: %w", err)
	} else if n != 8 || here != there {
		return fmt.Errorf("process_vm_readv: %d of 8 bytes were copied", n)
	}
	return nil
}

// FreeSpace returns the bytes that a directory's file system has left for this user.
func FreeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// readAffinity returns the processors on which the calling thread is allowed to run.
func readAffinity() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var list []int
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// Pin binds the calling thread to one processor. The goroutine has to be locked to the thread.
func Pin(processor int) error {
	if processor < 0 {
		return errors.New("the processors on which this process may run are unknown")
	}
	var set unix.CPUSet
	set.Set(processor)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin a thread to processor %d: %w", processor, err)
	}
	return nil
}

// NewSharedMemory returns an anonymous file of n bytes in memory, which is shared by the processes
// that inherit it and freed with the last of them. All of it is allocated, else it is an error: a
// process that touches a missing page would be killed.
func NewSharedMemory(n int) (*os.File, error) {
	return newSharedMemory(n, unix.MemfdCreate, unix.Fallocate)
}

func newSharedMemory(n int, create func(name string, flags int) (int, error), allocate func(fd int, mode uint32, from, length int64) error) (*os.File, error) {
	fd, err := create("loggp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory (memfd_create): %w%s", err, errorHint(err))
	}
	f := os.NewFile(uintptr(fd), "memory")
	for {
		if err = allocate(fd, 0, 0, int64(n)); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("allocate %d bytes of shared memory: %w%s", n, err, errorHint(err))
	}
	return f, nil
}

// NewMemoryFile returns an anonymous file in memory with these contents, to be read from its
// beginning.
func NewMemoryFile(contents []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("loggp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory (memfd_create): %w%s", err, errorHint(err))
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err := f.WriteAt(contents, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errorHints say what causes an error, and what to do.
var errorHints = []struct {
	err  error
	says string
}{
	{unix.EFBIG, "a limit on the size of files holds for memory too: raise it (ulimit -f)"},
	{unix.ENOSPC, "memory is used up: free some, or raise the limit of the container"},
	{unix.ENOMEM, "memory is used up: free some, or raise the limit of the container"},
	{unix.EMFILE, "the process has too many files open: raise the limit (ulimit -n)"},
	{unix.ENOSYS, "a filter of system calls forbids it: change the container's seccomp profile"},
	{unix.EPERM, "a filter of system calls forbids it: change the container's seccomp profile"},
}

func errorHint(err error) string {
	for _, h := range errorHints {
		if errors.Is(err, h.err) {
			return "; " + h.says
		}
	}
	return ""
}
