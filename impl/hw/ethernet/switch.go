package ethernet

import (
	"fmt"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// switched is stations with a link each to a switch, and uplinks between switches. Switches store
// and forward: a switch forwards a frame one latency after all of it has arrived. Frames that wait
// for a link occupy the buffer of its switch; a frame that finds the buffer full is lost.
type switched struct {
	*model.Ethernet
	j      *core.Job
	up     transport
	count  *Statistics
	prefix string
	links  []link // of stations
	faults core.Noise
	// Of switches: to the first and from it. The first has none.
	toFirst, fromFirst []line
	memory             []int // bytes that wait in each switch
}

// line is one direction of a full-duplex link.
type line struct {
	s       *switched
	rate    core.CachedRate
	gap     unit.Time
	room    int  // bytes that may wait; 0: no bound
	memory  *int // bytes that wait in its switch; nil: it is not bounded
	waits   int  // bytes that do
	queue   []*frame
	began   unit.Time // of the first of the queue
	last    *frame    // that has left
	name    string
	server  sim.Server // names it to the probe
	forward func(f *frame)
}

// link is that of a station: two lines, or a medium that it shares with its switch.
type link struct {
	s       *switched
	in, out line // to the switch, from it
	shared  *medium
	waits   int // bytes that wait in the switch for the medium
}

// Stations of a shared link's medium.
const (
	atStation = iota
	atSwitch
)

func newSwitched(m *model.Ethernet, j *core.Job, e core.Attachment, up transport, count *Statistics) *switched {
	w := m.Switches
	s := &switched{Ethernet: m, j: j, up: up, count: count, prefix: e.NamePrefix, links: make([]link, e.Interfaces), faults: core.NewNoise(j.Seed^apart, -1, 0)}
	s.memory = make([]int, w.Of(e.Interfaces-1)+1)
	for i := range s.links {
		l := &s.links[i]
		l.s = s
		if w.Full {
			l.in = s.line(m.Rate, 0, fmt.Sprintf("station %d out", i), s.atSwitch)
			l.out = s.output(m.Rate, w.Of(i), fmt.Sprintf("station %d in", i), s.up.arrived)
			continue
		}
		l.shared = newMedium(m, &j.Kernel, 2, j.Seed+uint64(i)<<32, j.Probe)
		l.shared.up, l.shared.count, l.shared.prefix = l, count, fmt.Sprintf("%slink %d ", e.NamePrefix, i)
	}
	for i := range w.Of(e.Interfaces-1) + 1 {
		s.toFirst = append(s.toFirst, s.output(w.Uplink, i, fmt.Sprintf("uplink of switch %d up", i), s.atSwitch))
		s.fromFirst = append(s.fromFirst, s.output(w.Uplink, 0, fmt.Sprintf("uplink of switch %d down", i), s.atSwitch))
	}
	return s
}

func (s *switched) line(rate unit.Rate, room int, name string, forward func(*frame)) line {
	return line{s: s, rate: core.CachedRate{Rate: rate}, gap: rate.Time(s.Gap), room: room, name: name, forward: forward}
}

// output is a line from a switch, whose memory it shares with others.
func (s *switched) output(rate unit.Rate, from int, name string, forward func(*frame)) line {
	l := s.line(rate, s.Switches.Buffer, name, forward)
	if s.Switches.Memory > 0 {
		l.memory = &s.memory[from]
	}
	return l
}

// length returns the bytes of a frame on a link.
func (s *switched) length(f *frame) int {
	return s.Preamble + s.Header + max(f.payload, s.MinPayload) + s.FCS
}

// send gives a frame to its station, which keeps as many as its system has.
func (s *switched) send(f *frame) {
	l := &s.links[f.src]
	f.s, f.hop = s, 0
	if l.shared != nil {
		l.shared.sendFrom(atStation, f)
		return
	}
	l.in.send(f)
}

// atSwitch lets a frame be forwarded whose last byte is in a switch. A fault may lose it, or hold
// it back for as long as some others take.
func (s *switched) atSwitch(f *frame) {
	w := s.Switches
	if s.strikes(w.Loss) {
		s.count.Faulty++
		s.count.Lost += f.payload
		s.up.dropped(f)
		return
	}
	t := s.j.Kernel.Now() + w.Latency
	if s.strikes(w.Reorder) {
		t += s.Rate.Time(s.Preamble+s.Header+s.MTU+s.FCS+s.Gap) * unit.Time(1+s.faults.Uint64()%heldBack)
	}
	s.j.Kernel.Schedule(t, (*forwarded)(f), 0)
}

// heldBack is how many of the longest frames a frame that is held back waits for, at most.
const heldBack = 8

// strikes reports whether a fault of a probability strikes.
func (s *switched) strikes(probability float64) bool {
	return probability > 0 && float64(s.faults.Uint64()>>11)/(1<<53) < probability
}

// forwarded is the event of a frame whose switch has found where it goes.
type forwarded frame

// Act gives it to the next link.
func (x *forwarded) Act(uint64) {
	f := (*frame)(x)
	s := f.s
	f.hop++
	if f.dst < 0 {
		s.flood(f)
		return
	}
	from, to := s.Switches.Of(f.src), s.Switches.Of(f.dst)
	switch {
	case from != to && f.hop == 1 && from != 0:
		s.toFirst[from].send(f)
	case from != to && to != 0 && f.hop <= 2 && (from == 0) == (f.hop == 1):
		s.fromFirst[to].send(f)
	default:
		s.links[f.dst].deliver(f)
	}
}

// flood forwards a copy of a frame to all stations of a switch, but for its source, and to the
// other switches. On the way to another switch its destination says which.
func (s *switched) flood(f *frame) {
	w := s.Switches
	from := w.Of(f.src)
	at := from
	if f.hop > 1 {
		at = everyone - 1 - f.dst
	}
	if at != 0 && f.hop == 1 {
		s.toFirst[at].send(s.copy(f, everyone-1))
	}
	if at == 0 {
		for k := range s.fromFirst[1:] {
			if k++; k != from {
				s.fromFirst[k].send(s.copy(f, everyone-1-k))
			}
		}
	}
	for i := at * w.Ports; i < min((at+1)*w.Ports, len(s.links)); i++ {
		if i != f.src {
			s.links[i].deliver(s.copy(f, i))
		}
	}
	s.up.dropped(f)
}

// copy returns a copy of a multicast for a destination.
func (s *switched) copy(f *frame, dst int) *frame {
	c := s.up.newFrame()
	c.s, c.src, c.dst, c.payload, c.hop, c.datagram = s, f.src, dst, f.payload, f.hop, f.datagram
	c.datagram.copies++
	return c
}

// deliver sends a frame from the switch to the station.
func (l *link) deliver(f *frame) {
	if l.shared == nil {
		l.out.send(f)
		return
	}
	n := l.s.length(f)
	if l.waits+n > l.s.Switches.Buffer {
		l.s.lose(f)
		return
	}
	l.waits += n
	l.shared.sendFrom(atSwitch, f)
}

// arrived implements transport: of a shared link's frame, at one of its ends.
func (l *link) arrived(f *frame) {
	if f.hop == 0 {
		l.s.atSwitch(f)
		return
	}
	l.waits -= l.s.length(f)
	l.s.up.arrived(f)
}

// newFrame implements transport, too, as dropped does.
func (l *link) newFrame() *frame { return l.s.up.newFrame() }

func (l *link) dropped(f *frame) {
	if f.hop > 0 {
		l.waits -= l.s.length(f)
	}
	l.s.up.dropped(f)
}

// lose drops a frame that finds the buffer full.
func (s *switched) lose(f *frame) {
	s.count.Overflowed++
	s.count.Lost += f.payload
	s.up.dropped(f)
}

// send transmits a frame over the line, after those that wait for it.
func (l *line) send(f *frame) {
	n := l.s.length(f)
	if l.room > 0 && l.waits+n > l.room || l.memory != nil && *l.memory+n > l.s.Switches.Memory {
		l.s.lose(f)
		return
	}
	l.waits += n
	if l.memory != nil {
		*l.memory += n
	}
	if l.queue = append(l.queue, f); len(l.queue) == 1 {
		l.start()
	}
}

// start sends the first frame of the queue, which is there when its last byte is.
func (l *line) start() {
	k := &l.s.j.Kernel
	l.began = max(k.Now(), l.server.FreeAt())
	long := l.rate.Time(l.s.length(l.queue[0]))
	l.server.Reserve(l.began, long+l.gap)
	k.Schedule(l.began+long, l, 0)
}

// Act is the end of a frame on the line.
func (l *line) Act(uint64) {
	f := l.queue[0]
	l.queue = l.queue[:copy(l.queue, l.queue[1:])]
	l.waits -= l.s.length(f)
	if l.memory != nil {
		*l.memory -= l.s.length(f)
	}
	l.s.count.Frames++
	l.s.count.Payload += f.payload
	f.at, l.last = l, f
	l.s.j.Probe.RequestReport((*passed)(l), 0)
	l.s.j.Kernel.Schedule(l.s.j.Kernel.Now()+l.s.Propagation, (*ended)(f), 0)
	if len(l.queue) > 0 {
		l.start()
	}
}

// ended is the event of a frame that is at the end of a line.
type ended frame

// Act hands it on.
func (x *ended) Act(uint64) {
	f := (*frame)(x)
	f.at.forward(f)
}
