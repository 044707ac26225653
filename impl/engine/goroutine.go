//go:build amd64 || arm64

package engine

// goroutineID tells the goroutine that calls it from all others that there are. Go does not: its
// number can only be read from the text of a stack, which takes a thousand times as long.
func goroutineID() uintptr
