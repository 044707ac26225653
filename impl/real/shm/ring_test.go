package shm

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// Fields that one rank writes while another reads are on different cache lines.
func TestLayoutKeepsCacheLinesApart(t *testing.T) {
	var m rankState
	var c jobState
	var r ring
	for name, at := range map[string]uintptr{
		"line": unsafe.Sizeof(line{}), "control": unsafe.Sizeof(c), "member": unsafe.Sizeof(m), "ring": unsafe.Sizeof(r),
		"asker": unsafe.Offsetof(m.helpRequester), "together": unsafe.Offsetof(m.transfer), "counters": unsafe.Offsetof(m.counters), "waits": unsafe.Offsetof(m.waitChanges), "sent": unsafe.Offsetof(m.sent), "lines": unsafe.Offsetof(r.lines),
	} {
		if at%lineSize != 0 {
			t.Errorf("%s: %d bytes are not whole lines", name, at)
		}
	}
	if at := unsafe.Offsetof(line{}.data); at+maxLineData != lineSize {
		t.Errorf("data begins at %d of a line, and %d bytes are to be in it", at, maxLineData)
	}
	if at := unsafe.Offsetof(r.area); at%lineSize != 0 {
		t.Errorf("the area begins at %d: not on a line", at)
	}
	if maxFragment >= 1<<bytesBits || maxFragment > areaSize/4 {
		t.Errorf("a record of %d bytes does not fit its word, or takes more than a quarter of %d", maxFragment, areaSize)
	}
}

// Records of all lengths come out as they went in, in order, over the laps before and after the
// numbers of laps begin again, however far the writer is ahead. Their data looks like first words
// of records, of the very lap in which it could be taken for one.
func TestRingKeepsRecords(t *testing.T) {
	var memory ring
	laps := uint64(200)
	if testing.Short() {
		laps = 20 // the race detector slows them down, and one thread does not need it
	}
	begin := uint64((1<<lapBits - laps) * ringLines)
	memory.linesTaken.Store(begin)
	w := writer{ring: &memory, linesWritten: begin}
	r := newReader(&memory, 0)
	r.linesRead, r.linesReleased, r.nextLap = begin, begin, lapOf(begin)
	rnd := rand.New(rand.NewPCG(1, 2))
	take := func(head device.Head, data []byte) {
		if !r.hasRecord() {
			t.Fatalf("after %d lines a record of %d bytes does not show", r.linesRead, len(data))
		}
		n, total := recordSizes(r.nextLine.word.Load())
		if n != len(data) || total != n || r.nextLine.head != head || !bytes.Equal(r.recordData(n), data) {
			t.Fatalf("after %d lines a record of %d bytes came as one of %d of %d, head %x in place of %x", r.linesRead, len(data), n, total, r.nextLine.head, head)
		}
		r.advance(n)
	}
	type sent struct {
		head device.Head
		data []byte
	}
	var under []sent
	buf := make([]byte, maxFragment)
	end := begin + 2*laps*ringLines
	for n := uint64(0); w.linesWritten < end; n++ {
		size := []int{0, 8, maxLineData, maxLineData + 1, 1000, maxFragment, rnd.IntN(maxFragment + 1)}[min(rnd.IntN(30), rnd.IntN(7))]
		for i := 0; i+8 <= size; i += 8 {
			binary.LittleEndian.PutUint64(buf[i:], recordWord(w.linesWritten+uint64(rnd.IntN(2))*ringLines, 8, 8))
		}
		head := device.Head{n, ^n}
		for !w.writeRecord(&head, buf[:size], size) {
			if len(under) == 0 {
				t.Fatalf("after %d lines there is no room for %d bytes in an empty ring", w.linesWritten, size)
			}
			take(under[0].head, under[0].data)
			under = under[1:]
		}
		under = append(under, sent{head, bytes.Clone(buf[:size])})
		if rnd.IntN(50) == 0 { // the reader looks when it has read all
			for _, p := range under {
				take(p.head, p.data)
			}
			under = under[:0]
			if r.hasRecord() {
				t.Fatalf("after %d lines there is a record, %#x, that was not written", r.linesRead, r.nextLine.word.Load())
			}
		}
	}
}
