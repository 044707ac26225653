// Package ethernet emulates hosts with TCP, UDP or MBCF on an Ethernet: one shared medium, or
// switches.
package ethernet

import (
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is hosts on an Ethernet.
type network struct {
	*model.Ethernet
	carrier
	core.Attachment
	j     *core.Job
	count *Statistics
	mss   int // bytes of data in the longest segment
	hosts []host
	frames
	at        [][]int     // the hosts of each station, where there is UDP
	datagrams []*datagram // to use again
}

// host is a rank as TCP of its system sees it: one processor, which its system interrupts, and a
// socket to each other host. System calls take the rank's own time and happens at its
// processor's time: a host pays before it touches a socket. Hosts of one end share a station.
type host struct {
	processor
	net     *network
	station int
	sockets []*socket // by the other's place among the hosts; nil: there is none yet
	open    []*socket // those that there are
	unread  int       // sockets with data
	blocked *socket   // the socket whose buffer the rank waits for
	held    []*socket // that have not taken all that the rank has sent
	udp     udp
}

// processor is that of a rank as its system sees it.
type processor struct {
	*core.Port
	busy unit.Time // until when interrupts keep it busy; not after the port's clock
}

// New returns an Ethernet that joins ranks of a job.
func New(j *core.Job, m *model.Ethernet, e core.Attachment) core.Network {
	if m.ByMBCF(j.Library) {
		return newMBCF(j, m, e)
	}
	m = m.For(j.Library)
	n := &network{Ethernet: m, Attachment: e, j: j, count: statistics(j), mss: m.MTU - m.TCP.Header, hosts: make([]host, e.Ranks)}
	n.carrier = newCarrier(m, j, e, n, n.count)
	for i := range n.hosts {
		n.hosts[i] = host{processor: processor{Port: &j.Ports[e.FirstRank+i]}, net: n, station: e.InterfaceOf(e.FirstRank + i)}
	}
	if m.UDP != nil {
		n.at = make([][]int, e.Interfaces)
		for i := range n.hosts {
			n.at[n.hosts[i].station] = append(n.at[n.hosts[i].station], i)
		}
		j.OfferWatch()
	}
	return n
}

// statistics returns what counts in a job.
func statistics(j *core.Job) *Statistics {
	for _, c := range j.Statistics {
		if c, ok := c.(*Statistics); ok && c != nil {
			*c = Statistics{}
			return c
		}
	}
	return new(Statistics)
}

// newCarrier returns what carries the frames of a transport: one medium, or switches.
func newCarrier(m *model.Ethernet, j *core.Job, e core.Attachment, up transport, count *Statistics) (c carrier) {
	if m.Switches == nil {
		medium := newMedium(m, &j.Kernel, e.Interfaces, j.Seed, j.Probe)
		medium.up, medium.count, medium.prefix = up, count, e.NamePrefix
		c = medium
	} else {
		c = newSwitched(m, j, e, up, count)
	}
	j.Probe.RequestReport(c, 0)
	return c
}

// host returns a rank's host.
func (n *network) host(p *core.Port) *host { return &n.hosts[int(p.ID)-n.FirstRank] }

// StartAccess and Count are never called: processors have no access to each other's memory.
func (n *network) StartAccess(*core.Port, *core.RemoteAccess) { panic("ethernet: no remote memory") }

// UpdateRegister is never called, either.
func (n *network) UpdateRegister(*core.Port, int, int, core.RegisterUpdate) int64 {
	panic("ethernet: no counters")
}

// socket returns the host's end of the connection to another.
func (h *host) socket(to *host) *socket {
	i := int(to.ID) - h.net.FirstRank
	if h.sockets == nil || h.sockets[i] == nil {
		a, b := newSocket(h), newSocket(to)
		a.peer, b.peer = b, a
		h.connect(a)
		to.connect(b)
	}
	return h.sockets[i]
}

func newSocket(h *host) *socket {
	t := &h.net.TCP
	s := &socket{h: h, limit: t.ReceiveBuffer, edge: t.ReceiveBuffer, wait: t.Retransmit}
	s.fresh()
	return s
}

func (h *host) connect(s *socket) {
	if h.sockets == nil {
		h.sockets = make([]*socket, h.net.Ranks)
	}
	h.sockets[int(s.peer.h.ID)-h.net.FirstRank] = s
	h.open = append(h.open, s)
}

// dropped implements transport. TCP finds a lost segment by itself; a lost datagram is not noticed.
func (n *network) dropped(f *frame) {
	if f.datagram != nil {
		n.drop(f.datagram)
		f.datagram = nil
	}
	n.release(f)
}

// arrived implements transport: the frame interrupts its host, and its segment is known when the
// interrupt is over.
func (n *network) arrived(f *frame) {
	if f.datagram != nil {
		n.heard(f)
		return
	}
	h := f.segment.to.h
	f.segment.came = n.j.Kernel.Now()
	n.j.Kernel.Schedule(h.interrupt(n.TCP.Input, "ethernet.tcp.input"), (*received)(f), 0)
}

// received is the event of a segment that its host has taken in.
type received frame

// Act gives it to its socket.
func (r *received) Act(uint64) {
	x := r.segment
	x.to.h.net.release((*frame)(r))
	x.to.input(&x)
}

// interrupt lets the system work for d, before whatever else the processor does, and returns when
// that is over.
func (h *processor) interrupt(d unit.Time, name string) unit.Time {
	d = h.WithNoise(d)
	now := h.Kernel.Now()
	h.busy = max(h.busy, now) + d
	h.Probe.ProcessorDelayed(h.Port, nil, h.busy-d, d, name, model.Interrupt)
	h.Clock = max(h.Clock, now) + d
	return h.busy
}

// later sends a segment from an interrupt.
func (h *host) later(f *frame) {
	h.Kernel.Schedule(h.interrupt(h.net.TCP.Output, "ethernet.tcp.output"), (*leaving)(f), 0)
}

// leaving is the event of a segment whose host has made it.
type leaving frame

// Act gives it to the station.
func (l *leaving) Act(uint64) { l.segment.to.h.net.send((*frame)(l)) }

// system lets the rank work for d in a system call, at what has a name among the machine's numbers.
func (h *processor) system(d unit.Time, name string, a model.Activity) {
	h.Charge(d)
	h.Probe.ProcessorUntil(h.Port, h.Clock, name, a, 0)
	h.ElapseCharges()
}

// output sends a segment in a system call.
func (h *host) output(f *frame) {
	h.system(h.net.TCP.Output, "ethernet.tcp.output", model.Sending)
	h.net.send(f)
}

// Send writes a packet into the connection to its destination. A packet to the rank itself goes
// through memory.
func (n *network) Send(p *core.Port, pk *core.Packet) {
	if pk.Dst == p.ID {
		p.Charge(p.CopyTime(n.TCP.Record + len(pk.Data)))
		p.AppendToInbox(pk)
		return
	}
	p.ElapseCharges()
	p.Probe.PacketSent(p, pk, "send")
	h := n.host(p)
	s := h.socket(n.host(&p.Ports[pk.Dst]))
	s.asked += n.TCP.Record + len(pk.Data)
	pk.Transit = core.Transit{Position: s.asked}
	s.out.Push(pk)
	if n.Holds() {
		h.offer(s)
	} else {
		h.write(s)
	}
}

// Holds implements core.BufferingNetwork.
func (n *network) Holds() bool {
	l := n.j.Library
	return l != nil && l.Sockets != nil && l.Sockets.Together
}

// offer writes what there is room for. The rest waits behind it.
func (h *host) offer(s *socket) {
	if slices.Contains(h.held, s) {
		return
	}
	if h.fill(s); s.written < s.asked {
		h.held = append(h.held, s)
	}
}

// writable reports whether half of the send buffer is free, or room for all that waits.
func (s *socket) writable() bool {
	return s.free() >= min(s.asked-s.written, s.h.net.TCP.SendBuffer/2)
}

// Flush waits until the sockets have taken all that the rank has sent. Meanwhile it reads incoming
// data, and returns early when a packet is complete.
func (n *network) Flush(p *core.Port) bool {
	for h := n.host(p); len(h.held) > 0; {
		if p.ElapseCharges(); p.HasPacket() {
			return false
		}
		if n.HasData(p) {
			n.Poll(p)
		} else {
			p.ParkAndElapse()
		}
	}
	return true
}

// Receive costs nothing more: a packet is read before it is in the inbox.
func (n *network) Receive(*core.Port, *core.Packet) {}

// write writes to the socket. The send buffer takes as much as it has room for; when it is full the
// rank waits, in a call of select, until half of it is free, and reads incoming data meanwhile:
// otherwise ranks that all write would deadlock.
func (h *host) write(s *socket) {
	t := &h.net.TCP
	for {
		h.fill(s)
		if s.asked == s.written {
			return
		}
		h.blocked = s
		for !s.writable() {
			if h.unread == 0 || h.net.whole() && h.ID > s.peer.h.ID {
				h.ParkAndElapse()
			} else {
				h.system(t.Poll, "ethernet.tcp.poll", model.Receiving)
				h.readAll()
			}
		}
		h.blocked = nil
		h.system(t.Poll, "ethernet.tcp.poll", model.Receiving)
	}
}

// fill writes what there is room for, by one call. The system sends a segment as soon as it has
// copied the data for it.
func (h *host) fill(s *socket) {
	t := &h.net.TCP
	h.system(t.Write.Start, "ethernet.tcp.write.start", model.Sending)
	s.writing = true
	for end := s.written + min(s.asked-s.written, s.free()); s.written < end; {
		n := min(end-s.written, h.net.mss-(s.written-s.sent)%h.net.mss)
		h.system(t.Write.Bandwidth.Time(n), "ethernet.tcp.write.bandwidth", model.Sending)
		s.written += n
		for f := s.next(); f != nil; f = s.next() {
			h.output(f)
		}
	}
	s.writing = false
	s.expect()
}

// HasData implements core.PolledNetwork.
func (n *network) HasData(p *core.Port) bool {
	h := n.host(p)
	return h.unread > 0 || slices.ContainsFunc(h.held, (*socket).writable)
}

// Poll reads the sockets that have data, after a call of select, which costs its time when it
// returns, and writes what waits for sockets that have room.
func (n *network) Poll(p *core.Port) {
	h := n.host(p)
	h.system(n.TCP.Poll, "ethernet.tcp.poll", model.Receiving)
	if h.unread > 0 {
		h.readAll()
	}
	for _, s := range h.held {
		if s.writable() {
			h.fill(s)
		}
	}
	h.held = slices.DeleteFunc(h.held, func(s *socket) bool { return s.written == s.asked })
}

// readAll reads all sockets that have data.
func (h *host) readAll() {
	whole := h.net.whole()
	for _, s := range h.open {
		if s.read == s.arrived {
			continue
		}
		if !whole {
			h.readSome(s, s.arrived-s.read)
			continue
		}
		for end := s.peer.out.Head.Transit.Position; s.read < end; {
			if s.arrived > s.read {
				h.readSome(s, min(s.arrived, end)-s.read)
			} else {
				h.ParkAndElapse()
			}
		}
	}
}

// readSome reads bytes of a socket by one call.
func (h *host) readSome(s *socket, n int) {
	t := &h.net.TCP
	h.system(t.Read.Start, "ethernet.tcp.read.start", model.Receiving)
	h.system(t.Read.Bandwidth.Time(n), "ethernet.tcp.read.bandwidth", model.Receiving)
	s.consume(n)
	if s.must {
		h.output(s.frame())
	}
}

// whole reports whether the library reads whole packets.
func (n *network) whole() bool {
	l := n.j.Library
	return l != nil && l.Sockets != nil && l.Sockets.Whole
}

// RankEnded lets the system drop all data, arrived or still to arrive, for a rank whose program has
// ended.
func (n *network) RankEnded(p *core.Port) {
	n.host(p).udp.close(n)
	for _, s := range n.host(p).open {
		if s.read < s.arrived {
			s.consume(s.arrived - s.read)
		}
		if s.must {
			s.answer()
		}
	}
}
