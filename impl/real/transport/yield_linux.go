package transport

import "syscall"

// yieldProcessor lets another thread run on this processor if one wants to.
func yieldProcessor() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
