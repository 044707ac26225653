// Package ethernet emulates hosts with TCP, UDP or MBCF on an Ethernet: one shared medium, or
// switches. New returns a core.Network.
//
// A packet is written to a socket (tcp.go), whose segments become frames of the host's station
// (ethernet.go, switch.go). An arriving frame interrupts its host, and polling reads the packet
// from the socket (host.go). mbcf.go replaces sockets by the circuits of MBCF.
package ethernet

import (
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network connects hosts by TCP on an Ethernet.
type network struct {
	*model.Ethernet
	frameCarrier
	core.AttachedRanks
	job        *core.Job
	statistics *Statistics
	mss        int // data bytes of the longest segment
	hosts      []host
	framePool
	hostsOfStation [][]int     // hosts by station, if the platform has UDP
	freeDatagrams  []*datagram // unused datagrams
}

// host is a rank as seen by TCP: one processor, which its system interrupts, and a socket for each
// other host. System calls take the rank's own time and happen at its processor's time: a host is
// charged before it uses a socket. Ranks that share an interface share a station.
type host struct {
	hostProcessor
	network           *network
	stationIndex      int
	sockets           []*socket // by number of the other host; nil: not connected yet
	openSockets       []*socket // existing sockets
	unreadSocketCount int       // number of sockets with data
	blockedSocket     *socket   // the socket for whose buffer the rank waits
	unfinishedWriters []*socket // sockets that have not taken all data that the rank has sent
	udp               udpSocket
}

// hostProcessor is a rank's processor as seen by its system.
type hostProcessor struct {
	*core.Port
	interruptedUntil unit.Time // end of the interrupts; not after the port's clock
}

// New returns an Ethernet that connects ranks of a job.
func New(j *core.Job, m *model.Ethernet, e core.AttachedRanks) core.Network {
	if m.UsesMBCF(j.Library) {
		return newMBCF(j, m, e)
	}
	m = m.WithSocketsOf(j.Library)
	n := &network{Ethernet: m, AttachedRanks: e, job: j, statistics: statisticsOf(j), mss: m.MTU - m.TCP.Header, hosts: make([]host, e.RankCount)}
	n.frameCarrier = newCarrier(m, j, e, n, n.statistics)
	for i := range n.hosts {
		n.hosts[i] = host{hostProcessor: hostProcessor{Port: &j.Ports[e.FirstRank+i]}, network: n, stationIndex: e.InterfaceOf(e.FirstRank + i)}
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

// statisticsOf returns the Ethernet statistics of a job.
func statisticsOf(j *core.Job) *Statistics {
	for _, c := range j.Statistics {
		if c, ok := c.(*Statistics); ok && c != nil {
			*c = Statistics{}
			return c
		}
	}
	return new(Statistics)
}

// newCarrier returns the carrier of a transport's frames: one medium, or switches.
func newCarrier(m *model.Ethernet, j *core.Job, e core.AttachedRanks, up frameUser, count *Statistics) (c frameCarrier) {
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

// hostOf returns the host of a rank.
func (n *network) hostOf(p *core.Port) *host { return &n.hosts[int(p.ID)-n.FirstRank] }

// StartAccess is never called: processors cannot access each other's memory.
func (n *network) StartAccess(*core.Port, *core.RemoteAccess) { panic("ethernet: no remote memory") }

// UpdateRegister is never called.
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

// frameDropped implements transport. TCP detects lost segments itself, and lost datagrams stay
// undetected.
func (n *network) frameDropped(f *frame) {
	if f.datagram != nil {
		n.releaseDatagram(f.datagram)
		f.datagram = nil
	}
	n.releaseFrame(f)
}

// frameArrived implements transport: the frame interrupts its host, which handles its segment at
// the end of the interrupt.
func (n *network) frameArrived(f *frame) {
	if f.datagram != nil {
		n.deliverDatagram(f)
		return
	}
	h := f.segment.receiver.host
	f.segment.arrival = n.job.Kernel.Now()
	n.job.Kernel.Schedule(h.interrupt(n.TCP.Input, "ethernet.tcp.input"), (*segmentInputEvent)(f), 0)
}

// segmentInputEvent is the event that a host has taken in a segment.
type segmentInputEvent frame

// HandleEvent passes the segment to its socket.
func (r *segmentInputEvent) HandleEvent(uint64) {
	x := r.segment
	x.receiver.host.network.releaseFrame((*frame)(r))
	x.receiver.receiveSegment(&x)
}

// interrupt lets the system work for d before anything else that the processor does, and returns
// when that ends.
func (h *hostProcessor) interrupt(d unit.Time, name string) unit.Time {
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

// segmentOutputEvent is the event that an interrupt has prepared a segment.
type segmentOutputEvent frame

// HandleEvent passes the segment to the station.
func (l *segmentOutputEvent) HandleEvent(uint64) { l.segment.receiver.host.network.send((*frame)(l)) }

// spendInSystem charges the rank d for a system call. name is a parameter of the machine.
func (h *hostProcessor) spendInSystem(d unit.Time, name string, a model.Activity) {
	h.Charge(d)
	h.Probe.ProcessorActivityUntil(h.Port, h.Clock, name, a, 0)
	h.ElapseCharges()
}

// sendFromCall sends a segment in a system call.
func (h *host) sendFromCall(f *frame) {
	h.spendInSystem(h.network.TCP.Output, "ethernet.tcp.output", model.SendActivity)
	h.network.send(f)
}

// Send writes a packet to the connection to its destination. A packet to the rank itself is copied
// in memory.
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

// offerToSocket writes as much as the socket accepts. The rest stays queued at the socket.
func (h *host) offerToSocket(s *socket) {
	if slices.Contains(h.unfinishedWriters, s) {
		return
	}
	if h.writeOnce(s); s.writtenEnd < s.requestedEnd {
		h.unfinishedWriters = append(h.unfinishedWriters, s)
	}
}

// isWritable reports whether half of the send buffer is free, or enough for all queued data.
func (s *socket) isWritable() bool {
	return s.freeSendBuffer() >= min(s.requestedEnd-s.writtenEnd, s.host.network.TCP.SendBuffer/2)
}

// Flush waits until the sockets have accepted all data that the rank has sent. Meanwhile it reads
// incoming data. It returns early when a packet is complete.
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

// Receive charges nothing: a packet has been read before it is in the inbox.
func (n *network) Receive(*core.Port, *core.Packet) {}

// writeAll writes to the socket. When the send buffer is full the rank waits, in select, until half
// of it is free. It reads incoming data meanwhile, so that ranks that all write do not deadlock.
func (h *host) writeAll(s *socket) {
	t := &h.network.TCP
	for {
		h.writeOnce(s)
		if s.requestedEnd == s.writtenEnd {
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

// writeOnce writes as much as fits with one call. The system sends each segment as soon as it has
// copied the data.
func (h *host) writeOnce(s *socket) {
	t := &h.network.TCP
	h.spendInSystem(t.Write.Start, "ethernet.tcp.write.start", model.SendActivity)
	s.isWriting = true
	for end := s.writtenEnd + min(s.requestedEnd-s.writtenEnd, s.freeSendBuffer()); s.writtenEnd < end; {
		n := min(end-s.writtenEnd, h.network.mss-(s.writtenEnd-s.sentEnd)%h.network.mss)
		h.spendInSystem(t.Write.Bandwidth.Time(n), "ethernet.tcp.write.bandwidth", model.SendActivity)
		s.writtenEnd += n
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

// Poll calls select, which is charged when it returns, reads the sockets that have data, and writes
// queued data to sockets that have space.
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
	h.unfinishedWriters = slices.DeleteFunc(h.unfinishedWriters, func(s *socket) bool { return s.writtenEnd == s.requestedEnd })
}

// readAll reads all sockets that have data.
func (h *host) readAll() {
	whole := h.network.readsWholePackets()
	for _, s := range h.openSockets {
		if s.readEnd == s.arrivedEnd {
			continue
		}
		if !whole {
			h.readOnce(s, s.arrivedEnd-s.readEnd)
			continue
		}
		for end := s.peer.outPackets.Head.Transit.Position; s.readEnd < end; {
			if s.arrivedEnd > s.readEnd {
				h.readOnce(s, min(s.arrivedEnd, end)-s.readEnd)
			} else {
				h.ParkAndElapseCharges()
			}
		}
	}
}

// readOnce reads n bytes of a socket with one call.
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

// NoteRankEnded makes the system drop all data, arrived or still to arrive, for a rank whose
// program has ended.
func (n *network) NoteRankEnded(p *core.Port) {
	n.hostOf(p).udp.dropDatagrams(n)
	for _, s := range n.hostOf(p).openSockets {
		if s.readEnd < s.arrivedEnd {
			s.readBytes(s.arrivedEnd - s.readEnd)
		}
		if s.acknowledgeNow {
			s.sendAcknowledgement()
		}
	}
}
