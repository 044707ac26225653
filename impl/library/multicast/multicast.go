// Package multicast is reliable multicast over the datagrams of a machine: each message of a member
// of a group arrives at all other members once, unchanged, and in the order in which it was sent.
//
// A message is divided into packets, which each sender of a group numbers. Receivers send
// cumulative acknowledgements to the sender. The sender keeps a window of packets that are not
// acknowledged by all receivers, and multicasts the first of them again if no new acknowledgement
// arrives within a timeout. The cost at the sender is proportional to the number of receivers times
// the number of packets.
//
// A Port acknowledges packets in all of its calls that receive, so a rank may do something else
// while another rank still waits for its acknowledgement.
//
// Source: A. V. Karwande, CC-MPI (Florida State University, 2003), section 3.1: acknowledgements by
// all receivers to the root, window, timers and retransmission. The thesis gives neither their
// values nor the format of packets; these are assumed.
package multicast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Options of the protocol. Zero means the value of Defaults.
type Options struct {
	WindowPackets        int       // most packets of a sender that are not acknowledged by all receivers
	PacketBytes          int       // bytes of a packet with its header; 0: the longest datagram
	RetransmitTimeout    unit.Time // without a new acknowledgement until a packet is retransmitted; doubles with each retransmission
	MaxRetransmitTimeout unit.Time // upper bound of the timeout
	MaxRetransmissions   int       // retransmissions of a packet without a new acknowledgement until the sender fails

	PacketCost unit.Time    // processor time of a data packet that is sent, beside the datagram's
	ByteCost   unit.PerByte // processor time of a byte of it, with the header
}

// Defaults let a receiver compute for some minutes without receiving.
var Defaults = Options{WindowPackets: 8, RetransmitTimeout: 10 * unit.Millisecond, MaxRetransmitTimeout: unit.Second, MaxRetransmissions: 600}

// ErrTooManyGroups says that a rank is in as many groups as its network interface allows.
var ErrTooManyGroups = errors.New("no more multicast groups")

// Port is a port with reliable multicast. A rank must use it in place of the port that it wraps.
type Port struct {
	device.Port
	Counts PacketCounts

	options   Options
	datagrams device.Datagram
	watch     device.Watch
	groups    map[uint32]*Group
	packet    []byte // the next to send
}

// PacketCounts are of a rank, since its port was created.
type PacketCounts struct {
	Packets, Retransmitted   int // data packets sent, and retransmissions among them
	Acknowledged, Duplicates int // acknowledgements and duplicate packets received
	MaxOpenGroups            int // opened
}

// New returns a port with reliable multicast, or an error if the machine has no multicast or cannot
// wait for events.
func New(p device.Port, o Options) (*Port, error) {
	net, watch := p.Datagram(), p.Watch()
	if net == nil || watch == nil || net.MaxGroups() == 0 {
		return nil, errors.New("this machine has no multicast")
	}
	if o.PacketBytes == 0 || o.PacketBytes > net.MaxDatagramBytes() {
		o.PacketBytes = net.MaxDatagramBytes()
	}
	if o.PacketBytes <= headBytes {
		return nil, fmt.Errorf("multicast packets of %d bytes: their header has %d", o.PacketBytes, headBytes)
	}
	if o.WindowPackets < 0 || o.RetransmitTimeout < 0 || o.MaxRetransmitTimeout < 0 || o.MaxRetransmissions < 0 || o.PacketCost < 0 || o.ByteCost < 0 {
		return nil, fmt.Errorf("negative multicast options: %+v", o)
	}
	for _, f := range []struct{ value, normal *int }{{&o.WindowPackets, &Defaults.WindowPackets}, {&o.MaxRetransmissions, &Defaults.MaxRetransmissions}} {
		if *f.value == 0 {
			*f.value = *f.normal
		}
	}
	for _, f := range []struct{ value, normal *unit.Time }{{&o.RetransmitTimeout, &Defaults.RetransmitTimeout}, {&o.MaxRetransmitTimeout, &Defaults.MaxRetransmitTimeout}} {
		if *f.value == 0 {
			*f.value = *f.normal
		}
	}
	return &Port{Port: p, options: o, datagrams: net, watch: watch, groups: map[uint32]*Group{}, packet: make([]byte, o.PacketBytes)}, nil
}

// Recv implements device.Port. Meanwhile it acknowledges packets of the rank's groups.
func (p *Port) Recv(block bool) *device.Packet {
	for {
		if len(p.groups) == 0 {
			return p.Port.Recv(block)
		}
		seen := p.watch.EventCount()
		if q := p.Port.Recv(false); q != nil {
			return q
		}
		came := p.processDatagrams()
		if !block {
			return nil
		}
		if !came {
			p.watch.WaitForEvent(seen, device.Forever)
		}
	}
}

// AwaitPacket implements device.TimedWaiter.
func (p *Port) AwaitPacket(deadline unit.Time) {
	if len(p.groups) == 0 {
		device.AwaitPacket(p.Port, deadline)
		return
	}
	if seen := p.watch.EventCount(); !p.processDatagrams() {
		p.watch.WaitForEvent(seen, min(deadline, p.Now()+unit.Millisecond)) // a packet may have come before EventCount
	}
}

