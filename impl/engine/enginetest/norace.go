//go:build !race

package enginetest

// RaceDetectorOn says that the race detector is on.
const RaceDetectorOn = false
