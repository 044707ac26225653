package mpi

import (
	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/proto"
)

// Buffer is elements of a datatype in memory.
type Buffer = datatype.Buffer

// Datatype says where the data of an element lies.
type Datatype = datatype.Type

// shaped returns what is sent of a buffer of which a short look does not say that it is good.
func (c *Comm) shaped(b *Buffer) *shaped { return &shaped{c.checked(*b), c.e.Copy} }

// room returns where such a buffer receives.
func (c *Comm) room(b *Buffer) *shaped {
	x := c.shaped(b)
	if b.Overlaps() {
		c.e.Fail(proto.ErrType, "elements of %v overlap in the buffer: what is received would be written over", b.Type)
	}
	return x
}

// shaped is a buffer as the engine sees it.
type shaped struct {
	Buffer
	copy func(dst, src []byte) int
}

func (s *shaped) Gather(to []byte)      { s.Buffer.Gather(to, s.copy) }
func (s *shaped) Scatter(from []byte)   { s.Buffer.Scatter(from, s.copy) }
func (s *shaped) Sign(n int) proto.Sign { return proto.Sign(s.Buffer.Sign(n)) }

// checked ends the rank if a buffer is none, and returns it.
func (c *Comm) checked(b Buffer) Buffer {
	if err := c.usable(b).Check(); err != nil {
		c.e.Fail(proto.ErrBuffer, "%v", err)
	}
	return b
}

// usable ends the rank if a buffer's datatype is not for messages, and returns the buffer.
func (c *Comm) usable(b Buffer) Buffer {
	if b.Type == nil {
		c.e.Fail(proto.ErrType, "the buffer has no datatype")
	}
	if err := b.Type.Usable(); err != nil {
		c.e.Fail(proto.ErrType, "%v", err)
	}
	return b
}

// flat returns the data of a buffer as it travels: where it lies, or a copy, into which it is packed if that is wanted.
func (c *Comm) flat(b Buffer, pack bool) []byte {
	if x, ok := b.Flat(); ok {
		return x
	}
	x := make([]byte, b.Len())
	if pack {
		b.Gather(x, c.e.Copy)
	}
	return x
}

// settle puts what a rank has got where it belongs, unless it is there.
func (c *Comm) settle(b Buffer, flat []byte) {
	if _, ok := b.Flat(); !ok {
		b.Scatter(flat, c.e.Copy)
	}
}
