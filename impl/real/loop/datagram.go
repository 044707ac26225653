package loop

import (
	"slices"
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Datagrams are as long as Ethernet, IP and UDP allow. A rank keeps few that it has not received,
// and is a member of as many groups as common network cards filter.
const (
	datagramLimit = 1472
	datagramRoom  = 64
	groups        = 20
)

// datagrams is what has come for a rank.
type datagrams struct {
	mu       sync.Mutex
	waiting  list
	member   []uint32 // of groups
	held     *buffer  // lent to the rank
	detained func()   // a datagram of this rank that arrives after its next one, or nil
}

type datagram struct{ *port }

func (datagram) Limit() int  { return datagramLimit }
func (datagram) Groups() int { return groups }

func (d datagram) Join(group uint32) bool {
	d.leave()
	g := &d.datagrams
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.member, group) {
		return true
	}
	if len(g.member) == groups {
		return false
	}
	g.member = append(g.member, group)
	return true
}

func (d datagram) Leave(group uint32) {
	d.leave()
	g := &d.datagrams
	g.mu.Lock()
	defer g.mu.Unlock()
	g.member = slices.DeleteFunc(g.member, func(m uint32) bool { return m == group })
}

func (d datagram) Send(dst int, b []byte) {
	to := d.reach(dst)
	checkLength("a datagram", len(b), datagramLimit)
	d.transmit(to, b)
}

func (d datagram) Multicast(group uint32, b []byte) {
	d.leave()
	checkLength("a datagram", len(b), datagramLimit)
	for _, to := range d.ports {
		if to != d.port && to.datagrams.hears(group) {
			d.transmit(to, b)
		}
	}
}

func (g *datagrams) hears(group uint32) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.member, group)
}

// transmit carries a datagram to a port, as well as it can.
func (d datagram) transmit(to *port, b []byte) {
	if d.dice.chance(d.faults.Loss) {
		return
	}
	copies := 1
	if d.dice.chance(d.faults.Duplicate) {
		copies = 2
	}
	for range copies {
		q := d.buffers.pack(d.rank, &device.Head{}, b)
		last := d.datagrams.detained
		if last == nil && d.dice.chance(d.faults.Reorder) {
			d.datagrams.detained = func() { to.take(q) }
			continue
		}
		d.datagrams.detained = nil
		to.take(q)
		if last != nil {
			last()
		}
	}
}

// take takes a datagram in, if there is room.
func (p *port) take(q *buffer) {
	g := &p.datagrams
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting.n == datagramRoom {
		p.buffers.free(q)
		return
	}
	g.waiting.push(q)
	p.inbox.event(p.job)
}

func (d datagram) Recv(deadline unit.Time) *device.Packet {
	g := &d.datagrams
	for {
		seen := watch(d).Events()
		g.mu.Lock()
		d.buffers.free(g.held)
		g.held = g.waiting.pop()
		g.mu.Unlock()
		if g.held != nil {
			return &g.held.Packet
		}
		if !watch(d).Wait(seen, deadline) {
			return nil
		}
	}
}
