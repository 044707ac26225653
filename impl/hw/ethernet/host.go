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
	core.AttachedRanks
	job        *core.Job
	statistics *Statistics
	mss        int // bytes of data in the longest segment
	hosts      []host
	framePool
	hostsOfStation [][]int     // the hosts of each station, if the platform has UDP
	freeDatagrams  []*datagram // to use again
}

// host is a rank as TCP of its system sees it: one processor, which its system interrupts, and a
// socket to each other host. System calls take the rank's own time and happens at its
// processor's time: a host pays before it touches a socket. Hosts of one end share a station.
type host struct {
	processor
	network           *network
	stationIndex      int
	sockets           []*socket // by the other's place among the hosts; nil: there is none yet
	openSockets       []*socket // those that there are
	unreadSocketCount int       // sockets with data
	blockedSocket     *socket   // the socket whose buffer the rank waits for
	unfinishedWriters []*socket // that have not taken all that the rank has sent
	udp               udpSocket
}

// processor is that of a rank as its system sees it.
type processor struct {
	*core.Port
	interruptedUntil unit.Time // until when interrupts keep it busy; not after the port's clock
}

// New returns an Ethernet that joins ranks of a job.
func New(j *core.Job, m *model.Ethernet, e core.AttachedRanks) core.Network {
	if m.UsesMBCF(j.Library) {
		return newMBCF(j, m, e)
	}
	m = m.WithSocketsOf(j.Library)
	n := &network{Ethernet: m, AttachedRanks: e, job: j, statistics: statisticsOf(j), mss: m.MTU - m.TCP.Header, hosts: make([]host, e.RankCount)}
	n.carrier = newCarrier(m, j, e, n, n.statistics)
	for i := range n.hosts {
		n.hosts[i] = host{processor: processor{Port: &j.Ports[e.FirstRank+i]}, network: n, stationIndex: e.InterfaceOf(e.FirstRank + i)}
	}
	if m.UDP != nil {
		n.hostsOfStation = make([][]int, e.InterfaceCount)
		for i := range n.hosts {
			n.hostsOfStation[n.hosts[i].stationIndex] = append(n.hostsOfStation[n.hosts[i].stationIndex], i)
		}
		j.EnableWatch()
	}
	return n
}

// statisticsOf returns what counts in a job.
func statisticsOf(j *core.Job) *Statistics {
	for _, c := range j.Statistics {
		if c, ok := c.(*Statistics); ok && c != nil {
			*c = Statistics{}
			return c
		}
	}
	return new(Statistics)
}

// newCarrier returns what carries the frames of a transport: one medium, or switches.
func newCarrier(m *model.Ethernet, j *core.Job, e core.AttachedRanks, up transport, count *Statistics) (c carrier) {
	if m.Switches == nil {
		medium := newMedium(m, &j.Kernel, e.InterfaceCount, j.Seed, j.Probe)
		medium.transport, medium.statistics, medium.namePrefix = up, count, e.NamePrefix
		c = medium
	} else {
		c = newSwitchedEthernet(m, j, e, up, count)
	}
	j.Probe.ReportIfObserved(c, 0)
	return c
}

// hostOf returns a rank's host.
func (n *network) hostOf(p *core.Port) *host { return &n.hosts[int(p.ID)-n.FirstRank] }

// StartAccess and Count are never called: processors have no access to each other's memory.
func (n *network) StartAccess(*core.Port, *core.RemoteAccess) { panic("ethernet: no remote memory") }

// UpdateRegister is never called, either.
func (n *network) UpdateRegister(*core.Port, int, int, core.RegisterUpdate) int64 {
	panic("ethernet: no counters")
}

// socketTo returns the host's end of the connection to another.
func (h *host) socketTo(to *host) *socket {
	i := int(to.ID) - h.network.FirstRank
	if h.sockets == nil || h.sockets[i] == nil {
		a, b := newSocket(h), newSocket(to)
		a.peer, b.peer = b, a
		h.addSocket(a)
		to.addSocket(b)
	}
	return h.sockets[i]
}

func newSocket(h *host) *socket {
	t := &h.network.TCP
	s := &socket{host: h, sendLimit: t.ReceiveBuffer, offeredLimit: t.ReceiveBuffer, retryTime: t.Retransmit}
	s.initCongestion()
	return s
}

func (h *host) addSocket(s *socket) {
	if h.sockets == nil {
		h.sockets = make([]*socket, h.network.RankCount)
	}
	h.sockets[int(s.peer.host.ID)-h.network.FirstRank] = s
	h.openSockets = append(h.openSockets, s)
}

