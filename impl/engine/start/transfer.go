package start

import (
	"fmt"

	"github.com/loggp/loggp/model"
)

// A long message between SMPs is one or several transfers, each as long as the pinned memory that
// the receiver has free. A rank sends or receives one transfer at a time, and is busy with it from
// its beginning to its end. These rules prevent deadlock:
//
//   - A grant does not commit the receiver. It is busy from the first block on, so a rank that has
//     granted a transfer and may send one itself sends. A sender that has begun does not wait for
//     other ranks.
//   - A sender is busy for a transfer, not for a message. Between two transfers of a message it
//     receives.
//   - Receivers leave some pinned memory to senders.
//   - Only one transfer is granted at a time: the interface serves no other until it has ended.
//
// With these rules no tie has to be broken by rank numbers: if two ranks have granted each other a
// transfer, both send, and the interface puts what arrives into pinned memory by itself.
type rule uint8

// The rules, for tests that leave them out.
const (
	commitLate rule = 1 << iota // a grant does not commit the receiver
	oneByOne                    // a sender is busy for a transfer
	reserve                     // receivers leave memory to senders
	oneGrant                    // one transfer is granted at a time
)

// channel is the state of the transfers between SMPs.
type channel struct {
	waiting list // receives whose sender wants to transfer
	coming  *op  // the receive whose transfer is granted
	busy    *op  // the same from the first block on: nothing is sent

	ready   list // sends whose transfer is granted
	sending *op  // the send whose blocks leave: nothing is received
}

// list is operations that wait for a transfer, in order.
type list struct{ head, tail *op }

