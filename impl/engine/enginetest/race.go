//go:build race

package enginetest

// Racing says that the race detector is on. sync.Pool then drops things on purpose, so allocations
// are not counted.
const Racing = true
