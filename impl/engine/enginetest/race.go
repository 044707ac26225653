//go:build race

package enginetest

// RaceDetectorOn says that the race detector is on. sync.Pool then drops items on purpose, so
// allocations are not counted.
const RaceDetectorOn = true
