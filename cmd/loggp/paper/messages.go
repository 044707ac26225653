package paper

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/trace"
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
