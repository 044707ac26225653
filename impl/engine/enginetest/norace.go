//go:build !race

package enginetest

// Racing says that the race detector is on.
const Racing = false
