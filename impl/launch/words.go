package launch

import (
	"strings"
	"sync"
)

// words keeps what a rank writes to its standard error: the beginning, where a crash says what it is, and the end.
type words struct {
	mu          sync.Mutex
	first, last []byte
	lost        int // bytes between them
}

// Most bytes that are kept of each.
const (
	firstWords = 1 << 10
	lastWords  = 1 << 10
)

// Write implements io.Writer and never fails.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(b), firstWords-len(w.first))
	w.first = append(w.first, b[:n]...)
	w.last = append(w.last, b[n:]...)
	if over := len(w.last) - lastWords; over > 0 {
		w.last = append(w.last[:0], w.last[over:]...)
		w.lost += over
	}
	return len(b), nil
}

// String returns what was kept, each line indented.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(w.first)
	if w.lost > 0 {
		text += "\n…\n"
	}
	text = strings.TrimSpace(text + string(w.last))
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
