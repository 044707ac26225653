package paper

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// interfaceBenchmark uses the interface between two nodes of a fat tree without a library:
// programmed I/O by each kind of access, both priorities, and remote writes. Sizes are those of
// blocks.
var interfaceBenchmark = benchmark{
	gives: map[string]int{"pio_send": 3, "pio_receive": 3, "pio_latency": 3, "rdma": 2, "drained": 2, "held_up": 2},
	cells: func(_ *run, e *Experiment) int { return len(accesses)*len(pioSizes) + len(e.Sizes.values) + 2 },
	run:   runInterface,
}

// accesses are the kinds of loads and stores by which processors move messages, and pioSizes the
// lengths of messages with their headers.
var (
	accesses = []string{"word", "burst"}
	pioSizes = []int{16, 64}
)

// onInterface is a subject on two nodes whose ports are used directly.
type onInterface struct {
	ctx  context.Context
	seed uint64
	s    *site
	tree *model.FatTree
	on   platform.Platform
}

func (s *site) onInterface(ctx context.Context, seed uint64) (*onInterface, error) {
	on, _, err := s.placed("1+1")
	if err != nil {
		return nil, err
	}
	tree, ok := on.Machine.Network.(*model.FatTree)
	if !ok || tree.Queue == 0 {
		return nil, fmt.Errorf("%s: platform %s has no interface with programmed I/O and priorities", s.Name, s.Platform)
	}
	return &onInterface{ctx, seed, s, tree, *on}, nil
}

// run lets the two ranks of a machine run a program each, or the one whose processors have no
// bursts.
func (x *onInterface) run(words bool, programs ...func(p device.Port)) error {
	machine, tree, on := *x.on.Machine, *x.tree, x.on
	machine.Timer = 1 // times are shorter than the machine's clock can tell
	if words {
		tree.Send.Burst, tree.Receive.Burst = model.Width{}, model.Width{}
	}
	machine.Network, on.Machine = &tree, &machine
	j, err := job.NewAny(&on, x.s.Library, len(programs), x.s.job.Noise)
	if err != nil {
		return err
	}
	w, err := j.World(x.ctx, x.seed)
	if err != nil {
		return err
	}
	return w.Run(func(p device.Port) error {
		programs[p.Rank()](p)
		return nil
	})
}

// runInterface gives in microseconds pio_send(subject, access, bytes), pio_receive and pio_latency,
// which is from the call of a send until a receiver that waits has the message; in MB/s
// rdma(subject, bytes), of a block from the call until its sender knows of the end; and of a
// subject and a priority how many messages arrive while the queue of the other is full, drained,
// and in microseconds how long a message is refused that is sent while a remote write is under way,
// held_up.
func runInterface(ctx context.Context, r *run, e *Experiment, seed uint64, done func(int)) error {
	s := r.sites[e.Subject]
	x, err := s.onInterface(ctx, seed)
	if err != nil {
		return err
	}
	parts := 0
	for _, access := range accesses {
		for _, bytes := range pioSizes {
			send, receive, latency, err := x.message(access == "word", bytes-x.tree.Packet.Header, max(e.Reps, 1))
			if err != nil {
				return err
			}
			of := []string{s.ID, access, strconv.Itoa(bytes)}
			r.measured[expr.Key("pio_send", of...)] = micros(send)
			r.measured[expr.Key("pio_receive", of...)] = micros(receive)
			r.measured[expr.Key("pio_latency", of...)] = micros(latency)
			parts++
			done(parts)
		}
	}
	for _, bytes := range e.Sizes.values {
		took, err := x.write(bytes)
		if err != nil {
			return err
		}
		r.measured[expr.Key("rdma", s.ID, strconv.Itoa(bytes))] = expr.Exactly(float64(bytes) / took.Micros())
		parts++
		done(parts)
	}
	for pri, name := range []string{device.Low: "low", device.High: "high"} {
		n, err := x.drain(device.Priority(pri))
		if err != nil {
			return err
		}
		late, err := x.heldUp(device.Priority(pri))
		if err != nil {
			return err
		}
		r.measured[expr.Key("drained", s.ID, name)] = expr.Exactly(float64(n))
		r.measured[expr.Key("held_up", s.ID, name)] = micros(late)
		parts++
		done(parts)
	}
	return nil
}

