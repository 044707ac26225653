package mpi

import (
	"fmt"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
)

// Buffer is elements of a datatype in memory.
type Buffer = datatype.Buffer

// Datatype says where the data of an element lies.
type Datatype = datatype.Type

// sendLayout checks a buffer that is not plain, and returns it as the engine sends it.
func (c *Comm) sendLayout(b *Buffer) *bufferLayout {
	return &bufferLayout{c.checkBuffer(*b), c.engine.Copy}
}

// recvLayout checks a buffer that is not plain, and returns it as the engine receives into it.
func (c *Comm) recvLayout(b *Buffer) *bufferLayout {
	x := c.sendLayout(b)
	if b.Overlaps() {
		c.engine.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is received would be written over", b.Type)
	}
	return x
}

// bufferLayout is a buffer as the engine sees it.
type bufferLayout struct {
	Buffer
	copyBytes func(dst, src []byte) int
}

func (s *bufferLayout) Gather(to []byte)    { s.Buffer.Gather(to, s.copyBytes) }
func (s *bufferLayout) Scatter(from []byte) { s.Buffer.Scatter(from, s.copyBytes) }
func (s *bufferLayout) Signature(n int) engine.Signature {
	return engine.Signature(s.Buffer.KindSign(n))
}

// checkBuffer fails if a buffer is not valid, and returns it.
func (c *Comm) checkBuffer(b Buffer) Buffer {
	if _, _, ok := b.PlainBytes(); ok {
		return b
	}
	if err := c.checkType(b).Check(); err != nil {
		c.engine.Fail(engine.ErrBuffer, "%v", err)
	}
	return b
}

// checkType fails if a buffer's datatype cannot be used for messages, and returns the buffer.
func (c *Comm) checkType(b Buffer) Buffer {
	if b.Type == nil {
		c.engine.Fail(engine.ErrType, "the buffer has no datatype")
	}
	if err := b.Type.CheckUsable(); err != nil {
		c.engine.Fail(engine.ErrType, "%v", err)
	}
	return b
}

// checkSameData fails if a rank that both gives and takes data does not take as much as it gives,
// of the same type.
func (c *Comm) checkSameData(send, recv *Buffer) {
	if given, taken := send.Len(), recv.Len(); given != taken {
		c.engine.Fail(engine.ErrCount, "%d of %v are %d bytes, %d of %v are %d: each rank takes as much as it gives", send.Count, send.Type, given, recv.Count, recv.Type, taken)
	}
	if given, taken := send.Type.KindSign(), recv.Type.KindSign(); given != taken && given != 0 && taken != 0 {
		c.engine.Fail(engine.ErrType, "this rank gives %s and takes %s", datatype.DescribeKindSign(given), datatype.DescribeKindSign(taken))
	}
}

// checkDisjoint fails if the buffers that a rank sends from and receives into share bytes.
func (c *Comm) checkDisjoint(send, recv *Buffer) {
	if datatype.RangesOverlap(send, recv) {
		c.checkBuffersDisjoint([]Buffer{*send}, []Buffer{*recv})
	}
}

// checkBuffersDisjoint is checkDisjoint for parts of two buffers that are near each other in
// memory.
func (c *Comm) checkBuffersDisjoint(send, recv []Buffer) {
	if text := DescribeOverlap(send, recv); text != "" {
		c.engine.Fail(engine.ErrBuffer, "%s", text)
	}
}

// DescribeOverlap says which bytes the buffers of a collective operation, to send from and to
// receive into, share, which is wrong; "": none.
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

// flatData returns the data of a buffer as it travels: in place, or as a copy, which has the data
// if pack is set.
func (c *Comm) flatData(b Buffer, pack bool) []byte {
	if x, _, ok := b.PlainBytes(); ok {
		return x
	}
	if x, ok := b.ContiguousBytes(); ok {
		return x
	}
	x := make([]byte, b.Len())
	if pack {
		b.Gather(x, c.engine.Copy)
	}
	return x
}

// scatterFlat puts data that was received to where it belongs in a buffer, unless it is there
// already.
func (c *Comm) scatterFlat(b Buffer, flat []byte) {
	if _, ok := b.ContiguousBytes(); !ok {
		b.Scatter(flat, c.engine.Copy)
	}
}

// Pack copies the data of b into bytes from at on, and returns where the next may go (MPI_Pack).
// The bytes are sent as a PackedBuffer, whatever was packed, and may be received as what they are
// made of.
func (c *Comm) Pack(b Buffer, into []byte, at int) int {
	c.enterCall("Pack")
	b.Gather(c.packedBytes(c.checkBuffer(b), into, at), c.engine.Copy)
	return at + b.Len()
}

// Unpack copies data from bytes that were packed, from at on, to where it belongs in b, and returns
// where the next begins (MPI_Unpack).
func (c *Comm) Unpack(from []byte, at int, b Buffer) int {
	c.enterCall("Unpack")
	x := c.packedBytes(c.checkBuffer(b), from, at)
	if b.Overlaps() {
		c.engine.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is unpacked would be written over", b.Type)
	}
	b.Scatter(x, c.engine.Copy)
	return at + b.Len()
}

// packedBytes returns the bytes from at on that the data of a buffer has when it is packed.
func (c *Comm) packedBytes(b Buffer, bytes []byte, at int) []byte {
	if at < 0 || at > len(bytes) {
		c.engine.Fail(engine.ErrArg, "position %d is not within %d bytes", at, len(bytes))
	}
	if n := b.Len(); n > len(bytes)-at {
		c.engine.Fail(engine.ErrTruncate, "%d of %v take %d bytes, and behind position %d of %d there are %d", b.Count, b.Type, n, at, len(bytes), len(bytes)-at)
	}
	return bytes[at : at+b.Len()]
}

// PackSize returns how many bytes count elements of a type take when they are packed
// (MPI_Pack_size).
func (c *Comm) PackSize(count int, t *Datatype) int {
	c.enterCall("PackSize")
	if count < 0 {
		c.engine.Fail(engine.ErrCount, "%d elements: a count is not negative", count)
	}
	return c.checkType(Buffer{Count: count, Type: t}).Len()
}

// PackedBuffer returns bytes that were packed, or room for some, as a buffer.
func PackedBuffer(b []byte) Buffer { return Buffer{Bytes: b, Count: len(b), Type: Packed} }
