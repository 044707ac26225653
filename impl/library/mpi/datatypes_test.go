package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// Every constructor makes the type that MPI-1.2, section 3.12.1, defines: want has the bytes, out
// of 24, that an element consists of.
func TestTypes(t *testing.T) {
	holdsEverywhere(t, 2, func(c *mpi.Comm) error {
		for _, x := range []struct {
			name string
			of   *mpi.Datatype
			want []byte
		}{
			{"Contiguous", mpi.Contiguous(3, mpi.Int16), []byte{0, 1, 2, 3, 4, 5}},
			{"Vector", mpi.Vector(2, 2, 3, mpi.Int16), []byte{0, 1, 2, 3, 6, 7, 8, 9}},
			{"Hvector", mpi.Hvector(3, 1, 5, mpi.Int16), []byte{0, 1, 5, 6, 10, 11}},
			{"Indexed", mpi.Indexed([]int{1, 2}, []int{4, 1}, mpi.Int16), []byte{8, 9, 2, 3, 4, 5}},
			{"Hindexed", mpi.Hindexed([]int{1, 2}, []int{7, 0}, mpi.Int16), []byte{7, 8, 0, 1, 2, 3}},
			{"Struct", mpi.Struct([]int{1, 2}, []int{0, 3}, []*mpi.Datatype{mpi.Byte, mpi.Int16}), []byte{0, 3, 4, 5, 6}},
			{"LB, UB", mpi.Contiguous(2, mpi.Struct([]int{1, 1, 1}, []int{-2, 1, 9}, []*mpi.Datatype{mpi.LB, mpi.Byte, mpi.UB})),
				[]byte{1, 12}},
		} {
			row := make([]byte, 24)
			for i := range row {
				row[i] = byte(i)
			}
			b := mpi.Buffer{Bytes: row, Count: 1, Type: x.of.Commit()}
			if c.Rank() == 0 {
				c.Send(b, 1, 3)
				continue
			}
			got := make([]byte, len(x.want))
			if n := c.Recv(mpi.PackedBuffer(got), 0, 3).Bytes; n != len(got) || !slices.Equal(got, x.want) {
				return fmt.Errorf("%s sends %d bytes, %v, not %v", x.name, n, got, x.want)
			}
		}
		return nil
	})
}

// A type that cannot be made ends the rank that asked for it.
func TestNoType(t *testing.T) {
	freed := mpi.Contiguous(2, mpi.Int32)
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		call  string
		class engine.ErrorClass
		text  string
		wrong func()
	}{
		"count":      {"Contiguous", engine.ErrCount, "-1 elements", func() { mpi.Contiguous(-1, mpi.Int32) }},
		"length":     {"Vector", engine.ErrCount, "-2 elements", func() { mpi.Vector(1, -2, 3, mpi.Int32) }},
		"one length": {"Indexed", engine.ErrCount, "-3 elements", func() { mpi.Indexed([]int{1, -3}, []int{0, 4}, mpi.Int32) }},
		"none":       {"Hvector", engine.ErrType, "or of none", func() { mpi.Hvector(1, 1, 1, nil) }},
		"one none":   {"Struct", engine.ErrType, "or of none", func() { mpi.Struct([]int{1}, []int{0}, []*mpi.Datatype{nil}) }},
		"freed":      {"Hindexed", engine.ErrType, "was freed", func() { mpi.Hindexed([]int{1}, []int{0}, freed) }},
		"numbers":    {"Struct", engine.ErrArg, "2 lengths, 1 displacements", func() { mpi.Struct([]int{1, 1}, []int{0}, []*mpi.Datatype{mpi.Byte}) }},
		"too large":  {"Vector", engine.ErrArg, "too large", func() { mpi.Vector(1<<40, 1, 1<<40, mpi.Int32) }},
	} {
		t.Run(name, func(t *testing.T) {
			err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error { only0(func(*mpi.Comm) { x.wrong() })(c); return nil })
			check(t, err, 0, x.call, x.class, x.text)
			check(t, panicked(x.wrong), mpi.NoRank, x.call, x.class, x.text)
		})
	}
}

