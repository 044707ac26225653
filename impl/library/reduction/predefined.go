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
	Max  = newPredefined("Max", forIntegers(maxOf[int8], maxOf[int16], maxOf[int32], maxOf[int64], maxOf[uint8], maxOf[uint16], maxOf[uint32], maxOf[uint64]), forFloats(maxOf[float32], maxOf[float64]))
	Min  = newPredefined("Min", forIntegers(minOf[int8], minOf[int16], minOf[int32], minOf[int64], minOf[uint8], minOf[uint16], minOf[uint32], minOf[uint64]), forFloats(minOf[float32], minOf[float64]))
	Sum  = newPredefined("Sum", forIntegers(sum[int8], sum[int16], sum[int32], sum[int64], sum[uint8], sum[uint16], sum[uint32], sum[uint64]), forFloats(sum[float32], sum[float64]), forComplexes(sum[complex64], sum[complex128]))
	Prod = newPredefined("Prod", forIntegers(prod[int8], prod[int16], prod[int32], prod[int64], prod[uint8], prod[uint16], prod[uint32], prod[uint64]), forFloats(prod[float32], prod[float64]), forComplexes(prod[complex64], prod[complex128]))
	Land = newPredefined("Land", forIntegers(land[int8], land[int16], land[int32], land[int64], land[uint8], land[uint16], land[uint32], land[uint64]), forKind(datatype.KindBool, land[uint8]))
	Lor  = newPredefined("Lor", forIntegers(lor[int8], lor[int16], lor[int32], lor[int64], lor[uint8], lor[uint16], lor[uint32], lor[uint64]), forKind(datatype.KindBool, lor[uint8]))
	Lxor = newPredefined("Lxor", forIntegers(lxor[int8], lxor[int16], lxor[int32], lxor[int64], lxor[uint8], lxor[uint16], lxor[uint32], lxor[uint64]), forKind(datatype.KindBool, lxor[uint8]))
	Band = newPredefined("Band", forBits(band))
	Bor  = newPredefined("Bor", forBits(bor))
	Bxor = newPredefined("Bxor", forBits(bxor))

	MaxLoc = newLocating("MaxLoc", func(order int) bool { return order > 0 })
	MinLoc = newLocating("MinLoc", func(order int) bool { return order < 0 })
)

// The operations of one-sided communication alone, which reductions do not take.
var (
	Replace = &Op{name: "Replace"} // the second operand becomes the first
	NoOp    = &Op{name: "NoOp"}    // the second operand stays
)

// kindTable sets what an operation does to some kinds of elements.
type kindTable func(o *Op)

func newPredefined(name string, tables ...kindTable) *Op {
	o := &Op{name: name, commutes: true, sort: identityOf(name)}
	for _, t := range tables {
		t(o)
	}
	return o
}

func forKind(k datatype.Kind, f combineElements) kindTable { return func(o *Op) { o.kinds[k] = f } }

// forIntegers takes functions for the kinds from Int8 to Uint64, in order.
func forIntegers(f ...combineElements) kindTable {
	return func(o *Op) { copy(o.kinds[datatype.KindInt8:datatype.KindUint64+1], f) }
}

func forFloats(f32, f64 combineElements) kindTable {
	return func(o *Op) { o.kinds[datatype.KindFloat32], o.kinds[datatype.KindFloat64] = f32, f64 }
}

func forComplexes(c64, c128 combineElements) kindTable {
	return func(o *Op) { o.kinds[datatype.KindComplex64], o.kinds[datatype.KindComplex128] = c64, c128 }
}

// forBits is for bytes and whatever consists of bits alone: what is done to each byte is done to
// the element.
func forBits(f combineElements) kindTable {
	return func(o *Op) {
		o.kinds[datatype.KindByte] = f
		for k := datatype.KindInt8; k <= datatype.KindUint64; k++ {
			o.kinds[k] = f
		}
	}
}

func maxOf[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = max(x[i], y[i])
	}
}

func minOf[T ordered](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = min(x[i], y[i])
	}
}

func sum[T number](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = x[i] + y[i]
	}
}

func prod[T number](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = x[i] * y[i]
	}
}

func land[T integer](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = boolValue[T](x[i] != 0 && y[i] != 0)
	}
}

func lor[T integer](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = boolValue[T](x[i] != 0 || y[i] != 0)
	}
}

func lxor[T integer](in, inout []byte) {
	x, y := elementsOf[T](in), elementsOf[T](inout)
	for i := range y {
		y[i] = boolValue[T]((x[i] != 0) != (y[i] != 0))
	}
}

func boolValue[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

func band(in, inout []byte) {
	for i := range inout {
		inout[i] &= in[i]
	}
}

func bor(in, inout []byte) {
	for i := range inout {
		inout[i] |= in[i]
	}
}

func bxor(in, inout []byte) {
	for i := range inout {
		inout[i] ^= in[i]
	}
}
