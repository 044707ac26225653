//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Datatypes, and packing.

// predefinedTypes are the datatypes of mpi.h. handle is relative to MPI_DATATYPE_NULL.
var predefinedTypes = []struct {
	at   int
	name string
	t    *mpi.Datatype
}{
	{0x01, "MPI_AINT", mpi.Int64}, {0x02, "MPI_COUNT", mpi.Int64}, {0x03, "MPI_OFFSET", mpi.Int64}, {0x07, "MPI_PACKED", mpi.Packed},
	{0x08, "MPI_SHORT", mpi.Int16}, {0x09, "MPI_INT", mpi.Int32}, {0x0a, "MPI_LONG", mpi.Int64}, {0x0b, "MPI_LONG_LONG_INT", mpi.Int64},
	{0x0c, "MPI_UNSIGNED_SHORT", mpi.Uint16}, {0x0d, "MPI_UNSIGNED", mpi.Uint32}, {0x0e, "MPI_UNSIGNED_LONG", mpi.Uint64}, {0x0f, "MPI_UNSIGNED_LONG_LONG", mpi.Uint64},
	{0x10, "MPI_FLOAT", mpi.Float32}, {0x12, "MPI_C_COMPLEX", mpi.Complex64}, {0x14, "MPI_DOUBLE", mpi.Float64}, {0x16, "MPI_C_DOUBLE_COMPLEX", mpi.Complex128},
	{0x20, "MPI_LONG_DOUBLE", mpi.LongDouble}, {0x24, "MPI_C_LONG_DOUBLE_COMPLEX", mpi.LongComplex},
	{0x13, "MPI_CXX_FLOAT_COMPLEX", mpi.Complex64}, {0x17, "MPI_CXX_DOUBLE_COMPLEX", mpi.Complex128}, {0x25, "MPI_CXX_LONG_DOUBLE_COMPLEX", mpi.LongComplex}, {0x39, "MPI_CXX_BOOL", mpi.Bool},
	{0x28, "MPI_FLOAT_INT", mpi.Float32Int32}, {0x29, "MPI_DOUBLE_INT", mpi.Float64Int32}, {0x2a, "MPI_LONG_INT", mpi.Int64Int32}, {0x2b, "MPI_2INT", mpi.Int32Int32},
	{0x2c, "MPI_SHORT_INT", mpi.Int16Int32}, {0x2d, "MPI_LONG_DOUBLE_INT", mpi.LongDoubleInt32},
	{0x38, "MPI_C_BOOL", mpi.Bool}, {0x3c, "MPI_WCHAR", mpi.Int32},
	{0x40, "MPI_INT8_T", mpi.Int8}, {0x41, "MPI_UINT8_T", mpi.Uint8}, {0x43, "MPI_CHAR", mpi.Int8}, {0x44, "MPI_SIGNED_CHAR", mpi.Int8}, {0x45, "MPI_UNSIGNED_CHAR", mpi.Uint8}, {0x47, "MPI_BYTE", mpi.Byte},
	{0x48, "MPI_INT16_T", mpi.Int16}, {0x49, "MPI_UINT16_T", mpi.Uint16}, {0x50, "MPI_INT32_T", mpi.Int32}, {0x51, "MPI_UINT32_T", mpi.Uint32},
	{0x58, "MPI_INT64_T", mpi.Int64}, {0x59, "MPI_UINT64_T", mpi.Uint64},
	{0x18, "MPI_LOGICAL", mpi.Int32}, {0x19, "MPI_INTEGER", mpi.Int32}, {0x1a, "MPI_REAL", mpi.Float32}, {0x1b, "MPI_COMPLEX", mpi.Complex64},
	{0x1c, "MPI_DOUBLE_PRECISION", mpi.Float64}, {0x1d, "MPI_DOUBLE_COMPLEX", mpi.Complex128}, {0x1e, "MPI_CHARACTER", mpi.Int8},
	{0x30, "MPI_2REAL", mpi.Float32Float32}, {0x31, "MPI_2DOUBLE_PRECISION", mpi.Float64Float64}, {0x32, "MPI_2INTEGER", mpi.Int32Int32},
	{0xc0, "MPI_LOGICAL1", mpi.Int8}, {0xc8, "MPI_LOGICAL2", mpi.Int16}, {0xd0, "MPI_LOGICAL4", mpi.Int32}, {0xd8, "MPI_LOGICAL8", mpi.Int64},
	{0xc1, "MPI_INTEGER1", mpi.Int8}, {0xc9, "MPI_INTEGER2", mpi.Int16}, {0xd1, "MPI_INTEGER4", mpi.Int32}, {0xd9, "MPI_INTEGER8", mpi.Int64},
	{0xd2, "MPI_REAL4", mpi.Float32}, {0xda, "MPI_REAL8", mpi.Float64}, {0xdb, "MPI_COMPLEX8", mpi.Complex64}, {0xe3, "MPI_COMPLEX16", mpi.Complex128},
	{0xe0, "MPI_LOGICAL16", mpi.Int128}, {0xe1, "MPI_INTEGER16", mpi.Int128}, {0xca, "MPI_REAL2", mpi.Float16}, {0xe2, "MPI_REAL16", mpi.Float128},
	{0xd3, "MPI_COMPLEX4", mpi.Complex32}, {0xeb, "MPI_COMPLEX32", mpi.Complex256},
	{0xfe, "MPI_LB", mpi.LB}, {0xff, "MPI_UB", mpi.UB},
}

