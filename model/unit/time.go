// Package unit has the quantities of the toolkit: time in integer picoseconds, sizes in bytes, rates in bytes a
// second and gaps in time a byte, parsed and printed with their units.
//
// Times are integers so that sums do not depend on their order; only rates and what statistics makes of times are
// floating point. MB, GB and the like are powers of ten, as bandwidths are quoted; KiB, MiB and GiB are powers of two.
package unit

import "math"

// Time is a point in time or a duration in picoseconds. It covers 106 days.
type Time int64

// Durations.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Micros returns t in microseconds.
func (t Time) Micros() float64 { return float64(t) / float64(Microsecond) }

// FromMicros returns the time nearest to us microseconds.
func FromMicros(us float64) Time { return Time(math.Round(us * float64(Microsecond))) }

// Rate is a bandwidth in bytes a second.
type Rate float64

// Time returns how long n bytes take at the rate, to the nearest picosecond.
func (r Rate) Time(n int) Time { return Time(math.Round(float64(n) * float64(Second) / float64(r))) }

// PerByte is a gap: picoseconds a byte.
type PerByte float64

// Time returns how long n bytes take, to the nearest picosecond.
func (g PerByte) Time(n int) Time { return Time(math.Round(float64(n) * float64(g))) }

// Micros returns the gap in microseconds a byte.
func (g PerByte) Micros() float64 { return float64(g) / float64(Microsecond) }
