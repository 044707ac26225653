package papers

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// messagesBenchmark sends one message by each protocol.
var messagesBenchmark = Benchmark{
	Texts: map[string]int{"message": 3},
	Parts: func(*Site, *Experiment) int { return len(model.Protocols) },
	Run:   runMessages,
}

// runMessages sends one message by each protocol and describes the packets on the network: a text
// message(subject, protocol, step) for every step.
func runMessages(ctx context.Context, s *Site, e *Experiment, _ uint64, out *Results, done func(int)) error {
	for i, p := range model.Protocols {
		var log trace.Log
		err := s.runProgram(ctx, p.Name, &log, func(c *mpi.Comm) {
			b := make([]byte, e.Sizes[0])
			switch {
			case c.Rank() == s.Pair[1]:
				mpi.Recv(c, b, s.Pair[0], 0)
			case c.Rank() == s.Pair[0]:
				c.Compute(unit.Second) // until the receive is posted
				if p.IsSynchronous() {
					mpi.Ssend(c, b, s.Pair[1], 0)
				} else {
					mpi.Send(c, b, s.Pair[1], 0)
				}
			}
		})
		if err != nil {
			return fmt.Errorf("%s on %s: %w", p.Name, s.Name, err)
		}
		var steps []string
		for _, e := range log.Events() {
			step := "sender to receiver"
			if (e.Rank == s.Pair[1]) != (e.Kind == trace.Get) { // the data of a get travels in the opposite direction
				step = "receiver to sender"
			}
			switch {
			case e.Kind == trace.Put:
				steps = append(steps, step+" with the message, pushed")
			case e.Kind == trace.Get:
				steps = append(steps, step+" with the message, pulled")
			case e.Kind == trace.Send && e.Amount > 0:
				steps = append(steps, step+" with the message")
			case e.Kind == trace.Send:
				steps = append(steps, step)
			}
		}
		for j, text := range steps {
			out.Texts[Key("message", s.ID, p.Name, strconv.Itoa(j+1))] = fmt.Sprintf("%s (%d of %d)", text, j+1, len(steps))
		}
		done(i + 1)
	}
	return nil
}

// idlePeerBenchmark calls each of MPI's sends once while the peer computes.
var idlePeerBenchmark = Benchmark{
	Numbers: map[string]int{"returns": 3},
	Parts:   func(_ *Site, e *Experiment) int { return len(sendCalls) * len(e.Sizes) },
	Run:     runIdlePeer,
}

// sendCall is one of MPI's sends.
type sendCall struct {
	name  string
	ready bool // needs a receive that is posted
	start func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request
}

// completedSend turns a blocking send into one that returns a completed request.
func completedSend(send func(c *mpi.Comm, b []byte, dst, tag int)) func(*mpi.Comm, []byte, int, int) mpi.Request {
	return func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request {
		send(c, b, dst, tag)
		return mpi.Request{}
	}
}

var sendCalls = []sendCall{
	{"send", false, completedSend(mpi.Send[byte])}, {"ssend", false, completedSend(mpi.Ssend[byte])},
	{"rsend", true, completedSend(mpi.Rsend[byte])}, {"bsend", false, completedSend(mpi.Bsend[byte])},
	{"isend", false, mpi.Isend[byte]}, {"issend", false, mpi.Issend[byte]}, {"irsend", true, mpi.Irsend[byte]}, {"ibsend", false, mpi.Ibsend[byte]},
}

// peerComputeTime is longer than the transfer of any message of a few kilobytes.
const peerComputeTime = unit.Second

// runIdlePeer lets one rank of the pair send while the other computes and only then receives; for a
// ready send the receive is posted before. A message ahead of that tells the sender when to begin.
// returns(subject, call, bytes) is the time until the call returns.
func runIdlePeer(ctx context.Context, s *Site, e *Experiment, _ uint64, out *Results, done func(int)) error {
	for i, send := range sendCalls {
		for j, bytes := range e.Sizes {
			var took unit.Time
			err := s.runProgram(ctx, "", nil, func(c *mpi.Comm) {
				b, note := make([]byte, bytes), make([]byte, 1)
				switch c.Rank() {
				case s.Pair[0]:
					c.AttachBuffer(make([]byte, bytes+mpi.BsendOverhead))
					mpi.Recv(c, note, s.Pair[1], 1)
					begin := c.Wtime()
					request := send.start(c, b, s.Pair[1], 0)
					took = c.Wtime() - begin
					request.Wait()
					c.DetachBuffer()
				case s.Pair[1]:
					var posted mpi.Request
					if send.ready {
						posted = mpi.Irecv(c, b, s.Pair[0], 0)
					}
					mpi.Ssend(c, note, s.Pair[0], 1)
					c.Compute(peerComputeTime)
					if !send.ready {
						posted = mpi.Irecv(c, b, s.Pair[0], 0)
					}
					posted.Wait()
				}
			})
			if err != nil {
				return fmt.Errorf("%s on %s: %w", send.name, s.Name, err)
			}
			out.Numbers[Key("returns", s.ID, send.name, strconv.Itoa(bytes))] = took.Micros()
			done(i*len(e.Sizes) + j + 1)
		}
	}
	return nil
}
