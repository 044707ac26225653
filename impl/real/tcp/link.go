package tcp

import (
	"io"
	"syscall"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/transport"
)

// link is a rank's end of its connection to another.
//
// The link reads as much as has arrived into its buffer. A packet that fits is received in place.
// The first part of a longer one is moved to a packet buffer, and the rest is read there.
type link struct {
	fd   int
	peer int

	buffer     []byte            // the buffer
	start, end int               // bytes of it that have arrived and were not taken
	partial    *transport.Buffer // a packet that has arrived in part

	packetsSent, packetsReceived uint64 // packets
	peerEnded                    bool   // nothing more arrives: the other rank has ended
	isAbandoned                  bool   // nor can anything be sent
	awaitsExit                   bool   // this rank has asked for a notice of the other's exit, and has not had it:
	exitHead                     device.Head
	silentSince                  time.Duration // when the silence of the other side was noticed; 0: it is not silent
}

// bufferSize is the length of buffers. It is twice the longest packet of an eager message.
const bufferSize = 256 << 10

// buffered returns the bytes in the buffer that were not taken.
func (l *link) buffered() []byte { return l.buffer[l.start:l.end] }

// readSpace returns where the next bytes are to be read to. It is not empty if look has been called
// since the last read.
func (l *link) readSpace() []byte {
	if l.partial != nil {
		return l.partial.Unfilled()
	}
	if l.start == l.end {
		l.start, l.end = 0, 0
	} else if l.start > 0 && len(l.buffer)-l.end < len(l.buffer)/4 {
		l.moveBuffered(l.buffer)
	}
	return l.buffer[l.end:]
}

// moveBuffered moves the buffered bytes to the front of another buffer, or of the same one, which
// becomes the link's buffer.
func (l *link) moveBuffered(to []byte) {
	n := copy(to, l.buffered())
	l.buffer, l.start, l.end = to, 0, n
}

// addRead notes that n more bytes were read.
func (l *link) addRead(n int) {
	if l.partial != nil {
		l.partial.AddReceived(n)
	} else {
		l.end += n
	}
}

// frontKind is the kind of data at the front of the bytes that have arrived over a link.
type frontKind uint8

const (
	noPacket       frontKind = iota // complete
	packetInLink                    // a packet in the link's buffer
	packetInBuffer                  // a packet in a packet buffer
)

// examineFront returns the kind of data at the front, and its size if it is a packet in the link's
// buffer. It handles other frames before the packet.
func (p *port) examineFront(l *link) (frontKind, int) {
	for {
		if l.partial != nil {
			if l.partial.TryComplete() {
				return packetInBuffer, 0
			}
			return noPacket, 0
		}
		b := l.buffered()
		if len(b) < headerSize {
			return noPacket, 0
		}
		k, n, err := parseFirstWord(b, len(p.links))
		switch {
		case err != nil:
			p.handleMalformedFrame(l, err)
			return noPacket, 0
		case k == packetFrame && n > maxUnplacedData && p.beginLongPacket(l, n):
		case headerSize+n > len(b):
			return noPacket, 0
		case k == packetFrame:
			return packetInLink, n
		default:
			l.start += headerSize + n
			p.handleReport(l, k, b[headerSize:headerSize+n])
			if l.peerEnded {
				return noPacket, 0
			}
		}
	}
}

// maxUnplacedData is the longest data whose destination the port does not ask for: copying it from
// the caches costs less.
const maxUnplacedData = 32 << 10

// beginLongPacket moves the first part of a long packet to a packet buffer, into which the rest
// will be read. It returns false, and does nothing, if the packet fits the link's buffer and the
// receiver has named no destination.
func (p *port) beginLongPacket(l *link, n int) bool {
	b := l.buffered()
	decodeHead(b, &p.arrivedHead)
	var destination []byte
	if !p.hasEnded {
		destination = p.Destination(l.peer, &p.arrivedHead, n)
	}
	if destination == nil && headerSize+n <= len(l.buffer) {
		return false
	}
	l.partial = p.Take(l.peer, &p.arrivedHead, n, destination)
	l.start = l.end - len(l.partial.Append(b[headerSize:]))
	return true
}

// takePacket takes the next complete packet that has arrived over a link, or returns nil.
func (p *port) takePacket(l *link) *device.Packet {
	what, n := p.examineFront(l)
	switch what {
	case packetInLink:
		b := l.buffered()
		q := &p.linkPacket
		q.Src = l.peer
		decodeHead(b, &q.Head)
		q.Data = b[headerSize : headerSize+n : headerSize+n]
		p.lendingLink = l
		l.start += headerSize + n
		l.packetsReceived++
		return q
	case packetInBuffer:
		q := l.partial
		l.partial = nil
		l.packetsReceived++
		return p.Lend(q)
	}
	return nil
}

// enqueueArrived moves the packets that have arrived over a link to the inbox, to be received
// later. A rank that has ended drops them.
func (p *port) enqueueArrived(l *link) {
	for {
		var q *transport.Buffer
		switch what, n := p.examineFront(l); what {
		case noPacket:
			return
		case packetInBuffer:
			q, l.partial = l.partial, nil
		case packetInLink:
			b := l.buffered()
			decodeHead(b, &p.arrivedHead)
			q = p.Take(l.peer, &p.arrivedHead, n, nil)
			q.Append(b[headerSize : headerSize+n])
			q.TryComplete()
			l.start += headerSize + n
		}
		l.packetsReceived++
		if p.hasEnded {
			p.Free(q)
		} else {
			p.Enqueue(q)
			p.enqueuedCount++
		}
	}
}

// readLink reads the bytes that have arrived, and reports whether there were any.
func (p *port) readLink(l *link) bool {
	if l.peerEnded {
		return false
	}
	if p.lendingLink == l {
		p.detachBuffer(l)
	}
	n, e := receive(l.fd, l.readSpace())
	switch {
	case n > 0 && e == 0:
		l.addRead(n)
		return true
	case e == syscall.EAGAIN || e == syscall.EINTR:
		return false
	case e == 0:
		p.handleLostLink(l, io.EOF)
	default:
		p.handleLostLink(l, e)
	}
	return false
}

// detachBuffer gives a link another buffer, because the rank may still use a packet in the old one.
func (p *port) detachBuffer(l *link) {
	lent := l.buffer
	if p.spareBuffer == nil {
		p.spareBuffer = make([]byte, bufferSize)
	}
	l.moveBuffered(p.spareBuffer)
	p.spareBuffer, p.lendingLink = nil, nil
	p.lentBuffer = lent
}
