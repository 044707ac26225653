package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// failures are programs that must fail, with the rank, the call, the MPI error class and the text.
var failures = []struct {
	name    string
	rank    int
	call    string
	class   engine.ErrorClass
	text    string
	program func(c *mpi.Comm)
}{
	{"send to no rank", 0, "Send", engine.ErrRank, "rank 2 is not in a communicator of 2", only0(func(c *mpi.Comm) { mpi.Send[byte](c, nil, 2, 0) })},
	{"send to any rank", 0, "Issend", engine.ErrRank, "rank -1", only0(func(c *mpi.Comm) { mpi.Issend[byte](c, nil, mpi.AnySource, 0) })},
	{"receive from no rank", 0, "Irecv", engine.ErrRank, "rank -3", only0(func(c *mpi.Comm) { mpi.Irecv[byte](c, nil, -3, 0) })},
	{"probe no rank", 0, "Iprobe", engine.ErrRank, "rank 2", only0(func(c *mpi.Comm) { c.Iprobe(2, 0) })},
	{"send with any tag", 0, "Bsend", engine.ErrTag, "tag -1", only0(func(c *mpi.Comm) { mpi.Bsend[byte](c, nil, 1, mpi.AnyTag) })},
	{"send with too large a tag", 0, "Rsend", engine.ErrTag, "tag 2147483648", only0(func(c *mpi.Comm) { mpi.Rsend[byte](c, nil, 1, mpi.MaxTag+1) })},
	{"receive with a bad tag", 0, "Recv", engine.ErrTag, "tag -2", only0(func(c *mpi.Comm) { mpi.Recv[byte](c, nil, 1, -2) })},
	{"wait for all twice", 0, "WaitAll", engine.ErrRequest, "completed before", stale(func(r *mpi.Request, _ []mpi.Request) { mpi.WaitAll([]mpi.Request{*r}, nil) })},
	{"sendrecv from no rank", 0, "Sendrecv", engine.ErrRank, "rank 9", only0(func(c *mpi.Comm) { mpi.Sendrecv[byte, byte](c, nil, 1, 0, nil, 9, 0) })},
	{"sendrecv to no rank", 0, "Sendrecv", engine.ErrRank, "rank 9", only0(func(c *mpi.Comm) { mpi.Sendrecv[byte, byte](c, nil, 9, 0, nil, 1, 0) })},
	{"wait twice", 0, "Wait", engine.ErrRequest, "completed before", stale(func(r *mpi.Request, _ []mpi.Request) { r.Wait() })},
	{"test after wait", 0, "Test", engine.ErrRequest, "completed before", stale(func(r *mpi.Request, _ []mpi.Request) { r.Test() })},
	{"wait for any that was", 0, "WaitAny", engine.ErrRequest, "completed before", stale(func(_ *mpi.Request, old []mpi.Request) { mpi.WaitAny(old) })},
	{"test all that was", 0, "TestAll", engine.ErrRequest, "completed before", stale(func(_ *mpi.Request, old []mpi.Request) { mpi.TestAll(old, nil) })},
	{"a request twice in a list, all", 0, "TestAll", engine.ErrRequest, "completed before", twice(func(reqs []mpi.Request) { mpi.TestAll(reqs, nil) })},
	{"a request twice in a list, some", 0, "WaitSome", engine.ErrRequest, "completed before", twice(func(reqs []mpi.Request) { mpi.WaitSome(reqs, make([]int, 2), nil) })},
	{"detach of nothing", 0, "DetachBuffer", engine.ErrBuffer, "no buffer", only0(func(c *mpi.Comm) { c.DetachBuffer() })},
	{"attach twice", 0, "AttachBuffer", engine.ErrBuffer, "a buffer of 10 bytes is attached", only0(func(c *mpi.Comm) {
		c.AttachBuffer(make([]byte, 10))
		c.AttachBuffer(make([]byte, 10))
	})},
	{"a type that is not committed", 0, "Send", engine.ErrType, "not committed", only0(func(c *mpi.Comm) {
		t, _ := datatype.Contiguous(2, mpi.Int32)
		c.Send(mpi.Buffer{Bytes: make([]byte, 8), Count: 1, Type: t}, 1, 0)
	})},
	{"a type that was freed", 0, "Irecv", engine.ErrType, "was freed", only0(func(c *mpi.Comm) {
		t := must(datatype.Contiguous(2, mpi.Int32))
		t.Free()
		c.Irecv(mpi.Buffer{Bytes: make([]byte, 8), Count: 1, Type: t}, 1, 0)
	})},
	{"a buffer beyond its bytes", 0, "Isend", engine.ErrBuffer, "from byte 4 to byte 12 of a buffer of 8", only0(func(c *mpi.Comm) {
		c.Isend(mpi.Buffer{Bytes: make([]byte, 8), Origin: 4, Count: 2, Type: mpi.Int32}, 1, 0)
	})},
	{"fewer than no elements", 0, "Recv", engine.ErrBuffer, "-1 elements", only0(func(c *mpi.Comm) {
		c.Recv(mpi.Buffer{Bytes: make([]byte, 8), Count: -1, Type: mpi.Int32}, 1, 0)
	})},
	{"elements that overlap", 0, "Recv", engine.ErrType, "overlap", only0(func(c *mpi.Comm) {
		t := must(datatype.Hvector(3, 1, 2, mpi.Int32))
		c.Recv(mpi.Buffer{Bytes: make([]byte, 8), Count: 1, Type: t}, 1, 0)
	})},
	{"start twice", 0, "Start", engine.ErrRequest, "active already", only0(func(c *mpi.Comm) {
		r := mpi.RecvInit(c, make([]byte, 1), 1, 1)
		again := r
		r.Start()
		again.Start()
	})},
	{"start what is complete", 0, "StartAll", engine.ErrRequest, "active already", only0(func(c *mpi.Comm) {
		r := mpi.SendInit(c, []byte("lost"), mpi.ProcNull, 1)
		mpi.StartAll([]mpi.Request{r, r})
	})},
	{"start what is not persistent", 0, "Start", engine.ErrRequest, "not persistent", only0(func(c *mpi.Comm) {
		r := mpi.Irecv(c, make([]byte, 1), 1, 1)
		r.Start()
	})},
	{"start nothing", 0, "Start", engine.ErrRequest, "null", only0(func(c *mpi.Comm) { new(mpi.Request).Start() })},
	{"start nothing of a list", 1, "StartAll", engine.ErrRequest, "null", func(c *mpi.Comm) {
		if c.Rank() == 1 {
			mpi.StartAll([]mpi.Request{mpi.SendInit(c, []byte("lost"), mpi.ProcNull, 1), {}})
		}
		c.Barrier()
	}},
	{"start what was freed", 0, "Start", engine.ErrRequest, "or freed", only0(func(c *mpi.Comm) {
		r := mpi.RecvInit(c, make([]byte, 1), 1, 1)
		again := r
		r.Free()
		again.Start()
	})},
	{"wait for what was freed", 0, "Wait", engine.ErrRequest, "or freed", only0(func(c *mpi.Comm) {
		r := mpi.Irecv(c, make([]byte, 1), 1, 1)
		again := r
		r.Free()
		again.Wait()
	})},
	{"free nothing", 0, "Free", engine.ErrRequest, "null", only0(func(c *mpi.Comm) { new(mpi.Request).Free() })},
	{"free twice", 0, "Free", engine.ErrRequest, "or freed", only0(func(c *mpi.Comm) {
		r := mpi.Irecv(c, make([]byte, 1), 1, 1)
		again := r
		r.Free()
		again.Free()
	})},
	{"cancel nothing", 0, "Cancel", engine.ErrRequest, "null", only0(func(c *mpi.Comm) { new(mpi.Request).Cancel() })},
	{"cancel what was completed", 0, "Cancel", engine.ErrRequest, "completed before", stale(func(r *mpi.Request, _ []mpi.Request) { r.Cancel() })},
	{"cancel what is not active", 0, "Cancel", engine.ErrRequest, "not active", only0(func(c *mpi.Comm) {
		r := mpi.SsendInit(c, make([]byte, 1), 1, 1)
		r.Cancel()
	})},
	{"a persistent send to no rank", 0, "SsendInit", engine.ErrRank, "rank 2", only0(func(c *mpi.Comm) { mpi.SsendInit[byte](c, nil, 2, 1) })},
	{"a persistent send with any tag", 0, "BsendInit", engine.ErrTag, "tag -1", only0(func(c *mpi.Comm) { mpi.BsendInit[byte](c, nil, 1, mpi.AnyTag) })},
	{"a persistent receive from no rank", 0, "RecvInit", engine.ErrRank, "rank -3", only0(func(c *mpi.Comm) { mpi.RecvInit[byte](c, nil, -3, 1) })},
	{"a persistent receive into what overlaps", 0, "RecvInit", engine.ErrType, "overlap", only0(func(c *mpi.Comm) {
		t := must(datatype.Hvector(3, 1, 2, mpi.Int32))
		c.RecvInit(mpi.Buffer{Bytes: make([]byte, 8), Count: 1, Type: t}, 1, 0)
	})},
	{"a persistent send in buffered mode without a buffer", 0, "Start", engine.ErrBuffer, "attached buffer has 0 bytes", only0(func(c *mpi.Comm) {
		r := mpi.BsendInit(c, make([]byte, 8), 1, 1)
		r.Start()
	})},
	{"persistent requests are left", 0, "Finalize", engine.ErrRequest, "2 requests were neither completed nor freed; the first waits for Start or Free, being persistent with rank 1 with tag 7", only0(func(c *mpi.Comm) {
		mpi.RsendInit(c, make([]byte, 8), 1, 7)
		mpi.RecvInit(c, make([]byte, 8), 1, 8)
	})},
	{"a persistent receive is left", 0, "Finalize", engine.ErrRequest, "1 request was neither completed nor freed; the first waits for Start or Free, being persistent with any rank with tag 8", only0(func(c *mpi.Comm) {
		mpi.RecvInit(c, make([]byte, 8), mpi.AnySource, 8)
	})},
	{"a communicator of none", 0, "Include", engine.ErrRank, "rank 2 is not", only0(func(c *mpi.Comm) { c.Create(c.Group().Include([]int{0, 2})) })},
	{"a communicator of one twice", 0, "Include", engine.ErrRank, "named twice", only0(func(c *mpi.Comm) { c.Create(c.Group().Include([]int{0, 0})) })},
}

