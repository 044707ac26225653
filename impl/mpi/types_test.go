package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
)

// Every constructor makes the type of its definition in MPI-1.2, §3.12.1: the bytes of a row of 24
// that elements of one are sent from.
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
			if n := c.Recv(mpi.Packing(got), 0, 3).Bytes; n != len(got) || !slices.Equal(got, x.want) {
				return fmt.Errorf("%s sends %d bytes, %v, not %v", x.name, n, got, x.want)
			}
		}
		return nil
	})
}

// A type that cannot be made ends the rank that wanted it.
func TestNoType(t *testing.T) {
	freed := mpi.Contiguous(2, mpi.Int32)
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		call  string
		class engine.Class
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
			err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.By("T")}, func(c *mpi.Comm) error { only0(func(*mpi.Comm) { x.wrong() })(c); return nil })
			check(t, err, 0, x.call, x.class, x.text)
			check(t, panicked(x.wrong), mpi.NoRank, x.call, x.class, x.text)
		})
	}
}

// check holds an error to its rank, call, class and words.
func check(t *testing.T, err error, rank int, call string, class engine.Class, text string) {
	t.Helper()
	var e *mpi.Error
	if !errors.As(err, &e) || e.Rank != rank || e.Call != call || e.Class != class || !strings.Contains(e.Text, text) {
		t.Errorf("got %v\nwant rank %d: %s: %s with %q", err, rank, call, class, text)
	}
	if e != nil && strings.Contains(e.Error(), "rank -1") {
		t.Errorf("%v names a rank that is none", e)
	}
}

// panicked returns the error that a function panics with.
func panicked(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// Count and Elements say how many elements were received.
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
