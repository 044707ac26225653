package shm

import (
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// A record is what the writer of a ring adds at once: lines in a row, that begin with a word which has in its bits
//
//	0-1    what it is, of those below
//	2-11   the lap of the ring, so that what was there a lap ago is not taken for it
//	12-27  bytes of data in the record
//	28-63  bytes of the packet
//
// Data of packets, which may look like anything, is wiped from where such a word can be expected. So a word of the right lap is one.
const (
	none  = iota
	whole // a packet, or the first record of one
	more  // another record of it
	skip  // nothing up to the end of the ring
)

const (
	lapShift, lapBits     = 2, 10
	bytesShift, bytesBits = lapShift + lapBits, 16
	totalShift            = bytesShift + bytesBits
)

// piece is how many bytes are in a record at most. It is a quarter of a ring, less what comes before the data, so that the writer fills one
// while the reader empties another.
const piece = lines/4*lineSize - (lineSize - inLine)

// word makes the first word of a record that begins after at lines.
func word(kind uint64, at uint64, n, total int) uint64 {
	return kind | lap(at)<<lapShift | uint64(n)<<bytesShift | uint64(total)<<totalShift
}

// lap returns the number of the lap.
func lap(at uint64) uint64 { return at / lines % (1 << lapBits) }

// length returns how many lines a record takes.
func length(n int) uint64 { return uint64(n+(lineSize-inLine)+lineSize-1) / lineSize }

// body returns the data of a record of n bytes whose first line it is.
func (l *line) body(n int) []byte { return unsafe.Slice(&l.data[0], n) }

// writer is the end of a ring that one rank writes to.
type writer struct {
	*ring
	at    uint64 // lines that were written
	taken uint64 // of them, known to have been taken
}

// put writes a record, unless there is no room: then it returns false and is to be called again.
func (w *writer) put(kind uint64, head *[device.Words]uint64, data []byte, total int) bool {
	n := length(len(data))
	at := w.at % lines
	if at+n > lines {
		if !w.room(lines - at) {
			return false
		}
		w.lines[at].word.Store(word(skip, w.at, 0, 0))
		w.at += lines - at
		at = 0
	}
	if !w.room(n) {
		return false
	}
	l := &w.lines[at]
	l.head = *head
	if len(data) > 0 {
		copy(l.body(len(data)), data)
	}
	l.word.Store(word(kind, w.at, len(data), total))
	w.at += n
	return true
}

// room reports whether n lines may be written.
func (w *writer) room(n uint64) bool {
	if w.at+n-w.taken <= lines {
		return true
	}
	w.taken = w.ring.taken.Load()
	return w.at+n-w.taken <= lines
}

// reader is the end of a ring that one rank reads from.
type reader struct {
	*ring
	src   int     // the writer's rank
	next  *line   // of the ring, where the next record will be
	at    uint64  // lines that were read
	given uint64  // of them, those that the writer may use again
	gave  bool    // and it may not know yet
	part  *parcel // a packet of which some is to come
}

// ready reports whether the next record is there. It is what a rank that waits does all the time.
func (r *reader) ready() bool { return isRecord(r.next.word.Load(), r.at) }

// isRecord reports whether a word begins a record after at lines.
func isRecord(w, at uint64) bool { return w&3 != none && (w>>lapShift^at/lines)&(1<<lapBits-1) == 0 }

// look returns the first line of the next record and its word, or nil.
func (r *reader) look() (*line, uint64) {
	w := r.next.word.Load()
	if !isRecord(w, r.at) {
		return nil, 0
	}
	if w&3 != skip {
		return r.next, w
	}
	r.advance(lines - r.at%lines)
	return r.look()
}

// took goes on behind a record of n bytes.
func (r *reader) took(n int) { r.advance(length(n)) }

// advance goes on by n lines, all of one record.
func (r *reader) advance(n uint64) {
	if n > 1 {
		r.wipe(n)
	}
	r.at += n
	r.next = &r.lines[r.at%lines]
	r.give()
}

// wipe clears what could be taken for first words in n lines, of which the first is left: it begins a record. The writer does not write there before
// the reader gives it the lines. So these are plain stores, which processors carry out many at a time.
func (r *reader) wipe(n uint64) {
	at := r.at % lines
	for i := range n - 1 {
		*(*uint64)(unsafe.Pointer(&r.lines[at+1+i])) = none
	}
}

// give tells the writer from time to time how far the reader is: often enough for it never to wait for that alone, as a record and
// what is skipped before it take no more than half of a ring.
func (r *reader) give() {
	if r.at-r.given >= lines/4 {
		r.given, r.gave = r.at, true
		r.ring.taken.Store(r.at)
	}
}

// bytesOf returns how many bytes are in a record, and how many were left of its packet.
func bytesOf(w uint64) (n, total int) {
	return int(w >> bytesShift & (1<<bytesBits - 1)), int(w >> totalShift)
}
