package datatype

import (
	"errors"
	"fmt"
)

// Buffer is elements of a type in memory. Displacement 0 of the first is at Bytes[Origin]; elements
// are an extent apart.
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
	all, err := b.Type.layout.repeated(b.Count, b.Type.extent())
	if err != nil {
		return err
	}
	if low, end := b.Origin+all.low, b.Origin+all.end; all.body != nil && (low < 0 || end > len(b.Bytes)) {
		return fmt.Errorf("%d of %v lie from byte %d to byte %d of a buffer of %d", b.Count, b.Type, low, end, len(b.Bytes))
	}
	return nil
}

// DataRange returns where the data of the buffer begins and ends, counted from displacement 0 of
// its first element.
func (b Buffer) DataRange() (low, end int) {
	all, err := b.Type.layout.repeated(b.Count, b.Type.extent())
	if err != nil || all.body == nil {
		return 0, 0
	}
	return all.low, all.end
}

// SubBuffer returns count elements, from the one that is first extents behind the beginning of the
// buffer.
func (b Buffer) SubBuffer(first, count int) Buffer {
	if b.Type != nil { // of none, Check complains
		b.Origin += first * b.Type.extent()
	}
	b.Count = count
	return b
}

// ContiguousBytes returns the bytes of the buffer's data as they lie in memory, and whether they
// lie as they travel: then nothing need be copied.
func (b Buffer) ContiguousBytes() ([]byte, bool) {
	if !b.Type.IsContiguous() {
		return nil, false
	}
	n := b.Len()
	if n == 0 {
		return nil, true
	}
	at := b.Origin + b.Type.low
	return b.Bytes[at : at+n], true
}

// maxPlainElementBytes bounds an element, and maxPlainElements their number, where Plain looks at
// data.
const maxPlainElementBytes, maxPlainElements = 1 << 20, 1 << 40

// PlainBytes returns the data of a buffer that lies as it travels, with its Sign, if a short look
// shows that the buffer is good: committed, of one kind, and within its bytes. Others may be good
// as well.
func (b *Buffer) PlainBytes() (flat []byte, sign uint32, ok bool) {
	t := b.Type
	if t == nil || !t.hasOneKind || t.state.Load() != stateCommitted || uint(b.Count) > maxPlainElements {
		return nil, 0, false
	}
	at, n := b.Origin+t.low, b.Count*t.body.size
	if uint(at) > uint(len(b.Bytes)) || n > len(b.Bytes)-at {
		return nil, 0, false
	}
	return b.Bytes[at : at+n], t.signOfKind, true
}

// Pack copies the data of the buffer, as it travels, from byte from on, to flat until that is full
// or there is no more. It returns how many bytes that was. The buffer has been checked.
func (b Buffer) Pack(flat []byte, from int) int { return b.copyFlat(flat, from, false, nil) }

// Unpack is the inverse: it puts the bytes of flat to where those of the buffer belong that travel
// from byte from on.
func (b Buffer) Unpack(flat []byte, from int) int { return b.copyFlat(flat, from, true, nil) }

// Gather is Pack from the first byte on, by a copy of the caller's for each run of bytes.
func (b Buffer) Gather(flat []byte, copy func(dst, src []byte) int) { b.copyFlat(flat, 0, false, copy) }

// Scatter is likewise Unpack.
func (b Buffer) Scatter(flat []byte, copy func(dst, src []byte) int) { b.copyFlat(flat, 0, true, copy) }

// Runs calls yield for each run of bytes of the buffer's data where they lie, in the order in which
// they travel.
func (b Buffer) Runs(yield func([]byte)) {
	if flat, ok := b.ContiguousBytes(); ok {
		yield(flat)
		return
	}
	b.copyFlat(make([]byte, b.Len()), 0, false, func(_, run []byte) int { yield(run); return len(run) })
}

func (b Buffer) copyFlat(flat []byte, from int, in bool, copy func(dst, src []byte) int) int {
	c := copier{user: b.Bytes, flat: flat, skip: from, in: in, copy: copy}
	if b.Type.body != nil {
		c.copyLoop(b.Type.body, b.Count, b.Type.extent(), b.Origin)
	}
	return len(flat) - len(c.flat)
}

// copier copies between data where it lies and data as it travels.
type copier struct {
	user, flat []byte                    // flat is what is left of it
	skip       int                       // bytes that come first and are left out
	in         bool                      // from flat to user
	copy       func(dst, src []byte) int // nil: copy
}

// copyNode copies the bytes of a node, whose displacements count from byte at.
func (c *copier) copyNode(n *dataNode, at int) {
	if n.size <= c.skip {
		c.skip -= n.size
		return
	}
	at += n.displacement
	switch n.kind {
	case kindRun:
		c.copyRun(at+c.skip, n.size-c.skip)
		c.skip = 0
	case kindLoop:
		c.copyLoop(n.inner, n.loopCount, n.stride, at)
	case kindList:
		for _, m := range n.nodes {
			if len(c.flat) == 0 {
				return
			}
			c.copyNode(m, at)
		}
	}
}

// copyLoop copies the bytes of count of a node, the first at displacement at.
func (c *copier) copyLoop(n *dataNode, count, stride, at int) {
	first := min(c.skip/n.size, count)
	c.skip -= first * n.size
	at, count = at+first*stride, count-first
	if n.kind == kindRun && c.skip == 0 {
		c.copyRuns(at+n.displacement, n.size, stride, count)
		return
	}
	for ; count > 0 && len(c.flat) > 0; count-- {
		c.copyNode(n, at)
		at += stride
	}
}

// copyRuns copies count runs of size bytes, stride apart. Runs without gaps are one.
func (c *copier) copyRuns(at, size, stride, count int) {
	if size == stride && count > 0 {
		size, count = count*size, 1
	}
	for ; count > 0 && len(c.flat) > 0; count-- {
		c.copyRun(at, size)
		at += stride
	}
}

// copyRun copies bytes in a row.
func (c *copier) copyRun(at, size int) {
	size = min(size, len(c.flat))
	dst, src := c.flat[:size], c.user[at:at+size]
	if c.in {
		dst, src = src, dst
	}
	if c.copy != nil {
		c.copy(dst, src)
	} else {
		copy(dst, src)
	}
	c.flat = c.flat[size:]
}
