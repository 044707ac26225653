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
	team      *launch.Team
	jobFailed atomic.Bool
	failure   atomic.Pointer[error] // how the transport failed

	links         []*link // to each rank; the one to itself is nil
	recentLink    *link   // from which something arrived last, or nil: only its buffer may have complete packets
	readStreak    int     // reads in a row that found something there
	poller        *poller // of all links, if there are several
	firstReady    int     // counts polls, so that the ready links take turns to be read first
	sleeper       *sleeper
	progressTable *progressTable // at rank 0

	linkPacket      device.Packet // received last, if it lies
	lendingLink     *link         // in the buffer of this link
	lentBuffer      []byte        // or in a buffer that was a link's,
	spareBuffer     []byte        // and the buffer to use next
	enqueuedCount   uint64        // how many packets and notices have been put into the inbox
	hasEnded        bool
	reportsActivity bool        // reports say that the rank no longer waits
	arrivedHead     device.Head // of a packet that has not been received

	frame          [headerSize + maxCopiedData]byte // a frame to be sent
	progressReport []byte                           // that is reported
	gatherCall     gatherSend
}

// maxCopiedData is the longest data that is copied behind its header. Longer data is sent in place,
// which takes the kernel a little longer.
const maxCopiedData = 4 << 10

func newPort(rank, ranks int, blocks bool) *port {
	p := &port{links: make([]*link, ranks), progressReport: make([]byte, progressSize(ranks))}
	p.Base = transport.NewBase("tcp", rank, ranks, blocks, &p.jobFailed, pollIntervals)
	if rank == 0 {
		p.progressTable = newProgressTable(ranks)
	}
	return p
}

// Tier implements device.Port: ranks of one host are near.
func (p *port) Tier(rank int) model.Tier {
	if p.team.SameHost(p.Rank(), rank) {
		return model.IntraNode
	}
	return model.InterNode
}

func (p *port) Send(dst int, q *device.Packet) {
	p.ExitIfJobFailed()
	p.CheckRank(dst)
	if dst == p.Rank() {
		p.EnqueueCopy(dst, &q.Head, q.Data)
		p.enqueuedCount++
		return
	}
	if len(q.Data) > maxPacketData {
		panic(fmt.Sprintf("tcp: a packet of %d bytes, which may have %d at most", len(q.Data), maxPacketData))
	}
	l := p.links[dst]
	if l.peerEnded {
		return
	}
	l.packetsSent++
	p.sendFrame(l, packetFrame, &q.Head, q.Data)
}

// sendFrame sends a frame.
func (p *port) sendFrame(l *link, k frameKind, head *device.Head, data []byte) {
	encodeHeader((*[headerSize]byte)(p.frame[:]), k, head, len(data))
	if len(data) <= maxCopiedData {
		copy(p.frame[headerSize:], data)
		p.writeAll(l, p.frame[:headerSize+len(data)], nil)
		return
	}
	p.writeAll(l, p.frame[:headerSize], data)
}

// writeAll writes to a connection, and receives arriving packets until there is room.
func (p *port) writeAll(l *link, a, b []byte) {
	for w := (backoff{}); len(a)+len(b) > 0; {
		var n int
		var e syscall.Errno
		switch {
		case len(b) == 0:
			n, e = send(l.fd, a)
		case len(a) == 0:
			n, e = send(l.fd, b)
		default:
			n, e = p.gatherCall.send(l.fd, a, b)
		}
		switch e {
		case 0:
			rest := min(n, len(a))
			a, b = a[rest:], b[n-rest:]
		case syscall.EAGAIN:
			p.awaitRoom(l, &w)
		case syscall.EINTR:
		default:
			p.handleLostLink(l, e)
			return
		}
	}
}

// awaitRoom is called when there is no room to write. It receives packets that have arrived,
// because ranks that send to each other would otherwise wait forever. If there are none it waits
// until something may have changed.
func (p *port) awaitRoom(l *link, w *backoff) {
	if p.drainLinks() {
		return
	}
	if !p.IsBlocking {
		w.pause(p)
		return
	}
	p.sleeper.watchForRoom(l.peer, l.fd)
	w.pause(p)
	if l.peerEnded {
		p.sleeper.unwatch(l.peer)
	} else {
		p.sleeper.watch(l.peer, l.fd)
	}
}

// drainLinks moves arrived packets to the inbox, and reports whether anything had arrived.
func (p *port) drainLinks() bool {
	if p.recentLink != nil {
		p.enqueueArrived(p.recentLink)
	}
	if p.poller == nil {
		return p.recentLink != nil && p.drainLink(p.recentLink)
	}
	found := false
	for i := range p.poller.ready() {
		if p.drainLink(p.links[p.poller.readyRank(i)]) {
			found = true
		}
	}
	return found
}

// drainLink moves packets that have arrived over a link to the inbox, and reports whether anything
// had arrived.
func (p *port) drainLink(l *link) bool {
	if !p.readLink(l) {
		return false
	}
	p.enqueueArrived(l)
	return true
}

// NotifyExit implements device.Port.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.ExitIfJobFailed()
	p.CheckRank(rank)
	if l := p.links[rank]; l != nil && !l.awaitsExit {
		l.awaitsExit, l.exitHead = true, head
		if l.peerEnded {
			p.enqueueExit(l)
		}
	}
}

// enqueueExit puts the notice of a rank's exit into the inbox, behind everything that the rank has
// sent.
func (p *port) enqueueExit(l *link) {
	p.EnqueueCopy(l.peer, &l.exitHead, nil)
	p.enqueuedCount++
	l.awaitsExit = false
}

func (p *port) Recv(block bool) *device.Packet {
	p.ExitIfJobFailed()
	p.releaseLast()
	if q := p.nextPacket(); q != nil || !block {
		if q == nil {
			p.YieldWhenIdle()
		}
		return q
	}
	return p.waitForPacket()
}

// releaseLast takes back the packet that the rank has received last.
func (p *port) releaseLast() {
	p.lendingLink = nil
	p.ReleaseLent()
	if p.lentBuffer != nil {
		p.spareBuffer, p.lentBuffer = p.lentBuffer, nil
	}
}

// maxReadStreak is how often in a row a rank reads from one connection before it polls the others.
const maxReadStreak = 16

// nextPacket takes the next packet, or returns nil. Polling the links may put notices of exits into
// the inbox.
func (p *port) nextPacket() *device.Packet {
	if !p.IsEmpty() {
		return p.Inbox.Dequeue()
	}
	if q := p.pollLinks(); q != nil || p.IsEmpty() {
		return q
	}
	return p.Inbox.Dequeue()
}

// pollLinks takes the next packet from the links, if any. It polls first the link that had the last
// packet, which is most likely to have the next one: each poll of a connection is a system call,
// and finding the ready ones among several is another.
func (p *port) pollLinks() *device.Packet {
	if l := p.recentLink; l != nil {
		if q := p.takePacket(l); q != nil {
			return q
		}
		if p.readStreak < maxReadStreak || p.poller == nil {
			if p.readLink(l) {
				p.readStreak++
				if q := p.takePacket(l); q != nil {
					return q
				}
			}
		}
	}
	if p.poller == nil {
		return nil
	}
	p.readStreak = 0
	p.firstReady++
	for n, i := p.poller.ready(), 0; i < n; i++ {
		l := p.links[p.poller.readyRank((p.firstReady+i)%n)]
		if !p.readLink(l) {
			continue
		}
		if q := p.takePacket(l); q != nil {
			p.recentLink = l
			return q
		}
	}
	return nil
}
