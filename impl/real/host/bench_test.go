package host_test

import (
	"testing"
	"time"

	"github.com/loggp/loggp/impl/real/host"
)

// BenchmarkNow shows what a reading of the clock costs, beside those that it is instead of.
func BenchmarkNow(b *testing.B) {
	var last int64
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			last = host.Now()
		}
	})
	b.Run("since", func(b *testing.B) {
		begin := time.Now()
		for b.Loop() {
			last = int64(time.Since(begin))
		}
	})
	b.Run("time", func(b *testing.B) {
		for b.Loop() {
			last = time.Now().UnixNano()
		}
	})
	_ = last
}
