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

// compareIntervals orders intervals by start address.
func compareIntervals(x, y interval) int {
	switch {
	case x.from < y.from, x.from == y.from && x.serial < y.serial:
		return -1
	case x.from == y.from && x.serial == y.serial:
		return 0
	}
	return 1
}

// chunkIndexOf returns the chunk that contains an interval, or to which it belongs: the first that
// does not end before it.
func (l *intervals) chunkIndexOf(x interval) int {
	return sort.Search(len(l.chunks), func(i int) bool {
		list := l.chunks[i].intervals
		return compareIntervals(list[len(list)-1], x) >= 0
	})
}

// firstOverlapping returns an interval that overlaps x.
func (l *intervals) firstOverlapping(x interval) (interval, bool) {
	for _, c := range l.chunks {
		if c.intervals[0].from >= x.to {
			break
		}
		if c.end <= x.from {
			continue
		}
		for _, y := range c.intervals {
			if y.to > x.from && y.from < x.to && x.to > x.from {
				return y, true
			}
		}
	}
	return interval{}, false
}

// add adds the nonempty intervals, and numbers them.
func (l *intervals) add(runs []interval) {
	for i := range runs {
		if runs[i].to == runs[i].from {
			continue
		}
		l.serial++
		runs[i].serial = l.serial
		l.insert(runs[i])
	}
}

func (l *intervals) insert(x interval) {
	if len(l.chunks) == 0 {
		c := l.spare
		if c == nil {
			c = new(intervalChunk)
		}
		l.spare = nil
		c.intervals, c.end = append(c.intervals, x), x.to
		l.chunks = append(l.chunks, c)
		return
	}
	i := min(l.chunkIndexOf(x), len(l.chunks)-1)
	c := l.chunks[i]
	at, _ := slices.BinarySearchFunc(c.intervals, x, compareIntervals)
	c.intervals = slices.Insert(c.intervals, at, x)
	c.end = max(c.end, x.to)
	if len(c.intervals) > maxChunkIntervals {
		half := len(c.intervals) / 2
		other := &intervalChunk{intervals: slices.Clone(c.intervals[half:])}
		c.intervals = c.intervals[:half]
		c.updateEnd()
		other.updateEnd()
		l.chunks = slices.Insert(l.chunks, i+1, other)
	}
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
	for _, x := range runs {
		if x.to == x.from {
			continue
		}
		i := l.chunkIndexOf(x)
		c := l.chunks[i]
		at, _ := slices.BinarySearchFunc(c.intervals, x, compareIntervals)
		c.intervals = slices.Delete(c.intervals, at, at+1)
		switch {
		case len(c.intervals) == 0:
			l.chunks, l.spare = slices.Delete(l.chunks, i, i+1), c
		case x.to == c.end:
			c.updateEnd()
		}
	}
}
