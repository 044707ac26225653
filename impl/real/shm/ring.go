package shm

import (
	"unsafe"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/transport"
)

// A record is the unit that the writer of a ring adds: a line, and a part of the area for data that
// does not fit the line. The line begins with a word that is written last, and has in its bits
//
//	0-11   the lap of the ring, from 1, so that what was there a lap ago is not taken for a record
//	12-27  bytes of data in the record
//	28-63  bytes of the packet from here on
//
// Both sides know where data is: it begins behind that of the record before, and at the start of
// the area where it would not fit what is left. So what looks like a word is one, and to take a
// record the reader writes nothing.
const (
	lapBits    = 12
	bytesShift = lapBits
	bytesBits  = 16
	totalShift = bytesShift + bytesBits
)

// maxFragment is how many bytes of a packet are in a record at most: a quarter of the area, so that
// the writer fills one while the reader empties another.
const maxFragment = areaSize / 4

// word makes the first word of a record that begins after at lines.
func word(at uint64, n, total int) uint64 {
	return lap(at) | uint64(n)<<bytesShift | uint64(total)<<totalShift
}

// lap returns the number of the lap.
func lap(at uint64) uint64 { return (at/lines + 1) % (1 << lapBits) }

// bytesOf returns how many bytes are in a record, and how many were left of its packet.
func bytesOf(w uint64) (n, total int) {
	return int(w >> bytesShift & (1<<bytesBits - 1)), int(w >> totalShift)
}

// place returns where the data of a record of n bytes begins and ends in the area, if the data
// before it ends at byte at.
func place(at uint64, n int) (from, end uint64) {
	if n <= inLine {
		return at, at
	}
	size := (uint64(n) + lineSize - 1) &^ (lineSize - 1)
	if at%areaSize+size > areaSize {
		at += areaSize - at%areaSize
	}
	return at, at + size
}

// data returns n bytes of the area from a place that place returned.
func (r *ring) data(from uint64, n int) []byte {
	return unsafe.Slice(&r.area[from%areaSize], n)
}

// writer is the writing end of a ring.
type writer struct {
	*ring
	at, end           uint64 // lines, and bytes of the area, that were written
	lineFree, endFree uint64 // limits up to which it may write, as last read
}

// line writes a packet that fits a line. It returns false if no line is free as far as the writer
// knows.
//
// Note: head and data are copied word by word. The sender has just written them so, and a load of
// more than what one store wrote waits for the caches.
func (w *writer) line(head *device.Head, data []byte) bool {
	if w.at >= w.lineFree {
		return false
	}
	l := &w.lines[w.at%lines]
	if len(data) == 8 {
		*(*uint64)(unsafe.Pointer(&l.data)) = *(*uint64)(unsafe.Pointer(unsafe.SliceData(data)))
	} else {
		copy(l.data[:], data)
	}
	l.head[0], l.head[1], l.head[2], l.head[3], l.head[4] = head[0], head[1], head[2], head[3], head[4]
	release(&l.word, word(w.at, len(data), len(data)))
	w.at++
	return true
}

// toDemote is the longest data that is demoted. Longer data is still being written when it would
// leave the cache.
const toDemote = 1 << 10

// put writes a record. If the ring is full it returns false; the caller has to try again.
func (w *writer) put(head *device.Head, data []byte, total int) bool {
	from, end := place(w.end, len(data))
	if (w.at >= w.lineFree || end > w.endFree) && !w.refresh(end) {
		return false
	}
	l := &w.lines[w.at%lines]
	if len(data) <= inLine {
		copy(l.data[:], data)
	} else {
		to := w.data(from, len(data))
		claim(to)
		copy(to, data)
		if len(data) <= toDemote {
			demote(to)
		}
	}
	l.head = *head
	release(&l.word, word(w.at, len(data), total))
	w.at++
	w.end = end
	return true
}

// refresh reads how far the reader is, and reports whether there is room for a line and for data up
// to an end.
func (w *writer) refresh(end uint64) bool {
	w.lineFree, w.endFree = w.taken.Load()+lines, w.emptied.Load()+areaSize
	return w.at < w.lineFree && end <= w.endFree
}

// moved reports whether the reader has made room since the last refresh.
func (w *writer) moved() bool {
	return w.taken.Load()+lines != w.lineFree || w.emptied.Load()+areaSize != w.endFree
}

// reader is the reading end of a ring.
type reader struct {
	*ring
	src      int    // the writer's rank
	next     *line  // of the ring, where the next record will be
	lap      uint64 // of that line
	at, end  uint64 // lines, and bytes of the area, that were read
	given    uint64 // those of them that the writer may use again
	endGiven uint64
	gave     bool              // since the writer was woken last
	part     *transport.Buffer // a packet that has arrived in part
}

func readerOf(from *ring, src int) reader {
	return reader{ring: from, src: src, next: &from.lines[0], lap: lap(0)}
}

// ready reports whether the next record has arrived. A waiting rank polls it.
func (r *reader) ready() bool { return r.next.word.Load()%(1<<lapBits) == r.lap }

// body returns the data of the next record, which has n bytes, until that is taken.
func (r *reader) body(n int) []byte {
	if n <= inLine {
		return r.next.data[:n]
	}
	from, _ := place(r.end, n)
	return r.data(from, n)
}

// took advances past the next record, which has n bytes.
func (r *reader) took(n int) {
	if n > inLine {
		_, r.end = place(r.end, n)
	}
	r.at++
	r.next, r.lap = &r.lines[r.at%lines], lap(r.at)
	if r.at-r.given >= lines/4 || r.end-r.endGiven >= areaSize/4 {
		r.give()
	}
}

// give publishes how far the reader is: a quarter of the ring at a time, which is often enough,
// because a record and what is skipped before it take no more than half of the area.
func (r *reader) give() {
	r.given, r.endGiven, r.gave = r.at, r.end, true
	r.taken.Store(r.at)
	r.emptied.Store(r.end)
}
