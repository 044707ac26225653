package machine

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rusageThread asks for what the calling thread used.
const rusageThread = 1 // RUSAGE_THREAD of <bits/resource.h>

// switches returns how often the calling thread had to give its processor to another one.
func switches() (n int, known bool) {
	var u unix.Rusage
	err := unix.Getrusage(rusageThread, &u)
	return int(u.Nivcsw), err == nil
}

// Copies says why the kernel does not copy from process to process, if it does not: a filter of system calls forbids it even where both are one.
func Copies() error {
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

// Room returns how many bytes a directory's file system has for this user.
func Room(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
