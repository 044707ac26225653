package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
)

// What is packed travels as bytes, and is unpacked or received as what it is (MPI-1.2, §3.13).
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
			at := c.Pack(mpi.Buffer{Bytes: mpi.Raw(numbers), Count: 1, Type: every}, x, 0)
			at = c.Pack(mpi.Of(rest), x, at)
			c.Send(mpi.Packing(x[:at]), 1, 3)
			c.Send(mpi.Packing(x[:12]), 1, 4)
			return nil
		}
		n := c.Recv(mpi.Packing(x), 0, 3).Bytes
		into, floats := []int32{9, 9, 9, 9, 9}, []float64{9, 9}
		at := c.Unpack(x, 0, mpi.Buffer{Bytes: mpi.Raw(into), Count: 1, Type: every})
		if end := c.Unpack(x, at, mpi.Of(floats)); at != 12 || end != n || n != size {
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
		class engine.Class
		text  string
		wrong func(c *mpi.Comm)
	}{
		"no room":    {"Pack", engine.ErrTruncate, "1 of Int32 take 4 bytes, and behind position 5 of 8 there are 3", func(c *mpi.Comm) { c.Pack(mpi.Of([]int32{1}), make([]byte, 8), 5) }},
		"outside":    {"Pack", engine.ErrArg, "position 9 is not within 8 bytes", func(c *mpi.Comm) { c.Pack(mpi.Of([]int32{}), make([]byte, 8), 9) }},
		"before":     {"Unpack", engine.ErrArg, "position -1", func(c *mpi.Comm) { c.Unpack(make([]byte, 8), -1, mpi.Of([]int32{1})) }},
		"too little": {"Unpack", engine.ErrTruncate, "2 of Float64 take 16 bytes", func(c *mpi.Comm) { c.Unpack(make([]byte, 15), 0, mpi.Of([]float64{1, 2})) }},
		"overlap": {"Unpack", engine.ErrType, "overlap", func(c *mpi.Comm) {
			c.Unpack(make([]byte, 8), 0, mpi.Buffer{Bytes: make([]byte, 8), Count: 1, Type: twice})
		}},
		"count":         {"PackSize", engine.ErrCount, "-1 elements", func(c *mpi.Comm) { c.PackSize(-1, mpi.Byte) }},
		"not committed": {"PackSize", engine.ErrType, "not committed", func(c *mpi.Comm) { c.PackSize(1, mpi.Contiguous(2, mpi.Byte)) }},
	} {
		t.Run(name, func(t *testing.T) {
			err := mpi.Run(loop.New(1), mpi.Options{Engine: carry, Library: enginetest.By("T")}, func(c *mpi.Comm) error { x.wrong(c); return nil })
			check(t, err, 0, x.call, x.class, x.text)
		})
	}
}

// Fields of a struct are sent by a type that is made of their displacements, as in the example of
// MPI-1.2, §3.12.10.
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
			c.Send(mpi.Buffer{Bytes: mpi.Raw(all), Count: 1, Type: of}, 1, 0)
			return nil
		}
		got := make([]particle, 1)
		c.Recv(mpi.Buffer{Bytes: mpi.Raw(got), Count: 1, Type: of}, 0, 0)
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
