package loop

import (
	"slices"
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Datagrams are as long as Ethernet, IP and UDP allow. A rank keeps few unreceived ones, and is a
// member of at most as many groups as common network cards filter.
const (
	maxDatagramSize    = 1472
	maxQueuedDatagrams = 64
	maxGroups          = 20
)

// datagramState holds the datagrams that have arrived for a rank.
type datagramState struct {
	mu            sync.Mutex
	queue         bufferList
	joinedGroups  []uint32 // of groups
	lent          *buffer  // lent to the rank
	sendReordered func()   // a datagram of this rank that arrives after its next one, or nil
}

type datagram struct{ *port }

func (datagram) MaxDatagramBytes() int { return maxDatagramSize }
func (datagram) MaxGroups() int        { return maxGroups }

func (d datagram) Join(group uint32) bool {
	d.ExitIfJobFailed()
	g := &d.datagrams
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.joinedGroups, group) {
		return true
	}
	if len(g.joinedGroups) == maxGroups {
		return false
	}
	g.joinedGroups = append(g.joinedGroups, group)
	return true
}

func (d datagram) Leave(group uint32) {
	d.ExitIfJobFailed()
	g := &d.datagrams
	g.mu.Lock()
	defer g.mu.Unlock()
	g.joinedGroups = slices.DeleteFunc(g.joinedGroups, func(m uint32) bool { return m == group })
}

func (d datagram) Send(dst int, b []byte) {
	to := d.portOf(dst)
	checkLength("a datagram", len(b), maxDatagramSize)
	d.transmitDatagram(to, b)
}

func (d datagram) Multicast(group uint32, b []byte) {
	d.ExitIfJobFailed()
	checkLength("a datagram", len(b), maxDatagramSize)
	for _, to := range d.ports {
		if to != d.port && to.datagrams.hasJoined(group) {
			d.transmitDatagram(to, b)
		}
	}
}

func (g *datagramState) hasJoined(group uint32) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.joinedGroups, group)
}

// transmitDatagram carries a datagram to a port, subject to the faults.
func (d datagram) transmitDatagram(to *port, b []byte) {
	if d.random.isHit(d.faults.Loss) {
		return
	}
	copies := 1
	if d.random.isHit(d.faults.Duplicate) {
		copies = 2
	}
	for range copies {
		q := d.buffers.takeCopy(d.Rank(), &device.Head{}, b)
		last := d.datagrams.sendReordered
		if last == nil && d.random.isHit(d.faults.Reorder) {
			d.datagrams.sendReordered = func() { to.enqueueDatagram(q) }
			continue
		}
		d.datagrams.sendReordered = nil
		to.enqueueDatagram(q)
		if last != nil {
			last()
		}
	}
}

// enqueueDatagram adds a datagram to the queue if there is room.
func (p *port) enqueueDatagram(q *buffer) {
	g := &p.datagrams
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queue.length == maxQueuedDatagrams {
		p.buffers.release(q)
		return
	}
	g.queue.push(q)
	p.inbox.countEvent(p.job)
}

func (d datagram) Recv(deadline unit.Time) *device.Packet {
	g := &d.datagrams
	for {
		seen := watch(d).EventCount()
		g.mu.Lock()
		d.buffers.release(g.lent)
		g.lent = g.queue.pop()
		g.mu.Unlock()
		if g.lent != nil {
			return &g.lent.Packet
		}
		if !watch(d).WaitForEvent(seen, deadline) {
			return nil
		}
	}
}
