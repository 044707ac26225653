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
	Window  int       // most packets of a sender that are not acknowledged by all receivers
	Packet  int       // bytes of a packet with its header; 0: the longest datagram
	Timeout unit.Time // without a new acknowledgement until a packet is retransmitted; doubles with each retransmission
	Longest unit.Time // upper bound of the timeout
	Tries   int       // retransmissions of a packet without a new acknowledgement until the sender fails
}

// Defaults let a receiver compute for some minutes without receiving.
var Defaults = Options{Window: 8, Timeout: 10 * unit.Millisecond, Longest: unit.Second, Tries: 600}

// ErrGroups says that a rank is in as many groups as its network interface allows.
var ErrGroups = errors.New("no more multicast groups")

// Port is a port with reliable multicast. A rank must use it in place of the port that it wraps.
type Port struct {
	device.Port
	Counts Counts

	options Options
	net     device.Datagram
	watch   device.Watch
	groups  map[uint32]*Group
	packet  []byte // the next to send
}

// Counts are of a rank, since its port was created.
type Counts struct {
	Packets, Again           int // data packets sent, and retransmissions among them
	Acknowledged, Duplicates int // acknowledgements and duplicate packets received
	MaxGroups                int // opened
}

// New returns a port with reliable multicast, or an error if the machine has no multicast or cannot
// wait for events.
func New(p device.Port, o Options) (*Port, error) {
	net, watch := p.Datagram(), p.Watch()
	if net == nil || watch == nil || net.MaxGroups() == 0 {
		return nil, errors.New("this machine has no multicast")
	}
	if o.Packet == 0 || o.Packet > net.Limit() {
		o.Packet = net.Limit()
	}
	if o.Packet <= headBytes {
		return nil, fmt.Errorf("multicast packets of %d bytes: their header has %d", o.Packet, headBytes)
	}
	if o.Window < 0 || o.Timeout < 0 || o.Longest < 0 || o.Tries < 0 {
		return nil, fmt.Errorf("negative multicast options: %+v", o)
	}
	for _, f := range []struct{ value, normal *int }{{&o.Window, &Defaults.Window}, {&o.Tries, &Defaults.Tries}} {
		if *f.value == 0 {
			*f.value = *f.normal
		}
	}
	for _, f := range []struct{ value, normal *unit.Time }{{&o.Timeout, &Defaults.Timeout}, {&o.Longest, &Defaults.Longest}} {
		if *f.value == 0 {
			*f.value = *f.normal
		}
	}
	return &Port{Port: p, options: o, net: net, watch: watch, groups: map[uint32]*Group{}, packet: make([]byte, o.Packet)}, nil
}

// Recv implements device.Port. Meanwhile it acknowledges packets of the rank's groups.
func (p *Port) Recv(block bool) *device.Packet {
	for {
		if len(p.groups) == 0 {
			return p.Port.Recv(block)
		}
		seen := p.watch.Events()
		if q := p.Port.Recv(false); q != nil {
			return q
		}
		came := p.serve()
		if !block {
			return nil
		}
		if !came {
			p.watch.Wait(seen, device.Forever)
		}
	}
}

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

	data = 1 // a data packet
	have = 2 // an acknowledgement of all packets below a number
)

func (p *Port) head(kind byte, last bool, group uint32, number uint64) {
	p.packet[0], p.packet[1] = kind, 0
	if last {
		p.packet[1] = 1
	}
	binary.LittleEndian.PutUint32(p.packet[4:], group)
	binary.LittleEndian.PutUint64(p.packet[8:], number)
}

// serve processes all datagrams that have arrived, and reports whether there were any.
func (p *Port) serve() bool {
	came := false
	for {
		q := p.net.Recv(0)
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
		case data:
			g.take(&g.from[member], q, number)
		case have:
			p.Counts.Acknowledged++
			g.acked[member] = max(g.acked[member], number)
		}
	}
}

// Group is a multicast group that the rank is a member of.
type Group struct {
	port    *Port
	id      uint32
	members []int
	self    int // index of the rank among them

	next  uint64   // number of the next packet that the rank sends
	acked []uint64 // by member: it has acknowledged all packets of this rank below

	from []stream // by member
}

// stream is the packets that a rank has received from another member.
type stream struct {
	src         int
	taken, have uint64   // packets below taken were delivered to the program; all below have were received
	told        uint64   // number of the last acknowledgement
	ring        []packet // two windows of packets from taken on
}

type packet struct {
	there, last bool
	data        []byte
}

