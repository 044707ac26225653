package papers

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// nodeInterfaceBenchmark uses the interface between two nodes of a fat tree without a library:
// programmed I/O by each kind of access, both priorities, and remote writes. Sizes are those of
// blocks.
var nodeInterfaceBenchmark = Benchmark{
	Numbers: map[string]int{"pio_send": 3, "pio_receive": 3, "pio_latency": 3, "rdma": 2, "drained": 2, "held_up": 2},
	Parts:   func(_ *Site, e *Experiment) int { return len(pioAccesses)*len(pioMessageSizes) + len(e.Sizes) + 2 },
	Run:     runNodeInterface,
}

// pioAccesses are the kinds of loads and stores with which processors move messages, and
// pioMessageSizes the lengths of messages with their headers, in bytes.
var (
	pioAccesses     = []string{"word", "burst"}
	pioMessageSizes = []int{16, 64}
)

// nodePair is two nodes of a subject whose ports are used directly.
type nodePair struct {
	ctx      context.Context
	seed     uint64
	site     *Site
	tree     *model.FatTree
	platform platform.Platform
}

func newNodePair(ctx context.Context, s *Site, seed uint64) (*nodePair, error) {
	on, _, err := s.placeRanks("1+1")
	if err != nil {
		return nil, err
	}
	tree, ok := on.Machine.Network.(*model.FatTree)
	if !ok || tree.PriorityQueueLength == 0 {
		return nil, fmt.Errorf("%s: platform %s has no interface with programmed I/O and priorities", s.Name, s.Platform)
	}
	return &nodePair{ctx, seed, s, tree, *on}, nil
}

// run runs one program on each of the two nodes. If wordsOnly is set their processors have no burst
// accesses.
func (x *nodePair) run(wordsOnly bool, programs ...func(p device.Port)) error {
	machine, tree, on := *x.platform.Machine, *x.tree, x.platform
	machine.TimerResolution = 1 // times are shorter than the resolution of the machine's clock
	if wordsOnly {
		tree.Send.Burst, tree.Receive.Burst = model.AccessWidth{}, model.AccessWidth{}
	}
	machine.Network, on.Machine = &tree, &machine
	j, err := job.NewForAnyLibrary(&on, x.site.Library, len(programs), x.site.Job.Noise)
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

// runNodeInterface measures, in microseconds, pio_send(subject, access, bytes), pio_receive, and
// pio_latency, from the call of a send until a waiting receiver has the message; in MB/s
// rdma(subject, bytes), of a block from the call until its sender sees the completion;
// drained(subject, priority), the messages that arrive while the queue of the other priority is
// full; and held_up(subject, priority), how long in microseconds the interface refuses a message
// during a remote write.
func runNodeInterface(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	x, err := newNodePair(ctx, s, seed)
	if err != nil {
		return err
	}
	parts := 0
	for _, access := range pioAccesses {
		for _, bytes := range pioMessageSizes {
			send, receive, latency, err := x.timeMessage(access == "word", bytes-x.tree.Packet.Header, max(e.Reps, 1))
			if err != nil {
				return err
			}
			of := []string{s.ID, access, strconv.Itoa(bytes)}
			out.Numbers[Key("pio_send", of...)] = send.Micros()
			out.Numbers[Key("pio_receive", of...)] = receive.Micros()
			out.Numbers[Key("pio_latency", of...)] = latency.Micros()
			parts++
			done(parts)
		}
	}
	for _, bytes := range e.Sizes {
		took, err := x.timeRemoteWrite(bytes)
		if err != nil {
			return err
		}
		out.Numbers[Key("rdma", s.ID, strconv.Itoa(bytes))] = float64(bytes) / took.Micros()
		parts++
		done(parts)
	}
	for pri, name := range []string{device.LowPriority: "low", device.HighPriority: "high"} {
		n, err := x.countDrained(device.Priority(pri))
		if err != nil {
			return err
		}
		late, err := x.timeHeldUp(device.Priority(pri))
		if err != nil {
			return err
		}
		out.Numbers[Key("drained", s.ID, name)] = float64(n)
		out.Numbers[Key("held_up", s.ID, name)] = late.Micros()
		parts++
		done(parts)
	}
	return nil
}

// messageSpacing is longer than the transfer of a message, so that messages do not overlap.
const messageSpacing = 100 * unit.Microsecond

// timeMessage returns the processor time of sending and receiving a message, and its latency to a
// waiting receiver: means of some rounds. All ranks of an emulated machine read the same clock.
func (x *nodePair) timeMessage(wordsOnly bool, payload, rounds int) (send, receive, latency unit.Time, err error) {
	starts := make([]unit.Time, rounds) // of sends
	err = x.run(wordsOnly, func(p device.Port) {
		b := make([]byte, payload)
		for i := range rounds {
			p.Delay(2 * messageSpacing)
			starts[i] = p.Now()
			p.Channel().Send(1, device.LowPriority, b)
			send += p.Now() - starts[i]
			p.Delay(2 * messageSpacing)
			p.Channel().Send(1, device.LowPriority, b)
		}
	}, func(p device.Port) {
		for i := range rounds {
			for p.Channel().Recv(device.LowPriority) == nil {
			}
			latency += p.Now() - starts[i]
			p.Delay(3 * messageSpacing) // until the next one has arrived long ago
			begin := p.Now()
			p.Channel().Recv(device.LowPriority)
			receive += p.Now() - begin
		}
	})
	n := unit.Time(rounds)
	return send / n, receive / n, latency / n, err
}

// timeRemoteWrite returns the time of a remote write until its rank sees the completion.
func (x *nodePair) timeRemoteWrite(bytes int) (took unit.Time, err error) {
	err = x.run(false, func(p device.Port) {
		p.Delay(messageSpacing) // until the memory is exposed
		begin := p.Now()
		p.Memory().Put(1, 0, 0, make([]byte, bytes), device.Head{})
		p.Recv(true)
		took = p.Now() - begin
	}, func(p device.Port) { p.Memory().Expose(make([]byte, bytes)) })
	return took, err
}

// countDrained returns how many of 100 messages with a priority arrive while the queue of the other
// priority is full and is not emptied.
func (x *nodePair) countDrained(pri device.Priority) (n int, err error) {
	const messages = 100
	err = x.run(false, func(p device.Port) {
		b := make([]byte, x.tree.Packet.Payload)
		for p.Channel().Send(1, device.HighPriority-pri, b) {
		}
		for range messages {
			for !p.Channel().Send(1, pri, b) {
				p.Delay(unit.Microsecond)
			}
		}
	}, func(p device.Port) {
		for end := p.Now() + messages*messageSpacing; p.Now() < end; p.Delay(unit.Microsecond) {
			if p.Channel().Recv(pri) != nil {
				n++
			}
		}
	})
	return n, err
}

// timeHeldUp returns how long the interface refuses a message with a priority that is sent when a
// remote write of a megabyte begins.
func (x *nodePair) timeHeldUp(pri device.Priority) (refused unit.Time, err error) {
	const bytes = 1 << 20
	err = x.run(false, func(p device.Port) {
		p.Delay(messageSpacing)
		p.Memory().Put(1, 0, 0, make([]byte, bytes), device.Head{})
		begin := p.Now()
		for !p.Channel().Send(1, pri, make([]byte, 8)) {
			p.Delay(unit.Microsecond)
			refused = p.Now() - begin
		}
		p.Recv(true)
	}, func(p device.Port) {
		p.Memory().Expose(make([]byte, bytes))
		p.Delay(unit.Second) // a message to a rank that has ended is dropped
	})
	return refused, err
}
