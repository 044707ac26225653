//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/loggp/loggp/impl/mpi"
)

// Datatypes, operations and memory.

// named are the datatypes of mpi.h: the handle, less that of MPI_DATATYPE_NULL, the name and the type.
var named = []struct {
	at   int
	name string
	t    *mpi.Datatype
}{
	{0x01, "MPI_AINT", mpi.Int64}, {0x02, "MPI_COUNT", mpi.Int64}, {0x03, "MPI_OFFSET", mpi.Int64}, {0x07, "MPI_PACKED", mpi.Packed},
	{0x08, "MPI_SHORT", mpi.Int16}, {0x09, "MPI_INT", mpi.Int32}, {0x0a, "MPI_LONG", mpi.Int64}, {0x0b, "MPI_LONG_LONG", mpi.Int64},
	{0x0c, "MPI_UNSIGNED_SHORT", mpi.Uint16}, {0x0d, "MPI_UNSIGNED", mpi.Uint32}, {0x0e, "MPI_UNSIGNED_LONG", mpi.Uint64}, {0x0f, "MPI_UNSIGNED_LONG_LONG", mpi.Uint64},
	{0x10, "MPI_FLOAT", mpi.Float32}, {0x12, "MPI_C_FLOAT_COMPLEX", mpi.Complex64}, {0x14, "MPI_DOUBLE", mpi.Float64}, {0x16, "MPI_C_DOUBLE_COMPLEX", mpi.Complex128},
	{0x20, "MPI_LONG_DOUBLE", mpi.LongDouble},
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
	{0xfe, "MPI_LB", mpi.LB}, {0xff, "MPI_UB", mpi.UB},
}

// basicTypes has the same by handle.
var basicTypes, basicNames = func() (types [256]*mpi.Datatype, names [256]string) {
	for _, n := range named {
		types[n.at], names[n.at] = n.t, n.name
	}
	return
}()

// basicOps has the operations of mpi.h by handle.
var basicOps = map[uintptr]*mpi.Op{0x21: mpi.Sum, 0x22: mpi.Min, 0x23: mpi.Max, 0x24: mpi.Prod, 0x28: mpi.Band, 0x29: mpi.Bor, 0x2a: mpi.Bxor,
	0x30: mpi.Land, 0x31: mpi.Lor, 0x32: mpi.Lxor, 0x38: mpi.MinLoc, 0x39: mpi.MaxLoc}

// longDouble are the operations on C's long double, which is no type of Go's.
var longDouble = map[*mpi.Op]*mpi.Op{mpi.Sum: longOp(0, 0), mpi.Min: longOp(1, 0), mpi.Max: longOp(2, 0), mpi.Prod: longOp(3, 0), mpi.MinLoc: longOp(1, 1), mpi.MaxLoc: longOp(2, 1)}

func longOp(op, indexed C.int) *mpi.Op {
	return mpi.NewOp(func(in, inout mpi.Buffer) {
		if inout.Count > 0 {
			C.loggp_reduce(op, indexed, unsafe.Pointer(&in.Bytes[in.Origin]), unsafe.Pointer(&inout.Bytes[inout.Origin]), C.int64_t(inout.Count))
		}
	}, true)
}

// op returns the operation of a reduction of elements of a type.
func (r *rank) op(h, datatype uintptr) *mpi.Op {
	r.combined = datatype
	if o := basicOps[h]; o != nil {
		if t := r.datatype(datatype); t == mpi.LongDouble || t == mpi.LongDoubleInt32 {
			if l := longDouble[o]; l != nil && (t == mpi.LongDoubleInt32) == (o == mpi.MinLoc || o == mpi.MaxLoc) {
				return l
			}
		}
		return o
	}
	if o := r.ops.get(kindOp, h); o != nil {
		return *o
	}
	r.fail(mpi.ErrOp, "the operation is MPI_OP_NULL, or was freed, or is none")
	return nil
}

