package reduction

import "github.com/loggp/loggp/impl/library/datatype"

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type ordered interface{ integer | float32 | float64 }

type number interface {
	ordered | complex64 | complex128
}

// The operations of MPI-1.2, §4.9.2, and the kinds of elements that they are for.
var (
	Max  = newPredefinedOp("Max", forIntegers(maxElements[int8], maxElements[int16], maxElements[int32], maxElements[int64], maxElements[uint8], maxElements[uint16], maxElements[uint32], maxElements[uint64]), forFloats(maxElements[float32], maxElements[float64]))
	Min  = newPredefinedOp("Min", forIntegers(minElements[int8], minElements[int16], minElements[int32], minElements[int64], minElements[uint8], minElements[uint16], minElements[uint32], minElements[uint64]), forFloats(minElements[float32], minElements[float64]))
	Sum  = newPredefinedOp("Sum", forIntegers(sumElements[int8], sumElements[int16], sumElements[int32], sumElements[int64], sumElements[uint8], sumElements[uint16], sumElements[uint32], sumElements[uint64]), forFloats(sumElements[float32], sumElements[float64]), forComplexes(sumElements[complex64], sumElements[complex128]))
	Prod = newPredefinedOp("Prod", forIntegers(multiplyElements[int8], multiplyElements[int16], multiplyElements[int32], multiplyElements[int64], multiplyElements[uint8], multiplyElements[uint16], multiplyElements[uint32], multiplyElements[uint64]), forFloats(multiplyElements[float32], multiplyElements[float64]), forComplexes(multiplyElements[complex64], multiplyElements[complex128]))
	Land = newPredefinedOp("Land", forIntegers(logicalAndElements[int8], logicalAndElements[int16], logicalAndElements[int32], logicalAndElements[int64], logicalAndElements[uint8], logicalAndElements[uint16], logicalAndElements[uint32], logicalAndElements[uint64]), forKind(datatype.KindBool, logicalAndElements[uint8]), forFloats(logicalAndElements[float32], logicalAndElements[float64]))
	Lor  = newPredefinedOp("Lor", forIntegers(logicalOrElements[int8], logicalOrElements[int16], logicalOrElements[int32], logicalOrElements[int64], logicalOrElements[uint8], logicalOrElements[uint16], logicalOrElements[uint32], logicalOrElements[uint64]), forKind(datatype.KindBool, logicalOrElements[uint8]), forFloats(logicalOrElements[float32], logicalOrElements[float64]))
	Lxor = newPredefinedOp("Lxor", forIntegers(logicalXorElements[int8], logicalXorElements[int16], logicalXorElements[int32], logicalXorElements[int64], logicalXorElements[uint8], logicalXorElements[uint16], logicalXorElements[uint32], logicalXorElements[uint64]), forKind(datatype.KindBool, logicalXorElements[uint8]), forFloats(logicalXorElements[float32], logicalXorElements[float64]))
	Band = newPredefinedOp("Band", combineBytesForAllKinds(bitwiseAnd))
	Bor  = newPredefinedOp("Bor", combineBytesForAllKinds(bitwiseOr))
	Bxor = newPredefinedOp("Bxor", combineBytesForAllKinds(bitwiseXor))

	MaxLoc = newLocationOp("MaxLoc", func(order int) bool { return order > 0 })
	MinLoc = newLocationOp("MinLoc", func(order int) bool { return order < 0 })
)

// The operations of one-sided communication alone, which reductions do not take.
var (
	Replace = &Op{name: "Replace"} // the second operand becomes the first
	NoOp    = &Op{name: "NoOp"}    // the second operand stays
)

// combinersByKind sets what an operation does to some kinds of elements.
type combinersByKind func(o *Op)

func newPredefinedOp(name string, tables ...combinersByKind) *Op {
	o := &Op{name: name, commutes: true, identity: identityOf(name)}
	for _, t := range tables {
		t(o)
	}
	return o
}

func forKind(k datatype.Kind, f combineElements) combinersByKind {
	return func(o *Op) { o.kinds[k] = f }
}

// forIntegers takes functions for the kinds from Int8 to Uint64, in order.
func forIntegers(f ...combineElements) combinersByKind {
	return func(o *Op) { copy(o.kinds[datatype.KindInt8:datatype.KindUint64+1], f) }
}

func forFloats(f32, f64 combineElements) combinersByKind {
	return func(o *Op) { o.kinds[datatype.KindFloat32], o.kinds[datatype.KindFloat64] = f32, f64 }
}

func forComplexes(c64, c128 combineElements) combinersByKind {
	return func(o *Op) { o.kinds[datatype.KindComplex64], o.kinds[datatype.KindComplex128] = c64, c128 }
}

// combineBytesForAllKinds is for bytes and whatever consists of bits alone: what is done to each
// byte is done to the element.
func combineBytesForAllKinds(f combineElements) combinersByKind {
	return func(o *Op) {
		o.kinds[datatype.KindByte] = f
		for k := datatype.KindInt8; k <= datatype.KindUint64; k++ {
			o.kinds[k] = f
		}
	}
}

func maxElements[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = max(x[i], y[i])
	}
}

func minElements[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = min(x[i], y[i])
	}
}

func sumElements[T number](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = x[i] + y[i]
	}
}

func multiplyElements[T number](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = x[i] * y[i]
	}
}

func logicalAndElements[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = boolValue[T](x[i] != 0 && y[i] != 0)
	}
}

func logicalOrElements[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = boolValue[T](x[i] != 0 || y[i] != 0)
	}
}

func logicalXorElements[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = boolValue[T]((x[i] != 0) != (y[i] != 0))
	}
}

func boolValue[T ordered](b bool) T {
	if b {
		return 1
	}
	return 0
}

func bitwiseAnd(in, inout []byte) {
	for i := range inout {
		inout[i] &= in[i]
	}
}

func bitwiseOr(in, inout []byte) {
	for i := range inout {
		inout[i] |= in[i]
	}
}

func bitwiseXor(in, inout []byte) {
	for i := range inout {
		inout[i] ^= in[i]
	}
}
