package engine

import (
	"slices"
	"sort"
)

// intervals are memory of operations under way, in the order in which it begins. They lie in
// chunks, so that neither many operations nor long ones make a look or a change slow.
type intervals struct {
	chunks []*intervalChunk
	spare  *intervalChunk // one that became empty, for the next: most ranks have one operation at a time
	serial uint64
}

// intervalChunk is some intervals, one at least.
type intervalChunk struct {
	intervals []interval
	end       uintptr // where the last of them ends
}

// maxChunkIntervals is how many intervals a chunk has at most.
const maxChunkIntervals = 512

// compareIntervals compares where two intervals begin.
func compareIntervals(x, y interval) int {
	switch {
	case x.from < y.from, x.from == y.from && x.serial < y.serial:
		return -1
	case x.from == y.from && x.serial == y.serial:
		return 0
	}
	return 1
}

// chunkIndexOf returns the chunk in which an interval is, or belongs: the first that does not end
// before it.
func (l *intervals) chunkIndexOf(x interval) int {
	return sort.Search(len(l.chunks), func(i int) bool {
		list := l.chunks[i].intervals
		return compareIntervals(list[len(list)-1], x) >= 0
	})
}

// firstOverlapping returns an interval that shares a byte with x.
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

// add adds those that are not empty, and numbers them.
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

// updateEnd finds where the last interval ends.
func (c *intervalChunk) updateEnd() {
	c.end = 0
	for _, x := range c.intervals {
		c.end = max(c.end, x.to)
	}
}

// remove takes out intervals that were added.
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
