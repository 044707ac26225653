package paper

import (
	"context"
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/trace"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// hop is one message of a protocol as it went over the emulated network.
type hop struct {
	from  model.Where
	data  bool // it carried the message
	means model.Means
}

func (h hop) String() string {
	text := fmt.Sprintf("%v to %v", h.from, model.Sender+model.Receiver-h.from)
	switch {
	case !h.data:
		return text
	case h.means == model.ByGet:
		return text + " with the message, pulled"
	case h.means == model.ByPut:
		return text + " with the message, pushed"
	}
	return text + " with the message"
}

// is says whether the message is that of a row of figure 1.
func (h hop) is(r record) bool {
	carries := func(what string) bool { return strings.Contains(r["carries"], what) }
	return r["from"] == h.from.String() && h.data == carries("message") && (h.means == model.ByGet) == carries("pulled") && (h.means == model.ByPut) == carries("pushed")
}

// sequence sends one message by a protocol and writes down what went over the network.
func (s *site) sequence(ctx context.Context, p *model.Protocol) ([]hop, error) {
	const bytes = 1000
	w, err := s.job.World(ctx, 1)
	if err != nil {
		return nil, err
	}
	var log trace.Log
	err = mpi.Run(trace.World(w, &log), s.job.Options(p.Name), func(c *mpi.Comm) error {
		b := make([]byte, bytes)
		switch c.Rank() {
		case s.pair[0]:
			c.Compute(unit.Second) // until the receive is posted
			if p.Synchronous() {
				mpi.Ssend(c, b, s.pair[1], 0)
			} else {
				mpi.Send(c, b, s.pair[1], 0)
			}
		case s.pair[1]:
			mpi.Recv(c, b, s.pair[0], 0)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", p.Name, s.Platform, err)
	}
	var all []hop
	for _, e := range log.Events() {
		side := model.Sender
		if e.Rank == s.pair[1] {
			side = model.Receiver
		}
		switch e.Kind {
		case trace.Send:
			all = append(all, hop{side, e.N > 0, model.ByPacket})
		case trace.Put:
			all = append(all, hop{side, true, model.ByPut})
		case trace.Get: // the data goes the other way
			all = append(all, hop{model.Sender + model.Receiver - side, true, model.ByGet})
		}
	}
	return all, nil
}
