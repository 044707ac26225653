package process

import (
	"strings"
	"sync"
)

// Output keeps the first and the last part of the text that is written to it. Error messages are
// usually in one of them.
type Output struct {
	Limit int // bytes of each; 0: 1 KiB

	mu           sync.Mutex
	head, tail   []byte
	writtenBytes int // of all
}

func (o *Output) partLimit() int {
	if o.Limit == 0 {
		return 1 << 10
	}
	return o.Limit
}

// Write implements io.Writer and never fails.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writtenBytes += len(b)
	n := min(len(b), o.partLimit()-len(o.head))
	o.head = append(o.head, b[:n]...)
	if o.tail = append(o.tail, b[n:]...); len(o.tail) > 2*o.partLimit() {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-o.partLimit():]...)
	}
	return len(b), nil
}

// String returns the kept text, with a line "…" in place of the rest.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail := o.tail[max(0, len(o.tail)-o.partLimit()):]
	if len(o.head)+len(tail) < o.writtenBytes {
		return string(o.head) + "\n…\n" + string(tail)
	}
	return string(o.head) + string(tail)
}

// Indented returns String with each line indented, without empty lines at its ends.
func (o *Output) Indented() string {
	text := strings.TrimSpace(o.String())
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