// RanksAreSerialized implements device.SerializedPort.
func (p *Port) RanksAreSerialized() bool { return device.RanksAreSerialized(p.Port) }

// BuffersSends implements device.BufferedSender if the wrapped port does, as do Flush and Place
// their interfaces.
func (p *Port) BuffersSends() bool {
	h, ok := p.Port.(device.BufferedSender)
	return ok && h.BuffersSends()
}

// Flush implements device.BufferedSender.
func (p *Port) Flush() bool {
	h, ok := p.Port.(device.BufferedSender)
	return !ok || h.Flush()
}

// SetPlacement implements device.DirectPlacer.
func (p *Port) SetPlacement(where func(src int, head *device.Head, n int) []byte) {
	if x, ok := p.Port.(device.DirectPlacer); ok {
		x.SetPlacement(where)
	}
}

// The header of a packet: a kind, whether it is the last of a message, the group, and a sequence
// number.
const (
	headBytes = 16

	kindData            = 1 // a data packet
	kindAcknowledgement = 2 // an acknowledgement of all packets below a number
)

func (p *Port) encodeHead(kind byte, last bool, group uint32, number uint64) {
	p.packet[0], p.packet[1] = kind, 0
	if last {
		p.packet[1] = 1
	}
	binary.LittleEndian.PutUint32(p.packet[4:], group)
	binary.LittleEndian.PutUint64(p.packet[8:], number)
}

// processDatagrams processes all datagrams that have arrived, and reports whether there were any.
func (p *Port) processDatagrams() bool {
	came := false
	for {
		q := p.datagrams.Recv(0)
		if q == nil {
			return came
		}
		came = true
		if len(q.Data) < headBytes {
			continue
		}
		g := p.groups[binary.LittleEndian.Uint32(q.Data[4:])]
		if g == nil {
			continue
		}
		member := slices.Index(g.members, q.Src)
		if member < 0 {
			continue
		}
		number := binary.LittleEndian.Uint64(q.Data[8:])
		switch q.Data[0] {
		case kindData:
			g.storePacket(&g.streamsByMember[member], q, number)
		case kindAcknowledgement:
			p.Counts.Acknowledged++
			g.acknowledgedByMember[member] = max(g.acknowledgedByMember[member], number)
		}
	}
}

// Group is a multicast group that the rank is a member of.
type Group struct {
	port      *Port
	id        uint32
	members   []int
	selfIndex int // index of the rank among them

	nextPacketNumber     uint64   // number of the next packet that the rank sends
	acknowledgedByMember []uint64 // by member: it has acknowledged all packets of this rank below

	streamsByMember []receiveStream // by member
}

// receiveStream is the packets that a rank has received from another member.
type receiveStream struct {
	src                            int
	firstUndelivered, firstMissing uint64         // packets below taken were delivered to the program; all below have were received
	lastAcknowledged               uint64         // number of the last acknowledgement
	ring                           []storedPacket // two windows of packets from taken on
}

type storedPacket struct {
	hasArrived, last bool
	data             []byte
}

// Open makes the rank a member of a group of ranks, which includes it. An id names one group of the
// job at a time, and all members must give the same members in the same order. Packets that are
// sent before a member has opened the group reach it by retransmission only. The error is
// ErrTooManyGroups if the interface allows no more groups.
func (p *Port) Open(id uint32, members []int) (*Group, error) {
	self := slices.Index(members, p.Rank())
	switch {
	case self < 0:
		return nil, fmt.Errorf("rank %d opens multicast group %d, which it is not a member of", p.Rank(), id)
	case p.groups[id] != nil:
		return nil, fmt.Errorf("rank %d opens multicast group %d, which it has open", p.Rank(), id)
	case !p.datagrams.Join(id):
		return nil, fmt.Errorf("rank %d opens multicast group %d: it is in %d already: %w", p.Rank(), id, p.datagrams.MaxGroups(), ErrTooManyGroups)
	}
	g := &Group{port: p, id: id, members: slices.Clone(members), selfIndex: self, acknowledgedByMember: make([]uint64, len(members)), streamsByMember: make([]receiveStream, len(members))}
	for i, m := range members {
		g.streamsByMember[i].src = m
	}
	p.groups[id] = g
	p.Counts.MaxOpenGroups++
	return g, nil
}

// Close ends the membership. The sends of all members must have returned, which a barrier of the
// members ensures.
func (g *Group) Close() {
	g.port.datagrams.Leave(g.id)
	delete(g.port.groups, g.id)
}

