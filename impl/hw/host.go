package hw

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// lan is workstations on an Ethernet.
type lan struct {
	*ethernet
	mss   int // bytes of data in the longest segment
	hosts []host
	spare []*frame // to use again
}

// host is a workstation as the port of its rank: one processor, which its system interrupts, and a socket to each other host. What the
// rank does in system calls is its own time and happens at its processor's time: a host pays before it touches a socket.
type host struct {
	*port
	lan     *lan
	sockets []*socket // by the other's rank; nil: there is none yet
	open    []*socket // those that there are
	unread  int       // sockets with data
	blocked *socket   // the socket whose buffer the rank waits for
	busy    unit.Time // until when interrupts keep the processor busy; not after the port's clock
}

func newLAN(j *job) network {
	m := j.cfg.Machine.Network.(*model.Ethernet)
	n := &lan{ethernet: newEthernet(m, &j.kernel, len(j.ports), j.cfg.Seed), mss: m.MTU - m.TCP.Header, hosts: make([]host, len(j.ports))}
	n.up, n.probe = n, j.probe
	n.names()
	if c := j.cfg.Ethernet; c != nil {
		*c = EthernetStatistics{}
		n.count = c
	}
	for i := range n.hosts {
		n.hosts[i] = host{port: &j.ports[i], lan: n}
	}
	return n
}

// open implements network.
func (n *lan) open(p *port) end { return &n.hosts[p.rank] }

// socket returns the host's end of the connection to another.
func (h *host) socket(to int) *socket {
	if h.sockets == nil {
		h.sockets = make([]*socket, len(h.ports))
	}
	if h.sockets[to] == nil {
		a, b := newSocket(h), newSocket(&h.lan.hosts[to])
		a.peer, b.peer = b, a
		h.connect(a)
		b.h.connect(b)
	}
	return h.sockets[to]
}

func newSocket(h *host) *socket {
	t := &h.lan.TCP
	return &socket{h: h, limit: t.ReceiveBuffer, edge: t.ReceiveBuffer, wait: t.Retransmit}
}

func (h *host) connect(s *socket) {
	if h.sockets == nil {
		h.sockets = make([]*socket, len(h.ports))
	}
	h.sockets[s.peer.h.rank] = s
	h.open = append(h.open, s)
}

func (n *lan) newFrame() *frame {
	last := len(n.spare) - 1
	if last < 0 {
		return &frame{e: n.ethernet}
	}
	f := n.spare[last]
	n.spare = n.spare[:last]
	return f
}

func (n *lan) release(f *frame) { n.spare = append(n.spare, f) }

// dropped implements transport. TCP finds out by itself.
func (n *lan) dropped(f *frame) { n.release(f) }

// arrived implements transport: the frame interrupts its host, and its segment is known when the interrupt is over.
func (n *lan) arrived(f *frame) {
	h := f.segment.to.h
	f.segment.came = n.kernel.Now()
	n.kernel.At(h.interrupt(n.TCP.Input, "ethernet.tcp.input"), (*received)(f), 0)
}

// received is the event of a segment that its host has taken in.
type received frame

// Act gives it to its socket.
func (r *received) Act(uint64) {
	x := r.segment
	x.to.h.lan.release((*frame)(r))
	x.to.input(&x)
}

// interrupt lets the system work for d, before whatever else the processor does, and returns when that is over.
func (h *host) interrupt(d unit.Time, name string) unit.Time {
	if h.noise.relative > 0 {
		d = h.noise.vary(d)
	}
	now := h.kernel.Now()
	h.busy = max(h.busy, now) + d
	h.probe.delays(h.port, nil, h.busy-d, d, name, model.Interrupt)
	h.clock = max(h.clock, now) + d
	return h.busy
}

// later sends a segment from an interrupt.
func (h *host) later(f *frame) {
	h.kernel.At(h.interrupt(h.lan.TCP.Output, "ethernet.tcp.output"), (*leaving)(f), 0)
}

// leaving is the event of a segment whose host has made it.
type leaving frame

// Act gives it to the station.
func (l *leaving) Act(uint64) { l.e.send((*frame)(l)) }

// system lets the rank work for d in a system call, at what has a name among the machine's numbers.
func (h *host) system(d unit.Time, name string, a model.Activity) {
	h.charge(d)
	h.probe.until(h.port, h.clock, name, a, 0)
	h.pay()
}