// apart is longer than a message takes, so that one does not meet another.
const apart = 100 * unit.Microsecond

// message returns what sending and receiving a message takes of processors, and how long it is on
// its way to a receiver that waits: means of some rounds. The clocks of an emulated machine are
// one.
func (x *onInterface) message(words bool, payload, rounds int) (send, receive, latency unit.Time, err error) {
	at := make([]unit.Time, rounds) // when sends begin
	err = x.run(words, func(p device.Port) {
		b := make([]byte, payload)
		for i := range rounds {
			p.Delay(2 * apart)
			at[i] = p.Now()
			p.Channel().Send(1, device.Low, b)
			send += p.Now() - at[i]
			p.Delay(2 * apart)
			p.Channel().Send(1, device.Low, b)
		}
	}, func(p device.Port) {
		for i := range rounds {
			for p.Channel().Recv(device.Low) == nil {
			}
			latency += p.Now() - at[i]
			p.Delay(3 * apart) // until the next one has been there for some time
			begin := p.Now()
			p.Channel().Recv(device.Low)
			receive += p.Now() - begin
		}
	})
	n := unit.Time(rounds)
	return send / n, receive / n, latency / n, err
}

// write returns how long a remote write takes until its rank knows of the end.
func (x *onInterface) write(bytes int) (took unit.Time, err error) {
	err = x.run(false, func(p device.Port) {
		p.Delay(apart) // until the memory is exposed
		begin := p.Now()
		p.Memory().Put(1, 0, 0, make([]byte, bytes), device.Head{})
		p.Recv(true)
		took = p.Now() - begin
	}, func(p device.Port) { p.Memory().Expose(make([]byte, bytes)) })
	return took, err
}

// drain returns how many of a number of messages with a priority arrive while the queue of the
// other priority is full and is not emptied.
func (x *onInterface) drain(pri device.Priority) (n int, err error) {
	const messages = 100
	err = x.run(false, func(p device.Port) {
		b := make([]byte, x.tree.Packet.Payload)
		for p.Channel().Send(1, device.High-pri, b) {
		}
		for range messages {
			for !p.Channel().Send(1, pri, b) {
				p.Delay(unit.Microsecond)
			}
		}
	}, func(p device.Port) {
		for end := p.Now() + messages*apart; p.Now() < end; p.Delay(unit.Microsecond) {
			if p.Channel().Recv(pri) != nil {
				n++
			}
		}
	})
	return n, err
}

// heldUp returns how long a message with a priority is refused that is sent when a remote write of
// a megabyte begins.
func (x *onInterface) heldUp(pri device.Priority) (late unit.Time, err error) {
	const bytes = 1 << 20
	err = x.run(false, func(p device.Port) {
		p.Delay(apart)
		p.Memory().Put(1, 0, 0, make([]byte, bytes), device.Head{})
		begin := p.Now()
		for !p.Channel().Send(1, pri, make([]byte, 8)) {
			p.Delay(unit.Microsecond)
			late = p.Now() - begin
		}
		p.Recv(true)
	}, func(p device.Port) {
		p.Memory().Expose(make([]byte, bytes))
		p.Delay(unit.Second) // a message to a rank that has ended is dropped
	})
	return late, err
}

// pingPongBenchmark sends messages to and fro, as many programs do that time MPI: it gives half of
// a round trip, in microseconds, ping_pong(subject, bytes).
var pingPongBenchmark = ofTwo(map[string]int{"ping_pong": 2}, func(ctx context.Context, x *run, e *Experiment, s *site, on *platform.Platform, bytes int, seed uint64) error {
	half, err := s.pingPong(ctx, seed, on, bytes, e.Reps)
	x.measured[expr.Key("ping_pong", s.ID, strconv.Itoa(bytes))] = micros(half)
	return err
})

