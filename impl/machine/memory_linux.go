package machine

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Memory returns a file of n bytes that is in memory alone and has no name: processes that have it share it, and it is gone with the last of them. All
// of its memory is there, or it is an error: who touches what is not there is killed.
func Memory(n int) (*os.File, error) { return memory(n, unix.MemfdCreate, unix.Fallocate) }

func memory(n int, create func(name string, flags int) (int, error), allocate func(fd int, mode uint32, from, length int64) error) (*os.File, error) {
	fd, err := create("loggp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory (memfd_create): %w%s", err, hint(err))
	}
	f := os.NewFile(uintptr(fd), "memory")
	for {
		if err = allocate(fd, 0, 0, int64(n)); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the system does not give %d bytes: %w%s", n, err, hint(err))
	}
	return f, nil
}

// hints say what stands behind a refusal, and what to do.
var hints = []struct {
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

func hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return "; " + h.says
		}
	}
	return ""
}
