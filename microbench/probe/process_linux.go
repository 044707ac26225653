package probe

import "syscall"

// mortal lets a command be asked to end when the thread that started it ends, as it does with this program, however that ends: launchers then end their ranks.
func mortal(of *syscall.SysProcAttr) { of.Pdeathsig = syscall.SIGTERM }
