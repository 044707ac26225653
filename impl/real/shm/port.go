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
	state *rankState

	writers    []writer // to each rank; the one to itself is not used
	readers    []reader // from each other rank
	nextReader int      // index of the reader to look at first

	lastPacket  device.Packet // received last, if it came in one record:
	lastData    []byte        // its data
	exitNotices []exitNotice  // notices that this rank has asked for
	memory      *memory       // nil if there is none
}

func newPort(s *segment, rank int, blocks bool) *port {
	n := len(s.ranks)
	p := &port{
		segment: s, Base: transport.NewBase("shm", rank, n, blocks, &s.failed, pollIntervals), state: &s.ranks[rank],
		writers: make([]writer, n), lastData: make([]byte, maxFragment),
	}
	for r := range n {
		p.writers[r].ring = s.ringBetween(rank, r)
		if r != rank {
			p.readers = append(p.readers, newReader(s.ringBetween(r, rank), r))
		}
	}
	return p
}

// Tier implements device.Port: all share memory.
func (p *port) Tier(int) model.Tier { return model.IntraNode }

func (p *port) Send(dst int, q *device.Packet) {
	p.ExitIfJobFailed()
	p.CheckRank(dst)
	if len(q.Data) <= maxLineData && p.writers[dst].writeLine(&q.Head, q.Data) {
		p.wakeRank(dst)
		return
	}
	p.sendRecords(dst, q)
}

// sendRecords sends a packet that does not fit a line, or for which no line is free.
func (p *port) sendRecords(dst int, q *device.Packet) {
	if dst == p.Rank() {
		p.EnqueueCopy(dst, &q.Head, q.Data)
		return
	}
	for rest := q.Data; ; {
		n := min(len(rest), maxFragment)
		if !p.writeRecord(dst, &q.Head, rest[:n], len(rest)) {
			return
		}
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
	}
}

// writeRecord puts a record into the ring to a rank. While the ring is full it receives arriving
// packets. It returns false if the rank has ended, since the ring will then stay full.
func (p *port) writeRecord(dst int, head *device.Head, data []byte, total int) bool {
	w := &p.writers[dst]
	for first := true; !w.writeRecord(head, data, total); first = false {
		if p.ranks[dst].hasEnded.Load() {
			return false
		}
		if first {
			p.wakeRank(dst) // it may have been asleep before the ring was filled
		}
		if !p.drainRings() {
			p.awaitRoom(func() bool { return w.hasNewRoom() || p.hasArrivals() })
		}
	}
	p.wakeRank(dst)
	return true
}

func (p *port) Recv(block bool) *device.Packet {
	p.ExitIfJobFailed()
	if p.ReleaseLent() {
		p.removeDeliveredExits()
	}
	if q := p.nextPacket(); q != nil || !block {
		if q == nil {
			p.deliverExits()
			p.YieldWhenIdle()
		}
		return q
	}
	return p.waitForPacket()
}

// nextPacket takes the next packet, or returns nil.
func (p *port) nextPacket() *device.Packet {
	if !p.IsEmpty() {
		return p.Dequeue()
	}
	return p.pollRings()
}

// pollRings takes the next packet from the rings, or returns nil.
func (p *port) pollRings() *device.Packet {
	for range p.readers {
		r := &p.readers[p.nextReader]
		if r.hasRecord() {
			if q := p.receiveFrom(r); q != nil {
				return q
			}
		}
		if p.nextReader++; p.nextReader == len(p.readers) {
			p.nextReader = 0
		}
	}
	return nil
}

// receiveFrom takes the next complete packet of a rank, or returns nil.
func (p *port) receiveFrom(r *reader) *device.Packet {
	for r.hasRecord() {
		l := r.nextLine
		n, total := recordSizes(l.word.Load())
		if r.partial == nil && n == total {
			p.lastPacket.Src, p.lastPacket.Head, p.lastPacket.Data = r.writerRank, l.head, p.lastData[:n]
			if n <= maxLineData {
				*(*[maxLineData]byte)(p.lastData) = l.data
			} else {
				if into := p.Destination(r.writerRank, &l.head, n); into != nil {
					p.lastPacket.Data = into
				}
				copy(p.lastPacket.Data, r.recordData(n))
			}
			p.advanceReader(r, n)
			return &p.lastPacket
		}
		if q := p.addRecord(r, n, total); q != nil {
			return p.Lend(q)
		}
	}
	return nil
}

// addRecord takes a record, and returns the packet if that was its last.
func (p *port) addRecord(r *reader, n, total int) *transport.Buffer {
	if r.partial == nil {
		var destination []byte
		if total > maxLineData { // shorter data is copied in less time than it takes to ask
			destination = p.Destination(r.writerRank, &r.nextLine.head, total)
		}
		r.partial = p.Take(r.writerRank, &r.nextLine.head, total, destination)
	}
	q := r.partial
	q.Append(r.recordData(n))
	p.advanceReader(r, n)
	if !q.TryComplete() {
		return nil
	}
	r.partial = nil
	return q
}

// advanceReader advances past a record, and wakes the writer of the ring, which may wait for space,
// if space was freed.
func (p *port) advanceReader(r *reader, n int) {
	r.advance(n)
	if r.hasReleased {
		r.hasReleased = false
		p.wakeRank(r.writerRank)
	}
}

// drainRings moves arrived packets to the inbox while the rank sends, because ranks that send to
// each other would otherwise deadlock. It reports whether any had arrived.
func (p *port) drainRings() bool {
	found := false
	for i := range p.readers {
		if p.drainRing(&p.readers[i]) {
			found = true
		}
	}
	return p.deliverExits() || found
}

// drainRing moves the packets that have arrived from one rank to the inbox.
func (p *port) drainRing(r *reader) bool {
	found := false
	for r.hasRecord() {
		found = true
		n, total := recordSizes(r.nextLine.word.Load())
		if q := p.addRecord(r, n, total); q != nil {
			p.Enqueue(q)
		}
	}
	return found
}

// hasArrivals reports whether anything has arrived.
func (p *port) hasArrivals() bool {
	for i := range p.readers {
		if p.readers[i].hasRecord() {
			return true
		}
	}
	return p.hasExits()
}

func (p *port) Memory() device.Memory {
	if p.memory == nil {
		return nil
	}
	return p.memory
}

func (p *port) Counters() device.Counters { return counter{p} }

type counter struct{ *port }

func (c counter) FetchAndAddRegister(dst, r int, delta int64) int64 {
	c.ExitIfJobFailed()
	c.CheckRank(dst)
	return c.ranks[dst].counters[r].Add(delta) - delta
}

func (c counter) FetchAndStoreRegister(dst, r int, value int64) int64 {
	c.ExitIfJobFailed()
	c.CheckRank(dst)
	return c.ranks[dst].counters[r].Swap(value)
}
