//go:build amd64 || arm64

package engine

// goroutineID returns a number that identifies the calling goroutine among all existing ones. Go
// provides this only in the text of a stack trace, which takes a thousand times as long.
func goroutineID() uintptr