func opCreate(r *rank, a args) {
	f := a[0]
	o := mpi.NewOp(func(in, inout mpi.Buffer) {
		if inout.Count == 0 {
			return
		}
		// The program gets the addresses of displacement 0, which need not be within the memory that there is.
		x, y := uintptr(unsafe.Pointer(unsafe.SliceData(in.Bytes)))+uintptr(in.Origin), uintptr(unsafe.Pointer(unsafe.SliceData(inout.Bytes)))+uintptr(inout.Origin)
		r.h.scratch[0], r.h.scratch[1] = C.intptr_t(inout.Count), C.intptr_t(r.combined)
		r.callback(f, x, y, uintptr(unsafe.Pointer(&r.h.scratch[0])), uintptr(unsafe.Pointer(&r.h.scratch[1])))
	}, int32(a[1]) != 0)
	set(a[2], r.ops.add(kindOp, o))
}

func opFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	if basicOps[h] != nil {
		r.fail(mpi.ErrOp, "an operation of the library cannot be freed")
	}
	if r.ops.get(kindOp, h) == nil {
		r.fail(mpi.ErrOp, "the operation is MPI_OP_NULL, or was freed, or is none")
	}
	r.ops.remove(h)
	set(a[0], uintptr(opNull))
}

func opCommutative(r *rank, a args) { set(a[1], truth(r.op(a[0], 0x209).Commutes())) }

func reduceLocal(r *rank, a args) {
	in, inout, o := r.buffer(a[0], int(a[2]), a[3]), r.buffer(a[1], int(a[2]), a[3]), r.op(a[4], a[3])
	if err := o.Check(inout.Type); err != nil {
		r.fail(mpi.ErrOp, "%v", err)
	}
	if inout.Count > 0 {
		o.Apply(in, inout)
	}
}

// Constructors. n is checked before arrays of as many elements are read.

func (r *rank) count(n uintptr) int {
	if int(n) < 0 {
		r.fail(mpi.ErrCount, "%d: a count is not negative", int(n))
	}
	return int(n)
}

func typeContiguous(r *rank, a args) {
	set(a[2], r.addType(mpi.Contiguous(r.count(a[0]), r.datatype(a[1]))))
}

func typeVector(r *rank, a args) {
	set(a[4], r.addType(mpi.Vector(r.count(a[0]), r.count(a[1]), int(a[2]), r.datatype(a[3]))))
}

func typeHvector(r *rank, a args) {
	set(a[4], r.addType(mpi.Hvector(r.count(a[0]), r.count(a[1]), int(a[2]), r.datatype(a[3]))))
}

func typeIndexed(r *rank, a args) {
	n := r.count(a[0])
	set(a[4], r.addType(mpi.Indexed(ints(a[1], n), ints(a[2], n), r.datatype(a[3]))))
}

func typeHindexed(r *rank, a args) {
	n := r.count(a[0])
	set(a[4], r.addType(mpi.Hindexed(ints(a[1], n), words(a[2], n), r.datatype(a[3]))))
}

func typeIndexedBlock(r *rank, a args) {
	n := r.count(a[0])
	set(a[4], r.addType(mpi.Indexed(slices.Repeat([]int{r.count(a[1])}, n), ints(a[2], n), r.datatype(a[3]))))
}

func typeHindexedBlock(r *rank, a args) {
	n := r.count(a[0])
	set(a[4], r.addType(mpi.Hindexed(slices.Repeat([]int{r.count(a[1])}, n), words(a[2], n), r.datatype(a[3]))))
}

func typeStruct(r *rank, a args) {
	n := r.count(a[0])
	types := make([]*mpi.Datatype, n)
	for i, h := range slice[uintptr](a[3], n) {
		types[i] = r.datatype(h)
	}
	set(a[4], r.addType(mpi.Struct(ints(a[1], n), words(a[2], n), types)))
}

func typeResized(r *rank, a args) {
	set(a[3], r.addType(mpi.Resized(r.datatype(a[0]), int(a[1]), int(a[2]))))
}

func typeDup(r *rank, a args) {
	t := r.datatype(a[0])
	d := mpi.Contiguous(1, t)
	if t.Usable() == nil {
		d.Commit()
	}
	set(a[1], r.addType(d))
}

