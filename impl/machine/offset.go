package machine

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Offset bounds how far the clock of one processor is ahead of another's, in nanoseconds.
type Offset struct{ Low, High int64 }

// Common reports whether the clock may be one: the bounds have 0 between them.
func (o Offset) Common() bool { return o.Low <= 0 && 0 <= o.High }

// String returns the bounds: -90..110.
func (o Offset) String() string { return fmt.Sprintf("%d..%d", o.Low, o.High) }

// narrow takes into account what was read there between two readings here.
func (o *Offset) narrow(before, there, after int64) {
	o.Low, o.High = max(o.Low, there-after), min(o.High, there-before)
}

const (
	offsetTrips = 1000
	offsetLimit = 100 * time.Millisecond
)

// ClockOffset bounds how far the clock is ahead on processor b of that on a. A thread on each reads it by turns: what b reads between two readings on a would
// lie between them if the clocks were one; so b is ahead by at least what it reads beyond the second, and by at most what it reads beyond the
// first. Of many such bounds the closest hold. Bounds of which the lower is above the upper say that the offset changes.
func ClockOffset(ctx context.Context, a, b int) (Offset, error) {
	o := Offset{math.MinInt64, math.MaxInt64}
	var ask, reply word
	var there int64 // what b reads; written before reply, and read after it
	err := meet(ctx, a, b, offsetLimit, func(m *meeting) {
		for i := range uint64(offsetTrips) {
			before := Now()
			ask.Store(i + 1)
			if !m.await(&reply.Uint64, i+1) {
				return
			}
			o.narrow(before, there, Now())
		}
	}, func(m *meeting) {
		for i := range uint64(offsetTrips) {
			if !m.await(&ask.Uint64, i+1) {
				return
			}
			there = Now()
			reply.Store(i + 1)
		}
	})
	if err != nil {
		return Offset{}, fmt.Errorf("the clocks of processors %d and %d: %w", a, b, err)
	}
	return o, nil
}
