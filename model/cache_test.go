package model

import (
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// A loop pays for each line that it comes back to as soon as a byte does not fit, and for nothing
// without a cache.
func TestReloadTime(t *testing.T) {
	c := Cache{Bytes: 1000, LineBytes: 16, Miss: 10 * unit.Nanosecond}
	for _, x := range []struct {
		reused, passed int
		want           unit.Time
	}{{500, 500, 0}, {501, 500, 320 * unit.Nanosecond}, {0, 5000, 0}, {17, 5000, 20 * unit.Nanosecond}} {
		if got := c.ReloadTime(x.reused, x.passed); got != x.want {
			t.Errorf("%d bytes beside %d cost %v, want %v", x.reused, x.passed, got, x.want)
		}
	}
	if got := new(Cache).ReloadTime(1e6, 1e6); got != 0 {
		t.Errorf("without a cache: %v", got)
	}
}
