package datatype

import (
	"errors"
	"fmt"
)

// Buffer is elements of a type in memory. Displacement 0 of the first is at Bytes[Origin]; elements are an extent apart.
type Buffer struct {
	Bytes  []byte
	Origin int
	Count  int
	Type   *Type
}

// Len returns how many bytes travel.
func (b Buffer) Len() int { return b.Count * b.Type.Size() }

// Check returns an error if data of the buffer lies outside of its bytes.
func (b Buffer) Check() error {
	switch {
	case b.Type == nil:
		return errors.New("there is no datatype")
	case b.Count < 0:
		return fmt.Errorf("%d elements: a count is not negative", b.Count)
	}
	all, err := b.Type.layout.repeat(b.Count, b.Type.extent())
	if err != nil {
		return err
	}
	if low, end := b.Origin+all.low, b.Origin+all.end; all.body != nil && (low < 0 || end > len(b.Bytes)) {
		return fmt.Errorf("%d of %v lie from byte %d to byte %d of a buffer of %d", b.Count, b.Type, low, end, len(b.Bytes))
	}
	return nil
}

// Reach returns where the data of the buffer begins and ends, counted from displacement 0 of its first element.
func (b Buffer) Reach() (low, end int) {
	all, err := b.Type.layout.repeat(b.Count, b.Type.extent())
	if err != nil || all.body == nil {
		return 0, 0
	}
	return all.low, all.end
}

// Part returns count elements, the first of which is that many extents from where the buffer begins.
func (b Buffer) Part(first, count int) Buffer {
	b.Origin += first * b.Type.extent()
	b.Count = count
	return b
}

// Flat returns the bytes of the buffer's data as they lie in memory, and whether they lie as they travel: then nothing need be copied.
func (b Buffer) Flat() ([]byte, bool) {
	if !b.Type.Contiguous() {
		return nil, false
	}
	n := b.Len()
	if n == 0 {
		return nil, true
	}
	at := b.Origin + b.Type.low
	return b.Bytes[at : at+n : at+n], true
}

// Pack copies the data of the buffer, as it travels, from byte from on, to flat until that is full or there is no more. It returns how
// many bytes that was. The buffer has been checked.
func (b Buffer) Pack(flat []byte, from int) int { return b.copy(flat, from, false) }

// Unpack is the inverse: it puts the bytes of flat to where those of the buffer belong that travel from byte from on.
func (b Buffer) Unpack(flat []byte, from int) int { return b.copy(flat, from, true) }

func (b Buffer) copy(flat []byte, from int, in bool) int {
	c := copier{user: b.Bytes, flat: flat, skip: from, in: in}
	if b.Type.body != nil {
		c.loop(b.Type.body, b.Count, b.Type.extent(), b.Origin)
	}
	return len(flat) - len(c.flat)
}

// copier copies between data where it lies and data as it travels.
type copier struct {
	user, flat []byte // flat is what is left of it
	skip       int    // bytes that come first and are left out
	in         bool   // from flat to user
}

// node copies the bytes of a node, whose displacements count from byte at.
func (c *copier) node(n *node, at int) {
	if n.size <= c.skip {
		c.skip -= n.size
		return
	}
	at += n.at
	switch n.kind {
	case isRun:
		c.run(at+c.skip, n.size-c.skip)
		c.skip = 0
	case isLoop:
		c.loop(n.inner, n.n, n.stride, at)
	case isList:
		for _, m := range n.nodes {
			if len(c.flat) == 0 {
				return
			}
			c.node(m, at)
		}
	}
}

// loop copies the bytes of count of a node, the first of which counts from byte at.
func (c *copier) loop(n *node, count, stride, at int) {
	first := min(c.skip/n.size, count)
	c.skip -= first * n.size
	at, count = at+first*stride, count-first
	if n.kind == isRun && c.skip == 0 {
		c.runs(at+n.at, n.size, stride, count)
		return
	}
	for ; count > 0 && len(c.flat) > 0; count-- {
		c.node(n, at)
		at += stride
	}
}

// runs copies count runs of size bytes, stride apart.
func (c *copier) runs(at, size, stride, count int) {
	for ; count > 0 && len(c.flat) > 0; count-- {
		c.run(at, size)
		at += stride
	}
}

// run copies bytes in a row.
func (c *copier) run(at, size int) {
	size = min(size, len(c.flat))
	if c.in {
		copy(c.user[at:at+size], c.flat)
	} else {
		copy(c.flat, c.user[at:at+size])
	}
	c.flat = c.flat[size:]
}
