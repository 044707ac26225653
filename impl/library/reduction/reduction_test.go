package reduction

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
)

// raw returns the bytes of elements.
func raw[T any](x ...T) []byte {
	b := make([]byte, 0, 64)
	for i := range x {
		b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&x[i])), unsafe.Sizeof(x[i]))...)
	}
	return b
}

type combined struct {
	op              *Op
	of              *datatype.Type
	in, inout, want []byte
}

// Values of §4.9.2 and §4.9.3 by hand, among them those at which an operation could go wrong:
// signs, zeros, the other half of a word.
var combinations = []combined{
	{Max, datatype.Int8, raw[int8](-1, 5), raw[int8](1, -6), raw[int8](1, 5)},
	{Max, datatype.Uint8, raw[uint8](255, 5), raw[uint8](1, 6), raw[uint8](255, 6)},
	{Max, datatype.Float64, raw(-1.5, 2), raw(-2.5, math.Inf(1)), raw(-1.5, math.Inf(1))},
	{Min, datatype.Int16, raw[int16](-300, 5), raw[int16](300, -6), raw[int16](-300, -6)},
	{Min, datatype.Uint64, raw[uint64](1<<63, 5), raw[uint64](1, 6), raw[uint64](1, 5)},
	{Min, datatype.Float32, raw[float32](-1.5, 2), raw[float32](-2.5, 3), raw[float32](-2.5, 2)},
	{Sum, datatype.Int32, raw[int32](1<<31-1, -2), raw[int32](1, -3), raw[int32](-1<<31, -5)},
	{Sum, datatype.Uint16, raw[uint16](65535), raw[uint16](2), raw[uint16](1)},
	{Sum, datatype.Complex64, raw[complex64](1 + 2i), raw[complex64](3 - 5i), raw[complex64](4 - 3i)},
	{Prod, datatype.Int64, raw[int64](-1<<40, 0), raw[int64](4, 7), raw[int64](-1<<42, 0)},
	{Prod, datatype.Uint32, raw[uint32](1 << 31), raw[uint32](3), raw[uint32](1 << 31)},
	{Prod, datatype.Complex128, raw(1 + 2i), raw(3 - 5i), raw(13 + 1i)},
	{Land, datatype.Bool, raw(true, true, false), raw(true, false, false), raw(true, false, false)},
	{Land, datatype.Int32, raw[int32](256, 0), raw[int32](512, 1), raw[int32](1, 0)},
	{Lor, datatype.Bool, raw(true, false), raw(false, false), raw(true, false)},
	{Lor, datatype.Int64, raw[int64](1<<40, 0), raw[int64](0, 0), raw[int64](1, 0)},
	{Lxor, datatype.Bool, raw(true, true, false), raw(true, false, false), raw(false, true, false)},
	{Lxor, datatype.Uint16, raw[uint16](256, 0), raw[uint16](512, 3), raw[uint16](0, 1)},
	{Band, datatype.Byte, raw[byte](0xf0), raw[byte](0x3c), raw[byte](0x30)},
	{Bor, datatype.Int32, raw[int32](1 << 20), raw[int32](5), raw[int32](1<<20 | 5)},
	{Bxor, datatype.Uint64, raw[uint64](1<<63 | 1), raw[uint64](3), raw[uint64](1<<63 | 2)},
	{MaxLoc, datatype.Float64Int32, raw(valueWithIndex[float64, int32]{2, 7}), raw(valueWithIndex[float64, int32]{1, 3}), raw(valueWithIndex[float64, int32]{2, 7})},
	{MaxLoc, datatype.Int32Int32, raw(valueWithIndex[int32, int32]{2, 7}), raw(valueWithIndex[int32, int32]{2, 3}), raw(valueWithIndex[int32, int32]{2, 3})},
	{MinLoc, datatype.Float64Float64, raw(valueWithIndex[float64, float64]{2, 7}), raw(valueWithIndex[float64, float64]{2, 3}), raw(valueWithIndex[float64, float64]{2, 3})},
	{MaxLoc, datatype.Float32Float32, raw(valueWithIndex[float32, float32]{2, 7}), raw(valueWithIndex[float32, float32]{1, 3}), raw(valueWithIndex[float32, float32]{2, 7})},
	{MinLoc, datatype.Int16Int32, raw(valueWithIndex[int16, int32]{-2, 7}), raw(valueWithIndex[int16, int32]{2, 3}), raw(valueWithIndex[int16, int32]{-2, 7})},
	{MinLoc, datatype.Float32Int32, raw(valueWithIndex[float32, int32]{1, 7}), raw(valueWithIndex[float32, int32]{1, 9}), raw(valueWithIndex[float32, int32]{1, 7})},
}

// data returns the bytes of elements without what lies between them.
func data(b []byte, t *datatype.Type) []byte {
	flat := make([]byte, len(b))
	return flat[:datatype.Buffer{Bytes: b, Count: len(b) / t.Extent(), Type: t}.Pack(flat, 0)]
}

