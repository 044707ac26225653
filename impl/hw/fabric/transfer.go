package fabric

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model/unit"
)

// transfer has the bytes of a packet or of an access on their way between hosts.
type transfer struct {
	packet          *core.Packet       // or nil
	access          *core.RemoteAccess // or nil
	from, to        int32              // hosts
	sender          int32
	size, sentBytes int   // total bytes; bytes that have left
	nextTransfer    int32 // behind it in the sender's queue, or the next unused transfer

	// An RDMA interface reads a transfer from memory, unless it is inline, and has its first byte
	// at firstByteReady. A processor prepares datagrams during an interval.
	isInline                                 bool
	firstByteReady, prepareBegin, prepareEnd unit.Time

	// With staged buffers.
	isStaged                  bool
	copyBegin                 unit.Time // of the first copy to host memory
	arrivedBytes, copiedBytes int       // bytes in host memory at the receiver, and those copied from there
	copyEnd                   unit.Time // of the last copy from there

	// With adaptive or sprayed routes chunks may overtake each other. A transfer ends when all its
	// bytes and all earlier transfers between the same hosts have arrived.
	missingBytes int       // bytes that have not arrived
	end          unit.Time // arrival of the last of the other bytes
	nextOpen     int32     // the next transfer started by its host

	// With loss.
	firstSerial    int64 // of its first chunk
	chunksUnderway int   // that refer to it
	hasArrived     bool
}

// packetOrAccess returns the packet or the access.
func (x *transfer) packetOrAccess() any {
	if x.packet != nil {
		return x.packet
	}
	return x.access
}

// sender is a queue of transfers. At most one of its chunks waits for the interface's link.
type sender struct{ firstTransfer, lastTransfer int32 }

// enqueueTransfer appends a transfer to a sender's queue, and starts it if it is the first.
func (n *network) enqueueTransfer(by int32, x transfer) {
	if n.pairNumbers != nil {
		by = n.queuePairOf(by, x.from, x.to)
	}
	x.sender, x.nextTransfer, x.nextOpen, x.missingBytes = by, noIndex, noIndex, x.size
	i := n.freeTransfer
	if i == noIndex {
		i = int32(len(n.transfers))
		n.transfers = append(n.transfers, x)
	} else {
		n.freeTransfer = n.transfers[i].nextTransfer
		n.transfers[i] = x
	}
	if n.Loss != nil {
		n.enqueueRecoverable(by, i)
		return
	}
	s := &n.senders[by]
	if s.lastTransfer != noIndex {
		n.transfers[s.lastTransfer].nextTransfer = i
		s.lastTransfer = i
		return
	}
	s.firstTransfer, s.lastTransfer = i, i
	n.resumeSender(by)
}

// resumeSender sends the next chunk of a sender that waits only for data.
func (n *network) resumeSender(by int32) {
	now := n.job.Kernel.Now()
	if c, goesOn := n.sendChunk(n.senders[by].firstTransfer, now); goesOn {
		n.advanceChunk(c, now)
	}
}

// dataReadyEvent is the event that the data of a sender's next chunk is ready.
type dataReadyEvent network

// HandleEvent sends the chunk.
func (e *dataReadyEvent) HandleEvent(by uint64) {
	n := (*network)(e)
	if n.Loss != nil {
		n.pair(int32(by)).goBackN.isDelayed = false
		if n.senders[by].firstTransfer == noIndex { // all has arrived meanwhile
			return
		}
	}
	n.resumeSender(int32(by))
}

