package render

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// ProgressBar shows how far a long job is, on a terminal and after a moment only.
type ProgressBar struct {
	mu        sync.Mutex
	terminal  io.Writer // nil: nothing is shown
	beginTime time.Time
	lastShown time.Time
}

// NewProgressBar returns the bar of a job that begins now. Without a terminal, which is nil, it
// shows nothing.
func NewProgressBar(terminal io.Writer) *ProgressBar {
	return &ProgressBar{terminal: terminal, beginTime: time.Now()}
}

// stepsOfFractionOnlyJob are the parts of a job that reports only the fraction that is done: they
// are not shown as a count.
const stepsOfFractionOnlyJob = 1000

// When the bar is shown first, and how often it changes.
const (
	progressDelay    = 500 * time.Millisecond
	progressInterval = 100 * time.Millisecond
)

// Report says how many parts are done, and of how many.
func (p *ProgressBar) Report(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.terminal == nil || now.Sub(p.beginTime) < progressDelay || now.Sub(p.lastShown) < progressInterval {
		return
	}
	p.lastShown = now
	const width = 30
	full := width * done / total
	left := now.Sub(p.beginTime) * time.Duration(total-done) / time.Duration(max(done, 1))
	count := fmt.Sprintf("%d/%d, ", done, total)
	if total == stepsOfFractionOnlyJob {
		count = ""
	}
	fmt.Fprintf(p.terminal, "\r\x1b[K[%s%s] %s%.0f s left", strings.Repeat("#", full), strings.Repeat(".", width-full), count, left.Seconds())
}

// End removes the bar.
func (p *ProgressBar) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal != nil && !p.lastShown.IsZero() {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}