// only0 returns a program that only rank 0 executes.
func only0(do func(c *mpi.Comm)) func(*mpi.Comm) {
	return func(c *mpi.Comm) {
		if c.Rank() == 0 {
			do(c)
		}
	}
}

// stale uses a copy of a completed request whose operation has been reused.
func stale(use func(*mpi.Request, []mpi.Request)) func(*mpi.Comm) {
	return only0(func(c *mpi.Comm) {
		r := mpi.Irecv[byte](c, nil, 0, 1)
		mpi.Send[byte](c, nil, 0, 1)
		old := r
		r.Wait()
		mpi.Irecv[byte](c, nil, 0, 2)
		use(&old, []mpi.Request{{}, old})
	})
}

// twice uses a list that contains a request twice.
func twice(use func([]mpi.Request)) func(*mpi.Comm) {
	return only0(func(c *mpi.Comm) {
		r := mpi.Irecv[byte](c, nil, 0, 1)
		s := mpi.Isend[byte](c, nil, 0, 1)
		for ok := false; !ok; {
			_, ok = s.Test()
		}
		mpi.Isend[byte](c, nil, 0, 2)
		c.Probe(0, 2) // takes in all messages sent before it
		use([]mpi.Request{r, r})
	})
}

func TestFailures(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			everywhereChecked(t, 2, mpi.CheckStrict, func(c *mpi.Comm) error { f.program(c); return nil }, func(t *testing.T, err error) {
				var e *mpi.Error
				if !errors.As(err, &e) {
					t.Fatalf("Run returned %v, want an error of class %s", err, f.class)
				}
				if e.Rank != f.rank || e.Call != f.call || e.Class != f.class || !strings.Contains(e.Text, f.text) {
					t.Errorf("got %v\nwant rank %d: %s: %s with %q", e, f.rank, f.call, f.class, f.text)
				}
			})
		})
	}
}

