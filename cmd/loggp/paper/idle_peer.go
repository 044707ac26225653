package paper

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// idlePeerBenchmark calls each of MPI's sends once while the peer computes.
var idlePeerBenchmark = benchmark{
	gives: map[string]int{"returns": 3},
	cells: func(_ *run, e *Experiment) int { return len(calls) * len(e.Sizes.values) },
	run:   idlePeer,
}

// call is one of MPI's sends.
type call struct {
	name  string
	ready bool // needs a receive that is posted
	start func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request
}

// blocking gives a call that blocks the shape of the others.
func blocking(send func(c *mpi.Comm, b []byte, dst, tag int)) func(*mpi.Comm, []byte, int, int) mpi.Request {
	return func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request {
		send(c, b, dst, tag)
		return mpi.Request{}
	}
}

var calls = []call{
	{"send", false, blocking(mpi.Send[byte])}, {"ssend", false, blocking(mpi.Ssend[byte])},
	{"rsend", true, blocking(mpi.Rsend[byte])}, {"bsend", false, blocking(mpi.Bsend[byte])},
	{"isend", false, mpi.Isend[byte]}, {"issend", false, mpi.Issend[byte]}, {"irsend", true, mpi.Irsend[byte]}, {"ibsend", false, mpi.Ibsend[byte]},
}

// idle is how long the peer computes: longer than any message of a few kilobytes takes.
const idle = unit.Second

// idlePeer lets one rank of the pair send while the other computes and only then receives, but a
// ready send finds its receive posted. The ranks meet first, so that both know when the send begins.
// It gives the time until each call returns.
func idlePeer(ctx context.Context, x *run, e *Experiment, _ uint64, done func(int)) error {
	s := x.sites[e.Subject]
	for i, of := range calls {
		for j, bytes := range e.Sizes.values {
			var took unit.Time
			err := s.once(ctx, "", nil, func(c *mpi.Comm) {
				b, note := make([]byte, bytes), make([]byte, 1)
				switch c.Rank() {
				case s.pair[0]:
					c.AttachBuffer(make([]byte, bytes+mpi.BsendOverhead))
					mpi.Recv(c, note, s.pair[1], 1)
					begin := c.Wtime()
					sent := of.start(c, b, s.pair[1], 0)
					took = c.Wtime() - begin
					sent.Wait()
					c.DetachBuffer()
				case s.pair[1]:
					var posted mpi.Request
					if of.ready {
						posted = mpi.Irecv(c, b, s.pair[0], 0)
					}
					mpi.Ssend(c, note, s.pair[0], 1)
					c.Compute(idle)
					if !of.ready {
						posted = mpi.Irecv(c, b, s.pair[0], 0)
					}
					posted.Wait()
				}
			})
			if err != nil {
				return fmt.Errorf("%s on %s: %w", of.name, s.Name, err)
			}
			x.measured[s.key("returns", of.name, auto, bytes)] = micros(took)
			done(i*len(e.Sizes.values) + j + 1)
		}
	}
	return nil
}