// output sends a segment in a system call.
func (h *host) output(f *frame) {
	h.system(h.lan.TCP.Output, "ethernet.tcp.output", model.Sending)
	h.lan.send(f)
}

// wake lets a rank go on that waits.
func (h *host) wake() {
	if h.waiting {
		h.waiting = false
		h.kernel.At(max(h.clock, h.kernel.Now()), h.proc, 0)
	}
}

// park waits until data has come, or the blocked socket has room.
func (h *host) park() {
	h.waiting = true
	h.proc.Park()
	h.catchUp()
	h.probe.until(h.port, h.kernel.Now(), "", model.Waiting, 0)
	h.pay()
}

// Send writes a packet into the connection to its destination. What is for the rank itself goes through memory.
func (h *host) Send(dst int, x *device.Packet) {
	h.check(dst)
	pk := h.newPacket(h.rank, int32(dst), &x.Head, x.Data)
	if dst == int(h.rank) {
		h.charge(h.cfg.Machine.Processor.Copy.Start + h.copying.time(h.lan.TCP.Record+len(x.Data)))
		h.inbox.push(pk)
		return
	}
	h.pay()
	h.probe.sends(h.port, pk, "send")
	s := h.socket(dst)
	s.asked += h.lan.TCP.Record + len(x.Data)
	pk.wire = wire{pos: s.asked}
	s.out.push(pk)
	h.write(s)
}

// write writes what is asked for. The send buffer takes as much as it has room for; when it is full the rank waits, in a call of select, until
// half of it is free, and reads what comes meanwhile, or ranks that all write would wait for each other.
func (h *host) write(s *socket) {
	t := &h.lan.TCP
	for {
		h.system(t.Write.Start, "ethernet.tcp.write.start", model.Sending)
		n := min(s.asked-s.written, s.free())
		h.system(t.Write.Bandwidth.Time(n), "ethernet.tcp.write.bandwidth", model.Sending)
		s.written += n
		s.writing = true
		for f := s.next(); f != nil; f = s.next() {
			h.output(f)
		}
		s.writing = false
		s.expect()
		left := s.asked - s.written
		if left == 0 {
			return
		}
		h.blocked = s
		for s.free() < min(left, t.SendBuffer/2) {
			if h.unread == 0 {
				h.park()
			} else {
				h.system(t.Poll, "ethernet.tcp.poll", model.Receiving)
				h.readAll()
			}
		}
		h.blocked = nil
		h.system(t.Poll, "ethernet.tcp.poll", model.Receiving)
	}
}

// Recv returns the next packet that is in the rank's memory. If there is none it reads the sockets that have data, after a call of select, which
// costs its time when it returns.
func (h *host) Recv(block bool) *device.Packet {
	h.giveBack()
	for h.inbox.head == nil {
		h.pay()
		for block && h.unread == 0 {
			h.park()
		}
		h.system(h.lan.TCP.Poll, "ethernet.tcp.poll", model.Receiving)
		if h.unread > 0 {
			h.readAll()
		} else {
			h.glance()
		}
		if !block {
			break
		}
	}
	if h.inbox.head == nil {
		return nil
	}
	h.held = h.inbox.pop()
	return &h.held.Packet
}

// glance lets time pass for a rank that has found nothing, even where that costs nothing.
func (h *host) glance() {
	if h.polled != h.kernel.Now() {
		h.nap = 0
	} else {
		h.idle()
	}
	h.polled = h.kernel.Now()
}

// readAll reads all sockets that have data.
func (h *host) readAll() {
	t := &h.lan.TCP
	for _, s := range h.open {
		if s.read == s.arrived {
			continue
		}
		h.system(t.Read.Start, "ethernet.tcp.read.start", model.Receiving)
		n := s.arrived - s.read
		h.system(t.Read.Bandwidth.Time(n), "ethernet.tcp.read.bandwidth", model.Receiving)
		s.consume(n)
		if s.must {
			h.output(s.frame())
		}
	}
}

// deliver hands a packet to the rank, if there still is one.
func (h *host) deliver(pk *packet) {
	if h.ended {
		pk.next, h.free = h.free, pk
		return
	}
	h.inbox.push(pk)
}

// close lets the system drop what has come, and will come, for a rank whose program has ended.
func (h *host) close() {
	h.port.close()
	for _, s := range h.open {
		if s.read < s.arrived {
			s.consume(s.arrived - s.read)
		}
		if s.must {
			s.answer()
		}
	}
}
