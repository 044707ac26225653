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
// Both sides know where data is: it begins behind that of the record before, or at the start of the
// area if it does not fit the rest. So the reader can trust the lap in a word, and takes a record
// without writing anything.
const (
	lapBits        = 12
	bytesShift     = lapBits
	bytesBits      = 16
	remainingShift = bytesShift + bytesBits
)

// maxFragment is how many bytes of a packet are in a record at most: a quarter of the area, so that
// the writer fills one while the reader empties another.
const maxFragment = areaSize / 4

// recordWord makes the first word of a record that begins after at lines.
func recordWord(at uint64, n, total int) uint64 {
	return lapOf(at) | uint64(n)<<bytesShift | uint64(total)<<remainingShift
}

// lapOf returns the number of the lap.
func lapOf(at uint64) uint64 { return (at/ringLines + 1) % (1 << lapBits) }

// recordSizes returns how many bytes are in a record, and how many were left of its packet.
func recordSizes(w uint64) (n, total int) {
	return int(w >> bytesShift & (1<<bytesBits - 1)), int(w >> remainingShift)
}

// areaRange returns where the data of a record of n bytes begins and ends in the area, if the data
// before it ends at byte at.
func areaRange(at uint64, n int) (from, end uint64) {
	if n <= maxLineData {
		return at, at
	}
	size := (uint64(n) + lineSize - 1) &^ (lineSize - 1)
	if at%areaSize+size > areaSize {
		at += areaSize - at%areaSize
	}
	return at, at + size
}

// areaBytes returns n bytes of the area from a place that place returned.
func (r *ring) areaBytes(from uint64, n int) []byte {
	return unsafe.Slice(&r.area[from%areaSize], n)
}

// writer is the writing end of a ring.
type writer struct {
	*ring
	linesWritten, areaWritten uint64 // lines, and bytes of the area, that were written
	lineLimit, areaLimit      uint64 // limits up to which it may write, as last read
}

// writeLine writes a packet that fits a line. It returns false if no line is free as far as the
// writer knows.
//
// Note: head and data are copied word by word. The sender has just written them so, and a load of
// more than what one store wrote waits for the caches.
func (w *writer) writeLine(head *device.Head, data []byte) bool {
	if w.linesWritten >= w.lineLimit {
		return false
	}
	l := &w.lines[w.linesWritten%ringLines]
	if len(data) == 8 {
		*(*uint64)(unsafe.Pointer(&l.data)) = *(*uint64)(unsafe.Pointer(unsafe.SliceData(data)))
	} else {
		copy(l.data[:], data)
	}
	l.head[0], l.head[1], l.head[2], l.head[3], l.head[4] = head[0], head[1], head[2], head[3], head[4]
	storeRelease(&l.word, recordWord(w.linesWritten, len(data), len(data)))
	w.linesWritten++
	return true
}

// maxDemotedData is the longest data that is demoted. Longer data is still being written when it
// would leave the cache.
const maxDemotedData = 1 << 10

// writeRecord writes a record. If the ring is full it returns false; the caller has to try again.
func (w *writer) writeRecord(head *device.Head, data []byte, total int) bool {
	from, end := areaRange(w.areaWritten, len(data))
	if (w.linesWritten >= w.lineLimit || end > w.areaLimit) && !w.refreshLimits(end) {
		return false
	}
	l := &w.lines[w.linesWritten%ringLines]
	if len(data) <= maxLineData {
		copy(l.data[:], data)
	} else {
		to := w.areaBytes(from, len(data))
		prefetchForWrite(to)
		copy(to, data)
		if len(data) <= maxDemotedData {
			demoteLines(to)
		}
	}
	l.head = *head
	storeRelease(&l.word, recordWord(w.linesWritten, len(data), total))
	w.linesWritten++
	w.areaWritten = end
	return true
}

// refreshLimits reads how far the reader is, and reports whether there is room for a line and for
// data up to an end.
func (w *writer) refreshLimits(end uint64) bool {
	w.lineLimit, w.areaLimit = w.linesTaken.Load()+ringLines, w.areaTaken.Load()+areaSize
	return w.linesWritten < w.lineLimit && end <= w.areaLimit
}

// hasNewRoom reports whether the reader has made room since the last refresh.
func (w *writer) hasNewRoom() bool {
	return w.linesTaken.Load()+ringLines != w.lineLimit || w.areaTaken.Load()+areaSize != w.areaLimit
}

// reader is the reading end of a ring.
type reader struct {
	*ring
	writerRank          int    // the writer's rank
	nextLine            *line  // of the ring, where the next record will be
	nextLap             uint64 // of that line
	linesRead, areaRead uint64 // lines, and bytes of the area, that were read
	linesReleased       uint64 // those of them that the writer may use again
	areaReleased        uint64
	hasReleased         bool              // since the writer was woken last
	partial             *transport.Buffer // a packet that has arrived in part
}

func newReader(from *ring, src int) reader {
	return reader{ring: from, writerRank: src, nextLine: &from.lines[0], nextLap: lapOf(0)}
}

// hasRecord reports whether the next record has arrived. A waiting rank polls it.
func (r *reader) hasRecord() bool { return r.nextLine.word.Load()%(1<<lapBits) == r.nextLap }

// recordData returns the data of the next record, which has n bytes, until that is taken.
func (r *reader) recordData(n int) []byte {
	if n <= maxLineData {
		return r.nextLine.data[:n]
	}
	from, _ := areaRange(r.areaRead, n)
	return r.areaBytes(from, n)
}

// advance advances past the next record, which has n bytes.
func (r *reader) advance(n int) {
	if n > maxLineData {
		_, r.areaRead = areaRange(r.areaRead, n)
	}
	r.linesRead++
	r.nextLine, r.nextLap = &r.lines[r.linesRead%ringLines], lapOf(r.linesRead)
	if r.linesRead-r.linesReleased >= ringLines/4 || r.areaRead-r.areaReleased >= areaSize/4 {
		r.releaseRead()
	}
}

// releaseRead publishes how far the reader is: a quarter of the ring at a time, which is often
// enough, because a record and the bytes skipped before it take at most half of the area.
func (r *reader) releaseRead() {
	r.linesReleased, r.areaReleased, r.hasReleased = r.linesRead, r.areaRead, true
	r.linesTaken.Store(r.linesRead)
	r.areaTaken.Store(r.areaRead)
}
