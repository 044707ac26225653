package fabric

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// link is a link of the fabric, in one direction.
type link struct {
	sim.Server
	rate                  core.CachedRate
	latency               unit.Time // of a first byte, and through the switch behind it
	firstReady, lastReady int32     // flows whose first chunk waits and has room
	flows                 int32     // the first of those that the link knows
	waitingBytes          int       // of chunks that wait
	endsAtHost            bool      // which takes all that comes
	isBus                 bool      // between memory and an interface, without headers of packets
	marks                 bool      // its queue is in a switch
	isServed              bool      // an event serves the next flow when the link is free
}

// link returns a link, by its number: those of the graph, behind them one from each host to itself,
// and with RDMA interfaces the buses. Links are set up when they are first used: a job of a few
// ranks uses few of the links of a large fabric.
func (n *network) link(i int32) *link {
	if l := n.links[i]; l != nil {
		return l
	}
	return n.setUpLinks(i)
}

// countLinks returns how many links there are.
func (n *network) countLinks() int {
	if n.NIC == nil {
		return int(n.busOut(0))
	}
	return int(n.busIn(0)) + n.Graph.Hosts
}

// setUpLinks sets up a link and some around it, and returns it.
func (n *network) setUpLinks(wanted int32) *link {
	const count = 32
	first := wanted - wanted%count
	links := make([]link, min(count, len(n.links)-int(first)))
	for k := range links {
		i, l := first+int32(k), &links[k]
		n.links[i] = l
		l.firstReady, l.lastReady, l.flows = none, none, none
		class := topology.HostClass
		switch l.endsAtHost = true; {
		case int(i) < n.Graph.Links():
			class = n.Graph.Class(i)
			l.endsAtHost = n.Graph.IsHost(n.Graph.To(i)) && n.NIC == nil
			l.latency = n.HopLatency(i)
			l.marks = n.Congestion != nil && !n.Graph.IsHost(n.Graph.From(i))
		case n.NIC != nil:
			l.endsAtHost = i >= n.busIn(0)
		}
		l.rate = core.CachedRate{Rate: n.Links[class].Rate()}
		if n.NIC != nil && i >= n.busOut(0) {
			if l.isBus, l.rate.Rate = true, n.NIC.Bus.Bandwidth; l.endsAtHost {
				l.latency = n.NIC.Bus.Latency
			}
		}
	}
	return &links[wanted-first]
}

// flow is the chunks that share a queue before a link and the buffer behind it: those of a host and
// a virtual channel with fair arbitration, and those of a channel without. A link knows a flow as
// long as a chunk waits for the link, or occupies the buffer.
type flow struct {
	link, source   int32
	channel        int16
	isReady        bool
	room           int32 // free bytes of the buffer behind the link
	chunksBehind   int32 // chunks that occupy it, of which some may have no bytes
	first, last    int32 // chunks that wait
	nextReady      int32
	onward         int32 // the flow at the next link that the last chunk behind was in
	next, previous int32 // of the link; next also of those to use again
}

// chunk is a part of a transfer in flight.
type chunk struct {
	route      topology.Route
	transfer   int32
	source     int32 // the host that sends it
	link       int32 // the link for which it waits, or which it has taken
	room       int32 // the flow whose buffer it occupies, or none
	payload    int32 // bytes of the transfer
	bytes      int32 // on links
	isEntering bool  // it has taken no link yet
	isMarked   bool  // some queue before a link was long
	isFirst    bool  // of the transfer
	isLast     bool
	next       int32     // behind it in the queue, or of those to use again
	lastByte   unit.Time // when its last byte is where its first is, at the earliest
}

// newChunk returns a chunk to use. It moves the others if there are more than ever.
func (n *network) newChunk() int32 {
	c := n.freeChunk
	if c == none {
		n.chunks = append(n.chunks, chunk{})
		return int32(len(n.chunks) - 1)
	}
	n.freeChunk = n.chunks[c].next
	return c
}

// chunkEvent is the event that the first byte of a chunk reaches a switch.
type chunkEvent network

// HandleEvent lets the chunk find its next link and reach it.
func (e *chunkEvent) HandleEvent(c uint64) {
	n := (*network)(e)
	now := n.job.Kernel.Now()
	if n.chooseLink(int32(c), now); n.reachLink(int32(c), now) {
		n.advanceChunk(int32(c), now)
	}
}

// advanceChunk lets a chunk that has taken a link at time t go on, as far as nothing else is due
// before it gets there. Otherwise an event continues it. It is the last that an event does.
func (n *network) advanceChunk(c int32, t unit.Time) {
	k := &n.job.Kernel
	for {
		t += n.link(n.chunks[c].link).latency
		if t > k.Now() && !k.IsIdleUntil(t) {
			k.Schedule(t, (*chunkEvent)(n), uint64(c))
			return
		}
		if n.chooseLink(c, t); !n.reachLink(c, t) {
			return
		}
	}
}

