package shm

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// What one rank writes and another reads at the same time, they must not have on one line.
func TestLayout(t *testing.T) {
	var m member
	var c control
	var r ring
	for name, at := range map[string]uintptr{
		"line": unsafe.Sizeof(line{}), "control": unsafe.Sizeof(c), "member": unsafe.Sizeof(m), "ring": unsafe.Sizeof(r),
		"counters": unsafe.Offsetof(m.counters), "waits": unsafe.Offsetof(m.waits), "sent": unsafe.Offsetof(m.sent), "lines": unsafe.Offsetof(r.lines),
	} {
		if at%lineSize != 0 {
			t.Errorf("%s: %d bytes are not whole lines", name, at)
		}
	}
	if at := unsafe.Offsetof(line{}.data); at+inLine != lineSize {
		t.Errorf("data begins at %d of a line, and %d bytes are to be in it", at, inLine)
	}
	if n := length(piece); n != lines/4 {
		t.Errorf("the longest record has %d of %d lines", n, lines)
	}
}

// Records of all lengths come out as they went in, in order, over more laps than a word counts, however far the writer is ahead. Their data
// looks like first words of records, of the very lap in which it could be taken for one.
func TestRing(t *testing.T) {
	var memory ring
	w := writer{ring: &memory}
	r := reader{ring: &memory, next: &memory.lines[0]}
	rnd := rand.New(rand.NewPCG(1, 2))
	type sent struct {
		head [device.Words]uint64
		data []byte
	}
	var under []sent
	buf := make([]byte, piece)
	for n := uint64(0); w.at < 3*lines<<lapBits; n++ {
		size := []int{0, 8, inLine, inLine + 1, 1000, piece, rnd.IntN(piece + 1)}[rnd.IntN(7)]
		for i := 0; i+8 <= size; i += 8 {
			binary.LittleEndian.PutUint64(buf[i:], word(uint64(rnd.IntN(4)), w.at+uint64(rnd.IntN(2))*lines, 8, 8))
		}
		head := [device.Words]uint64{n, ^n}
		for !w.put(whole, &head, buf[:size], size) {
			if len(under) == 0 {
				t.Fatalf("after %d lines there is no room for %d bytes in an empty ring", w.at, size)
			}
			p := under[0]
			under = under[1:]
			l, x := r.look()
			if l == nil {
				t.Fatalf("after %d lines a record of %d bytes does not show", r.at, len(p.data))
			}
			got, total := bytesOf(x)
			if got != len(p.data) || total != got || l.head != p.head || !bytes.Equal(l.body(got), p.data) {
				t.Fatalf("after %d lines a record of %d bytes came as one of %d of %d, head %x in place of %x", r.at, len(p.data), got, total, l.head, p.head)
			}
			r.took(got)
		}
		under = append(under, sent{head, bytes.Clone(buf[:size])})
		if rnd.IntN(50) == 0 { // the reader looks when it has read all
			for _, p := range under {
				l, x := r.look()
				if got, _ := bytesOf(x); l == nil || got != len(p.data) || !bytes.Equal(l.body(got), p.data) {
					t.Fatalf("after %d lines a record of %d bytes came as one of %d", r.at, len(p.data), got)
				}
				r.took(len(p.data))
			}
			under = under[:0]
			if l, x := r.look(); l != nil || r.ready() {
				t.Fatalf("after %d lines there is a record, %#x, that nobody wrote", r.at, x)
			}
		}
	}
}

// The clock's step shows between readings that take longer. Expected by hand.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		of   []int64
		want int64
	}{
		{[]int64{30, 40, 30, 50}, 10},
		{[]int64{31, 30, 33}, 1},
		{[]int64{0, 0, 100, 0}, 100},
		{[]int64{100, 100}, 100},
	} {
		if got := step(c.of); got != c.want {
			t.Errorf("%v: got %d, want %d", c.of, got, c.want)
		}
	}
	if resolution, cost := Timer(); resolution <= 0 || cost <= 0 {
		t.Errorf("the clock has steps of %v and costs %v", resolution, cost)
	}
}
