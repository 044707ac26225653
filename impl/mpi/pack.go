package mpi

import "github.com/loggp/loggp/impl/engine"

// Pack copies the data of b into bytes from at on, and returns where the next may go (MPI_Pack). The bytes are sent with Packing, whatever was packed, and may be
// received as what they are made of.
func (c *Comm) Pack(b Buffer, into []byte, at int) int {
	c.enter("Pack")
	b.Gather(c.packed(c.checked(b), into, at), c.e.Copy)
	return at + b.Len()
}

// Unpack copies data from bytes that were packed, from at on, to where it belongs in b, and returns where the next begins (MPI_Unpack).
func (c *Comm) Unpack(from []byte, at int, b Buffer) int {
	c.enter("Unpack")
	x := c.packed(c.checked(b), from, at)
	if b.Overlaps() {
		c.e.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is unpacked would be written over", b.Type)
	}
	b.Scatter(x, c.e.Copy)
	return at + b.Len()
}

// packed returns the bytes from at on that the data of a buffer has when it is packed.
func (c *Comm) packed(b Buffer, bytes []byte, at int) []byte {
	if at < 0 || at > len(bytes) {
		c.e.Fail(engine.ErrArg, "position %d is not within %d bytes", at, len(bytes))
	}
	if n := b.Len(); n > len(bytes)-at {
		c.e.Fail(engine.ErrTruncate, "%d of %v take %d bytes, and behind position %d of %d there are %d", b.Count, b.Type, n, at, len(bytes), len(bytes)-at)
	}
	return bytes[at : at+b.Len()]
}

// PackSize returns how many bytes count elements of a type take when they are packed (MPI_Pack_size).
func (c *Comm) PackSize(count int, t *Datatype) int {
	c.enter("PackSize")
	if count < 0 {
		c.e.Fail(engine.ErrCount, "%d elements: a count is not negative", count)
	}
	return c.usable(Buffer{Count: count, Type: t}).Len()
}

// Packing returns bytes that were packed, or room for some, as a buffer.
func Packing(b []byte) Buffer { return Buffer{Bytes: b, Count: len(b), Type: Packed} }
