package shm

import (
	"fmt"
	"runtime"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a rank, in its process.
type port struct {
	*segment
	launch.Testimony
	rank   int
	me     *member
	blocks bool // sleeps where it waits

	writers []writer // to each rank; the one to itself is not used
	readers []reader // from each other rank
	turn    int      // of readers, whom to look at first

	packet device.Packet // that the rank may read until it receives again, if it came in one record:
	room   []byte        // its data
	held   *parcel       // or, if it did not
	stash  queue         // what came while the rank could not receive it, and what it sent to itself
	pool   pool
	mourns []mourned // ranks of whose end this one is to hear
	memory *memory   // nil if there is none
	looks  int       // that found nothing
}

func newPort(s *segment, rank int, blocks bool) *port {
	n := len(s.members)
	p := &port{segment: s, rank: rank, me: &s.members[rank], blocks: blocks, writers: make([]writer, n), room: make([]byte, piece)}
	for r := range n {
		p.writers[r].ring = s.ring(rank, r)
		if r != rank {
			p.readers = append(p.readers, readerOf(s.ring(r, rank), r))
		}
	}
	return p
}

func (p *port) Rank() int { return p.rank }
func (p *port) Size() int { return len(p.members) }

// Tier implements device.Port: all share memory.
func (p *port) Tier(int) model.Tier { return model.Intra }

// Node implements device.Port, and Tick does.
func (p *port) Node() string { return machine.Host() }

func (p *port) Tick() unit.Time {
	resolution, _ := machine.Timer()
	return resolution
}

func (p *port) Now() unit.Time { return unit.Time(machine.Now()) * unit.Nanosecond }

func (p *port) Spend(model.Work, int) {}

// RealTime implements device.RealTime.
func (p *port) RealTime() {}

func (p *port) Copy(dst, src []byte) int { return copy(dst, src) }

func (p *port) Delay(d unit.Time) {
	if p.blocks {
		launch.Delay(d, p.leave, yield)
	} else {
		launch.Delay(d, p.leave, nil)
	}
}

// leave ends the calling goroutine if the job has failed.
//
// Note: it could panic with a value that package launch knows, but a program that recovers from panics would swallow that and go on.
func (p *port) leave() {
	if p.stop.Load() {
		runtime.Goexit()
	}
}

func (p *port) Send(dst int, q *device.Packet) {
	p.leave()
	p.check(dst)
	if len(q.Data) <= inLine && p.writers[dst].line(&q.Head, q.Data) {
		p.nudge(dst)
		return
	}
	p.send(dst, q)
}

// send sends what does not fit a line, or finds none free.
func (p *port) send(dst int, q *device.Packet) {
	if dst == p.rank {
		own := p.pool.take(dst, &q.Head, len(q.Data))
		own.add(q.Data)
		p.stash.put(own)
		return
	}
	for rest := q.Data; ; {
		n := min(len(rest), piece)
		if !p.write(dst, &q.Head, rest[:n], len(rest)) {
			return
		}
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
	}
}

// check panics if there is no such rank.
func (p *port) check(r int) {
	if uint(r) >= uint(len(p.members)) {
		panic(fmt.Sprintf("shm: no rank %d among %d", r, len(p.members)))
	}
}

// write puts a record into the ring to a rank, and takes in what comes until there is room. It returns false if the rank has ended and nobody
// will make room.
func (p *port) write(dst int, head *device.Head, data []byte, total int) bool {
	w := &p.writers[dst]
	for first := true; !w.put(head, data, total); first = false {
		if p.members[dst].ended.Load() {
			return false
		}
		if first {
			p.nudge(dst) // which may be asleep since before what fills the ring
		}
		if !p.drain() {
			p.rest(func() bool { return w.moved() || p.incoming() })
		}
	}
	p.nudge(dst)
	return true
}

func (p *port) Recv(block bool) *device.Packet {
	p.leave()
	if p.held != nil {
		p.pool.free(p.held)
		p.held = nil
		p.goOn()
	}
	if q := p.receive(); q != nil || !block {
		if q == nil {
			p.bury()
			p.idle()
		}
		return q
	}
	return p.wait()
}

// receive takes the next packet, or returns nil.
func (p *port) receive() *device.Packet {
	if p.stash.head != nil {
		p.held = p.stash.pop()
		return &p.held.Packet
	}
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

// from takes the next packet of a rank, or returns nil if not all of one is there.
func (p *port) from(r *reader) *device.Packet {
	for r.ready() {
		l := r.next
		n, total := bytesOf(l.word.Load())
		if r.part == nil && n == total {
			p.packet.Src, p.packet.Head, p.packet.Data = r.src, l.head, p.room[:n]
			if n <= inLine {
				*(*[inLine]byte)(p.room) = l.data
			} else {
				copy(p.packet.Data, r.body(n))
			}
			p.took(r, n)
			return &p.packet
		}
		if q := p.gather(r, n, total); q != nil {
			p.held = q
			return &q.Packet
		}
	}
	return nil
}

// gather takes in a record, and returns the packet if that was the last of it.
func (p *port) gather(r *reader, n, total int) *parcel {
	if r.part == nil {
		r.part = p.pool.take(r.src, &r.next.head, total)
	}
	q := r.part
	q.add(r.body(n))
	p.took(r, n)
	if !q.whole() {
		return nil
	}
	r.part = nil
	return q
}

// took goes on behind a record, and wakes the writer of the ring if it was given room, for which it may wait.
func (p *port) took(r *reader, n int) {
	r.took(n)
	if r.gave {
		r.gave = false
		p.nudge(r.src)
	}
}

// drain takes in what has come while the rank sends, to be received later: ranks that send to each other would otherwise wait forever. It
// reports whether there was anything.
func (p *port) drain() bool {
	found := false
	for i := range p.readers {
		if p.empty(&p.readers[i]) {
			found = true
		}
	}
	return p.bury() || found
}

// empty takes in what has come from one rank.
func (p *port) empty(r *reader) bool {
	found := false
	for r.ready() {
		found = true
		n, total := bytesOf(r.next.word.Load())
		if q := p.gather(r, n, total); q != nil {
			p.stash.put(q)
		}
	}
	return found
}

// incoming reports whether there is anything to take in.
func (p *port) incoming() bool {
	for i := range p.readers {
		if p.readers[i].ready() {
			return true
		}
	}
	return p.bereaved()
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
	c.leave()
	c.check(dst)
	return c.members[dst].counters[r].Add(delta) - delta
}
