//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// Reduction operations.

// basicOps has the predefined operations of mpi.h by handle.
var basicOps = map[uintptr]*mpi.Op{0x21: mpi.Sum, 0x22: mpi.Min, 0x23: mpi.Max, 0x24: mpi.Prod, 0x28: mpi.Band, 0x29: mpi.Bor, 0x2a: mpi.Bxor,
	0x30: mpi.Land, 0x31: mpi.Lor, 0x32: mpi.Lxor, 0x38: mpi.MinLoc, 0x39: mpi.MaxLoc}

// opsInC has the operations in C for element types that Go does not have.
var opsInC = func() map[*mpi.Datatype]map[*mpi.Op]*mpi.Op {
	codes := map[*mpi.Op]C.int{mpi.Sum: C.op_sum, mpi.Prod: C.op_prod, mpi.Min: C.op_min, mpi.Max: C.op_max, mpi.MinLoc: C.op_min, mpi.MaxLoc: C.op_max,
		mpi.Band: C.op_band, mpi.Bor: C.op_bor, mpi.Bxor: C.op_bxor, mpi.Land: C.op_land, mpi.Lor: C.op_lor, mpi.Lxor: C.op_lxor}
	numbers := []*mpi.Op{mpi.Sum, mpi.Prod, mpi.Min, mpi.Max, mpi.Land, mpi.Lor, mpi.Lxor}
	sums, places, bits := []*mpi.Op{mpi.Sum, mpi.Prod}, []*mpi.Op{mpi.MinLoc, mpi.MaxLoc}, []*mpi.Op{mpi.Band, mpi.Bor, mpi.Bxor}
	all := map[*mpi.Datatype]map[*mpi.Op]*mpi.Op{}
	for _, x := range []struct {
		of       *mpi.Datatype
		elements C.int
		ops      []*mpi.Op
	}{
		{mpi.LongDouble, C.elements_long_double, numbers}, {mpi.LongDoubleInt32, C.elements_indexed, places}, {mpi.LongComplex, C.elements_long_complex, sums},
		{mpi.Float16, C.elements_half, numbers}, {mpi.Complex32, C.elements_half_complex, sums},
		{mpi.Float128, C.elements_quad, numbers}, {mpi.Complex256, C.elements_quad_complex, sums},
		{mpi.Int128, C.elements_int128, slices.Concat(numbers, bits)},
	} {
		if C.loggp_has_elements(x.elements) == 0 {
			continue
		}
		all[x.of] = map[*mpi.Op]*mpi.Op{}
		for _, o := range x.ops {
			all[x.of][o] = opInC(codes[o], x.elements)
		}
	}
	return all
}()

func opInC(op, elements C.int) *mpi.Op {
	return mpi.NewOp(func(in, inout mpi.Buffer) {
		if inout.Count > 0 {
			C.loggp_reduce(op, elements, unsafe.Pointer(&in.Bytes[in.Origin]), unsafe.Pointer(&inout.Bytes[inout.Origin]), C.int64_t(inout.Count))
		}
	}, true)
}

// op returns the operation for a reduction of elements of a type.
func (r *rank) op(h, datatype uintptr) *mpi.Op {
	r.combinedType = datatype
	if o := basicOps[h]; o != nil {
		t := r.datatype(datatype)
		if c := opsInC[t][o]; c != nil {
			r.currentCall.comm.ReportLogicalOfFloats(o, t)
			return c
		}
		return o
	}
	k := r.currentCall.persistent
	if k != nil && k.resolved.ops[h] != nil {
		return k.resolved.ops[h]
	}
	if o := r.ops.get(kindOp, h); o != nil {
		if k != nil {
			k.resolved.ops[h] = *o
		}
		return *o
	}
	r.raiseError(mpi.ErrOp, "invalid operation: it is MPI_OP_NULL, or was freed")
	return nil
}

func opCreate(r *rank, a args) {
	f := a[0]
	o := mpi.NewOp(func(in, inout mpi.Buffer) {
		if inout.Count == 0 {
			return
		}
		// The program gets the addresses of displacement 0, which need not be in valid memory.
		x, y := datatype.Address(in.Bytes)+uintptr(in.Origin), datatype.Address(inout.Bytes)+uintptr(inout.Origin)
		r.withScratch(func(s *scratch) {
			s[0], s[1] = C.intptr_t(inout.Count), C.intptr_t(r.combinedType)
			r.callback(f, x, y, uintptr(unsafe.Pointer(&s[0])), uintptr(unsafe.Pointer(&s[1])))
		})
		runtime.KeepAlive(in)
		runtime.KeepAlive(inout)
	}, int32(a[1]) != 0)
	storeAt(a[2], r.ops.add(kindOp, o))
}

func opFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	if basicOps[h] != nil {
		r.raiseError(mpi.ErrOp, "a predefined operation cannot be freed")
	}
	if r.ops.get(kindOp, h) == nil {
		r.raiseError(mpi.ErrOp, "invalid operation: it is MPI_OP_NULL, or was freed")
	}
	r.ops.remove(h)
	storeAt(a[0], uintptr(opNull))
}

func opCommutative(r *rank, a args) { storeAt(a[1], intOfBool(r.accumulateOp(a[0]).Commutes())) }

func reduceLocal(r *rank, a args) {
	in, inout, o := r.localBuffer(a[0], int(a[2]), a[3]), r.localBuffer(a[1], int(a[2]), a[3]), r.op(a[4], a[3])
	r.currentCall.comm.CheckOp(o, inout.Type)
	r.checkDisjoint(in, inout)
	if inout.Count > 0 {
		o.Apply(in, inout)
	}
}
