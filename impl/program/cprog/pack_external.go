//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Packing in the representation external32 (MPI-4.0, section 14.5.2), which does not depend on the
// machine: numbers are big-endian, long has 4 bytes and long double 16.

// externalElement is a number of a basic datatype, with its sizes in bytes in memory and in
// external32.
type externalElement struct {
	native, external int
	isExtended       bool // C's long double in the 80-bit format
}

// externalElements returns the numbers of a basic datatype. at is its handle relative to
// MPI_DATATYPE_NULL.
func externalElements(at uintptr) []externalElement {
	same := func(n int) externalElement { return externalElement{native: n, external: n} }
	long, longDouble := externalElement{native: 8, external: 4}, externalElement{16, 16, runtime.GOARCH == "amd64"}
	switch at {
	case 0x0a, 0x0e: // MPI_LONG, MPI_UNSIGNED_LONG
		return []externalElement{long}
	case 0x12, 0x13, 0x1b, 0xdb: // complex numbers of two floats
		return []externalElement{same(4), same(4)}
	case 0x16, 0x17, 0x1d, 0xe3:
		return []externalElement{same(8), same(8)}
	case 0xd3:
		return []externalElement{same(2), same(2)}
	case 0xeb:
		return []externalElement{same(16), same(16)}
	case 0x20:
		return []externalElement{longDouble}
	case 0x24, 0x25:
		return []externalElement{longDouble, longDouble}
	case 0x28, 0x2b, 0x30, 0x32: // pairs
		return []externalElement{same(4), same(4)}
	case 0x29:
		return []externalElement{same(8), same(4)}
	case 0x2a:
		return []externalElement{long, same(4)}
	case 0x2c:
		return []externalElement{same(2), same(4)}
	case 0x2d:
		return []externalElement{longDouble, same(4)}
	case 0x31:
		return []externalElement{same(8), same(8)}
	case 0xfe, 0xff: // MPI_LB, MPI_UB
		return nil
	}
	return []externalElement{same(basicTypes[at].Size())}
}

// eachComponent calls yield for each component of a datatype, in order, with the number of its
// repetitions.
func (m *userType) eachComponent(yield func(of componentType, n int)) {
	switch {
	case m.isSelected():
		yield(componentType{handle: datatypeNull + m.constructor.layout}, 1)
		return
	case m.constructor.combiner == combinerStruct:
		lengths := slices.Concat(m.constructor.integers, m.constructor.largeCounts)[1:]
		for i, of := range m.constructor.types {
			yield(of, lengths[i])
		}
		return
	}
	of := m.constructor.types[0]
	if size := of.size(); size > 0 {
		yield(of, m.Size()/size)
	}
}

func (x componentType) size() int {
	if x.userType != nil {
		return x.userType.Size()
	}
	return basicTypes[x.handle-datatypeNull].Size()
}

// externalSize returns the size of a datatype in external32, in bytes.
func (x componentType) externalSize() int {
	n := 0
	if x.userType == nil {
		for _, e := range externalElements(x.handle - datatypeNull) {
			n += e.external
		}
		return n
	}
	x.userType.eachComponent(func(of componentType, copies int) { n += copies * of.externalSize() })
	return n
}

// eachElement calls f for the numbers of a datatype in the order of packed data.
func (x componentType) eachElement(f func(externalElement)) {
	if x.userType == nil {
		for _, e := range externalElements(x.handle - datatypeNull) {
			f(e)
		}
		return
	}
	x.userType.eachComponent(func(of componentType, copies int) {
		for range copies {
			of.eachElement(f)
		}
	})
}

// layoutInExternal returns the datatype in a file with this representation. Where displacements are
// multiples of extents they are so in the file.
func (x componentType) layoutInExternal() *mpi.Datatype {
	switch m := x.userType; {
	case m == nil:
		t := basicTypes[x.handle-datatypeNull]
		if n := x.externalSize(); n != t.Size() || n > 0 && n != t.Extent() {
			return mpi.Contiguous(n, mpi.Byte)
		}
		return t
	case m.isSelected():
		return componentType{handle: datatypeNull + m.constructor.layout}.layoutInExternal()
	default:
		types := make([]*mpi.Datatype, len(m.constructor.types))
		for i, of := range m.constructor.types {
			types[i] = of.layoutInExternal()
		}
		return m.constructor.build(types)
	}
}

// componentTypeOf returns the datatype with a handle as a component.
func (r *rank) componentTypeOf(h uintptr) componentType {
	r.datatype(h)
	if m := r.types.get(kindType, h); m != nil {
		return componentType{h, *m}
	}
	return componentType{handle: h}
}

