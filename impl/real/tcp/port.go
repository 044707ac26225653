package tcp

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/transport"
	"github.com/loggp/loggp/model"
)

// port is the port of a rank, in its process.
type port struct {
	transport.Base
	transport.Inbox
	launch.ErrorDetail
	team   *launch.Team
	stop   atomic.Bool
	failed atomic.Pointer[error] // how the transport failed

	links   []*link // to each rank; the one to itself is nil
	hot     *link   // from which something arrived last, or nil: only its buffer may have complete packets
	streak  int     // reads in a row that found something there
	poller  *poller // of all links, if there are several
	sleeper *sleeper
	table   *progressTable // at rank 0

	packet device.Packet // received last, if it lies
	inLink *link         // in the buffer of this link
	lent   []byte        // or in a buffer that was a link's,
	spare  []byte        // and the buffer to use next
	setBy  uint64        // how many packets and notices have been put into the inbox
	ended  bool
	active bool        // what is reported is that the rank waits no more
	head   device.Head // of a packet that has not been received

	flat     [headerSize + maxFlat]byte // a frame to be sent
	progress []byte                     // that is reported
	parts    gather
}

// maxFlat is the most data that is copied behind its header. More is sent from where it lies, for
// which the kernel takes a little longer.
const maxFlat = 4 << 10

func newPort(rank, ranks int, blocks bool) *port {
	p := &port{links: make([]*link, ranks), progress: make([]byte, progressSize(ranks))}
	p.Base = transport.NewBase("tcp", rank, ranks, blocks, &p.stop, pace)
	if rank == 0 {
		p.table = newProgressTable(ranks)
	}
	return p
}

// Tier implements device.Port: ranks of one host are near.
func (p *port) Tier(rank int) model.Tier {
	if p.team.SameHost(p.Rank(), rank) {
		return model.Intra
	}
	return model.Inter
}

func (p *port) Send(dst int, q *device.Packet) {
	p.Leave()
	p.Check(dst)
	if dst == p.Rank() {
		p.PutCopy(dst, &q.Head, q.Data)
		p.setBy++
		return
	}
	if len(q.Data) > maxData {
		panic(fmt.Sprintf("tcp: a packet of %d bytes, which may have %d at most", len(q.Data), maxData))
	}
	l := p.links[dst]
	if l.over {
		return
	}
	l.sent++
	p.send(l, packet, &q.Head, q.Data)
}

// send sends a frame.
func (p *port) send(l *link, k kind, head *device.Head, data []byte) {
	encodeHeader((*[headerSize]byte)(p.flat[:]), k, head, len(data))
	if len(data) <= maxFlat {
		copy(p.flat[headerSize:], data)
		p.push(l, p.flat[:headerSize+len(data)], nil)
		return
	}
	p.push(l, p.flat[:headerSize], data)
}

// push writes to a connection, and takes in what arrives until there is room.
func (p *port) push(l *link, a, b []byte) {
	for w := (backoff{}); len(a)+len(b) > 0; {
		var n int
		var e syscall.Errno
		switch {
		case len(b) == 0:
			n, e = send(l.fd, a)
		case len(a) == 0:
			n, e = send(l.fd, b)
		default:
			n, e = p.parts.send(l.fd, a, b)
		}
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

// full is called when there is no room to write. It takes in what has arrived, because ranks that
// send to each other would otherwise wait forever; if nothing has, it waits until something may
// have changed.
func (p *port) full(l *link, w *backoff) {
	if p.drain() {
		return
	}
	if !p.Blocks {
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

// drain moves what has arrived to the inbox. It reports whether there was anything.
func (p *port) drain() bool {
	if p.hot != nil {
		p.setAside(p.hot)
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

// fetch moves what has arrived over a link to the inbox, and reports whether there was anything.
func (p *port) fetch(l *link) bool {
	if !p.read(l) {
		return false
	}
	p.setAside(l)
	return true
}

// NotifyExit implements device.Port.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.Leave()
	p.Check(rank)
	if l := p.links[rank]; l != nil && !l.awaitsExit {
		l.awaitsExit, l.exitHead = true, head
		if l.over {
			p.putExit(l)
		}
	}
}

// putExit puts the notice of a rank's end into the inbox, behind all that it has sent.
func (p *port) putExit(l *link) {
	p.PutCopy(l.peer, &l.exitHead, nil)
	p.setBy++
	l.awaitsExit = false
}

func (p *port) Recv(block bool) *device.Packet {
	p.Leave()
	p.releaseLast()
	if q := p.next(); q != nil || !block {
		if q == nil {
			p.Idle()
		}
		return q
	}
	return p.wait()
}

// releaseLast takes back the packet that the rank has received last.
func (p *port) releaseLast() {
	p.inLink = nil
	p.Release()
	if p.lent != nil {
		p.spare, p.lent = p.lent, nil
	}
}

// maxStreak is how often in a row a rank reads from a connection before it looks at the others
// first.
const maxStreak = 16

// next takes the next packet, or returns nil. To poll the links may put notices of exits into the
// inbox.
func (p *port) next() *device.Packet {
	if !p.Empty() {
		return p.Inbox.Next()
	}
	if q := p.poll(); q != nil || p.Empty() {
		return q
	}
	return p.Inbox.Next()
}

// poll takes the next packet from the links, if any. It looks first at the link that had the last
// packet, which is most likely to have the next: each look at a connection is a system call, and to
// find out which of several have something is another.
func (p *port) poll() *device.Packet {
	if l := p.hot; l != nil {
		if q := p.take(l); q != nil {
			return q
		}
		if p.streak < maxStreak || p.poller == nil {
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
