package start

import (
	"fmt"

	"github.com/loggp/loggp/model"
)

// A long message between SMPs is one or several transfers, each no longer than the free pinned
// memory of the receiver. A rank sends or receives one transfer at a time, from its start to its
// end. The following rules prevent deadlock:
//
//   - A grant does not commit the receiver. The receiver is busy only from the first block on, so a
//     rank that has granted a transfer may still send one. Once started, a sender does not wait for
//     other ranks.
//   - A sender is busy for one transfer, not for the whole message. It receives between two
//     transfers of a message.
//   - Receivers leave some pinned memory to senders.
//   - Only one transfer is granted at a time: the interface serves no other until it has ended.
//
// With these rules ranks need no priorities: if two ranks have granted each other a transfer, both
// send, and the interface puts arriving data into pinned memory by itself.
type transferRule uint8

// The rules. Tests disable each of them.
const (
	grantWithoutCommitment transferRule = 1 << iota // a grant does not commit the receiver
	oneTransferPerSender                            // a sender is busy for one transfer
	reserveSenderMemory                             // receivers leave memory to senders
	grantOneTransfer                                // one transfer is granted at a time
)

// rdmaChannel is the state of transfers between SMPs.
type rdmaChannel struct {
	waitingReceives opQueue // receives whose sender has requested a transfer
	grantedReceive  *op     // the receive whose transfer is granted
	activeReceive   *op     // the same receive after the first block: nothing is sent

	grantedSends opQueue // sends whose transfer is granted
	activeSend   *op     // the send whose blocks are leaving: nothing is received
}

// opQueue is a queue of operations that wait for a transfer.
type opQueue struct{ head, tail *op }

