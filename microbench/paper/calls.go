package paper

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// call is one of MPI's sends.
type call struct {
	name     string // as table 1 has it
	mode     model.Mode
	blocking bool
	start    func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request
}

// blocking makes a call that blocks one of a shape with the others.
func blocking(send func(c *mpi.Comm, b []byte, dst, tag int)) func(*mpi.Comm, []byte, int, int) mpi.Request {
	return func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request {
		send(c, b, dst, tag)
		return mpi.Request{}
	}
}

// sends are the calls of table 1.
var sends = []call{
	{"MPI_Send", model.Standard, true, blocking(mpi.Send[byte])},
	{"MPI_Ssend", model.Synchronous, true, blocking(mpi.Ssend[byte])},
	{"MPI_Rsend", model.Ready, true, blocking(mpi.Rsend[byte])},
	{"MPI_Bsend", model.Buffered, true, blocking(mpi.Bsend[byte])},
	{"MPI_Isend", model.Standard, false, mpi.Isend[byte]},
	{"MPI_Issend", model.Synchronous, false, mpi.Issend[byte]},
	{"MPI_Irsend", model.Ready, false, mpi.Irsend[byte]},
	{"MPI_Ibsend", model.Buffered, false, mpi.Ibsend[byte]},
}

// letWait is how long the peer does nothing: longer than any message of a few kilobytes takes on any of the platforms.
const letWait = unit.Second

// alone says whether a call that took so long returned without any act of its peer.
func alone(took Value) bool { return took.V < letWait.Micros()/2 }

// try lets one rank of the pair send while the other computes, and only then receives. The receive of a ready send is posted before. The
// two meet first, so that both know when the send begins. It returns how long the call took.
func (s *site) try(ctx context.Context, of call, bytes int) (took unit.Time, err error) {
	w, err := s.job.World(ctx, 1)
	if err != nil {
		return 0, err
	}
	err = mpi.Run(w, s.job.Options(""), func(c *mpi.Comm) error {
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
			if of.mode == model.Ready {
				posted = mpi.Irecv(c, b, s.pair[0], 0)
			}
			mpi.Ssend(c, note, s.pair[0], 1)
			c.Compute(letWait)
			if of.mode != model.Ready {
				posted = mpi.Irecv(c, b, s.pair[0], 0)
			}
			posted.Wait()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("%s on %s: %w", of.name, s.Platform, err)
	}
	return took, nil
}