// Send sends a message to all other members and returns when all have acknowledged it. Meanwhile it
// calls progress for other work of the rank; progress reports whether there was any, and may be
// nil. Send fails if a receiver acknowledges nothing in Options.Tries retransmissions.
func (g *Group) Send(b []byte, progress func() bool) error {
	if len(g.members) == 1 {
		return nil
	}
	p, o := g.port, &g.port.options
	room := len(p.packet) - headBytes
	first, base := g.nextPacketNumber, g.nextPacketNumber
	end := first + uint64(max(1, (len(b)+room-1)/room))
	transmit := func(number uint64) {
		from := int(number-first) * room
		part := b[from:min(len(b), from+room)]
		p.encodeHead(kindData, number == end-1, g.id, number)
		n := headBytes + copy(p.packet[headBytes:], part)
		p.Delay(o.PacketCost + o.ByteCost.Time(n))
		p.datagrams.Multicast(g.id, p.packet[:n])
		p.Counts.Packets++
	}
	g.acknowledgedByMember[g.selfIndex] = end
	wait, tries := o.RetransmitTimeout, 0
	deadline := p.Now() + wait
	for {
		seen := p.watch.EventCount()
		came := p.processDatagrams()
		if progress != nil && progress() {
			came = true
		}
		if now := slices.Min(g.acknowledgedByMember); now != base {
			base, wait, tries, deadline = now, o.RetransmitTimeout, 0, p.Now()+o.RetransmitTimeout
		}
		switch {
		case base == end:
			return nil
		case g.nextPacketNumber != end && g.nextPacketNumber-base < uint64(o.WindowPackets):
			transmit(g.nextPacketNumber)
			g.nextPacketNumber++
		case came:
		case p.Now() >= deadline:
			if tries++; tries > o.MaxRetransmissions {
				return g.unresponsiveError(base)
			}
			transmit(base)
			p.Counts.Retransmitted++
			wait = min(2*wait, o.MaxRetransmitTimeout)
			deadline = p.Now() + wait
		default:
			p.watch.WaitForEvent(seen, deadline)
		}
	}
}

// unresponsiveError returns the error of receivers that do not acknowledge.
func (g *Group) unresponsiveError(base uint64) error {
	var silent []int
	for i, n := range g.acknowledgedByMember {
		if n == base {
			silent = append(silent, g.members[i])
		}
	}
	return fmt.Errorf("rank %d multicasts to group %d: no answer from ranks %v to a packet that was sent %d times", g.port.Rank(), g.id, silent, g.port.options.MaxRetransmissions+1)
}

// Recv receives the next message of another member, given by its rank, and returns its length. It
// calls progress as Send does. If the message is longer than b, Recv discards it and returns an
// error.
func (g *Group) Recv(src int, b []byte, progress func() bool) (int, error) {
	i := slices.Index(g.members, src)
	if i < 0 || i == g.selfIndex {
		return 0, fmt.Errorf("rank %d receives from rank %d, which is no other member of multicast group %d", g.port.Rank(), src, g.id)
	}
	p, s := g.port, &g.streamsByMember[i]
	n := 0
	for {
		seen := p.watch.EventCount()
		for s.firstUndelivered != s.firstMissing {
			q := &s.ring[s.firstUndelivered%uint64(len(s.ring))]
			if n < len(b) {
				p.Copy(b[n:], q.data)
			}
			n += len(q.data)
			q.hasArrived = false
			s.firstUndelivered++
			if g.acknowledgeableNumber(s) != s.lastAcknowledged {
				g.acknowledge(s)
			}
			if !q.last {
				continue
			}
			if n > len(b) {
				return n, fmt.Errorf("rank %d receives %d bytes of rank %d in multicast group %d, and has room for %d", p.Rank(), n, src, g.id, len(b))
			}
			return n, nil
		}
		came := p.processDatagrams()
		if progress != nil && progress() {
			came = true
		}
		if !came {
			p.watch.WaitForEvent(seen, device.Forever)
		}
	}
}

// storePacket stores a packet. The sender stays within a window of the last acknowledgement, which
// is within a window of what was delivered to the program, so there is room for it.
func (g *Group) storePacket(s *receiveStream, q *device.Packet, number uint64) {
	size := uint64(2 * g.port.options.WindowPackets)
	if s.ring == nil {
		s.ring = make([]storedPacket, size)
	}
	if number-s.firstUndelivered < size && !s.ring[number%size].hasArrived {
		x := &s.ring[number%size]
		x.hasArrived, x.last = true, q.Data[1] != 0
		x.data = append(x.data[:0], q.Data[headBytes:]...)
		for s.firstMissing-s.firstUndelivered < size && s.ring[s.firstMissing%size].hasArrived {
			s.firstMissing++
		}
	} else {
		g.port.Counts.Duplicates++
	}
	g.acknowledge(s)
}

// acknowledgeableNumber returns the highest number that may be acknowledged: at most a window
// beyond what was delivered to the program.
func (g *Group) acknowledgeableNumber(s *receiveStream) uint64 {
	return s.firstUndelivered + min(s.firstMissing-s.firstUndelivered, uint64(g.port.options.WindowPackets))
}

func (g *Group) acknowledge(s *receiveStream) {
	s.lastAcknowledged = g.acknowledgeableNumber(s)
	g.port.encodeHead(kindAcknowledgement, false, g.id, s.lastAcknowledged)
	g.port.datagrams.Send(s.src, g.port.packet[:headBytes])
}
