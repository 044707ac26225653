package loop

import (
	"runtime"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// watch implements device.Watch.
type watch struct{ *port }

func (w watch) EventCount() uint64 {
	in := &w.inbox
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.eventCount
}

func (w watch) WaitForEvent(seen uint64, deadline unit.Time) bool {
	in := &w.inbox
	for i := 0; ; i++ {
		w.ExitIfJobFailed()
		if w.EventCount() != seen {
			return true
		}
		var left time.Duration
		if deadline != device.Forever {
			if left = time.Duration((deadline - w.Now() + unit.Nanosecond - 1) / unit.Nanosecond); left <= 0 {
				runtime.Gosched()
				return false
			}
		}
		if i < pollsBeforeSleep {
			runtime.Gosched()
			continue
		}
		in.mu.Lock()
		if in.eventCount == seen && !in.isClosed {
			in.sleepUntilWoken(w.job, sleepForEvent, left)
		}
		in.mu.Unlock()
	}
}