func TestApply(t *testing.T) {
	for _, c := range combinations {
		if err := c.op.Check(c.of); err != nil {
			t.Error(err)
			continue
		}
		got, n := bytes.Clone(c.inout), len(c.inout)/c.of.Extent()
		c.op.Apply(datatype.Buffer{Bytes: c.in, Count: n, Type: c.of}, datatype.Buffer{Bytes: got, Count: n, Type: c.of})
		if !bytes.Equal(data(got, c.of), data(c.want, c.of)) {
			t.Errorf("%v of %v: % x and % x made % x, not % x", c.op, c.of, c.in, c.inout, got, c.want)
		}
	}
}

// Combining flat data gives the result of Apply. Pairs with gaps, and a user's function, have no
// flat form.
func TestFlat(t *testing.T) {
	some := 0
	for _, c := range combinations {
		flat := c.op.FlatCombiner(c.of)
		if (flat == nil) == c.of.IsContiguous() {
			t.Errorf("%v of %v is combined as it travels: %v", c.op, c.of, flat != nil)
		}
		if flat == nil {
			continue
		}
		some++
		got := bytes.Clone(c.inout)
		if flat(c.in, got); !bytes.Equal(got, c.want) {
			t.Errorf("%v of %v: % x and % x made % x, not % x", c.op, c.of, c.in, c.inout, got, c.want)
		}
	}
	if some == 0 || some == len(combinations) {
		t.Errorf("%d of %d are combined as they travel", some, len(combinations))
	}
	if New(func(_, _ datatype.Buffer) {}, true).FlatCombiner(datatype.Byte) != nil {
		t.Error("a user's function combines what it has not seen")
	}
}

// Operations are for the kinds that the table of §4.9.2 says, and no others but those of
// IsLogicalOfFloats.
func TestCheck(t *testing.T) {
	all := []*datatype.Type{datatype.Byte, datatype.Packed, datatype.Bool, datatype.Int8, datatype.Int16, datatype.Int32, datatype.Int64,
		datatype.Uint8, datatype.Uint16, datatype.Uint32, datatype.Uint64, datatype.Float32, datatype.Float64, datatype.Complex64, datatype.Complex128,
		datatype.Float64Int32}
	for op, want := range map[*Op]string{ // one letter a type of all: x where the operation is for it, f where IsLogicalOfFloats
		Max: "---xxxxxxxxxx---", Min: "---xxxxxxxxxx---",
		Sum: "---xxxxxxxxxxxx-", Prod: "---xxxxxxxxxxxx-",
		Land: "--xxxxxxxxxff---", Lor: "--xxxxxxxxxff---", Lxor: "--xxxxxxxxxff---",
		Band: "x--xxxxxxxx-----", Bor: "x--xxxxxxxx-----", Bxor: "x--xxxxxxxx-----",
		MaxLoc: "---------------x", MinLoc: "---------------x",
	} {
		for i, typ := range all {
			if ok := op.Check(typ) == nil; ok != (want[i] != '-') || op.IsLogicalOfFloats(typ) != (want[i] == 'f') {
				t.Errorf("%v of %v: %v, %v", op, typ, ok, op.IsLogicalOfFloats(typ))
			}
		}
	}
	if (*Op)(nil).Check(datatype.Byte) == nil {
		t.Error("no operation passes")
	}
	if two, err := datatype.Contiguous(2, datatype.Int32); err != nil || Sum.Check(two) == nil {
		t.Error("a sum of derived types passes")
	}
}

// A user's function gets the buffers as they are, and what stands left first.
func TestUser(t *testing.T) {
	minus := New(func(in, inout datatype.Buffer) {
		for i := range inout.Count {
			inout.Bytes[i] = in.Bytes[i] - inout.Bytes[i]
		}
	}, false)
	got := []byte{1, 2}
	minus.Apply(datatype.Buffer{Bytes: []byte{10, 20}, Count: 2, Type: datatype.Byte}, datatype.Buffer{Bytes: got, Count: 2, Type: datatype.Byte})
	if !bytes.Equal(got, []byte{9, 18}) || minus.Commutes() || !Sum.Commutes() {
		t.Errorf("got %v", got)
	}
}

// Pairs lie in memory as Go's structs do.
func TestPairs(t *testing.T) {
	for typ, size := range map[*datatype.Type]uintptr{
		datatype.Float32Int32: unsafe.Sizeof(valueWithIndex[float32, int32]{}),
		datatype.Float64Int32: unsafe.Sizeof(valueWithIndex[float64, int32]{}),
		datatype.Int16Int32:   unsafe.Sizeof(valueWithIndex[int16, int32]{}),
		datatype.Int32Int32:   unsafe.Sizeof(valueWithIndex[int32, int32]{}),
		datatype.Int64Int32:   unsafe.Sizeof(valueWithIndex[int64, int32]{}),
		datatype.Int64Int64:   unsafe.Sizeof(valueWithIndex[int64, int64]{}),
		datatype.Float64Int64: unsafe.Sizeof(valueWithIndex[float64, int64]{}),
	} {
		if typ.Extent() != int(size) {
			t.Errorf("%v is %d bytes long, the struct %d", typ, typ.Extent(), size)
		}
	}
}