// pingPong returns half of a round trip, the mean of some.
func (s *site) pingPong(ctx context.Context, seed uint64, on *platform.Platform, bytes, rounds int) (half unit.Time, err error) {
	rounds = max(rounds, 1)
	_, err = s.counted(ctx, seed, on, 2, func(c *mpi.Comm) {
		b := make([]byte, bytes)
		c.Barrier()
		begin := c.Wtime()
		for range rounds {
			if c.Rank() == 0 {
				mpi.Send(c, b, 1, 0)
				mpi.Recv(c, b, 1, 0)
			} else {
				mpi.Recv(c, b, 0, 0)
				mpi.Send(c, b, 0, 0)
			}
		}
		if c.Rank() == 0 {
			half = (c.Wtime() - begin) / unit.Time(2*rounds)
		}
	})
	return half, err
}

// routesBenchmark sends messages by each way that a library of engine start has, whatever its
// limits say, and lets several senders send to one receiver at once.
var routesBenchmark = benchmark{
	gives: map[string]int{"by_short": 2, "by_rendezvous": 2, "received": 3},
	cells: func(_ *run, e *Experiment) int { return len(e.Sizes.values) + 2 },
	run:   runRoutes,
}

// senders is how many SMPs send to one.
const senders = 2

// runRoutes gives, in microseconds, half of a round trip by_short(subject, bytes) and
// by_rendezvous; and when the i-th message of the largest size of so many senders, which send at
// once from an SMP each, is complete: received(subject, senders, i).
func runRoutes(ctx context.Context, r *run, e *Experiment, seed uint64, done func(int)) error {
	s := r.sites[e.Subject]
	on, err := s.two()
	if err != nil {
		return err
	}
	for i, bytes := range e.Sizes.values {
		for name, short := range map[string]int{"by_short": 1 << 30, "by_rendezvous": 0} {
			half, err := s.pingPong(ctx, seed, limited(on, s.Library, short), bytes, e.Reps)
			if err != nil {
				return err
			}
			r.measured[expr.Key(name, s.ID, strconv.Itoa(bytes))] = micros(half)
		}
		done(i + 1)
	}
	bytes := e.Sizes.values[len(e.Sizes.values)-1]
	for n := 1; n <= senders; n++ {
		if err := runSenders(ctx, r, s, n, bytes, seed); err != nil {
			return err
		}
		done(len(e.Sizes.values) + n)
	}
	return nil
}

// limited returns a platform on which messages up to a size are short for a library, to all ranks.
func limited(on *platform.Platform, library string, short int) *platform.Platform {
	p := *on
	p.Libraries = nil
	for _, l := range on.Libraries {
		if l.Name == library {
			of := *l
			l = &of
			for i := range l.Short {
				l.Short[i] = short
			}
		}
		p.Libraries = append(p.Libraries, l)
	}
	return &p
}

// runSenders lets each of so many SMPs send to another one.
func runSenders(ctx context.Context, r *run, s *site, n, bytes int, seed uint64) error {
	placement := "1"
	for range n {
		placement += "+1"
	}
	on, ranks, err := s.placed(placement)
	if err != nil {
		return err
	}
	_, err = s.counted(ctx, seed, on, ranks, func(c *mpi.Comm) {
		b := make([]byte, bytes)
		if c.Rank() > 0 {
			c.Barrier()
			mpi.Send(c, b, 0, 0)
			return
		}
		var all []mpi.Request
		for from := 1; from <= n; from++ {
			all = append(all, mpi.Irecv(c, make([]byte, bytes), from, 0))
		}
		c.Barrier()
		begin := c.Wtime()
		for i := range n {
			mpi.WaitAny(all)
			r.measured[expr.Key("received", s.ID, strconv.Itoa(n), strconv.Itoa(i+1))] = micros(c.Wtime() - begin)
		}
	})
	return err
}
