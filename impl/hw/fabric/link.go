package fabric

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// link is one direction of a link.
type link struct {
	sim.Server
	rate                  core.CachedRate
	latency               unit.Time // of a first byte over the link and through the switch behind it
	firstReady, lastReady int32     // flows whose first chunk waits and has buffer space
	firstFlow             int32     // the first flow of the link
	waitingBytes          int       // bytes of waiting chunks
	endsAtHost            bool      // a host accepts all data
	isBus                 bool      // between memory and interface, without packet headers
	marksChunks           bool      // its queue is in a switch that marks chunks
	dropsChunks           bool      // the switch behind it drops chunks that find its buffer full
	isServed              bool      // an event is scheduled that serves the next flow when the link is free
}

// link returns a link by its number: first those of the graph, then one from each host to itself,
// then the buses of RDMA interfaces. Links are set up at first use, because a job of a few ranks
// uses few links of a large fabric.
func (n *network) link(i int32) *link {
	if l := n.links[i]; l != nil {
		return l
	}
	return n.setUpLinks(i)
}

// countLinks returns the number of links.
func (n *network) countLinks() int {
	if n.NIC == nil {
		return int(n.busOut(0))
	}
	return int(n.busIn(0)) + n.Graph.Hosts
}

// setUpLinks sets up a link with some of its neighbours, and returns it.
func (n *network) setUpLinks(wanted int32) *link {
	const count = 32
	first := wanted - wanted%count
	links := make([]link, min(count, len(n.links)-int(first)))
	for k := range links {
		i, l := first+int32(k), &links[k]
		n.links[i] = l
		l.firstReady, l.lastReady, l.firstFlow = noIndex, noIndex, noIndex
		class := topology.HostClass
		switch l.endsAtHost = true; {
		case int(i) < n.Graph.Links():
			class = n.Graph.Class(i)
			l.endsAtHost = n.Graph.IsHost(n.Graph.To(i)) && n.NIC == nil
			l.latency = n.HopLatency(i)
			l.marksChunks = n.Congestion != nil && !n.Graph.IsHost(n.Graph.From(i))
			l.dropsChunks = n.Loss != nil && !n.Graph.IsHost(n.Graph.To(i))
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

// flow is a set of chunks that share a queue before a link and the buffer behind it: those of one
// host and virtual channel with fair arbitration, or of one channel without. It exists while a
// chunk waits for the link or occupies the buffer.
type flow struct {
	link, source               int32
	channel                    int16
	isReady                    bool
	freeBytes                  int32 // free bytes of the buffer behind the link
	chunksBehind               int32 // number of chunks in that buffer, some possibly without bytes
	firstChunk, lastChunk      int32 // waiting chunks
	nextReady                  int32
	onwardFlow                 int32 // flow at the next link of the last chunk in the buffer
	nextOfLink, previousOfLink int32 // flows of the same link; next also links unused ones
}

// chunk is a part of a transfer.
type chunk struct {
	route        topology.Route
	transfer     int32
	source       int32 // sending host
	link         int32 // the link for which it waits, or which it uses
	occupiedFlow int32 // flow whose buffer it occupies, or none
	payloadBytes int32 // bytes of the transfer
	linkBytes    int32 // bytes on links, with headers
	isEntering   bool  // it has not used a link yet
	isMarked     bool  // a queue before one of its links was long
	isFirst      bool  // the first chunk of the transfer
	isLast       bool
	isAgain      bool      // it was sent before, with loss
	serial       int64     // with loss: in its queue pair
	round        int32     // with loss: of go-back-N
	nextChunk    int32     // behind it in the queue, or the next unused chunk
	lastByte     unit.Time // earliest time at which its last byte is where its first byte is now
}

// newChunk returns an unused chunk. It may move all chunks, if the array has to grow.
func (n *network) newChunk() int32 {
	c := n.freeChunk
	if c == noIndex {
		n.chunks = append(n.chunks, chunk{})
		return int32(len(n.chunks) - 1)
	}
	n.freeChunk = n.chunks[c].nextChunk
	return c
}

// chunkEvent is the event that the first byte of a chunk arrives at a switch.
type chunkEvent network

// HandleEvent chooses the chunk's next link and moves the chunk there.
func (e *chunkEvent) HandleEvent(c uint64) {
	n := (*network)(e)
	now := n.job.Kernel.Now()
	if n.chooseLink(int32(c), now); n.reachLink(int32(c), now) {
		n.advanceChunk(int32(c), now)
	}
}

// advanceChunk moves a chunk that has started to use a link at time t, until another event precedes
// its next arrival. Then it schedules an event. Nothing may follow it in an event.
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

// chooseLink determines the next link of a chunk. With adaptive routing the first router compares
// the minimal route with one through a random group, by queueing time and number of links (UGAL-L:
// Singh 2005; Kim et al. 2008).
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

// queueTime returns the time that a link needs for its current chunk and all waiting ones.
func (n *network) queueTime(i int32, t unit.Time) unit.Time {
	l := n.link(i)
	return max(0, l.FreeAt()-t) + l.rate.Rate.Time(l.waitingBytes)
}

// reachLink makes a chunk use its link at time t, or queues it. It reports whether the chunk
// continues to another link.
func (n *network) reachLink(i int32, t unit.Time) bool {
	c := &n.chunks[i]
	l := n.link(c.link)
	f := int32(noIndex)
	isLimited := n.Buffer > 0 && !l.endsAtHost
	if isLimited || l.firstFlow != noIndex {
		f = n.findFlow(c)
	}
	if l.FreeAt() <= t && l.firstReady == noIndex && (f == noIndex || n.flows[f].firstChunk == noIndex && n.hasRoom(f, c.linkBytes)) {
		if f == noIndex && isLimited {
			f = n.newFlow(c)
		}
		return n.takeLink(i, f, t)
	}
	if f == noIndex {
		f = n.newFlow(c)
	}
	q := &n.flows[f]
	if c.nextChunk = noIndex; q.firstChunk == noIndex {
		q.firstChunk = i
	} else {
		n.chunks[q.lastChunk].nextChunk = i
	}
	q.lastChunk = i
	l.waitingBytes += int(c.linkBytes)
	n.markReady(f, t)
	return false
}

// takeLink makes a chunk of a flow use a free link at time t. The chunk occupies the buffer behind
// the link, and frees the one before. It reports whether the caller must continue the chunk at the
// next link.
func (n *network) takeLink(i, f int32, t unit.Time) (goesOn bool) {
	c := &n.chunks[i]
	l := n.link(c.link)
	bytes := int(c.linkBytes)
	if l.isBus {
		if bytes = int(c.payloadBytes); c.isEntering && n.transfers[c.transfer].isInline {
			bytes = 0
		}
	}
	hold := l.rate.Time(bytes)
	l.Reserve(t, hold)
	if l.marksChunks {
		n.markChunk(c, l.waitingBytes)
	}
	x := n.transfers[c.transfer].packetOrAccess()
	n.job.Probe.ServerOccupied(&l.Server, x, model.CarryActivity, t, hold, bytes)
	c.lastByte = max(c.lastByte, t+hold) + l.latency
	before, isDropped := c.occupiedFlow, false
	if c.occupiedFlow = noIndex; !l.endsAtHost && n.Buffer > 0 {
		if isDropped = l.dropsChunks && !n.hasSpaceBehind(f, c.linkBytes); !isDropped {
			n.flows[f].freeBytes -= c.linkBytes
			n.flows[f].chunksBehind++
			c.occupiedFlow = f
		}
	}
	if before != noIndex {
		n.flows[before].freeBytes += c.linkBytes
		n.flows[before].chunksBehind--
		n.markReady(before, t)
		n.releaseFlow(before)
	}
	isFromHost, by, of, payload, isLast, there := c.isEntering, n.transfers[c.transfer].sender, c.transfer, c.payloadBytes, c.isLast, c.lastByte+n.Deliver
	c.isEntering = false
	if isFromHost && c.isFirst && !c.isAgain {
		n.job.Probe.FirstByteDeparted(x, t)
	}
	switch {
	case isFromHost && n.Loss != nil:
		n.leaveInterface(c, by, t)
	case isFromHost && isLast:
		n.dequeueTransfer(by)
	}
	hasEnded := l.endsAtHost || isDropped
	if l.endsAtHost {
		if c.isMarked {
			n.sendNotice(by, c.lastByte)
		}
		if n.Loss == nil || n.acceptChunk(c, by, c.lastByte) {
			n.recordChunkArrival(of, payload, isLast, there)
		}
	}
	if hasEnded {
		n.removeChunk(i)
	}
	if isDropped {
		n.loss.dropped++
	}
	if isFromHost && n.senders[by].firstTransfer != noIndex {
		if !hasEnded { // before the next chunk, which may take no time
			n.job.Kernel.Schedule(t+l.latency, (*chunkEvent)(n), uint64(i))
		}
		n.continueSender(by, t)
		return false
	}
	return !hasEnded
}

// linkFreeEvent is the event that a link with waiting chunks may be free.
type linkFreeEvent network

// HandleEvent serves the first chunk of the next flow. The flow then moves to the end of the link's
// queue.
func (e *linkFreeEvent) HandleEvent(arg uint64) {
	n := (*network)(e)
	now := n.job.Kernel.Now()
	l := n.link(int32(arg))
	l.isServed = false
	f := l.firstReady
	if f == noIndex {
		return
	}
	if l.FreeAt() > now {
		n.scheduleService(int32(arg), now)
		return
	}
	q := &n.flows[f]
	if l.firstReady = q.nextReady; l.firstReady == noIndex {
		l.lastReady = noIndex
	}
	q.isReady = false
	i := q.firstChunk
	c := &n.chunks[i]
	if q.firstChunk = c.nextChunk; q.firstChunk == noIndex {
		q.lastChunk = noIndex
	}
	l.waitingBytes -= int(c.linkBytes)
	goesOn := n.takeLink(i, f, now)
	n.markReady(f, now)
	n.releaseFlow(f)
	n.scheduleService(int32(arg), now)
	if goesOn {
		n.advanceChunk(i, now)
	}
}

// scheduleService schedules the service of a link with ready flows.
func (n *network) scheduleService(i int32, t unit.Time) {
	l := n.link(i)
	if l.firstReady != noIndex && !l.isServed {
		l.isServed = true
		n.job.Kernel.Schedule(max(t, l.FreeAt()), (*linkFreeEvent)(n), uint64(i))
	}
}