// sendChunk sends the next chunk of a transfer to the interface's link at time t. It reports
// whether the chunk continues to another link.
func (n *network) sendChunk(i int32, t unit.Time) (c int32, goesOn bool) {
	x := &n.transfers[i]
	bytes := min(n.Chunk, x.size-x.sentBytes)
	if n.nics != nil || n.Congestion != nil {
		if ready := n.readyTime(x, x.sentBytes+bytes); ready > t {
			n.job.Kernel.Schedule(ready, (*dataReadyEvent)(n), uint64(x.sender))
			if n.Loss != nil {
				n.pair(x.sender).goBackN.isDelayed = true
			}
			return noIndex, false
		}
	}
	if n.Congestion != nil {
		n.pair(x.sender).reserveDeparture(n.Congestion, t, bytes)
	}
	if n.openTransfers != nil && x.sentBytes == 0 {
		n.appendOpenTransfer(i)
	}
	x.sentBytes += bytes
	c = n.newChunk()
	q := &n.chunks[c]
	*q = chunk{transfer: i, source: x.from, payloadBytes: int32(bytes), linkBytes: int32(n.WireBytes(bytes)), isEntering: true, isFirst: x.sentBytes == bytes, isLast: x.sentBytes == x.size, occupiedFlow: noIndex, nextChunk: noIndex, lastByte: t}
	if n.Loss != nil {
		n.numberChunk(q, x, x.sentBytes-bytes)
	}
	if x.from == x.to {
		q.route.Destination = x.to
		q.link = n.selfLink(x.from)
	} else {
		q.route = n.Graph.RouteBetween(int(x.from), int(x.to))
		if n.isSprayed {
			n.Graph.Spray(&q.route, n.random.Uint64())
		}
		if n.nics == nil {
			q.link = n.Graph.NextLink(&q.route)
		}
	}
	if n.nics != nil {
		q.link = n.busOut(x.from)
	}
	return c, n.reachLink(c, t)
}

// appendOpenTransfer appends a started transfer to those under way from its host.
func (n *network) appendOpenTransfer(i int32) {
	last := &n.openTransfers[n.transfers[i].from]
	for *last != noIndex {
		last = &n.transfers[*last].nextOpen
	}
	*last = i
}

// dequeueTransfer removes the first transfer of a sender, which has left completely.
func (n *network) dequeueTransfer(by int32) {
	s := &n.senders[by]
	if s.firstTransfer = n.transfers[s.firstTransfer].nextTransfer; s.firstTransfer == noIndex {
		s.lastTransfer = noIndex
	}
}

// continueSender sends the next chunk of a sender after the last one has started to use the
// interface's link.
func (n *network) continueSender(by int32, t unit.Time) {
	if c, goesOn := n.sendChunk(n.senders[by].firstTransfer, t); goesOn {
		n.job.Kernel.Schedule(t+n.link(n.chunks[c].link).latency, (*chunkEvent)(n), uint64(c))
	}
}

// recordChunkArrival counts a chunk whose last byte is visible at time t. With deterministic
// routing the last chunk of a transfer arrives last.
func (n *network) recordChunkArrival(i, payload int32, isLast bool, t unit.Time) {
	x := &n.transfers[i]
	if x.isStaged {
		t = n.copyFromHost(x, int(payload), t)
	}
	if n.openTransfers == nil {
		if isLast {
			n.endTransfer(i, t)
		}
		return
	}
	x.missingBytes -= int(payload)
	x.end = max(x.end, t)
	if x.missingBytes > 0 {
		return
	}
	x.missingBytes = noIndex
	to, end := x.to, unit.Time(0)
	for at := &n.openTransfers[x.from]; *at != noIndex; {
		y := &n.transfers[*at]
		switch {
		case y.to != to:
			at = &y.nextOpen
		case y.missingBytes != noIndex:
			return
		default:
			done := *at
			*at = y.nextOpen
			end = max(end, y.end)
			n.endTransfer(done, end)
		}
	}
}

// endTransfer schedules the actions that follow the last byte of a transfer.
func (n *network) endTransfer(i int32, t unit.Time) {
	x := &n.transfers[i]
	if n.stagedWrites != nil {
		t = n.orderStagedWrite(x, t)
	}
	n.job.Probe.LastByteArrived(x.packetOrAccess(), t)
	if x.packet != nil {
		if n.nics != nil {
			n.job.Kernel.Schedule(t, (*packetReceivedEvent)(x.packet), 0)
		} else {
			n.job.Kernel.Schedule(t, (*core.ArrivalEvent)(x.packet), 0)
		}
	} else {
		x.access.Transit.Step = dataArrived
		n.job.Kernel.Schedule(t, (*accessStepEvent)(x.access), 0)
	}
	x.packet, x.access = nil, nil
	if n.Loss != nil {
		n.endRecoverable(i)
		return
	}
	x.nextTransfer, n.freeTransfer = n.freeTransfer, i
}
