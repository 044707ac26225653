package reduction

import (
	"cmp"

	"github.com/loggp/loggp/impl/library/datatype"
)

// valueWithIndex is a value and an index, as datatypes of pairs lay them out.
type valueWithIndex[V, I ordered] struct {
	Value V
	Index I
}

// newLocationOp makes an operation on pairs that keeps the better value, and of equal ones that
// with the lesser index: MAXLOC and MINLOC of §4.9.3.
func newLocationOp(name string, better func(order int) bool) *Op {
	return &Op{name: name, commutes: true, pairs: map[*datatype.Type]combineElements{
		datatype.Float32Int32: keepBetter[float32, int32](better),
		datatype.Float64Int32: keepBetter[float64, int32](better),
		datatype.Int16Int32:   keepBetter[int16, int32](better),
		datatype.Int32Int32:   keepBetter[int32, int32](better),
		datatype.Int64Int32:   keepBetter[int64, int32](better),
		datatype.Int64Int64:   keepBetter[int64, int64](better),
		datatype.Float64Int64: keepBetter[float64, int64](better),

		datatype.Float32Float32: keepBetter[float32, float32](better),
		datatype.Float64Float64: keepBetter[float64, float64](better),
	}}
}

func keepBetter[V, I ordered](better func(order int) bool) combineElements {
	return func(in, inout []byte) {
		x, y := elementsOf[valueWithIndex[V, I]](in), elementsOf[valueWithIndex[V, I]](inout)
		for i := range y {
			switch order := cmp.Compare(x[i].Value, y[i].Value); {
			case order == 0:
				y[i].Index = min(x[i].Index, y[i].Index)
			case better(order):
				y[i] = x[i]
			}
		}
	}
}