// Open makes the rank a member of a group of ranks, which includes it. An id names one group of the
// job at a time, and all members must give the same members in the same order. Packets that are
// sent before a member has opened the group reach it by retransmission only. The error is ErrGroups
// if the interface allows no more groups.
func (p *Port) Open(id uint32, members []int) (*Group, error) {
	self := slices.Index(members, p.Rank())
	switch {
	case self < 0:
		return nil, fmt.Errorf("rank %d opens multicast group %d, which it is not a member of", p.Rank(), id)
	case p.groups[id] != nil:
		return nil, fmt.Errorf("rank %d opens multicast group %d, which it has open", p.Rank(), id)
	case !p.net.Join(id):
		return nil, fmt.Errorf("rank %d opens multicast group %d: it is in %d already: %w", p.Rank(), id, p.net.MaxGroups(), ErrGroups)
	}
	g := &Group{port: p, id: id, members: slices.Clone(members), self: self, acked: make([]uint64, len(members)), from: make([]stream, len(members))}
	for i, m := range members {
		g.from[i].src = m
	}
	p.groups[id] = g
	p.Counts.MaxGroups++
	return g, nil
}

// Close ends the membership. The sends of all members must have returned, which a barrier of the
// members ensures.
func (g *Group) Close() {
	g.port.net.Leave(g.id)
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
	first, base := g.next, g.next
	end := first + uint64(max(1, (len(b)+room-1)/room))
	transmit := func(number uint64) {
		from := int(number-first) * room
		part := b[from:min(len(b), from+room)]
		p.head(data, number == end-1, g.id, number)
		p.net.Multicast(g.id, p.packet[:headBytes+copy(p.packet[headBytes:], part)])
		p.Counts.Packets++
	}
	g.acked[g.self] = end
	wait, tries := o.Timeout, 0
	deadline := p.Now() + wait
	for {
		seen := p.watch.Events()
		came := p.serve()
		if progress != nil && progress() {
			came = true
		}
		if now := slices.Min(g.acked); now != base {
			base, wait, tries, deadline = now, o.Timeout, 0, p.Now()+o.Timeout
		}
		switch {
		case base == end:
			return nil
		case g.next != end && g.next-base < uint64(o.Window):
			transmit(g.next)
			g.next++
		case came:
		case p.Now() >= deadline:
			if tries++; tries > o.Tries {
				return g.dead(base)
			}
			transmit(base)
			p.Counts.Again++
			wait = min(2*wait, o.Longest)
			deadline = p.Now() + wait
		default:
			p.watch.Wait(seen, deadline)
		}
	}
}

// dead returns the error of receivers that do not acknowledge.
func (g *Group) dead(base uint64) error {
	var silent []int
	for i, n := range g.acked {
		if n == base {
			silent = append(silent, g.members[i])
		}
	}
	return fmt.Errorf("rank %d multicasts to group %d: no answer from ranks %v to a packet that was sent %d times", g.port.Rank(), g.id, silent, g.port.options.Tries+1)
}

// Recv receives the next message of another member, given by its rank, and returns its length. It
// calls progress as Send does. If the message is longer than b, Recv discards it and returns an
// error.
func (g *Group) Recv(src int, b []byte, progress func() bool) (int, error) {
	i := slices.Index(g.members, src)
	if i < 0 || i == g.self {
		return 0, fmt.Errorf("rank %d receives from rank %d, which is no other member of multicast group %d", g.port.Rank(), src, g.id)
	}
	p, s := g.port, &g.from[i]
	n := 0
	for {
		seen := p.watch.Events()
		for s.taken != s.have {
			q := &s.ring[s.taken%uint64(len(s.ring))]
			if n < len(b) {
				p.Copy(b[n:], q.data)
			}
			n += len(q.data)
			q.there = false
			s.taken++
			if g.acknowledgeable(s) != s.told {
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
		came := p.serve()
		if progress != nil && progress() {
			came = true
		}
		if !came {
			p.watch.Wait(seen, device.Forever)
		}
	}
}

// take stores a packet. The sender stays within a window of the last acknowledgement, which is
// within a window of what was delivered to the program, so there is room for it.
func (g *Group) take(s *stream, q *device.Packet, number uint64) {
	size := uint64(2 * g.port.options.Window)
	if s.ring == nil {
		s.ring = make([]packet, size)
	}
	if number-s.taken < size && !s.ring[number%size].there {
		x := &s.ring[number%size]
		x.there, x.last = true, q.Data[1] != 0
		x.data = append(x.data[:0], q.Data[headBytes:]...)
		for s.have-s.taken < size && s.ring[s.have%size].there {
			s.have++
		}
	} else {
		g.port.Counts.Duplicates++
	}
	g.acknowledge(s)
}

// acknowledgeable returns the highest number that may be acknowledged: at most a window beyond what
// was delivered to the program.
func (g *Group) acknowledgeable(s *stream) uint64 {
	return s.taken + min(s.have-s.taken, uint64(g.port.options.Window))
}

func (g *Group) acknowledge(s *stream) {
	s.told = g.acknowledgeable(s)
	g.port.head(have, false, g.id, s.told)
	g.port.net.Send(s.src, g.port.packet[:headBytes])
}
