package engine

import (
	"slices"
	"sort"
)

// intervals has the memory of active operations in address order. It is divided into chunks, so
// that neither many operations nor long ones make a search or an update slow.
type intervals struct {
	chunks []*intervalChunk
	spare  *intervalChunk // one that became empty, for the next: most ranks have one operation at a time
	serial uint64
}

// intervalChunk is a nonempty list of intervals.
type intervalChunk struct {
	intervals []interval
	end       uintptr // end of the last interval
}

// maxChunkIntervals is the maximum number of intervals of a chunk.
const maxChunkIntervals = 512

// isBefore reports whether x precedes y, by start address.
func (x *interval) isBefore(y *interval) bool {
	return x.from < y.from || x.from == y.from && x.serial < y.serial
}

// indexIn returns the index of an interval in a sorted list, or of the place for it.
func (x *interval) indexIn(list []interval) int {
	return sort.Search(len(list), func(i int) bool { return !list[i].isBefore(x) })
}

// chunkIndexOf returns the chunk that contains an interval, or to which it belongs: the first that
// does not end before it.
func (l *intervals) chunkIndexOf(x *interval) int {
	return sort.Search(len(l.chunks), func(i int) bool {
		list := l.chunks[i].intervals
		return !list[len(list)-1].isBefore(x)
	})
}

// firstOverlapping returns an interval that overlaps x, or nil.
func (l *intervals) firstOverlapping(x *interval) *interval {
	for _, c := range l.chunks {
		if c.intervals[0].from >= x.to {
			break
		}
		if c.end <= x.from {
			continue
		}
		for i := range c.intervals {
			if y := &c.intervals[i]; y.to > x.from && y.from < x.to && x.to > x.from {
				return y
			}
		}
	}
	return nil
}

// add adds the nonempty intervals, and numbers them.
func (l *intervals) add(runs []interval) {
	for i := range runs {
		if runs[i].to == runs[i].from {
			continue
		}
		l.serial++
		runs[i].serial = l.serial
		l.insert(&runs[i])
	}
}

func (l *intervals) insert(x *interval) {
	if len(l.chunks) == 0 {
		c := l.spare
		if c == nil {
			c = new(intervalChunk)
		}
		l.spare = nil
		c.intervals, c.end = append(c.intervals, *x), x.to
		l.chunks = append(l.chunks, c)
		return
	}
	i := min(l.chunkIndexOf(x), len(l.chunks)-1)
	c := l.chunks[i]
	c.intervals = slices.Insert(c.intervals, x.indexIn(c.intervals), *x)
	c.end = max(c.end, x.to)
	if len(c.intervals) > maxChunkIntervals {
		l.divideChunk(i)
	}
}

// divideChunk moves the second half of a chunk to a new one.
func (l *intervals) divideChunk(i int) {
	c := l.chunks[i]
	half := len(c.intervals) / 2
	other := &intervalChunk{intervals: slices.Clone(c.intervals[half:])}
	c.intervals = c.intervals[:half]
	c.updateEnd()
	other.updateEnd()
	l.chunks = slices.Insert(l.chunks, i+1, other)
}

// updateEnd recomputes the end of the last interval.
func (c *intervalChunk) updateEnd() {
	c.end = 0
	for _, x := range c.intervals {
		c.end = max(c.end, x.to)
	}
}

// remove removes intervals that were added.
func (l *intervals) remove(runs []interval) {
	for i := range runs {
		x := &runs[i]
		if x.to == x.from {
			continue
		}
		i := l.chunkIndexOf(x)
		c := l.chunks[i]
		at := x.indexIn(c.intervals)
		c.intervals = slices.Delete(c.intervals, at, at+1)
		switch {
		case len(c.intervals) == 0:
			l.chunks, l.spare = slices.Delete(l.chunks, i, i+1), c
		case x.to == c.end:
			c.updateEnd()
		}
	}
}
