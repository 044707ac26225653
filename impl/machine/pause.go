package machine

import _ "unsafe" // for go:linkname

// Pause lets the processor rest for some nanoseconds, or some tens. It is for loops that look at memory until another processor writes to it: a loop without a
// pause has many loads under way when that happens, which have to be made again.
func Pause() { procyield(1) }

//go:linkname procyield runtime.procyield
func procyield(cycles uint32)