// basicTypes and basicNames contain predefinedTypes by handle.
var basicTypes, basicNames = func() (types [256]*mpi.Datatype, names [256]string) {
	for _, n := range predefinedTypes {
		types[n.at], names[n.at] = n.t, n.name
	}
	return
}()

// Constructors. They check n before they read arrays of n elements.

func (r *rank) checkedCount(n uintptr) int {
	if int(n) < 0 {
		r.raiseError(mpi.ErrCount, "%d: a count is not negative", int(n))
	}
	return int(n)
}

func typeContiguous(r *rank, a args) {
	n := r.checkedCount(a[0])
	r.addDatatype(a[2], ofOne(func(t *mpi.Datatype) *mpi.Datatype { return mpi.Contiguous(n, t) }), combinerContiguous, intArguments(a[0]), nil, a[1])
}

func typeVector(r *rank, a args) {
	n, length, stride := r.checkedCount(a[0]), r.checkedCount(a[1]), int(a[2])
	r.addDatatype(a[4], ofOne(func(t *mpi.Datatype) *mpi.Datatype { return mpi.Vector(n, length, stride, t) }), combinerVector, intArguments(a[0], a[1], a[2]), nil, a[3])
}

func typeHvector(r *rank, a args) {
	n, length, stride := r.checkedCount(a[0]), r.checkedCount(a[1]), int(a[2])
	r.addDatatype(a[4], ofOne(func(t *mpi.Datatype) *mpi.Datatype { return mpi.Hvector(n, length, stride, t) }), combinerHvector, intArguments(a[0], a[1]), []int{int(a[2])}, a[3])
}

func typeIndexed(r *rank, a args) {
	n := r.checkedCount(a[0])
	lengths, offsets := r.countsAt(a[1], n), r.countsAt(a[2], n)
	r.addDatatype(a[4], ofOne(func(t *mpi.Datatype) *mpi.Datatype { return mpi.Indexed(lengths, offsets, t) }), combinerIndexed, slices.Concat([]int{n}, lengths, offsets), nil, a[3])
}

func typeHindexed(r *rank, a args) {
	n := r.checkedCount(a[0])
	lengths, offsets := r.countsAt(a[1], n), aintsAt(a[2], n)
	r.addDatatype(a[4], ofOne(func(t *mpi.Datatype) *mpi.Datatype { return mpi.Hindexed(lengths, offsets, t) }), combinerHindexed, slices.Concat([]int{n}, lengths), offsets, a[3])
}

func typeIndexedBlock(r *rank, a args) {
	n := r.checkedCount(a[0])
	offsets, length := r.countsAt(a[2], n), r.checkedCount(a[1])
	build := func(t *mpi.Datatype) *mpi.Datatype { return mpi.Indexed(slices.Repeat([]int{length}, n), offsets, t) }
	r.addDatatype(a[4], ofOne(build), combinerIndexedBlock, slices.Concat(intArguments(a[0], a[1]), offsets), nil, a[3])
}