func (l *opQueue) push(o *op) {
	o.next = nil
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

func (l *opQueue) pop() *op {
	o := l.head
	if l.head = o.next; l.head == nil {
		l.tail = nil
	}
	o.next = nil
	return o
}

// pinnedMemory is memory that the interface can access. It is allocated at first use.
type pinnedMemory struct {
	free         int
	region       []byte   // for the incoming transfer
	blocks       [][]byte // for outgoing blocks
	unusedBlocks []uint32 // indices of unused blocks
}

// allocateBlock returns the index of a block for outgoing data, if there is pinned memory for one.
func (p *pinnedMemory) allocateBlock(size int) (place uint32, ok bool) {
	n := len(p.unusedBlocks)
	if p.free < size || n == 0 && len(p.blocks) == model.BlocksInFlight {
		return 0, false
	}
	p.free -= size
	if n > 0 {
		place, p.unusedBlocks = p.unusedBlocks[n-1], p.unusedBlocks[:n-1]
		return place, true
	}
	p.blocks = append(p.blocks, make([]byte, size))
	return uint32(len(p.blocks) - 1), true
}

func (p *pinnedMemory) releaseBlock(place uint32, size int) {
	p.free += size
	p.unusedBlocks = append(p.unusedBlocks, place)
}

// usesRDMA reports whether transfers to a rank use RDMA.
func (e *Engine) usesRDMA(rank int32) bool {
	return e.memory != nil && e.port.Tier(int(rank)) == model.InterNode
}

// handleClearToSend continues a send that has been matched: it requests a transfer, or sends all
// blocks if they are packets.
func (e *Engine) handleClearToSend(s *op, h *head) {
	s.isMatched, s.peerOp = true, h.from
	e.channelCalls.Add(s.Size)
	if e.usesRDMA(s.Peer) {
		e.requestTransfer(s)
		return
	}
	for s.movedBytes < s.Size {
		n := min(e.sizes.blockBytes, s.Size-s.movedBytes)
		e.counts[rdmaBlocks]++
		e.sendPacket(int(s.Peer), &head{kind: kindBlock, to: s.peerOp, size: n}, s.Buf[s.movedBytes:][:n])
		s.movedBytes += n
	}
	e.endSend(s, e.rank.Complete)
}

// requestTransfer requests a transfer of the rest of a message.
func (e *Engine) requestTransfer(s *op) {
	e.sendControl(int(s.Peer), &head{kind: kindConnect, from: s.ID(), to: s.peerOp, size: s.Size - s.movedBytes})
}

// grantNextTransfer grants the next transfer, unless one is granted already or there is no pinned
// memory.
func (e *Engine) grantNextTransfer() {
	c, p := &e.channel, &e.pinnedMemory
	if c.waitingReceives.head == nil || c.grantedReceive != nil && e.disabledRules&grantOneTransfer == 0 {
		return
	}
	spare := model.BlocksInFlight * e.sizes.blockBytes
	if e.disabledRules&reserveSenderMemory != 0 {
		spare = 0
	}
	o := c.waitingReceives.head
	n := min(p.free-spare, o.Size-o.movedBytes)
	if n < min(e.sizes.blockBytes, o.Size-o.movedBytes) {
		return // until blocks have left
	}
	c.waitingReceives.pop()
	p.free -= n
	if cap(p.region) < n {
		p.region = make([]byte, n)
	}
	p.region = p.region[:n]
	o.key = e.memory.Expose(p.region)
	o.transferStart, o.pinnedEnd, o.transferEnd = o.movedBytes, o.movedBytes, o.movedBytes+n
	c.grantedReceive = o
	if e.disabledRules&grantWithoutCommitment != 0 {
		c.activeReceive = o
	}
	e.counts[rdmaTransfers]++
	e.sendControl(int(o.src), &head{kind: kindGrant, from: o.ID(), to: o.peerOp, key: o.key, size: n})
}

// handleGrant queues a granted transfer after those granted before.
func (e *Engine) handleGrant(s *op, h *head) {
	s.key, s.transferStart, s.transferEnd = h.key, s.movedBytes, s.movedBytes+h.size
	e.channel.grantedSends.push(s)
	e.sendBlocks()
}

// sendBlocks copies blocks to pinned memory and starts puts of them, unless the rank is receiving.
func (e *Engine) sendBlocks() {
	c := &e.channel
	if c.activeReceive != nil {
		return
	}
	if c.activeSend == nil {
		if c.grantedSends.head == nil {
			return
		}
		c.activeSend = c.grantedSends.pop()
		c.activeSend.pinnedEnd = c.activeSend.movedBytes
	}
	for s := c.activeSend; s.movedBytes < s.transferEnd; {
		place, ok := e.pinnedMemory.allocateBlock(e.sizes.blockBytes)
		if !ok {
			return // until a block has left
		}
		n := min(e.sizes.blockBytes, s.transferEnd-s.movedBytes)
		b := e.pinnedMemory.blocks[place][:n]
		e.rank.Copy(b, s.Buf[s.movedBytes:])
		e.counts[rdmaBlocks]++
		e.counts[bytesCopiedIn] += int64(n)
		e.memory.Put(int(s.Peer), s.key, s.movedBytes-s.transferStart, b, (&head{kind: kindPutDone, from: s.ID(), to: place, size: n}).encode())
		s.movedBytes += n
	}
}

// handlePutDone notifies the receiver that the interface has put a block, and continues.
func (e *Engine) handlePutDone(h *head, refused bool) {
	c, s := &e.channel, e.ops[h.from]
	if refused {
		panic(fmt.Sprintf("start: rank %d: a transfer to rank %d was refused: its pinned memory is not exposed", e.port.Rank(), s.Peer))
	}
	e.pinnedMemory.releaseBlock(h.to, e.sizes.blockBytes)
	e.sendControl(int(s.Peer), &head{kind: kindBlock, to: s.peerOp, size: h.size})
	if s.pinnedEnd += h.size; s.pinnedEnd == s.transferEnd {
		if s.movedBytes == s.Size {
			c.activeSend = nil
			e.endSend(s, e.rank.Complete)
		} else {
			e.requestTransfer(s)
			if e.disabledRules&oneTransferPerSender == 0 {
				c.activeSend = nil
			}
		}
		e.copyFromPinned()
	}
	e.sendBlocks()
	e.grantNextTransfer()
}

// handleBlock handles a block, or the notice that one is in pinned memory. Blocks arrive in the
// order of their puts, so the notice contains the number of bytes, not the location.
func (e *Engine) handleBlock(o *op, h *head, data []byte) {
	if !e.usesRDMA(o.src) {
		o.movedBytes += e.rank.Copy(o.Buf[o.movedBytes:], data)
		if o.movedBytes == o.Size {
			e.rank.Complete(&o.Op)
		}
		return
	}
	o.pinnedEnd += h.size
	e.copyFromPinned()
}

// copyFromPinned copies arrived data to the user's buffer, unless the rank is sending. After the
// last byte of a transfer it grants the next one.
func (e *Engine) copyFromPinned() {
	c := &e.channel
	o := c.grantedReceive
	if o == nil || o.movedBytes == o.pinnedEnd || c.activeSend != nil {
		return
	}
	c.activeReceive = o
	n := e.rank.Copy(o.Buf[o.movedBytes:o.pinnedEnd], e.pinnedMemory.region[o.movedBytes-o.transferStart:])
	e.counts[bytesCopiedOut] += int64(n)
	if o.movedBytes += n; o.movedBytes < o.transferEnd {
		return
	}
	e.memory.Withdraw(o.key)
	e.pinnedMemory.free += o.transferEnd - o.transferStart
	c.grantedReceive, c.activeReceive = nil, nil
	if o.movedBytes == o.Size {
		e.rank.Complete(&o.Op)
	}
	e.grantNextTransfer()
	e.sendBlocks()
}