func (l *list) add(o *op) {
	o.next = nil
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

func (l *list) take() *op {
	o := l.head
	if l.head = o.next; l.head == nil {
		l.tail = nil
	}
	o.next = nil
	return o
}

// pinned is memory that the interface can reach. It is allocated when it is first used.
type pinned struct {
	free   int
	region []byte   // of the transfer that is received
	blocks [][]byte // to send from
	unused []uint32 // indices of blocks that are not in use
}

// take returns the index of a block to send from, if there is pinned memory for one.
func (p *pinned) take(size int) (place uint32, ok bool) {
	n := len(p.unused)
	if p.free < size || n == 0 && len(p.blocks) == model.SendBlocks {
		return 0, false
	}
	p.free -= size
	if n > 0 {
		place, p.unused = p.unused[n-1], p.unused[:n-1]
		return place, true
	}
	p.blocks = append(p.blocks, make([]byte, size))
	return uint32(len(p.blocks) - 1), true
}

func (p *pinned) giveBack(place uint32, size int) {
	p.free += size
	p.unused = append(p.unused, place)
}

// remote reports whether transfers to a rank go by RDMA.
func (e *Engine) remote(rank int32) bool {
	return e.memory != nil && e.port.Tier(int(rank)) == model.Inter
}

// cleared continues a send whose receive is posted: it asks for a transfer, or sends all blocks if
// they are packets.
func (e *Engine) cleared(s *op, h *head) {
	s.bound, s.other = true, h.from
	e.calls.Add(s.Size)
	if e.remote(s.Peer) {
		e.connect(s)
		return
	}
	for s.moved < s.Size {
		n := min(e.size.block, s.Size-s.moved)
		e.counts[blocks]++
		e.send(int(s.Peer), &head{kind: block, to: s.other, size: n}, s.Buf[s.moved:][:n])
		s.moved += n
	}
	e.end(s, e.rank.Complete)
}

// connect asks for a transfer of the rest of a message.
func (e *Engine) connect(s *op) {
	e.control(int(s.Peer), &head{kind: connect, from: s.ID(), to: s.other, size: s.Size - s.moved})
}

// grant grants the next transfer, unless one is granted already or there is no pinned memory.
func (e *Engine) grant() {
	c, p := &e.channel, &e.pinned
	if c.waiting.head == nil || c.coming != nil && e.skip&oneGrant == 0 {
		return
	}
	spare := model.SendBlocks * e.size.block
	if e.skip&reserve != 0 {
		spare = 0
	}
	o := c.waiting.head
	n := min(p.free-spare, o.Size-o.moved)
	if n < min(e.size.block, o.Size-o.moved) {
		return // until blocks have left
	}
	c.waiting.take()
	p.free -= n
	if cap(p.region) < n {
		p.region = make([]byte, n)
	}
	p.region = p.region[:n]
	o.key = e.memory.Expose(p.region)
	o.from, o.there, o.till = o.moved, o.moved, o.moved+n
	c.coming = o
	if e.skip&commitLate != 0 {
		c.busy = o
	}
	e.counts[transfers]++
	e.control(int(o.src), &head{kind: grant, from: o.ID(), to: o.other, key: o.key, size: n})
}

// granted sends a transfer, after those that were granted before.
func (e *Engine) granted(s *op, h *head) {
	s.key, s.from, s.till = h.key, s.moved, s.moved+h.size
	e.channel.ready.add(s)
	e.sendBlocks()
}

// sendBlocks copies blocks to pinned memory and lets the interface put them, unless the rank is
// busy receiving.
func (e *Engine) sendBlocks() {
	c := &e.channel
	if c.busy != nil {
		return
	}
	if c.sending == nil {
		if c.ready.head == nil {
			return
		}
		c.sending = c.ready.take()
		c.sending.there = c.sending.moved
	}
	for s := c.sending; s.moved < s.till; {
		place, ok := e.pinned.take(e.size.block)
		if !ok {
			return // until a block has left
		}
		n := min(e.size.block, s.till-s.moved)
		b := e.pinned.blocks[place][:n]
		e.rank.Copy(b, s.Buf[s.moved:])
		e.counts[blocks]++
		e.counts[copiedIn] += int64(n)
		e.memory.Put(int(s.Peer), s.key, s.moved-s.from, b, (&head{kind: done, from: s.ID(), to: place, size: n}).words())
		s.moved += n
	}
}

// putEnded tells the receiver that the interface has put a block, and continues.
func (e *Engine) putEnded(h *head, refused bool) {
	c, s := &e.channel, e.ops[h.from]
	if refused {
		panic(fmt.Sprintf("start: rank %d: a transfer to rank %d was refused: its pinned memory is not exposed", e.port.Rank(), s.Peer))
	}
	e.pinned.giveBack(h.to, e.size.block)
	e.control(int(s.Peer), &head{kind: block, to: s.other, size: h.size})
	if s.there += h.size; s.there == s.till {
		if s.moved == s.Size {
			c.sending = nil
			e.end(s, e.rank.Complete)
		} else {
			e.connect(s)
			if e.skip&oneByOne == 0 {
				c.sending = nil
			}
		}
		e.copyOut()
	}
	e.sendBlocks()
	e.grant()
}

// blockArrived takes in a block, or the news that one is in pinned memory. Blocks arrive in the
// order of their puts, so the news says how many bytes there are, not where.
func (e *Engine) blockArrived(o *op, h *head, data []byte) {
	if !e.remote(o.src) {
		o.moved += e.rank.Copy(o.Buf[o.moved:], data)
		if o.moved == o.Size {
			e.rank.Complete(&o.Op)
		}
		return
	}
	o.there += h.size
	e.copyOut()
}

// copyOut copies what has arrived to the user's buffer, unless the rank is busy sending. After the
// last byte of a transfer it grants the next one.
func (e *Engine) copyOut() {
	c := &e.channel
	o := c.coming
	if o == nil || o.moved == o.there || c.sending != nil {
		return
	}
	c.busy = o
	n := e.rank.Copy(o.Buf[o.moved:o.there], e.pinned.region[o.moved-o.from:])
	e.counts[copiedOut] += int64(n)
	if o.moved += n; o.moved < o.till {
		return
	}
	e.memory.Withdraw(o.key)
	e.pinned.free += o.till - o.from
	c.coming, c.busy = nil, nil
	if o.moved == o.Size {
		e.rank.Complete(&o.Op)
	}
	e.grant()
	e.sendBlocks()
}
