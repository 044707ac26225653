package enginetest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// wordShapes are types of 8-byte words with different layouts.
func wordShapes() map[string]*mpi.Datatype {
	return map[string]*mpi.Datatype{
		"in a row":  mustCommit(datatype.Contiguous(6, mpi.Float64)),
		"columns":   mustCommit(datatype.Vector(3, 2, 5, mpi.Float64)),
		"backwards": mustCommit(datatype.Hvector(6, 1, -24, mpi.Float64)),
		"scattered": mustCommit(datatype.Indexed([]int{1, 3, 0, 2}, []int{9, 0, 4, 5}, mpi.Float64)),
		"bounded":   mustCommit(datatype.Struct([]int{1, 6, 1}, []int{-16, 0, 80}, []*mpi.Datatype{datatype.LB, mpi.Float64, datatype.UB})),
	}
}

// newTextBuffer returns a buffer of count elements with no spare memory, filled with a text.
func newTextBuffer(t *mpi.Datatype, count, seed int) mpi.Buffer {
	low, end := mpi.Buffer{Count: count, Type: t}.DataRange()
	return mpi.Buffer{Bytes: program.Payload(end-low, seed), Origin: -low, Count: count, Type: t}
}

func packData(b mpi.Buffer) []byte {
	flat := make([]byte, b.Len())
	b.Pack(flat, 0)
	return flat
}

// checkShapes sends data between all pairs of layouts with the same elements, in all modes,
// blocking and nonblocking, and checks that no other memory changes.
func checkShapes(c *mpi.Comm) error {
	c.AttachBuffer(make([]byte, 1<<16))
	tag := 0
	names := []string{"in a row", "columns", "backwards", "scattered", "bounded"}
	all := wordShapes()
	for i, from := range names {
		for k, to := range names {
			for _, count := range []int{0, 1, 7, 40} {
				tag++
				if c.Rank() == 0 {
					out := newTextBuffer(all[from], count, tag)
					r := nonBlockingSends(c)[(i+k)%3](out, 1, tag)
					r.Wait()
					clear(out.Bytes)
					blockingSends(c)[(i+k)%3](newTextBuffer(all[from], count, -tag), 1, tag)
					continue
				}
				for _, seed := range []int{tag, -tag} {
					sent, in := newTextBuffer(all[from], count, seed), newTextBuffer(all[to], count+1, 99)
					want := newTextBuffer(all[to], count+1, 99)
					want.Unpack(packData(sent), 0)
					st := c.Recv(in, 0, tag)
					if st.Bytes != sent.Len() || !bytes.Equal(in.Bytes, want.Bytes) {
						return fmt.Errorf("%d elements %s became elements %s: %+v, %v, want %v", count, from, to, st, in.Bytes, want.Bytes)
					}
				}
			}
		}
	}
	c.DetachBuffer()
	return nil
}

// checkSendrecvReplace checks SendrecvReplace with and without gaps.
func checkSendrecvReplace(c *mpi.Comm) error {
	next, before := (c.Rank()+1)%3, (c.Rank()+2)%3
	for tag, name := range []string{"in a row", "columns"} {
		b, sent := newTextBuffer(wordShapes()[name], 9, c.Rank()), newTextBuffer(wordShapes()[name], 9, before)
		want := slices.Clone(b.Bytes)
		wanted := b
		wanted.Bytes = want
		wanted.Unpack(packData(sent), 0)
		if st := c.SendrecvReplace(b, next, tag, before, mpi.AnyTag); st != (mpi.Status{Source: before, Tag: tag, Bytes: sent.Len()}) || !bytes.Equal(b.Bytes, want) {
			return fmt.Errorf("%s: %+v, %v, want %v", name, st, b.Bytes, want)
		}
	}
	return nil
}

// checkPartialElements receives fewer elements than the buffer holds, and an incomplete one.
func checkPartialElements(c *mpi.Comm) error {
	pair := mustCommit(datatype.Struct([]int{1, 1}, []int{0, 8}, []*mpi.Datatype{mpi.Int32, mpi.Float64}))
	if c.Rank() == 0 {
		c.Send(newTextBuffer(pair, 2, 1), 1, 0)
		mpi.Send(c, []int32{7}, 1, 1)
		mpi.Send(c, program.Payload(36, 3), 1, 2)
		return nil
	}
	in := newTextBuffer(pair, 4, 2)
	st := c.Recv(in, 0, 0)
	one := c.Recv(in, 0, 1)
	raw := mpi.Buffer{Bytes: make([]byte, 36), Count: 36, Type: mpi.Packed}
	any := c.Recv(raw, 0, 2)
	if st.Bytes != 24 || one.Bytes != 4 || any.Bytes != 36 {
		return fmt.Errorf("%+v, %+v, %+v", st, one, any)
	}
	return nil
}