// check compares an error with the expected rank, call, class and text.
func check(t *testing.T, err error, rank int, call string, class engine.ErrorClass, text string) {
	t.Helper()
	var e *mpi.Error
	if !errors.As(err, &e) || e.Rank != rank || e.Call != call || e.Class != class || !strings.Contains(e.Text, text) {
		t.Errorf("got %v\nwant rank %d: %s: %s with %q", err, rank, call, class, text)
	}
	if e != nil && strings.Contains(e.Error(), "rank -1") {
		t.Errorf("%v names a rank that is none", e)
	}
}

// panicked returns the error with which a function panics.
func panicked(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// Count and Elements return the number of received elements.
func TestCountOfElements(t *testing.T) {
	locally(t, 1, func(c *mpi.Comm) error {
		pair := must(datatype.Struct([]int{1, 1}, []int{0, 8}, []*mpi.Datatype{mpi.Int16, mpi.Float64}))
		none, sparse := must(datatype.Contiguous(0, mpi.Int32)), must(datatype.Vector(10, 1, 3, mpi.Byte)) // 10 of 28 bytes
		for _, x := range []struct {
			n, count, elements int
			t                  *mpi.Datatype
		}{
			{0, 0, 0, pair}, {1, mpi.Undefined, mpi.Undefined, pair}, {2, mpi.Undefined, 1, pair}, {9, mpi.Undefined, mpi.Undefined, pair}, {10, 1, 2, pair},
			{12, mpi.Undefined, 3, pair}, {30, 3, 6, pair}, {31, mpi.Undefined, mpi.Undefined, pair}, {30, 3, 30, sparse}, {25, mpi.Undefined, 25, sparse},
			{0, 0, 0, none}, {4, mpi.Undefined, mpi.Undefined, none}, {12, 3, 3, mpi.Int32},
		} {
			r := mpi.Irecv(c, make([]byte, 100), 0, 1)
			mpi.Send(c, make([]byte, x.n), 0, 1)
			if st := r.Wait(); st.Count(x.t) != x.count || st.Elements(x.t) != x.elements {
				return fmt.Errorf("%d bytes of %v: %d, %d elements, want %d, %d", x.n, x.t, st.Count(x.t), st.Elements(x.t), x.count, x.elements)
			}
		}
		return nil
	})
}

// Packed data travels as bytes, and can be unpacked or received as elements (MPI-1.2, section
// 3.13).
func TestPack(t *testing.T) {
	every := mpi.Vector(3, 1, 2, mpi.Int32).Commit()
	holdsEverywhere(t, 2, func(c *mpi.Comm) error {
		numbers, rest := []int32{1, -1, 2, -2, 3}, []float64{0.5, 0.25}
		size := c.PackSize(1, every) + c.PackSize(2, mpi.Float64)
		if size != 3*4+2*8 {
			return fmt.Errorf("%d bytes to pack", size)
		}
		x := make([]byte, size+3)
		if c.Rank() == 0 {
			at := c.Pack(mpi.Buffer{Bytes: mpi.BytesOf(numbers), Count: 1, Type: every}, x, 0)
			at = c.Pack(mpi.BufferOf(rest), x, at)
			c.Send(mpi.PackedBuffer(x[:at]), 1, 3)
			c.Send(mpi.PackedBuffer(x[:12]), 1, 4)
			return nil
		}
		n := c.Recv(mpi.PackedBuffer(x), 0, 3).Bytes
		into, floats := []int32{9, 9, 9, 9, 9}, []float64{9, 9}
		at := c.Unpack(x, 0, mpi.Buffer{Bytes: mpi.BytesOf(into), Count: 1, Type: every})
		if end := c.Unpack(x, at, mpi.BufferOf(floats)); at != 12 || end != n || n != size {
			return fmt.Errorf("unpacked up to %d and %d of %d", at, end, n)
		}
		if !slices.Equal(into, []int32{1, 9, 2, 9, 3}) || !slices.Equal(floats, rest) {
			return fmt.Errorf("unpacked %v, %v", into, floats)
		}
		got := make([]int32, 3)
		if mpi.Recv(c, got, 0, 4); !slices.Equal(got, []int32{1, 2, 3}) {
			return fmt.Errorf("received %v", got)
		}
		return nil
	})
}

func TestPackFaults(t *testing.T) {
	twice := mpi.Indexed([]int{1, 1}, []int{0, 0}, mpi.Int32).Commit()
	for name, x := range map[string]struct {
		call  string
		class engine.ErrorClass
		text  string
		wrong func(c *mpi.Comm)
	}{
		"no room":    {"Pack", engine.ErrTruncate, "1 of Int32 take 4 bytes, and behind position 5 of 8 there are 3", func(c *mpi.Comm) { c.Pack(mpi.BufferOf([]int32{1}), make([]byte, 8), 5) }},
		"outside":    {"Pack", engine.ErrArg, "position 9 is not within 8 bytes", func(c *mpi.Comm) { c.Pack(mpi.BufferOf([]int32{}), make([]byte, 8), 9) }},
		"before":     {"Unpack", engine.ErrArg, "position -1", func(c *mpi.Comm) { c.Unpack(make([]byte, 8), -1, mpi.BufferOf([]int32{1})) }},
		"too little": {"Unpack", engine.ErrTruncate, "2 of Float64 take 16 bytes", func(c *mpi.Comm) { c.Unpack(make([]byte, 15), 0, mpi.BufferOf([]float64{1, 2})) }},
		"overlap": {"Unpack", engine.ErrType, "overlap", func(c *mpi.Comm) {
			c.Unpack(make([]byte, 8), 0, mpi.Buffer{Bytes: make([]byte, 8), Count: 1, Type: twice})
		}},
		"count":         {"PackSize", engine.ErrCount, "-1 elements", func(c *mpi.Comm) { c.PackSize(-1, mpi.Byte) }},
		"not committed": {"PackSize", engine.ErrType, "not committed", func(c *mpi.Comm) { c.PackSize(1, mpi.Contiguous(2, mpi.Byte)) }},
	} {
		t.Run(name, func(t *testing.T) {
			err := mpi.Run(loop.New(1), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error { x.wrong(c); return nil })
			check(t, err, 0, x.call, x.class, x.text)
		})
	}
}

// A type made of the displacements of a struct's fields sends these fields, as in the example of
// MPI-1.2, section 3.12.10.
func TestDisplacement(t *testing.T) {
	type particle struct {
		class int8
		place [3]float64
		bits  [7]byte
	}
	var p particle
	of := mpi.Struct([]int{1, 3}, []int{mpi.Displacement(&p, &p.class), mpi.Displacement(&p, &p.place)}, []*mpi.Datatype{mpi.Int8, mpi.Float64}).Commit()
	if of.Size() != 25 || mpi.Displacement(&p, &p.bits[6]) != 38 || mpi.Displacement(&p, &p.place[2]) != 24 {
		t.Errorf("%v, and parts at %d and %d", of, mpi.Displacement(&p, &p.bits[6]), mpi.Displacement(&p, &p.place[2]))
	}
	locally(t, 2, func(c *mpi.Comm) error {
		all := []particle{{1, [3]float64{1, 2, 3}, [7]byte{7}}}
		if c.Rank() == 0 {
			c.Send(mpi.Buffer{Bytes: mpi.BytesOf(all), Count: 1, Type: of}, 1, 0)
			return nil
		}
		got := make([]particle, 1)
		c.Recv(mpi.Buffer{Bytes: mpi.BytesOf(got), Count: 1, Type: of}, 0, 0)
		if want := (particle{class: 1, place: all[0].place}); got[0] != want {
			return fmt.Errorf("received %v, not %v", got[0], want)
		}
		return nil
	})
	two := [2]particle{}
	for _, wrong := range []func(){
		func() { mpi.Displacement(&two[0], &two[1].class) },
		func() { mpi.Displacement(&two[1], &two[0].class) },
		func() { mpi.Displacement(&p.place, &p) },
		func() { mpi.Displacement[particle, int8](nil, nil) },
	} {
		check(t, panicked(wrong), mpi.NoRank, "Displacement", engine.ErrArg, "does not point into")
	}
}
