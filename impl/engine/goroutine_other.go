//go:build !amd64 && !arm64

package engine

// goroutine returns 0 for all goroutines on this architecture.
func goroutine() uintptr { return 0 }
