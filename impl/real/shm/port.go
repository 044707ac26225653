package shm

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/transport"
	"github.com/loggp/loggp/model"
)

// port is the port of a rank, in its process.
type port struct {
	*segment
	transport.Base
	transport.Inbox
	launch.ErrorDetail
	me *member

	writers []writer // to each rank; the one to itself is not used
	readers []reader // from each other rank
	turn    int      // index of the reader to look at first

	packet device.Packet // received last, if it came in one record:
	data   []byte        // its data
	exits  []exit        // notices that this rank has asked for
	memory *memory       // nil if there is none
}

func newPort(s *segment, rank int, blocks bool) *port {
	n := len(s.members)
	p := &port{
		segment: s, Base: transport.NewBase("shm", rank, n, blocks, &s.stop, pace), me: &s.members[rank],
		writers: make([]writer, n), data: make([]byte, maxFragment),
	}
	for r := range n {
		p.writers[r].ring = s.ring(rank, r)
		if r != rank {
			p.readers = append(p.readers, readerOf(s.ring(r, rank), r))
		}
	}
	return p
}

// Tier implements device.Port: all share memory.
func (p *port) Tier(int) model.Tier { return model.Intra }

func (p *port) Send(dst int, q *device.Packet) {
	p.Leave()
	p.Check(dst)
	if len(q.Data) <= inLine && p.writers[dst].line(&q.Head, q.Data) {
		p.wakeUp(dst)
		return
	}
	p.send(dst, q)
}

// send sends a packet that does not fit a line, or for which no line is free.
func (p *port) send(dst int, q *device.Packet) {
	if dst == p.Rank() {
		p.PutCopy(dst, &q.Head, q.Data)
		return
	}
	for rest := q.Data; ; {
		n := min(len(rest), maxFragment)
		if !p.write(dst, &q.Head, rest[:n], len(rest)) {
			return
		}
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
	}
}

// write puts a record into the ring to a rank. While the ring is full it takes in arriving packets.
// It returns false if the rank has ended, since the ring will then stay full.
func (p *port) write(dst int, head *device.Head, data []byte, total int) bool {
	w := &p.writers[dst]
	for first := true; !w.put(head, data, total); first = false {
		if p.members[dst].ended.Load() {
			return false
		}
		if first {
			p.wakeUp(dst) // it may have been asleep before the ring was filled
		}
		if !p.drain() {
			p.rest(func() bool { return w.moved() || p.incoming() })
		}
	}
	p.wakeUp(dst)
	return true
}

func (p *port) Recv(block bool) *device.Packet {
	p.Leave()
	if p.Release() {
		p.forgetExits()
	}
	if q := p.receive(); q != nil || !block {
		if q == nil {
			p.takeExits()
			p.Idle()
		}
		return q
	}
	return p.wait()
}

// receive takes the next packet, or returns nil.
func (p *port) receive() *device.Packet {
	if !p.Empty() {
		return p.Next()
	}
	return p.poll()
}

// poll takes the next packet from the rings, or returns nil.
func (p *port) poll() *device.Packet {
	for range p.readers {
		r := &p.readers[p.turn]
		if r.ready() {
			if q := p.from(r); q != nil {
				return q
			}
		}
		if p.turn++; p.turn == len(p.readers) {
			p.turn = 0
		}
	}
	return nil
}

// from takes the next packet of a rank, or returns nil if none is complete.
func (p *port) from(r *reader) *device.Packet {
	for r.ready() {
		l := r.next
		n, total := bytesOf(l.word.Load())
		if r.part == nil && n == total {
			p.packet.Src, p.packet.Head, p.packet.Data = r.src, l.head, p.data[:n]
			if n <= inLine {
				*(*[inLine]byte)(p.data) = l.data
			} else {
				if into := p.Destination(r.src, &l.head, n); into != nil {
					p.packet.Data = into
				}
				copy(p.packet.Data, r.body(n))
			}
			p.took(r, n)
			return &p.packet
		}
		if q := p.gather(r, n, total); q != nil {
			return p.Hold(q)
		}
	}
	return nil
}

// gather takes a record, and returns the packet if that was its last.
func (p *port) gather(r *reader, n, total int) *transport.Buffer {
	if r.part == nil {
		var destination []byte
		if total > inLine { // shorter data is copied in less time than it takes to ask
			destination = p.Destination(r.src, &r.next.head, total)
		}
		r.part = p.Take(r.src, &r.next.head, total, destination)
	}
	q := r.part
	q.Add(r.body(n))
	p.took(r, n)
	if !q.Whole() {
		return nil
	}
	r.part = nil
	return q
}

// took advances past a record, and wakes the writer of the ring, which may wait for space, if space
// was freed.
func (p *port) took(r *reader, n int) {
	r.took(n)
	if r.gave {
		r.gave = false
		p.wakeUp(r.src)
	}
}

// drain moves arrived packets to the inbox while the rank sends, because ranks that send to each
// other would otherwise deadlock. It reports whether any had arrived.
func (p *port) drain() bool {
	found := false
	for i := range p.readers {
		if p.empty(&p.readers[i]) {
			found = true
		}
	}
	return p.takeExits() || found
}

// empty moves the packets that have arrived from one rank to the inbox.
func (p *port) empty(r *reader) bool {
	found := false
	for r.ready() {
		found = true
		n, total := bytesOf(r.next.word.Load())
		if q := p.gather(r, n, total); q != nil {
			p.Put(q)
		}
	}
	return found
}

// incoming reports whether anything has arrived.
func (p *port) incoming() bool {
	for i := range p.readers {
		if p.readers[i].ready() {
			return true
		}
	}
	return p.exited()
}

func (p *port) Memory() device.Memory {
	if p.memory == nil {
		return nil
	}
	return p.memory
}

func (p *port) Counter() device.Counter { return counter{p} }

type counter struct{ *port }

func (c counter) Add(dst, r int, delta int64) int64 {
	c.Leave()
	c.Check(dst)
	return c.members[dst].counters[r].Add(delta) - delta
}

func (c counter) Swap(dst, r int, value int64) int64 {
	c.Leave()
	c.Check(dst)
	return c.members[dst].counters[r].Swap(value)
}