// Buffer space of messages that have not left is not available.
func TestBufferFull(t *testing.T) {
	for _, protocol := range []string{"RTA", "RAT", "TA", "PTAT"} {
		for _, p := range places {
			t.Run(p.Name+"/"+protocol, func(t *testing.T) {
				l := enginetest.LibraryOfProtocol(protocol)
				err := mpi.Run(p.Open(t, l, 2), mpi.Options{Engine: carry, Library: l}, only0Error(func(c *mpi.Comm) {
					c.AttachBuffer(make([]byte, 3*(100+mpi.BsendOverhead)))
					for range 4 {
						mpi.Bsend(c, make([]byte, 100), 1, 0)
					}
				}))
				var e *mpi.Error
				if !errors.As(err, &e) || e.Class != engine.ErrBuffer || !strings.Contains(e.Text, "3 messages are in it") {
					t.Errorf("Run returned %v", err)
				}
			})
		}
	}
}

func only0Error(do func(c *mpi.Comm)) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error { only0(do)(c); return nil }
}

// A deadlock report says if a rank waits for its buffered messages to leave.
func TestDeadlockOfBuffered(t *testing.T) {
	l := enginetest.LibraryOfProtocol("RTA")
	w := places[0].Open(t, l, 2)
	for _, detach := range []bool{false, true} {
		err := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, only0Error(func(c *mpi.Comm) {
			c.AttachBuffer(make([]byte, 1000))
			mpi.Bsend(c, make([]byte, 100), 1, 5)
			if detach {
				c.DetachBuffer()
			}
		}))
		want := "rank 0: in Finalize, waits for 1 buffered message to leave"
		if detach {
			want = "rank 0: in DetachBuffer, waits for 1 buffered message to leave"
		}
		if err == nil || !strings.Contains(withoutSite(err), want) {
			t.Errorf("Run returned %v, want %q", err, want)
		}
	}
}

