package host

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Shared memory is fully allocated, and other programs do not inherit it by accident.
func TestSharedMemoryIsAllocated(t *testing.T) {
	const n = 1<<16 + 5
	f, err := NewSharedMemory(n)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Size != n || st.Blocks*512 < n {
		t.Errorf("%d bytes, %d of them allocated, want %d; %v", st.Size, st.Blocks*512, n, err)
	}
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("programs that are started inherit it: %#x, %v", flags, err)
	}
	if st.Nlink != 0 {
		t.Errorf("it has %d names", st.Nlink)
	}
}

// A system that does not give memory says why, and leaves no file; one that is interrupted is asked
// again.
func TestSharedMemoryErrorsGiveHints(t *testing.T) {
	fails := func(errs ...error) func(int, uint32, int64, int64) error {
		return func(int, uint32, int64, int64) error {
			err := errs[0]
			errs = errs[1:]
			return err
		}
	}
	before := countOpenFiles(t)
	for _, c := range []struct {
		create   error
		allocate []error
		says     []string
	}{
		{nil, []error{unix.ENOSPC}, []string{"allocate 1000 bytes", "no space left", "raise the limit of the container"}},
		{nil, []error{unix.EINTR, unix.EINTR, unix.ENOMEM}, []string{"allocate 1000 bytes", "cannot allocate", "free some"}},
		{nil, []error{unix.EFBIG}, []string{"too large", "ulimit -f"}},
		{nil, []error{unix.EIO}, []string{"input/output error"}},
		{unix.EPERM, nil, []string{"memfd_create", "not permitted", "seccomp"}},
		{unix.EMFILE, nil, []string{"memfd_create", "ulimit -n"}},
	} {
		create := unix.MemfdCreate
		if c.create != nil {
			create = func(string, int) (int, error) { return -1, c.create }
		}
		f, err := newSharedMemory(1000, create, fails(c.allocate...))
		if f != nil || err == nil {
			t.Fatalf("%v: there is memory", c)
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q does not have %q", err, s)
			}
		}
	}
	if now := countOpenFiles(t); now != before {
		t.Errorf("%d files are open, %d before", now, before)
	}
	f, err := newSharedMemory(1000, unix.MemfdCreate, fails(unix.EINTR, nil))
	if err != nil {
		t.Fatalf("interrupted once: %v", err)
	}
	f.Close()
}

// countOpenFiles returns how many files this process has open.
func countOpenFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
