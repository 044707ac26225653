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
	n     int       // keys in days to come
	today unit.Time // end of the day whose keys are in the heap
	heads []int32   // of the lists of days, by day modulo the year; 0: none
	used  [year / 64]uint64
	nodes []node // the first is not used
	free  int32
}

type node struct {
	key
	next int32
}

const (
	day  = unit.Time(1 << dayBits) // 8.192 ns: a hop of a fast network, so that days have few events
	year = 4096                    // days: 33.6 us

	dayBits = 13

	// few is how many keys the heap has before days to come are used.
	few = 32
)

// add puts a key into the heap or into a day to come.
func (h *heap) add(k key) {
	c := &h.later
	if c.n == 0 {
		if len(h.keys) < few {
			h.insert(k)
			return
		}
		c.today = (h.keys[0].at>>dayBits + 1) << dayBits
	}
	if k.at < c.today || k.at >= c.today+day*(year-1) {
		h.insert(k)
		return
	}
	if c.heads == nil {
		c.heads, c.nodes = make([]int32, year), make([]node, 1, 1024)
	}
	i := c.free
	if i > 0 {
		c.free = c.nodes[i].next
	} else {
		i = int32(len(c.nodes))
		c.nodes = append(c.nodes, node{})
	}
	d := int(k.at>>dayBits) % year
	c.nodes[i] = node{k, c.heads[d]}
	c.heads[d] = i
	c.used[d/64] |= 1 << (d % 64)
	c.n++
}

// advance lets days begin until the first event is in the heap. There are days to come.
func (h *heap) advance() {
	c := &h.later
	for c.n > 0 && (len(h.keys) == 0 || h.keys[0].at >= c.today) {
		first := int(c.today>>dayBits) % year
		d := c.next(first)
		for i := c.heads[d]; i > 0; {
			x := &c.nodes[i]
			h.insert(x.key)
			c.n--
			i, x.next, c.free = x.next, c.free, i
		}
		c.heads[d] = 0
		c.used[d/64] &^= 1 << (d % 64)
		c.today += day * unit.Time((d-first+year)%year+1)
	}
}

// next returns the first day from d on that has keys.
func (c *calendar) next(d int) int {
	w := d / 64
	for rest := c.used[w] >> (d % 64) << (d % 64); ; rest = c.used[w] {
		if rest != 0 {
			return w*64 + bits.TrailingZeros64(rest)
		}
		w = (w + 1) % len(c.used)
	}
}