// frameDropped implements transport. TCP finds a lost segment by itself; a lost datagram is not
// noticed.
func (n *network) frameDropped(f *frame) {
	if f.datagram != nil {
		n.releaseDatagram(f.datagram)
		f.datagram = nil
	}
	n.releaseFrame(f)
}

// frameArrived implements transport: the frame interrupts its host, and its segment is known when
// the interrupt is over.
func (n *network) frameArrived(f *frame) {
	if f.datagram != nil {
		n.deliverDatagram(f)
		return
	}
	h := f.segment.receiver.host
	f.segment.arrival = n.job.Kernel.Now()
	n.job.Kernel.Schedule(h.interrupt(n.TCP.Input, "ethernet.tcp.input"), (*segmentInputEvent)(f), 0)
}

// segmentInputEvent is the event of a segment that its host has taken in.
type segmentInputEvent frame

// HandleEvent gives it to its socket.
func (r *segmentInputEvent) HandleEvent(uint64) {
	x := r.segment
	x.receiver.host.network.releaseFrame((*frame)(r))
	x.receiver.receiveSegment(&x)
}

// interrupt lets the system work for d, before whatever else the processor does, and returns when
// that is over.
func (h *processor) interrupt(d unit.Time, name string) unit.Time {
	d = h.WithNoise(d)
	now := h.Kernel.Now()
	h.interruptedUntil = max(h.interruptedUntil, now) + d
	h.Probe.ProcessorDelayed(h.Port, nil, h.interruptedUntil-d, d, name, model.InterruptActivity)
	h.Clock = max(h.Clock, now) + d
	return h.interruptedUntil
}

// sendFromInterrupt sends a segment from an interrupt.
func (h *host) sendFromInterrupt(f *frame) {
	h.Kernel.Schedule(h.interrupt(h.network.TCP.Output, "ethernet.tcp.output"), (*segmentOutputEvent)(f), 0)
}

// segmentOutputEvent is the event of a segment whose host has made it.
type segmentOutputEvent frame

// HandleEvent gives it to the station.
func (l *segmentOutputEvent) HandleEvent(uint64) { l.segment.receiver.host.network.send((*frame)(l)) }

// spendInSystem lets the rank work for d in a system call, at what has a name among the machine's
// numbers.
func (h *processor) spendInSystem(d unit.Time, name string, a model.Activity) {
	h.Charge(d)
	h.Probe.ProcessorActivityUntil(h.Port, h.Clock, name, a, 0)
	h.ElapseCharges()
}

// sendFromCall sends a segment in a system call.
func (h *host) sendFromCall(f *frame) {
	h.spendInSystem(h.network.TCP.Output, "ethernet.tcp.output", model.SendActivity)
	h.network.send(f)
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
	h := n.hostOf(p)
	s := h.socketTo(n.hostOf(&p.Ports[pk.Dst]))
	s.requestedEnd += n.TCP.Record + len(pk.Data)
	pk.Transit = core.Transit{Position: s.requestedEnd}
	s.outPackets.Push(pk)
	if n.BuffersSends() {
		h.offerToSocket(s)
	} else {
		h.writeAll(s)
	}
}

// BuffersSends implements core.BufferingNetwork.
func (n *network) BuffersSends() bool {
	l := n.job.Library
	return l != nil && l.Sockets != nil && l.Sockets.BuffersUnsentData
}

// offerToSocket writes what there is room for. The rest waits behind it.
func (h *host) offerToSocket(s *socket) {
	if slices.Contains(h.unfinishedWriters, s) {
		return
	}
	if h.writeOnce(s); s.written < s.requestedEnd {
		h.unfinishedWriters = append(h.unfinishedWriters, s)
	}
}

// isWritable reports whether half of the send buffer is free, or room for all that waits.
func (s *socket) isWritable() bool {
	return s.freeSendBuffer() >= min(s.requestedEnd-s.written, s.host.network.TCP.SendBuffer/2)
}

// Flush waits until the sockets have taken all that the rank has sent. Meanwhile it reads incoming
// data, and returns early when a packet is complete.
func (n *network) Flush(p *core.Port) bool {
	for h := n.hostOf(p); len(h.unfinishedWriters) > 0; {
		if p.ElapseCharges(); p.HasPacket() {
			return false
		}
		if n.HasData(p) {
			n.Poll(p)
		} else {
			p.ParkAndElapseCharges()
		}
	}
	return true
}