// A rank reports a message that was not received. It first waits for a message that its sender may
// still cancel.
func TestNotReceived(t *testing.T) {
	for _, c := range []struct{ protocol, want string }{
		{"T", "rank 1: Finalize: MPI_ERR_OTHER: 2 messages were not received; the first is from rank 0 with tag 5, of 100 bytes"},
		{"TA", "rank 1: in Finalize, waits for rank 0 to cancel a message of 100 bytes with tag 5 that was not received"},
		{"RAT", "rank 0: in Finalize, waits for 2 operations, of which the first is rank 1 to take a standard message of 100 bytes with tag 5 (protocol RAT)"},
	} {
		for _, p := range places {
			t.Run(p.Name+"/"+c.protocol, func(t *testing.T) {
				l := enginetest.LibraryOfProtocol(c.protocol)
				err := mpi.Run(p.Open(t, l, 2), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
					if c.Rank() == 0 {
						r, s := mpi.Isend(c, make([]byte, 100), 1, 5), mpi.Isend(c, make([]byte, 200), 1, 6)
						r.Free()
						s.Free()
						return nil
					}
					c.Probe(0, 6)
					return nil
				})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Run returned %v, want %q", err, c.want)
				}
			})
		}
	}
}

// If the program has handled the error of a failed call, operations that the call has left do not
// count as open requests.
func TestLeftByFailure(t *testing.T) {
	l := enginetest.LibraryOfProtocol("T")
	w := places[0].Open(t, l, 1)
	if err := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		c.SetErrorHandler(mpi.ErrorsReturn)
		mpi.Send(c, make([]byte, 16), 0, 1)
		if err := c.Catch(func() { mpi.Recv(c, make([]byte, 8), 0, 1) }); mpi.ErrorClass(err) != engine.ErrTruncate {
			return fmt.Errorf("caught %v", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// A program that returns its own error fails with that error, preceded by the rank.
func TestProgramError(t *testing.T) {
	cause := errors.New("cause")
	everywhere(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return cause
		}
		c.Barrier()
		return nil
	}, func(t *testing.T, err error) {
		if !errors.Is(err, cause) || err.Error() != "rank 1: cause" {
			t.Errorf("Run returned %v, want %v of rank 1", err, cause)
		}
	})
	everywhere(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			panic(cause)
		}
		c.Barrier()
		return nil
	}, func(t *testing.T, err error) {
		var f *device.Failure
		if !errors.As(err, &f) || f.Rank != 1 || !errors.Is(err, cause) || !strings.Contains(string(f.Stack), "TestProgramError") {
			t.Errorf("Run returned %v, want a failure of rank 1", err)
		}
	})
}