func typeHindexedBlock(r *rank, a args) {
	n := r.checkedCount(a[0])
	offsets, length := aintsAt(a[2], n), r.checkedCount(a[1])
	build := func(t *mpi.Datatype) *mpi.Datatype { return mpi.Hindexed(slices.Repeat([]int{length}, n), offsets, t) }
	r.addDatatype(a[4], ofOne(build), combinerHindexedBlock, intArguments(a[0], a[1]), offsets, a[3])
}

func typeStruct(r *rank, a args) {
	n := r.checkedCount(a[0])
	lengths, offsets, of := r.countsAt(a[1], n), aintsAt(a[2], n), sliceAt[uintptr](a[3], n)
	build := func(types []*mpi.Datatype) *mpi.Datatype { return mpi.Struct(lengths, offsets, types) }
	r.addDatatype(a[4], build, combinerStruct, slices.Concat([]int{n}, lengths), offsets, of...)
}

func typeResized(r *rank, a args) {
	low, extent := int(a[1]), int(a[2])
	r.addDatatype(a[3], ofOne(func(t *mpi.Datatype) *mpi.Datatype { return mpi.Resized(t, low, extent) }), combinerResized, nil, []int{low, extent}, a[0])
}

func typeDup(r *rank, a args) {
	storeAt(a[1], uintptr(datatypeNull)) // the value there after an error
	copied := r.copyAttributes(a[0], r.userTypeOf(a[0]).attributes)
	r.addDatatype(a[1], ofOne((*mpi.Datatype).Copy), combinerDup, nil, nil, a[0])
	d := r.userTypeOf(*pointerAt[uintptr](a[1]))
	if d.attributes = copied; r.datatype(a[0]).CheckUsable() == nil {
		d.Commit()
	}
}

// typeSubarray creates nested vectors, from the fastest varying dimension to the slowest.
func typeSubarray(r *rank, a args) {
	n := r.checkedCount(a[0])
	sizes, parts, starts := r.countsAt(a[1], n), r.countsAt(a[2], n), r.countsAt(a[3], n)
	arguments := slices.Concat([]int{n}, sizes, parts, starts, intArguments(a[4]))
	switch {
	case n < 1:
		r.raiseError(mpi.ErrArg, "the array has %d dimensions", n)
	case int(a[4]) == orderFortran:
		slices.Reverse(sizes)
		slices.Reverse(parts)
		slices.Reverse(starts)
	case int(a[4]) != orderC:
		r.raiseError(mpi.ErrArg, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN")
	}
	for d := range n {
		if sizes[d] < 1 || parts[d] < 1 || starts[d] < 0 || starts[d] > sizes[d]-parts[d] {
			r.raiseError(mpi.ErrArg, "dimension %d: elements %d to %d of %d", d, starts[d], starts[d]+parts[d]-1, sizes[d])
		}
	}
	build := func(t *mpi.Datatype) *mpi.Datatype {
		stride, at := t.Extent(), 0
		part := t
		for d := n - 1; d >= 0; d-- {
			part = mpi.Hvector(parts[d], 1, stride, part)
			at += starts[d] * stride
			stride = r.nextStride(stride, sizes[d])
		}
		return mpi.Resized(mpi.Hindexed([]int{1}, []int{at}, part), 0, stride)
	}
	r.addDatatype(a[6], ofOne(build), combinerSubarray, arguments, nil, a[5])
}

// nextStride returns the bytes of a dimension with size elements, each stride bytes from the next.
func (r *rank) nextStride(stride, size int) int {
	if productExceedsMemory(max(stride, -stride), size) {
		r.raiseError(mpi.ErrArg, "a dimension of %d elements of %d bytes is more than memory can have", size, stride)
	}
	return stride * size
}

func typeCommit(r *rank, a args) { r.datatype(*pointerAt[uintptr](a[0])).Commit() }

func typeFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	t := r.datatype(h)
	if r.types.get(kindType, h) == nil {
		r.raiseError(mpi.ErrType, "%s cannot be freed", basicNames[h-datatypeNull])
	}
	if r.userTypeOf(h).isSelected() {
		r.raiseError(mpi.ErrType, "a datatype of a kind of Fortran's cannot be freed")
	}
	r.deleteAttributes(h, &r.userTypeOf(h).attributes)
	t.Free()
	r.types.remove(h)
	storeAt(a[0], uintptr(datatypeNull))
}