// encode appends the data of a buffer with elements of this datatype to external data.
func (x componentType) encode(to []byte, b mpi.Buffer) []byte {
	native := make([]byte, b.Len())
	b.Pack(native, 0)
	for range b.Count {
		x.eachElement(func(e externalElement) {
			to = e.encode(to, native[:e.native])
			native = native[e.native:]
		})
	}
	return to
}

// decode stores external data in a buffer with elements of this datatype. It returns the size in
// memory of the numbers that are complete.
func (x componentType) decode(b mpi.Buffer, external []byte) int {
	native := make([]byte, 0, b.Len())
	for i := 0; i < b.Count && len(external) > 0; i++ {
		x.eachElement(func(e externalElement) {
			if len(external) < e.external {
				external = nil
				return
			}
			native = e.decode(native, external[:e.external])
			external = external[e.external:]
		})
	}
	b.Unpack(native, 0)
	return len(native)
}

// encode appends a number in native format to external data.
func (e externalElement) encode(to, native []byte) []byte {
	switch {
	case e.isExtended:
		native = quadOfExtended(native)
	case e.native > e.external:
		native = native[:e.external]
	}
	at := len(to)
	to = append(to, native...)
	slices.Reverse(to[at:])
	return to
}

// decode appends a number of external data to packed native data.
func (e externalElement) decode(to, external []byte) []byte {
	native := slices.Clone(external)
	slices.Reverse(native)
	switch {
	case e.isExtended:
		native = extendedOfQuad(native)
	case e.native > e.external:
		native = binary.LittleEndian.AppendUint64(nil, uint64(int32(binary.LittleEndian.Uint32(native))))
	}
	return append(to, native...)
}

// quadOfExtended converts the 80-bit number at the start of x, the long double of amd64, to 128
// bits. Both formats have the same exponent; the longer one omits the integer bit.
func quadOfExtended(x []byte) []byte {
	fraction := binary.LittleEndian.Uint64(x) << 1
	out := binary.LittleEndian.AppendUint64(nil, fraction<<48)
	return binary.LittleEndian.AppendUint64(out, fraction>>16|uint64(binary.LittleEndian.Uint16(x[8:]))<<48)
}

// extendedOfQuad is the inverse of quadOfExtended. It truncates the significand.
func extendedOfQuad(x []byte) []byte {
	low, high := binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[8:])
	fraction, exponent := (high<<16|low>>48)>>1, uint16(high>>48)
	if exponent&0x7fff != 0 {
		fraction |= 1 << 63
	}
	out := binary.LittleEndian.AppendUint64(nil, fraction)
	return append(binary.LittleEndian.AppendUint16(out, exponent), make([]byte, 6)...)
}

func (r *rank) checkRepresentation(at uintptr) {
	if s := r.stringAt(at); s != "external32" {
		r.raiseError(mpi.ErrArg, "the data representation is %q: it must be external32", s)
	}
}

func packExternal(r *rank, a args) {
	r.checkRepresentation(a[0])
	b, of := r.localBuffer(a[1], int(a[2]), a[3]), r.componentTypeOf(a[3])
	room, at := int(a[5]), *pointerAt[int](a[6])
	size := b.Count * of.externalSize()
	if at < 0 || room < 0 || at > room || size > room-at {
		r.raiseError(mpi.ErrTruncate, "%d bytes at %d: the buffer has %d", size, at, room)
	}
	of.encode(sliceAt[byte](a[4], room)[at:at], b)
	storeAt(a[6], at+size)
}

func unpackExternal(r *rank, a args) {
	r.checkRepresentation(a[0])
	b, of := r.localBuffer(a[4], int(a[5]), a[6]), r.componentTypeOf(a[6])
	room, at := int(a[2]), *pointerAt[int](a[3])
	size := b.Count * of.externalSize()
	if at < 0 || room < 0 || at > room || size > room-at {
		r.raiseError(mpi.ErrTruncate, "%d bytes at %d: the buffer has %d", size, at, room)
	}
	of.decode(b, sliceAt[byte](a[1], room)[at:at+size])
	storeAt(a[3], at+size)
}

func packExternalSize(r *rank, a args) {
	r.checkRepresentation(a[0])
	r.checkCount(int(a[1]), r.datatype(a[2]))
	storeAt(a[3], int(a[1])*r.componentTypeOf(a[2]).externalSize())
}
