package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// column is a column of a matrix of three rows and columns.
func column(matrix []int32, i int) mpi.Buffer {
	return mpi.Buffer{Bytes: mpi.Raw(matrix), Origin: 4 * i, Count: 1, Type: columns}
}

var columns = mpi.Vector(3, 1, 3, mpi.Int32).Commit()

// Each program is one of two ranks that do the same. says is "" of a program that is right.
var memories = []struct {
	name    string
	says    string
	program func(c *mpi.Comm, other int)
}{
	{"receives beside each other", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		r := []mpi.Request{mpi.Irecv(c, x[:50], other, 0), mpi.Irecv(c, x[50:], other, 1)}
		mpi.Send(c, x[:0], other, 0)
		mpi.Send(c, x[:0], other, 1)
		mpi.WaitAll(r, nil)
	}},
	{"a receive within another", "bytes 0 to 0 of this call and bytes 99 to 99 of Irecv", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x, other, 0)
		mpi.Irecv(c, x[99:], other, 1)
	}},
	{"a receive around another", "bytes 7 to 7 of this call and bytes 0 to 0 of Irecv", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x[7:8], other, 0)
		mpi.Irecv(c, x, other, 1)
	}},
	{"empty receives", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		r := []mpi.Request{mpi.Irecv(c, x, other, 0), mpi.Irecv(c, x[50:50], other, 1)}
		mpi.Send(c, make([]byte, 0), other, 0)
		mpi.Send(c, make([]byte, 0), other, 1)
		mpi.WaitAll(r, nil)
	}},
	{"one after another", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		for range 3 {
			r := mpi.Irecv(c, x, other, 0)
			mpi.Send(c, make([]byte, 100), other, 0)
			r.Wait()
		}
	}},
	{"a receive that has come and is not completed", "bytes 0 to 99 of this call", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x, other, 0)
		mpi.Send(c, make([]byte, 100), other, 0)
		mpi.Sendrecv(c, make([]byte, 1), other, 1, make([]byte, 1), other, 1)
		mpi.Recv(c, x, other, 2)
	}},
	{"sends of the same", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		s := []mpi.Request{mpi.Isend(c, x, other, 0), mpi.Issend(c, x[10:20], other, 1), mpi.Isend(c, x[5:], other, 2)}
		for i := range s {
			mpi.Recv(c, make([]byte, 100), other, i)
		}
		mpi.WaitAll(s, nil)
	}},
	{"a receive over a send", "what is sent may be written over", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Isend(c, x, other, 0)
		mpi.Isend(c, x[50:60], other, 0)
		mpi.Irecv(c, x[98:99], other, 0)
	}},
	{"a receive over a message in the buffer", "", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		c.AttachBuffer(make([]byte, 1000))
		mpi.Bsend(c, x, other, 0)
		s := mpi.Ibsend(c, x, other, 1)
		mpi.Recv(c, x, other, 0)
		mpi.Recv(c, x, other, 1)
		s.Wait()
		c.DetachBuffer()
	}},
	{"a message in the buffer of what is received", "may have been written over", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		c.AttachBuffer(make([]byte, 1000))
		mpi.Irecv(c, x, other, 0)
		mpi.Bsend(c, x, other, 0)
	}},
	{"there and back", "are the same memory", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Sendrecv(c, x, other, 0, x, other, 0)
	}},
	{"there and back in place", "", func(c *mpi.Comm, other int) {
		c.SendrecvReplace(mpi.Of(make([]byte, 100)), other, 0, other, 0)
	}},
	{"columns beside each other", "", func(c *mpi.Comm, other int) {
		m := make([]int32, 9)
		r := []mpi.Request{c.Irecv(column(m, 0), other, 0), c.Irecv(column(m, 2), other, 2)}
		c.Send(column(m, 1), other, 0)
		c.Send(column(m, 1), other, 2)
		mpi.WaitAll(r, nil)
	}},
	{"a column and a row", "bytes 4 to 7 of this call and bytes 4 to 7 of Irecv", func(c *mpi.Comm, other int) {
		m := make([]int32, 9)
		c.Irecv(column(m, 1), other, 0)
		mpi.Irecv(c, m[3:6], other, 1)
	}},
	{"a column that is received is sent", "may have been written over", func(c *mpi.Comm, other int) {
		m := make([]int32, 9)
		c.Irecv(column(m, 1), other, 0)
		c.Isend(column(m, 1), other, 0)
	}},
	{"a collective of what is received", "are the same memory", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		mpi.Irecv(c, x, other, 0)
		mpi.Bcast(c, x, 0)
	}},
}

// What shares memory is found where that is asked for, and nowhere else.
func TestMemoryOfCalls(t *testing.T) {
	for _, m := range memories {
		t.Run(m.name, func(t *testing.T) {
			for _, protocol := range []string{"T", "TA", "RTA", "RAT", "PTAT"} {
				run := func(check bool) error {
					return mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.By(protocol), Check: check}, func(c *mpi.Comm) error {
						m.program(c, 1-c.Rank())
						return nil
					})
				}
				err := run(true)
				if m.says == "" {
					if err != nil {
						t.Errorf("by %s: %v", protocol, err)
					}
					continue
				}
				var e *mpi.Error
				if !errors.As(err, &e) || e.Class != engine.ErrBuffer || !strings.Contains(e.Text, m.says) || !strings.Contains(e.Text, "memory_test.go:") {
					t.Errorf("by %s: %v, want %q", protocol, err, m.says)
				}
				if enginetest.Racing { // it would see what the programs do wrong
					continue
				}
				if err := run(false); errors.As(err, &e) && e.Class == engine.ErrBuffer {
					t.Errorf("by %s, not checked: %v", protocol, err)
				}
			}
		})
	}
}

// To check takes no virtual time.
func TestCheckTakesNoTime(t *testing.T) {
	var ends [2]unit.Time
	for i, check := range []bool{false, true} {
		w, o := t3d(t, 4)
		o.Check = check
		holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
			c.SendrecvReplace(mpi.Of(make([]byte, 3000)), (c.Rank()+1)%4, 0, (c.Rank()+3)%4, 0)
			mpi.Alltoall(c, make([]int32, 400), make([]int32, 400))
			if c.Rank() == 3 {
				ends[i] = c.Wtime()
			}
			return nil
		}))
	}
	if ends[0] != ends[1] || ends[0] == 0 {
		t.Errorf("%v, and %v with the check", ends[0], ends[1])
	}
}
