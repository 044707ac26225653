package proto

import "testing"

// Memory for an unexpected message has room for its data, at most twice as much as needed but for
// the shortest, and is reused by messages of about the same length alone.
func TestMessagePool(t *testing.T) {
	var p messagePool
	for n := range 5000 {
		m := p.take(n)
		if got := len(m.dataBuffer); got < n || got > max(8, 2*n) || n == 0 && got > 0 {
			t.Errorf("%d bytes have room for %d", n, got)
		}
		p.put(m)
		if again := p.take(n); again != m {
			t.Errorf("memory for %d bytes is not reused", n)
		}
		p.put(m)
		if class, _ := bufferClass(n); class > 0 && p.take(0) == m {
			t.Errorf("memory for %d bytes is used without data", n)
		}
	}
}
