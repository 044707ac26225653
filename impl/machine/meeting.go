package machine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// meeting is of two threads, each alone on a processor, that wait for each other's words and do not wait for ever.
type meeting struct {
	over atomic.Bool // it is too late, for one of them and so for both
	_    [lineSize - 4]byte

	ctx  context.Context
	end  int64   // by the clock
	come [2]word // as soon as each is there
}

// lineSize is what processors pass to each other: that of most, and of those with longer lines a part of one.
const lineSize = 64

// word is alone on its line.
type word struct {
	atomic.Uint64
	_ [lineSize - 8]byte
}

// glances is after how many looks that find nothing a thread looks at the clock: a microsecond or so.
const glances = 1 << 10

// await waits until the word has a value, and reports whether that was in time.
func (m *meeting) await(w *atomic.Uint64, value uint64) bool {
	for i := 1; w.Load() != value; i++ {
		if i%glances == 0 && m.late() {
			return false
		}
	}
	return true
}

// late reports whether it is too late.
func (m *meeting) late() bool {
	if !m.over.Load() && (Now() > m.end || m.ctx.Err() != nil) {
		m.over.Store(true)
	}
	return m.over.Load()
}

// meet lets a thread on processor a run first, and at the same time one on processor b run second. Both are to end once await was in vain, which is
// when the context is done, or after the limit. Then the error says that they did not meet. What they write to is theirs where it is errStuck.
func meet(ctx context.Context, a, b int, limit time.Duration, first, second func(*meeting)) error {
	if a == b {
		return fmt.Errorf("processor %d: it takes two processors", a)
	}
	m := &meeting{ctx: ctx, end: Now() + limit.Nanoseconds()}
	err := on([]int{a, b}, 2*limit, func(i int) {
		m.come[i].Store(1)
		if m.await(&m.come[1-i].Uint64, 1) {
			[]func(*meeting){first, second}[i](m)
		}
	})
	switch {
	case ctx.Err() != nil && !errors.Is(err, errStuck):
		return context.Cause(ctx)
	case err != nil:
		m.over.Store(true) // for a thread that is left
		return err
	case m.over.Load():
		return fmt.Errorf("%w within %v: others keep one of them busy", errApart, limit)
	}
	return nil
}

// errApart says that two threads did not run at the same time for long enough.
var errApart = errors.New("the two processors did not both run this program")
