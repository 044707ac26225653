package paper

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// messagesBenchmark sends one message by each protocol.
var messagesBenchmark = benchmark{
	texts: map[string]int{"message": 3},
	cells: func(*run, *Experiment) int { return len(model.Protocols) },
	run:   messages,
}

// messages sends one message by each protocol and describes what went over the network: for every
// step a text message(subject, protocol, step).
func messages(ctx context.Context, x *run, e *Experiment, _ uint64, done func(int)) error {
	s := x.sites[e.Subject]
	for i, p := range model.Protocols {
		var log trace.Log
		err := s.once(ctx, p.Name, &log, func(c *mpi.Comm) {
			b := make([]byte, e.Sizes.values[0])
			switch {
			case c.Rank() == s.pair[1]:
				mpi.Recv(c, b, s.pair[0], 0)
			case c.Rank() == s.pair[0]:
				c.Compute(unit.Second) // until the receive is posted
				if p.Synchronous() {
					mpi.Ssend(c, b, s.pair[1], 0)
				} else {
					mpi.Send(c, b, s.pair[1], 0)
				}
			}
		})
		if err != nil {
			return fmt.Errorf("%s on %s: %w", p.Name, s.Name, err)
		}
		var steps []string
		for _, e := range log.Events() {
			way := "sender to receiver"
			if (e.Rank == s.pair[1]) != (e.Kind == trace.Get) { // the data of a get goes the other way
				way = "receiver to sender"
			}
			switch {
			case e.Kind == trace.Put:
				steps = append(steps, way+" with the message, pushed")
			case e.Kind == trace.Get:
				steps = append(steps, way+" with the message, pulled")
			case e.Kind == trace.Send && e.N > 0:
				steps = append(steps, way+" with the message")
			case e.Kind == trace.Send:
				steps = append(steps, way)
			}
		}
		for j, text := range steps {
			x.texts[expr.Key("message", s.ID, p.Name, strconv.Itoa(j+1))] = fmt.Sprintf("%s (%d of %d)", text, j+1, len(steps))
		}
		done(i + 1)
	}
	return nil
}

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
// ready send finds its receive posted. The ranks meet first, so that both know when the send
// begins. It gives the time until each call returns.
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
