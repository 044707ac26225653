package tcp

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a rank, in its process.
type port struct {
	launch.Testimony
	rank   int
	team   *launch.Team
	blocks bool // sleeps where it waits
	stop   atomic.Bool
	failed atomic.Pointer[error] // how the transport failed

	links   []*link // to each rank; the one to itself is nil
	hot     *link   // from which something came last, or nil: only there may be whole packets in the buffer
	streak  int     // how often in a row something came from it
	poller  *poller // of all links, if there are several
	sleeper *sleeper
	census  *census // at rank 0

	packet device.Packet // that the rank may read until it receives again, if it lies
	inside *link         // in the buffer of this link
	lent   []byte        // or in a buffer that was a link's,
	spare  []byte        // in place of which the link has got this;
	held   *parcel       // or it is in here
	stash  queue         // what came while the rank could not receive it, and what it sent to itself
	pool   pool
	ended  bool
	where  func(src int, head *device.Head, n int) []byte // the data is to go; nil: nobody says
	head   device.Head                                    // of which that is asked

	flat    [headerSize + flat]byte // a frame to be sent
	account account                 // that is told
	telling []byte
	parts   gather
	looks   int // that found nothing
}

// flat is the most data that is copied behind its header. More is sent from where it lies, which the kernel takes a little longer to look up.
const flat = 4 << 10

func newPort(rank, ranks int, blocks bool) *port {
	p := &port{rank: rank, blocks: blocks, links: make([]*link, ranks), account: newAccount(ranks), telling: make([]byte, accountSize(ranks))}
	if rank == 0 {
		p.census = newCensus(ranks)
	}
	return p
}

func (p *port) Rank() int { return p.rank }
func (p *port) Size() int { return len(p.links) }

// Tier implements device.Port: ranks of one machine are near.
func (p *port) Tier(rank int) model.Tier {
	if p.team.Together(p.rank, rank) {
		return model.Intra
	}
	return model.Inter
}

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

// Place implements device.Placer.
func (p *port) Place(where func(src int, head *device.Head, n int) []byte) { p.where = where }

func (p *port) Memory() device.Memory   { return nil }
func (p *port) Counter() device.Counter { return nil }

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
	p.check(dst, len(q.Data))
	if dst == p.rank {
		p.keep(q)
		return
	}
	l := p.links[dst]
	if l.over {
		return
	}
	l.sent++
	p.send(l, packet, &q.Head, q.Data)
}

// check panics if there is no such rank, or a packet is too long.
func (p *port) check(r, n int) {
	if uint(r) >= uint(len(p.links)) {
		panic(fmt.Sprintf("tcp: no rank %d among %d", r, len(p.links)))
	}
	if n > most {
		panic(fmt.Sprintf("tcp: a packet of %d bytes, and there may be %d", n, most))
	}
}

// keep keeps a packet of the rank to itself.
func (p *port) keep(q *device.Packet) {
	own := p.pool.take(p.rank, len(q.Data))
	own.Head = q.Head
	own.add(q.Data)
	own.whole()
	p.stash.put(own)
}

// send sends a frame.
func (p *port) send(l *link, k kind, head *device.Head, data []byte) {
	encode((*[headerSize]byte)(p.flat[:]), k, head, len(data))
	if len(data) <= flat {
		copy(p.flat[headerSize:], data)
		p.push(l, p.flat[:headerSize+len(data)], nil)
		return
	}
	p.push(l, p.flat[:headerSize], data)
}

// push writes to a connection, and takes in what comes until there is room.
func (p *port) push(l *link, a, b []byte) {
	for w := (pause{}); len(a)+len(b) > 0; {
		n, e := p.write(l.fd, a, b)
		switch e {
		case 0:
			rest := min(n, len(a))
			a, b = a[rest:], b[n-rest:]
		case syscall.EAGAIN:
			p.full(l, &w)
		case syscall.EINTR:
		default:
			p.lost(l, e)
			return
		}
	}
}

// write writes what there is room for.
func (p *port) write(fd int, a, b []byte) (int, syscall.Errno) {
	switch {
	case len(b) == 0:
		return send(fd, a)
	case len(a) == 0:
		return send(fd, b)
	}
	return p.parts.send(fd, a, b)
}

// full does what a rank does that cannot write: it takes in what has come, to be received later, as ranks that send to each other would
// otherwise wait forever; or it waits until something may have changed.
func (p *port) full(l *link, w *pause) {
	if p.drain() {
		return
	}
	if !p.blocks {
		w.rest(p)
		return
	}
	p.sleeper.room(l.peer, l.fd)
	w.rest(p)
	if l.over {
		p.sleeper.remove(l.peer)
	} else {
		p.sleeper.add(l.peer, l.fd)
	}
}

// drain takes in what has come. It reports whether there was anything.
func (p *port) drain() bool {
	if p.hot != nil {
		p.stow(p.hot)
	}
	if p.poller == nil {
		return p.hot != nil && p.fetch(p.hot)
	}
	found := false
	for i := range p.poller.ready() {
		if p.fetch(p.links[p.poller.name(i)]) {
			found = true
		}
	}
	return found
}

// fetch puts aside what has come over a link, and reports whether there was anything.
func (p *port) fetch(l *link) bool {
	if !p.read(l) {
		return false
	}
	p.stow(l)
	return true
}

// NotifyExit implements device.Port.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.leave()
	p.check(rank, 0)
	if l := p.links[rank]; l != nil && !l.mourned {
		l.mourned, l.farewell = true, head
		if l.over {
			p.bury(l)
		}
	}
}

// bury takes in that the rank of a link has ended, of which this one is to hear, behind all that it has sent.
func (p *port) bury(l *link) {
	q := p.pool.take(l.peer, 0)
	q.Head = l.farewell
	q.whole()
	p.stash.put(q)
	l.mourned = false
}

func (p *port) Recv(block bool) *device.Packet {
	p.leave()
	p.release()
	if q := p.next(); q != nil || !block {
		if q == nil {
			p.idle()
		}
		return q
	}
	return p.wait()
}

// release takes back the packet that the rank has received last.
func (p *port) release() {
	p.inside = nil
	if p.held != nil {
		p.pool.free(p.held)
		p.held = nil
	}
	if p.lent != nil {
		p.spare, p.lent = p.lent, nil
	}
}

// fair is how often in a row a rank reads from a connection before it looks at the others first.
const fair = 16

// next takes the next packet, or returns nil. What comes over a link may be that its rank has ended, and put that aside.
func (p *port) next() *device.Packet {
	if q := p.come(); q != nil || p.stash.head == nil {
		return q
	}
	p.held = p.stash.pop()
	return &p.held.Packet
}

// come takes the next packet that has come, if any. Whoever has sent last is most likely to be the next: to look at a connection is a call of the
// kernel, and to look at all of several another.
func (p *port) come() *device.Packet {
	if p.stash.head != nil {
		p.held = p.stash.pop()
		return &p.held.Packet
	}
	if l := p.hot; l != nil {
		if q := p.take(l); q != nil {
			return q
		}
		if p.streak < fair || p.poller == nil {
			if p.read(l) {
				p.streak++
				if q := p.take(l); q != nil {
					return q
				}
			}
		}
	}
	if p.poller == nil {
		return nil
	}
	p.streak = 0
	return p.others()
}

// others takes the next packet of those who have sent something.
func (p *port) others() *device.Packet {
	for i := range p.poller.ready() {
		l := p.links[p.poller.name(i)]
		if !p.read(l) {
			continue
		}
		if q := p.take(l); q != nil {
			p.hot = l
			return q
		}
	}
	return nil
}
