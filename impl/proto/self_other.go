//go:build !amd64 && !arm64

package proto

// self does not tell goroutines apart here.
func self() uintptr { return 0 }