// Errors name the sender by its rank in the program's communicator, and add its rank in the job if
// that differs.
func TestNamesOfRanks(t *testing.T) {
	const who = "rank 1 of a communicator of 2 (rank 3 of the job)"
	for name, c := range map[string]struct {
		says       string
		send, recv func(half *mpi.Comm)
	}{
		"truncated":  {"the message from " + who + " with tag 4 has 8 bytes, the receive has room for 4", func(h *mpi.Comm) { mpi.Send(h, make([]int32, 2), 0, 4) }, func(h *mpi.Comm) { mpi.Recv(h, make([]int32, 1), 1, 4) }},
		"other kind": {"the message from " + who + " with tag 4 is of Int32, the receive of Float32", func(h *mpi.Comm) { mpi.Send(h, make([]int32, 2), 0, 4) }, func(h *mpi.Comm) { mpi.Recv(h, make([]float32, 2), 1, 4) }},
		"ready": {who + " sent a ready message of 8 bytes with tag 4", func(h *mpi.Comm) { mpi.Rsend(h, make([]int32, 2), 0, 4); mpi.Recv(h, make([]int32, 1), 0, 5) },
			func(h *mpi.Comm) { h.Probe(1, 4) }},
		"together": {who + " gives Int32, and this one takes Float32", func(h *mpi.Comm) { mpi.Bcast(h, make([]int32, 2), 1) }, func(h *mpi.Comm) { mpi.Bcast(h, make([]float32, 2), 1) }},
		"same":     {"the message from rank 3 with tag 4 has 8 bytes", nil, nil},
	} {
		err := mpi.Run(loop.New(4), mpi.Options{Engine: carry, Library: enginetest.T3DLibrary()}, func(comm *mpi.Comm) error {
			h := comm.Split(comm.Rank()%2, 0)
			switch {
			case c.send == nil && comm.Rank() == 3:
				mpi.Send(comm, make([]int32, 2), 1, 4)
			case c.send == nil && comm.Rank() == 1:
				mpi.Recv(comm, make([]int32, 1), 3, 4)
			case comm.Rank() == 3:
				c.send(h)
			case comm.Rank() == 1:
				c.recv(h)
			}
			return nil
		})
		var e *mpi.Error
		if !errors.As(err, &e) || e.Rank != 1 || !strings.Contains(e.Text, c.says) {
			t.Errorf("%s: %v, not %s", name, err, c.says)
		}
	}
}