// typeSubarray makes loops from the dimension that changes fastest to the slowest one.
func typeSubarray(r *rank, a args) {
	n := r.count(a[0])
	sizes, parts, starts, t := ints(a[1], n), ints(a[2], n), ints(a[3], n), r.datatype(a[5])
	switch {
	case n < 1:
		r.fail(mpi.ErrArg, "an array of %d dimensions", n)
	case int(a[4]) == 15: // MPI_ORDER_FORTRAN
		slices.Reverse(sizes)
		slices.Reverse(parts)
		slices.Reverse(starts)
	case int(a[4]) != 12:
		r.fail(mpi.ErrArg, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN")
	}
	for d := range n {
		if sizes[d] < 1 || parts[d] < 1 || starts[d] < 0 || starts[d]+parts[d] > sizes[d] {
			r.fail(mpi.ErrArg, "dimension %d: elements %d to %d of %d", d, starts[d], starts[d]+parts[d]-1, sizes[d])
		}
	}
	stride, at := t.Extent(), 0
	part := t
	for d := n - 1; d >= 0; d-- {
		part = mpi.Hvector(parts[d], 1, stride, part)
		at += starts[d] * stride
		stride *= sizes[d]
	}
	set(a[6], r.addType(mpi.Resized(mpi.Hindexed([]int{1}, []int{at}, part), 0, stride)))
}

func typeCommit(r *rank, a args) { r.datatype(*ptr[uintptr](a[0])).Commit() }

func typeFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	t := r.datatype(h)
	if r.types.get(kindType, h) == nil {
		r.fail(mpi.ErrType, "%s cannot be freed", basicNames[h-datatypeNull])
	}
	t.Free()
	r.types.remove(h)
	set(a[0], uintptr(datatypeNull))
}

func typeExtent(r *rank, a args) { set(a[1], r.datatype(a[0]).Extent()) }
func typeSize(r *rank, a args)   { set(a[1], int32(r.datatype(a[0]).Size())) }
func typeLower(r *rank, a args)  { set(a[1], r.datatype(a[0]).Lower()) }
func typeUpper(r *rank, a args)  { set(a[1], r.datatype(a[0]).Upper()) }
func getExtent(r *rank, a args)  { t := r.datatype(a[0]); set(a[1], t.Lower()); set(a[2], t.Extent()) }
func trueExtent(r *rank, a args) {
	t := r.datatype(a[0])
	set(a[1], t.TrueLower())
	set(a[2], t.TrueExtent())
}
func address(_ *rank, a args)  { set(a[1], a[0]) }
func aintAdd(r *rank, a args)  { r.now.result = int64(a[0]) + int64(a[1]) }
func aintDiff(r *rank, a args) { r.now.result = int64(a[0]) - int64(a[1]) }

func typeSetName(r *rank, a args) {
	r.datatype(a[0])
	if t := r.types.get(kindType, a[0]); t != nil {
		(*t).name = text(a[1])
	}
}

func typeGetName(r *rank, a args) {
	r.datatype(a[0])
	name := ""
	if t := r.types.get(kindType, a[0]); t != nil {
		name = (*t).name
	} else {
		name = basicNames[a[0]-datatypeNull]
	}
	setText(a[1], name, maxName, a[2])
}

const maxName = 128 // MPI_MAX_OBJECT_NAME

func pack(r *rank, a args) {
	at := int(*ptr[int32](a[5]))
	set(a[5], int32(r.comm(a[6]).Pack(r.buffer(a[0], int(a[1]), a[2]), slice[byte](a[3], int(a[4])), at)))
}

func unpack(r *rank, a args) {
	at := int(*ptr[int32](a[2]))
	set(a[2], int32(r.comm(a[6]).Unpack(slice[byte](a[0], int(a[1])), at, r.buffer(a[3], int(a[4]), a[5]))))
}

func packSize(r *rank, a args) {
	set(a[3], int32(r.comm(a[2]).PackSize(int(a[0]), r.datatype(a[1]))))
}
