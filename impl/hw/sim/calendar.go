package sim

import (
	"math/bits"

	"github.com/loggp/loggp/model/unit"
)

// calendar keeps the heap small where many events wait (a calendar queue: Brown 1988). Time is
// divided into days. Keys of the days to come are in lists, one a day and in no order; when a day
// begins, its keys go into the heap, which has all of the days before, and what is beyond the year.
//
// Note: the heap alone costs two to three times as much with thousands of events, most of it misses
// of the cache and comparisons. With few events it is the cheaper one, and has them all.
type calendar struct {
	pending    int       // keys in days to come
	dayEnd     unit.Time // end of the day whose keys are in the heap
	firstNodes []int32   // of the lists of days, by day modulo the year; 0: none
	usedDays   [daysPerYear / 64]uint64
	nodes      []dayNode // the first is not used
	freeNode   int32
}

type dayNode struct {
	burst
	next int32
}

const (
	dayLength   = unit.Time(1 << dayBits) // 8.192 ns: a hop of a fast network, so that days have few events
	daysPerYear = 4096                    // days: 33.6 us

	dayBits = 13

	// maxHeapOnly is how many keys the heap has before days to come are used.
	maxHeapOnly = 32
)

// addBurst puts a key into the heap or into a day to come.
func (h *eventHeap) addBurst(k burst) {
	c := &h.later
	if c.pending == 0 {
		if len(h.bursts) < maxHeapOnly {
			h.insertBurst(k)
			return
		}
		c.dayEnd = (h.bursts[0].at>>dayBits + 1) << dayBits
	}
	if k.at < c.dayEnd || k.at >= c.dayEnd+dayLength*(daysPerYear-1) {
		h.insertBurst(k)
		return
	}
	if c.firstNodes == nil {
		c.firstNodes, c.nodes = make([]int32, daysPerYear), make([]dayNode, 1, 1024)
	}
	i := c.freeNode
	if i > 0 {
		c.freeNode = c.nodes[i].next
	} else {
		i = int32(len(c.nodes))
		c.nodes = append(c.nodes, dayNode{})
	}
	d := int(k.at>>dayBits) % daysPerYear
	c.nodes[i] = dayNode{k, c.firstNodes[d]}
	c.firstNodes[d] = i
	c.usedDays[d/64] |= 1 << (d % 64)
	c.pending++
}

// beginDays lets days begin until the first event is in the heap. There are days to come.
func (h *eventHeap) beginDays() {
	c := &h.later
	for c.pending > 0 && (len(h.bursts) == 0 || h.bursts[0].at >= c.dayEnd) {
		first := int(c.dayEnd>>dayBits) % daysPerYear
		d := c.nextUsedDay(first)
		for i := c.firstNodes[d]; i > 0; {
			x := &c.nodes[i]
			h.insertBurst(x.burst)
			c.pending--
			i, x.next, c.freeNode = x.next, c.freeNode, i
		}
		c.firstNodes[d] = 0
		c.usedDays[d/64] &^= 1 << (d % 64)
		c.dayEnd += dayLength * unit.Time((d-first+daysPerYear)%daysPerYear+1)
	}
}

// nextUsedDay returns the first day from d on that has keys.
func (c *calendar) nextUsedDay(d int) int {
	w := d / 64
	for rest := c.usedDays[w] >> (d % 64) << (d % 64); ; rest = c.usedDays[w] {
		if rest != 0 {
			return w*64 + bits.TrailingZeros64(rest)
		}
		w = (w + 1) % len(c.usedDays)
	}
}
