package aclmpl

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// Broadcast sends the b of PE 0 to the b of all others, which has the same length. In phase i, from
// 1, the PEs whose numbers are multiples of 2^(l-i+1) send to the PE 2^(l-i) above, if there is
// one; l is the logarithm of the number of PEs, rounded up. Painter et al. 1995, section 4.3.
func (e *PE) Broadcast(b []byte) {
	e.enterCall("Broadcast", noAwaitedPE)
	for d := 1 << bits.Len(uint(e.peCount-1)) / 2; d > 0; d /= 2 {
		switch {
		case e.rank%(2*d) == 0 && e.rank+d < e.peCount:
			e.sendByPut(e.rank+d, b)
		case e.rank%(2*d) == d:
			e.checkLength(e.rank-d, len(b), e.receiveByPut(e.rank-d, b))
		}
	}
	e.leaveCall()
}

// ElementOperator combines arrays element by element: lower of PEs with lower numbers, higher of
// PEs with higher ones. result may be the memory of lower or of higher. It has to be associative,
// and need not commute.
type ElementOperator[T any] func(lower, higher, result []T)

// Reduce combines the x of all PEs, in the order of the PEs, and leaves the result in the x of PE
// 0. What is in the x of the others is undefined then. All have the same number of elements, whose
// type has no pointers.
//
// Arrays of Options.SwapFrom elements or more are reduced by binary swap, shorter ones by a tree.
// Painter et al. 1995, section 4.3.
func Reduce[T any](e *PE, x []T, op ElementOperator[T]) {
	e.enterCall("Reduce", noAwaitedPE)
	t := reflect.TypeFor[T]()
	if hasPointers(t) {
		e.failCall("elements of type %v have pointers", t)
	}
	if t.Size() == 0 || len(x) == 0 || e.peCount == 1 {
		e.leaveCall()
		return
	}
	if len(e.reductionBuffer) < len(x)*int(t.Size()) {
		e.reductionBuffer = bytesOf(make([]uint64, (len(x)*int(t.Size())+7)/8)) // aligned for every type
	}
	r := pendingReduction[T]{e, x, unsafe.Slice((*T)(unsafe.Pointer(&e.reductionBuffer[0])), len(x)), op}
	if len(x) >= e.options.MinBinarySwapElements {
		r.reduceByBinarySwap()
	} else {
		r.reduceByTree()
	}
	e.leaveCall()
}

// pendingReduction is a Reduce under way: x has the PE's operand, and in has room for another's.
type pendingReduction[T any] struct {
	*PE
	x, in []T
	op    ElementOperator[T]
}

// reduceByTree combines neighbours, then neighbours of these, and so on. A PE that has sent is
// done.
func (r *pendingReduction[T]) reduceByTree() {
	for d := 1; d < r.peCount; d *= 2 {
		if r.rank&d != 0 {
			r.sendByPut(r.rank-d, bytesOf(r.x))
			return
		}
		if r.rank+d < r.peCount {
			r.receive(r.rank+d, r.in)
			r.combine(r.x, r.in, r.x)
		}
	}
}

// reduceByBinarySwap lets partners exchange halves of what they share, so that each combines the
// half it keeps. At the end each of q PEs, a power of two, has a part of the result, and PE 0
// gathers the parts. If there are more than q PEs, the first ones combine their operands in pairs
// before.
func (r *pendingReduction[T]) reduceByBinarySwap() {
	q := 1 << (bits.Len(uint(r.peCount)) - 1)
	pairs := r.peCount - q
	me := r.rank - pairs // number among the q
	if r.rank < 2*pairs {
		if r.rank%2 == 1 {
			r.sendByPut(r.rank-1, bytesOf(r.x))
			return
		}
		r.receive(r.rank+1, r.in)
		r.combine(r.x, r.in, r.x)
		me = r.rank / 2
	}
	pe := func(i int) int { // that has number i among the q
		if i < pairs {
			return 2 * i
		}
		return i + pairs
	}

	from, to := 0, len(r.x) // the elements that the PE still combines
	var halves [64][2]int   // those of before each step
	for i, d := 0, 1; d < q; i, d = i+1, 2*d {
		halves[i] = [2]int{from, to}
		middle := from + (to-from)/2
		partner := pe(me ^ d)
		if me&d == 0 {
			in := r.in[from:middle]
			r.exchangeWithPartner(partner, r.x[middle:to], in)
			to = middle
			r.combine(r.x[from:to], in, r.x[from:to])
		} else {
			in := r.in[middle:to]
			r.exchangeWithPartner(partner, r.x[from:middle], in)
			from = middle
			r.combine(in, r.x[from:to], r.x[from:to])
		}
	}
	for i, d := bits.Len(uint(q))-2, q/2; d > 0; i, d = i-1, d/2 {
		if me&d != 0 {
			r.sendByPut(pe(me^d), bytesOf(r.x[from:to]))
			return
		}
		r.receive(pe(me^d), r.x[to:halves[i][1]])
		to = halves[i][1]
	}
}

func (r *pendingReduction[T]) combine(lower, higher, result []T) {
	r.op(lower, higher, result)
	r.spend(r.elementCost, len(result))
}

func (r *pendingReduction[T]) receive(src int, x []T) {
	b := bytesOf(x)
	r.checkLength(src, len(b), r.receiveByPut(src, b))
}

func (r *pendingReduction[T]) exchangeWithPartner(partner int, out, in []T) {
	b := bytesOf(in)
	r.checkLength(partner, len(b), r.exchange(partner, bytesOf(out), partner, b))
}

// checkLength fails if a PE has sent less than this one expects.
func (e *PE) checkLength(src, want, got int) {
	if got != want {
		e.failCall("%d bytes from PE %d, and %d here: all PEs have to give the same length", got, src, want)
	}
}

// bytesOf returns the memory of elements.
func bytesOf[T any](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

// hasPointers reports whether values of a type may have pointers: then their bytes mean nothing to
// another PE.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return k < reflect.Bool || k > reflect.Complex128 || k == reflect.Uintptr
	}
}
