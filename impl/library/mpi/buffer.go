package mpi

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
)

// Buffer is a number of elements of a datatype in memory: the arguments buf, count and datatype of
// MPI.
type Buffer = datatype.Buffer

// Datatype describes where the data of an element lies (MPI_Datatype).
type Datatype = datatype.Type

// sendLayout checks a send buffer whose data is not contiguous and returns its layout for the
// engine.
func (c *Comm) sendLayout(b *Buffer) *bufferLayout {
	return &bufferLayout{c.checkBuffer(*b), c.engine.Copy}
}

// recvLayout checks a receive buffer whose data is not contiguous and returns its layout for the
// engine.
func (c *Comm) recvLayout(b *Buffer) *bufferLayout {
	x := c.sendLayout(b)
	if b.Overlaps() {
		c.engine.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is received would be written over", b.Type)
	}
	return x
}

// bufferLayout is a non-contiguous buffer in the form that the engine uses.
type bufferLayout struct {
	Buffer
	copyBytes func(dst, src []byte) int
}

func (s *bufferLayout) IsSizeOnly() bool    { return device.IsSizeOnly(s.Bytes) }
func (s *bufferLayout) Gather(to []byte)    { s.Buffer.Gather(to, s.copyBytes) }
func (s *bufferLayout) Scatter(from []byte) { s.Buffer.Scatter(from, s.copyBytes) }
func (s *bufferLayout) Signature(n int) engine.Signature {
	return engine.Signature(s.Buffer.KindSign(n))
}

// checkBuffer fails if b is invalid. It returns b.
func (c *Comm) checkBuffer(b Buffer) Buffer {
	if _, _, ok := b.PlainBytes(); ok {
		return b
	}
	if err := c.checkType(b).Check(); err != nil {
		c.engine.Fail(engine.ErrBuffer, "%v", err)
	}
	return b
}

// checkType fails if the datatype of b cannot be used for messages. It returns b.
func (c *Comm) checkType(b Buffer) Buffer {
	if b.Type == nil {
		c.engine.Fail(engine.ErrType, "the buffer has no datatype")
	}
	if err := b.Type.CheckUsable(); err != nil {
		c.engine.Fail(engine.ErrType, "%v", err)
	}
	return b
}

// checkSameData fails if the send and the receive buffer of one rank differ in their amount of data
// or in its type.
func (c *Comm) checkSameData(send, recv *Buffer) {
	if given, taken := send.Len(), recv.Len(); given != taken {
		c.engine.Fail(engine.ErrCount, "%d of %v are %d bytes, %d of %v are %d: each rank takes as much as it gives", send.Count, send.Type, given, recv.Count, recv.Type, taken)
	}
	if given, taken := send.Type.KindSign(), recv.Type.KindSign(); given != taken && given != 0 && taken != 0 {
		c.engine.Fail(engine.ErrType, "this rank gives %s and takes %s", datatype.DescribeKindSign(given), datatype.DescribeKindSign(taken))
	}
}

// checkDisjoint fails if the send buffer and the receive buffer of a rank overlap.
func (c *Comm) checkDisjoint(send, recv *Buffer) {
	if datatype.RangesOverlap(send, recv) {
		c.checkBuffersDisjoint([]Buffer{*send}, []Buffer{*recv})
	}
}

// checkBuffersDisjoint is checkDisjoint for lists of buffers, such as the parts of two buffers that
// are close together in memory.
func (c *Comm) checkBuffersDisjoint(send, recv []Buffer) {
	if text := DescribeOverlap(send, recv); text != "" {
		c.engine.Fail(engine.ErrBuffer, "%s", text)
	}
}

// DescribeOverlap says which bytes the send and the receive buffers of a collective operation
// share. It returns "" if they do not overlap.
func DescribeOverlap(send, recv []Buffer) string {
	if len(send) == 1 && len(recv) == 1 && !datatype.RangesOverlap(&send[0], &recv[0]) {
		return ""
	}
	n, given, taken := datatype.FirstSharedRun(send, recv)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("bytes %d to %d of the buffer to send from and bytes %d to %d of that to receive into are the same memory: nothing is done in place", given, given+n-1, taken, taken+n-1)
}

// flatData returns memory for the data of b in the order in which it travels. This is b's own
// memory if the data is contiguous. Otherwise it is a temporary buffer, into which the data is
// copied if pack is set.
func (c *Comm) flatData(b Buffer, pack bool) []byte {
	if x, _, ok := b.PlainBytes(); ok {
		return x
	}
	if x, ok := b.ContiguousBytes(); ok {
		return x
	}
	x := device.NewBytes(b.Len(), b.Bytes)
	if pack {
		b.Gather(x, c.engine.Copy)
	}
	return x
}

// scatterFlat copies received data to its places in b, unless flatData returned the memory of b
// itself.
func (c *Comm) scatterFlat(b *Buffer, flat []byte) {
	if _, ok := b.ContiguousBytes(); !ok {
		b.Scatter(flat, c.engine.Copy)
	}
}

// Pack copies the data of b into the bytes from position at on, and returns the position after it
// (MPI_Pack). Send the bytes as a PackedBuffer. They may be received with the datatypes that were
// packed.
func (c *Comm) Pack(b Buffer, into []byte, at int) int {
	c.enterCall("Pack")
	b.Gather(c.packedBytes(c.checkBuffer(b), into, at), c.engine.Copy)
	return at + b.Len()
}

// Unpack copies packed data from position at on into b, and returns the position after it
// (MPI_Unpack).
func (c *Comm) Unpack(from []byte, at int, b Buffer) int {
	c.enterCall("Unpack")
	x := c.packedBytes(c.checkBuffer(b), from, at)
	if b.Overlaps() {
		c.engine.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is unpacked would be written over", b.Type)
	}
	b.Scatter(x, c.engine.Copy)
	return at + b.Len()
}

// packedBytes returns the bytes, from position at on, that the packed data of b occupies.
func (c *Comm) packedBytes(b Buffer, bytes []byte, at int) []byte {
	if at < 0 || at > len(bytes) {
		c.engine.Fail(engine.ErrArg, "position %d is not within %d bytes", at, len(bytes))
	}
	if n := b.Len(); n > len(bytes)-at {
		c.engine.Fail(engine.ErrTruncate, "%d of %v take %d bytes, and behind position %d of %d there are %d", b.Count, b.Type, n, at, len(bytes), len(bytes)-at)
	}
	return bytes[at : at+b.Len()]
}

// PackSize returns how many bytes count elements of a type occupy when packed (MPI_Pack_size).
func (c *Comm) PackSize(count int, t *Datatype) int {
	c.enterCall("PackSize")
	if count < 0 {
		c.engine.Fail(engine.ErrCount, "%d elements: a count is not negative", count)
	}
	return c.checkType(Buffer{Count: count, Type: t}).Len()
}

// PackedBuffer returns b, which holds packed data or has space for it, as a buffer of type Packed.
func PackedBuffer(b []byte) Buffer { return Buffer{Bytes: b, Count: len(b), Type: Packed} }
