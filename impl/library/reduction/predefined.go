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
	Max  = predefined("Max", integers(maxOf[int8], maxOf[int16], maxOf[int32], maxOf[int64], maxOf[uint8], maxOf[uint16], maxOf[uint32], maxOf[uint64]), floats(maxOf[float32], maxOf[float64]))
	Min  = predefined("Min", integers(minOf[int8], minOf[int16], minOf[int32], minOf[int64], minOf[uint8], minOf[uint16], minOf[uint32], minOf[uint64]), floats(minOf[float32], minOf[float64]))
	Sum  = predefined("Sum", integers(sum[int8], sum[int16], sum[int32], sum[int64], sum[uint8], sum[uint16], sum[uint32], sum[uint64]), floats(sum[float32], sum[float64]), complexes(sum[complex64], sum[complex128]))
	Prod = predefined("Prod", integers(prod[int8], prod[int16], prod[int32], prod[int64], prod[uint8], prod[uint16], prod[uint32], prod[uint64]), floats(prod[float32], prod[float64]), complexes(prod[complex64], prod[complex128]))
	Land = predefined("Land", integers(land[int8], land[int16], land[int32], land[int64], land[uint8], land[uint16], land[uint32], land[uint64]), kind(datatype.KindBool, land[uint8]))
	Lor  = predefined("Lor", integers(lor[int8], lor[int16], lor[int32], lor[int64], lor[uint8], lor[uint16], lor[uint32], lor[uint64]), kind(datatype.KindBool, lor[uint8]))
	Lxor = predefined("Lxor", integers(lxor[int8], lxor[int16], lxor[int32], lxor[int64], lxor[uint8], lxor[uint16], lxor[uint32], lxor[uint64]), kind(datatype.KindBool, lxor[uint8]))
	Band = predefined("Band", bitwise(band))
	Bor  = predefined("Bor", bitwise(bor))
	Bxor = predefined("Bxor", bitwise(bxor))

	MaxLoc = locating("MaxLoc", func(order int) bool { return order > 0 })
	MinLoc = locating("MinLoc", func(order int) bool { return order < 0 })
)

// table sets what an operation does to some kinds of elements.
type table func(o *Op)

func predefined(name string, tables ...table) *Op {
	o := &Op{name: name, commutes: true, sort: sorted(name)}
	for _, t := range tables {
		t(o)
	}
	return o
}

func kind(k datatype.Kind, f elements) table { return func(o *Op) { o.kinds[k] = f } }

// integers takes functions for the kinds from Int8 to Uint64, in order.
func integers(f ...elements) table {
	return func(o *Op) { copy(o.kinds[datatype.KindInt8:datatype.KindUint64+1], f) }
}

func floats(f32, f64 elements) table {
	return func(o *Op) { o.kinds[datatype.KindFloat32], o.kinds[datatype.KindFloat64] = f32, f64 }
}

func complexes(c64, c128 elements) table {
	return func(o *Op) { o.kinds[datatype.KindComplex64], o.kinds[datatype.KindComplex128] = c64, c128 }
}

// bitwise is for bytes and whatever consists of bits alone: what is done to each byte is done to
// the element.
func bitwise(f elements) table {
	return func(o *Op) {
		o.kinds[datatype.KindByte] = f
		for k := datatype.KindInt8; k <= datatype.KindUint64; k++ {
			o.kinds[k] = f
		}
	}
}

func maxOf[T ordered](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = max(x[i], y[i])
	}
}

func minOf[T ordered](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = min(x[i], y[i])
	}
}

func sum[T number](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = x[i] + y[i]
	}
}

func prod[T number](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = x[i] * y[i]
	}
}

func land[T integer](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = truth[T](x[i] != 0 && y[i] != 0)
	}
}

func lor[T integer](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = truth[T](x[i] != 0 || y[i] != 0)
	}
}

func lxor[T integer](in, inout []byte) {
	x, y := view[T](in), view[T](inout)
	for i := range y {
		y[i] = truth[T]((x[i] != 0) != (y[i] != 0))
	}
}

func truth[T integer](b bool) T {
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
