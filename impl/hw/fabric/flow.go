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
	if c.occupiedFlow != noIndex {
		if f := n.flows[c.occupiedFlow].onwardFlow; f != noIndex && isOf(f) {
			return f
		}
	}
	for f := n.link(c.link).firstFlow; f != noIndex; f = n.flows[f].nextOfLink {
		if isOf(f) {
			if c.occupiedFlow != noIndex {
				n.flows[c.occupiedFlow].onwardFlow = f
			}
			return f
		}
	}
	return noIndex
}

// newFlow adds the flow of a chunk to its link.
func (n *network) newFlow(c *chunk) int32 {
	l := n.link(c.link)
	f := n.freeFlow
	if f == noIndex {
		f = int32(len(n.flows))
		n.flows = append(n.flows, flow{})
	} else {
		n.freeFlow = n.flows[f].nextOfLink
	}
	q := flow{link: c.link, freeBytes: int32(n.Buffer), firstChunk: noIndex, lastChunk: noIndex, nextReady: noIndex, onwardFlow: noIndex, nextOfLink: l.firstFlow, previousOfLink: noIndex}
	q.source, q.channel = n.flowKey(c)
	n.flows[f] = q
	if l.firstFlow != noIndex {
		n.flows[l.firstFlow].previousOfLink = f
	}
	l.firstFlow = f
	return f
}

// releaseFlow removes a flow without chunks before and behind its link.
func (n *network) releaseFlow(f int32) {
	q := &n.flows[f]
	if q.firstChunk != noIndex || q.chunksBehind > 0 {
		return
	}
	if q.nextOfLink != noIndex {
		n.flows[q.nextOfLink].previousOfLink = q.previousOfLink
	}
	if q.previousOfLink != noIndex {
		n.flows[q.previousOfLink].nextOfLink = q.nextOfLink
	} else {
		n.link(q.link).firstFlow = q.nextOfLink
	}
	q.link, q.nextOfLink, n.freeFlow = noIndex, n.freeFlow, f
}

// hasRoom reports whether a link accepts a chunk of a flow: the buffer behind it has space, or
// drops what it has no space for.
func (n *network) hasRoom(f, bytes int32) bool {
	if n.Buffer == 0 || n.hasSpaceBehind(f, bytes) {
		return true
	}
	l := n.link(n.flows[f].link)
	return l.endsAtHost || l.dropsChunks
}

// hasSpaceBehind reports whether the buffer behind the link of a flow has space for a chunk. An
// empty buffer accepts any chunk.
func (n *network) hasSpaceBehind(f, bytes int32) bool {
	room := n.flows[f].freeBytes
	return room >= bytes || int(room) == n.Buffer
}

// markReady queues a flow for its link if it has a waiting chunk and buffer space.
func (n *network) markReady(f int32, t unit.Time) {
	q := &n.flows[f]
	if q.isReady || q.firstChunk == noIndex || !n.hasRoom(f, n.chunks[q.firstChunk].linkBytes) {
		return
	}
	q.isReady, q.nextReady = true, noIndex
	l := n.link(q.link)
	if l.firstReady == noIndex {
		l.firstReady = f
	} else {
		n.flows[l.lastReady].nextReady = f
	}
	l.lastReady = f
	n.scheduleService(q.link, t)
}