// Receive costs nothing more: a packet is read before it is in the inbox.
func (n *network) Receive(*core.Port, *core.Packet) {}

// writeAll writes to the socket. The send buffer takes as much as it has room for; when it is full
// the rank waits, in a call of select, until half of it is free, and reads incoming data meanwhile:
// otherwise ranks that all write would deadlock.
func (h *host) writeAll(s *socket) {
	t := &h.network.TCP
	for {
		h.writeOnce(s)
		if s.requestedEnd == s.written {
			return
		}
		h.blockedSocket = s
		for !s.isWritable() {
			if h.unreadSocketCount == 0 || h.network.readsWholePackets() && h.ID > s.peer.host.ID {
				h.ParkAndElapseCharges()
			} else {
				h.spendInSystem(t.Poll, "ethernet.tcp.poll", model.ReceiveActivity)
				h.readAll()
			}
		}
		h.blockedSocket = nil
		h.spendInSystem(t.Poll, "ethernet.tcp.poll", model.ReceiveActivity)
	}
}

// writeOnce writes what there is room for, by one call. The system sends a segment as soon as it
// has copied the data for it.
func (h *host) writeOnce(s *socket) {
	t := &h.network.TCP
	h.spendInSystem(t.Write.Start, "ethernet.tcp.write.start", model.SendActivity)
	s.isWriting = true
	for end := s.written + min(s.requestedEnd-s.written, s.freeSendBuffer()); s.written < end; {
		n := min(end-s.written, h.network.mss-(s.written-s.sent)%h.network.mss)
		h.spendInSystem(t.Write.Bandwidth.Time(n), "ethernet.tcp.write.bandwidth", model.SendActivity)
		s.written += n
		for f := s.nextSegment(); f != nil; f = s.nextSegment() {
			h.sendFromCall(f)
		}
	}
	s.isWriting = false
	s.startRetryTimer()
}

// HasData implements core.PolledNetwork.
func (n *network) HasData(p *core.Port) bool {
	h := n.hostOf(p)
	return h.unreadSocketCount > 0 || slices.ContainsFunc(h.unfinishedWriters, (*socket).isWritable)
}

// Poll reads the sockets that have data, after a call of select, which costs its time when it
// returns, and writes what waits for sockets that have room.
func (n *network) Poll(p *core.Port) {
	h := n.hostOf(p)
	h.spendInSystem(n.TCP.Poll, "ethernet.tcp.poll", model.ReceiveActivity)
	if h.unreadSocketCount > 0 {
		h.readAll()
	}
	for _, s := range h.unfinishedWriters {
		if s.isWritable() {
			h.writeOnce(s)
		}
	}
	h.unfinishedWriters = slices.DeleteFunc(h.unfinishedWriters, func(s *socket) bool { return s.written == s.requestedEnd })
}

// readAll reads all sockets that have data.
func (h *host) readAll() {
	whole := h.network.readsWholePackets()
	for _, s := range h.openSockets {
		if s.read == s.arrived {
			continue
		}
		if !whole {
			h.readOnce(s, s.arrived-s.read)
			continue
		}
		for end := s.peer.outPackets.Head.Transit.Position; s.read < end; {
			if s.arrived > s.read {
				h.readOnce(s, min(s.arrived, end)-s.read)
			} else {
				h.ParkAndElapseCharges()
			}
		}
	}
}

// readOnce reads bytes of a socket by one call.
func (h *host) readOnce(s *socket, n int) {
	t := &h.network.TCP
	h.spendInSystem(t.Read.Start, "ethernet.tcp.read.start", model.ReceiveActivity)
	h.spendInSystem(t.Read.Bandwidth.Time(n), "ethernet.tcp.read.bandwidth", model.ReceiveActivity)
	s.readBytes(n)
	if s.acknowledgeNow {
		h.sendFromCall(s.newSegment())
	}
}

// readsWholePackets reports whether the library reads whole packets.
func (n *network) readsWholePackets() bool {
	l := n.job.Library
	return l != nil && l.Sockets != nil && l.Sockets.ReadsWholePackets
}

// NoteRankEnded lets the system drop all data, arrived or still to arrive, for a rank whose program
// has ended.
func (n *network) NoteRankEnded(p *core.Port) {
	n.hostOf(p).udp.close(n)
	for _, s := range n.hostOf(p).openSockets {
		if s.read < s.arrived {
			s.readBytes(s.arrived - s.read)
		}
		if s.acknowledgeNow {
			s.sendAcknowledgement()
		}
	}
}
