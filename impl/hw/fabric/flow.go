package fabric

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// flowKey returns the host and the virtual channel that identify the flow of a chunk. The last link
// needs no channels, because a host accepts all data.
func (n *network) flowKey(c *chunk) (source int32, channel int16) {
	if n.Arbitration == model.FairArbitration {
		source = c.source
	}
	if n.link(c.link).endsAtHost {
		return source, 0
	}
	return source, n.Graph.Channel(&c.route)
}

// findFlow returns the flow of a chunk at its link, or none. Chunks of one flow usually continue in
// the same flow, so it tries that one before it searches the link's flows.
func (n *network) findFlow(c *chunk) int32 {
	source, channel := n.flowKey(c)
	isOf := func(f int32) bool {
		q := &n.flows[f]
		return q.link == c.link && q.source == source && q.channel == channel
	}
	if c.room != none {
		if f := n.flows[c.room].onward; f != none && isOf(f) {
			return f
		}
	}
	for f := n.link(c.link).flows; f != none; f = n.flows[f].next {
		if isOf(f) {
			if c.room != none {
				n.flows[c.room].onward = f
			}
			return f
		}
	}
	return none
}

// newFlow adds the flow of a chunk to its link.
func (n *network) newFlow(c *chunk) int32 {
	l := n.link(c.link)
	f := n.freeFlow
	if f == none {
		f = int32(len(n.flows))
		n.flows = append(n.flows, flow{})
	} else {
		n.freeFlow = n.flows[f].next
	}
	q := flow{link: c.link, room: int32(n.Buffer), first: none, last: none, nextReady: none, onward: none, next: l.flows, previous: none}
	q.source, q.channel = n.flowKey(c)
	n.flows[f] = q
	if l.flows != none {
		n.flows[l.flows].previous = f
	}
	l.flows = f
	return f
}

// releaseFlow removes a flow without chunks before and behind its link.
func (n *network) releaseFlow(f int32) {
	q := &n.flows[f]
	if q.first != none || q.chunksBehind > 0 {
		return
	}
	if q.next != none {
		n.flows[q.next].previous = q.previous
	}
	if q.previous != none {
		n.flows[q.previous].next = q.next
	} else {
		n.link(q.link).flows = q.next
	}
	q.link, q.next, n.freeFlow = none, n.freeFlow, f
}

// hasRoom reports whether a link accepts a chunk of a flow: the buffer behind it has space, or
// drops what it has no space for.
func (n *network) hasRoom(f, bytes int32) bool {
	if n.Buffer == 0 || n.fits(f, bytes) {
		return true
	}
	l := n.link(n.flows[f].link)
	return l.endsAtHost || l.drops
}

// fits reports whether the buffer behind the link of a flow has space for a chunk. An empty buffer
// accepts any chunk.
func (n *network) fits(f, bytes int32) bool {
	room := n.flows[f].room
	return room >= bytes || int(room) == n.Buffer
}

// markReady queues a flow for its link if it has a waiting chunk and buffer space.
func (n *network) markReady(f int32, t unit.Time) {
	q := &n.flows[f]
	if q.isReady || q.first == none || !n.hasRoom(f, n.chunks[q.first].bytes) {
		return
	}
	q.isReady, q.nextReady = true, none
	l := n.link(q.link)
	if l.firstReady == none {
		l.firstReady = f
	} else {
		n.flows[l.lastReady].nextReady = f
	}
	l.lastReady = f
	n.scheduleService(q.link, t)
}
