package paper

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/trace"
	"github.com/loggp/loggp/microbench/paper/expr"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Programs that are no benchmark of the timers: each runs once.

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

// once runs a program, with a log of what goes over the network if there is one.
func (s *site) once(ctx context.Context, protocol string, log *trace.Log, program func(c *mpi.Comm)) error {
	w, err := s.job.World(ctx, 1)
	if err != nil {
		return err
	}
	world := mpi.World(w)
	if log != nil {
		world = trace.World(w, log)
	}
	return mpi.Run(world, s.job.Options(protocol), func(c *mpi.Comm) error {
		program(c)
		return nil
	})
}

// micros is a time that is known.
func micros(t unit.Time) expr.Value { return expr.Exactly(t.Micros()) }

// configured are quantities that the platform's file says: the time of the first byte on the wire,
// and what a call that waits does after its protocol is done, at the sender longer than at the
// receiver.
var configured = map[string]int{"wire": 1, "after_protocol": 2}

// descriptions are the texts that answer to published ones, with the number of their arguments.
var descriptions = map[string]int{"description": 1, "clock": 1, "interconnect": 1, "ranks": 1, "message": 3, "equation": 2}

// configure adds what the platform's file says of a subject. H and P of the file are predictions.
func (x *run) configure(s *site) {
	m, library := s.job.Platform.Machine, s.job.Library
	there, _ := s.path()
	x.measured[expr.Key("wire", s.ID)] = micros(model.MessageView(m, library, there).L)
	x.measured[expr.Key("after_protocol", s.ID, "ssend")] = micros(library.Software[model.ProtoSynchronous] - library.Software[model.ProtoComplete])
	if n, ok := m.Network.(*model.Hypernodes); ok {
		x.predicted[expr.Key("H", s.ID)] = expr.Exactly(float64(len(n.Sizes)))
		x.predicted[expr.Key("P", s.ID)] = expr.Exactly(float64(n.Sizes[0]))
	}
	for name, text := range map[string]string{
		"description":  m.Description,
		"clock":        fmt.Sprintf("programs read a clock of %s MHz", expr.Digits(float64(unit.Microsecond)/float64(m.Timer))),
		"interconnect": m.Interconnect(),
		"ranks":        fmt.Sprintf("%d ranks run", s.job.Ranks),
	} {
		x.texts[expr.Key(name, s.ID)] = text
	}
}

// equations adds the texts equation(protocol, symbol): the sums of the models for T_s and T_s-r.
func (x *run) equations() {
	for _, p := range model.Protocols {
		e := p.Equations()
		x.texts[expr.Key("equation", p.Name, "T_s")] = sum(e.Sender[:])
		x.texts[expr.Key("equation", p.Name, "T_s-r")] = sum(e.Delivery[:])
	}
	// One parameter of the model of long messages is 1 and all others are 0.
	const one = unit.Microsecond
	half := []model.Parameters{{SendO: model.Constant(one)}, {L: one}, {RecvO: model.Constant(one)}, {BigGap: unit.PerByte(one)}}
	for _, inside := range []bool{false, true} {
		var n []int
		for _, h := range half {
			n = append(n, int(model.LoGH{Between: h}.OneWay(inside, 2)/one))
		}
		for _, i := range []int{0, 2, 3} {
			n = append(n, int(model.LoGH{Inside: half[i]}.OneWay(inside, 2)/one))
		}
		where := map[bool]string{false: "inter-hypernode, long", true: "intra-hypernode, long"}[inside]
		x.texts[expr.Key("equation", where, "T_s-r")] = sum(n)
	}
}

// sum prints coefficients of o_s, L, o_r, (k−1) G, s_s, s_r and (k−1) S, without those that are zero.
func sum(coefficients []int) string {
	symbols := []string{"o_s", "L", "o_r", "(k−1) G", "s_s", "s_r", "(k−1) S"}
	text := ""
	for i, n := range coefficients {
		text += fmt.Sprintf(" + %d %s", n, symbols[i])
	}
	return tidy(text[len(" + "):])
}

// functions are the checks that no expression can state. They say whether the claim holds, and by
// what.
var functions = map[string]func() (holds bool, evidence string){
	// Each parameter has a value that no sum of the others has.
	"simple_model_is_protocol_model": func() (bool, string) {
		x := model.Parameters{L: 1, SendO: model.Constant(10), RecvO: model.Constant(100), BigGap: 1000}
		protocol, simple := model.Delivery(model.T, x, 1), x.OneWay(1)
		return protocol == simple, fmt.Sprintf("with L = 1, o_s = 10, o_r = 100, G = 1000 and k = 1 the protocol T takes %d, the simple model %d", protocol, simple)
	},
}