func typeSize(r *rank, a args) {
	r.storeCount(a[1], r.datatype(a[0]).Size())
}

func typeGetExtent(r *rank, a args) {
	t := r.datatype(a[0])
	storeAt(a[1], t.LowerBound())
	storeAt(a[2], t.Extent())
}
func typeGetTrueExtent(r *rank, a args) {
	t := r.datatype(a[0])
	storeAt(a[1], t.TrueLowerBound())
	storeAt(a[2], t.TrueExtent())
}
func getAddress(_ *rank, a args) { storeAt(a[1], a[0]) }
func aintAdd(r *rank, a args)    { r.currentCall.result = int64(a[0]) + int64(a[1]) }
func aintDiff(r *rank, a args)   { r.currentCall.result = int64(a[0]) - int64(a[1]) }

func typeSetName(r *rank, a args) {
	r.userTypeOf(a[0]).name = r.stringAt(a[1])
}

func typeGetName(r *rank, a args) {
	storeText(a[1], r.userTypeOf(a[0]).name, maxName, a[2])
}

const maxName = 128 // MPI_MAX_OBJECT_NAME

// componentType is a datatype from which another one is constructed. A type of the program is kept
// after it was freed.
type componentType struct {
	handle   uintptr // if it is predefined
	userType *userType
}

// typeMatchSize stores the datatype of a type class with a given size.
func typeMatchSize(r *rank, a args) {
	classes := map[int]map[int]uintptr{
		192: {1: 0xc1, 2: 0xc9, 4: 0xd1, 8: 0xd9, 16: 0xe1}, // integers
		193: {2: 0xca, 4: 0xd2, 8: 0xda, 16: 0xe2},
		194: {4: 0xd3, 8: 0xdb, 16: 0xe3, 32: 0xeb},
	}
	sizes, size := classes[int(a[0])], int(a[1])
	switch {
	case sizes == nil:
		r.raiseError(mpi.ErrArg, "%d is not a class of datatypes", int(a[0]))
	case sizes[size] == 0:
		r.raiseError(mpi.ErrArg, "no datatype of the class has %d bytes", size)
	}
	storeAt(a[2], uintptr(datatypeNull)+sizes[size])
}

// pairTypes maps the types of value and index to the type of the pair. Handles are relative to
// MPI_DATATYPE_NULL.
var pairTypes = map[[2]uintptr]uintptr{
	{0x10, 0x09}: 0x28, {0x14, 0x09}: 0x29, {0x0a, 0x09}: 0x2a, {0x09, 0x09}: 0x2b, {0x08, 0x09}: 0x2c, {0x20, 0x09}: 0x2d,
	{0x1a, 0x1a}: 0x30, {0x1c, 0x1c}: 0x31, {0x19, 0x19}: 0x32,
}

// typeGetValueIndex stores the datatype of pairs of a value and an index, or MPI_DATATYPE_NULL if
// there is none.
func typeGetValueIndex(r *rank, a args) {
	r.datatype(a[0])
	r.datatype(a[1])
	storeAt(a[2], datatypeNull+pairTypes[[2]uintptr{a[0] - datatypeNull, a[1] - datatypeNull}])
}

func pack(r *rank, a args) {
	at := r.countAt(a[5])
	r.storeCount(a[5], r.comm(a[6]).Pack(r.localBuffer(a[0], int(a[1]), a[2]), sliceAt[byte](a[3], int(a[4])), at))
}

func unpack(r *rank, a args) {
	at := r.countAt(a[2])
	r.storeCount(a[2], r.comm(a[6]).Unpack(sliceAt[byte](a[0], int(a[1])), at, r.localBuffer(a[3], int(a[4]), a[5])))
}

func packSize(r *rank, a args) {
	c, t := r.comm(a[2]), r.datatype(a[1])
	r.checkCount(int(a[0]), t)
	r.storeCount(a[3], c.PackSize(int(a[0]), t))
}