// chooseLink finds the next link of a chunk. With adaptive routing, the first router of a route
// compares the minimal route with one through a random group, by the time of their queues and their
// numbers of links (UGAL-L: Singh 2005; Kim et al. 2008).
func (n *network) chooseLink(i int32, t unit.Time) {
	c := &n.chunks[i]
	if n.isAdaptive && n.Graph.IsTurn(&c.route) {
		if detour, ok := n.Graph.Detour(c.route, n.random.Uint64()); ok {
			first, second := c.route, detour
			direct, indirect := n.Graph.NextLink(&first), n.Graph.NextLink(&second)
			if n.queueTime(direct, t)*unit.Time(n.Graph.LinksLeft(c.route)) > n.queueTime(indirect, t)*unit.Time(n.Graph.LinksLeft(detour)) {
				c.route = detour
			}
		}
	}
	if n.nics != nil {
		c.link = n.nextLink(c)
		return
	}
	c.link = n.Graph.NextLink(&c.route)
}

// queueTime returns how long a link takes for what it carries at a time and what waits for it.
func (n *network) queueTime(i int32, t unit.Time) unit.Time {
	l := n.link(i)
	return max(0, l.FreeAt()-t) + l.rate.Rate.Time(l.waitingBytes)
}

// reachLink lets a chunk take its link at time t, or wait for it. It reports whether the chunk goes
// on to another.
func (n *network) reachLink(i int32, t unit.Time) bool {
	c := &n.chunks[i]
	l := n.link(c.link)
	f := int32(none)
	isLimited := n.Buffer > 0 && !l.endsAtHost
	if isLimited || l.flows != none {
		f = n.findFlow(c)
	}
	if l.FreeAt() <= t && l.firstReady == none && (f == none || n.flows[f].first == none && n.hasRoom(f, c.bytes)) {
		if f == none && isLimited {
			f = n.newFlow(c)
		}
		return n.takeLink(i, f, t)
	}
	if f == none {
		f = n.newFlow(c)
	}
	q := &n.flows[f]
	if c.next = none; q.first == none {
		q.first = i
	} else {
		n.chunks[q.last].next = i
	}
	q.last = i
	l.waitingBytes += int(c.bytes)
	n.markReady(f, t)
	return false
}

// takeLink lets a chunk of a flow take a free link at time t, and reports whether the caller has to
// let it go on to another. It occupies room behind the link, and frees that behind the one before.
func (n *network) takeLink(i, f int32, t unit.Time) (goesOn bool) {
	c := &n.chunks[i]
	l := n.link(c.link)
	bytes := int(c.bytes)
	if l.isBus {
		if bytes = int(c.payload); c.isEntering && n.transfers[c.transfer].isInline {
			bytes = 0
		}
	}
	hold := l.rate.Time(bytes)
	l.Reserve(t, hold)
	if l.marks {
		n.markChunk(c, l.waitingBytes)
	}
	x := n.transfers[c.transfer].message()
	n.job.Probe.ServerOccupied(&l.Server, x, model.CarryActivity, t, hold, bytes)
	c.lastByte = max(c.lastByte, t+hold) + l.latency
	before := c.room
	if c.room = none; !l.endsAtHost && n.Buffer > 0 {
		n.flows[f].room -= c.bytes
		n.flows[f].chunksBehind++
		c.room = f
	}
	if before != none {
		n.flows[before].room += c.bytes
		n.flows[before].chunksBehind--
		n.markReady(before, t)
		n.releaseFlow(before)
	}
	isFromHost, by, of, payload, isLast, there := c.isEntering, n.transfers[c.transfer].sender, c.transfer, c.payload, c.isLast, c.lastByte+n.Deliver
	c.isEntering = false
	if isFromHost && c.isFirst {
		n.job.Probe.FirstByteDeparted(x, t)
	}
	if isFromHost && isLast {
		n.dequeueTransfer(by)
	}
	if l.endsAtHost {
		if c.isMarked {
			n.sendNotice(by, c.lastByte)
		}
		c.next, n.freeChunk = n.freeChunk, i
		n.recordChunkArrival(of, payload, isLast, there)
	}
	if isFromHost && n.senders[by].first != none {
		if !l.endsAtHost { // before the next chunk, which may take no time
			n.job.Kernel.Schedule(t+l.latency, (*chunkEvent)(n), uint64(i))
		}
		n.continueSender(by, t)
		return false
	}
	return !l.endsAtHost
}

// linkFreeEvent is the event that a link for which chunks wait may be free.
type linkFreeEvent network

// HandleEvent lets the first chunk of the flow whose turn it is take the link. The flow has its
// next turn after the others.
func (e *linkFreeEvent) HandleEvent(arg uint64) {
	n := (*network)(e)
	now := n.job.Kernel.Now()
	l := n.link(int32(arg))
	l.isServed = false
	f := l.firstReady
	if f == none {
		return
	}
	if l.FreeAt() > now {
		n.scheduleService(int32(arg), now)
		return
	}
	q := &n.flows[f]
	if l.firstReady = q.nextReady; l.firstReady == none {
		l.lastReady = none
	}
	q.isReady = false
	i := q.first
	c := &n.chunks[i]
	if q.first = c.next; q.first == none {
		q.last = none
	}
	l.waitingBytes -= int(c.bytes)
	goesOn := n.takeLink(i, f, now)
	n.markReady(f, now)
	n.releaseFlow(f)
	n.scheduleService(int32(arg), now)
	if goesOn {
		n.advanceChunk(i, now)
	}
}

// scheduleService schedules the service of a link for which flows are ready.
func (n *network) scheduleService(i int32, t unit.Time) {
	l := n.link(i)
	if l.firstReady != none && !l.isServed {
		l.isServed = true
		n.job.Kernel.Schedule(max(t, l.FreeAt()), (*linkFreeEvent)(n), uint64(i))
	}
}
