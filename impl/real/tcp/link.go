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
// The link reads as much as there is into its buffer. A packet that fits is received
// where it lies there; what has come of a longer one is moved to a packet buffer, and the rest is
// read there.
type link struct {
	fd   int
	peer int

	in       []byte            // the buffer
	from, to int               // bytes of it that have arrived and were not taken
	part     *transport.Buffer // a packet that has arrived in part

	sent, received uint64 // packets
	over           bool   // nothing more arrives: the other rank has ended
	cut            bool   // nor can anything be sent
	awaitsExit     bool   // this rank has asked to be told of the other's end, and has not been told:
	exitHead       device.Head
	silentSince    time.Duration // when it was noticed that the other side is silent; 0: it is not
}

// bufferSize is the length of buffers. It is twice the longest packet of an eager message.
const bufferSize = 256 << 10

// buffered returns what is in the buffer and was not taken.
func (l *link) buffered() []byte { return l.in[l.from:l.to] }

// room returns where the next bytes are to be read to. It is not empty if look has been called
// since the last read.
func (l *link) room() []byte {
	if l.part != nil {
		return l.part.Rest()
	}
	if l.from == l.to {
		l.from, l.to = 0, 0
	} else if l.from > 0 && len(l.in)-l.to < len(l.in)/4 {
		l.move(l.in)
	}
	return l.in[l.to:]
}

// move moves what is in the buffer to the front of another, or of the same, which becomes the
// link's buffer.
func (l *link) move(to []byte) {
	n := copy(to, l.buffered())
	l.in, l.from, l.to = to, 0, n
}

// came notes that n more bytes were read.
func (l *link) came(n int) {
	if l.part != nil {
		l.part.Came(n)
	} else {
		l.to += n
	}
}

// front says what is at the front of the bytes that have arrived over a link.
type front uint8

const (
	nothing  front = iota // complete
	inLink                // a packet in the link's buffer
	inBuffer              // a packet in a packet buffer
)

// look returns what is at the front, and the bytes of data if that is a packet in the link's
// buffer. It handles frames that are no packets on the way.
func (p *port) look(l *link) (front, int) {
	for {
		if l.part != nil {
			if l.part.Whole() {
				return inBuffer, 0
			}
			return nothing, 0
		}
		b := l.buffered()
		if len(b) < headerSize {
			return nothing, 0
		}
		k, n, err := first(b, len(p.links))
		switch {
		case err != nil:
			p.malformed(l, err)
			return nothing, 0
		case k == packet && n > minPlaced && p.begin(l, n):
		case headerSize+n > len(b):
			return nothing, 0
		case k == packet:
			return inLink, n
		default:
			l.from += headerSize + n
			p.reported(l, k, b[headerSize:headerSize+n])
			if l.over {
				return nothing, 0
			}
		}
	}
}

// minPlaced is the longest data for which the port does not ask where it is to go: copying it from
// the caches costs less.
const minPlaced = 32 << 10

// begin moves what has arrived of a long packet to a packet buffer, where the rest is to be read.
// It returns false, and does nothing, if the packet fits the link's buffer and the user of the port
// has no place for its data.
func (p *port) begin(l *link, n int) bool {
	b := l.buffered()
	headOf(b, &p.head)
	var destination []byte
	if !p.ended {
		destination = p.Destination(l.peer, &p.head, n)
	}
	if destination == nil && headerSize+n <= len(l.in) {
		return false
	}
	l.part = p.Take(l.peer, &p.head, n, destination)
	l.from = l.to - len(l.part.Add(b[headerSize:]))
	return true
}

// take takes the next packet that has arrived over a link, or returns nil if none is complete.
func (p *port) take(l *link) *device.Packet {
	what, n := p.look(l)
	switch what {
	case inLink:
		b := l.buffered()
		q := &p.packet
		q.Src = l.peer
		headOf(b, &q.Head)
		q.Data = b[headerSize : headerSize+n : headerSize+n]
		p.inLink = l
		l.from += headerSize + n
		l.received++
		return q
	case inBuffer:
		q := l.part
		l.part = nil
		l.received++
		return p.Hold(q)
	}
	return nil
}

// setAside moves the packets that have arrived over a link to the inbox, to be received later. A
// rank that has ended drops them.
func (p *port) setAside(l *link) {
	for {
		var q *transport.Buffer
		switch what, n := p.look(l); what {
		case nothing:
			return
		case inBuffer:
			q, l.part = l.part, nil
		case inLink:
			b := l.buffered()
			headOf(b, &p.head)
			q = p.Take(l.peer, &p.head, n, nil)
			q.Add(b[headerSize : headerSize+n])
			q.Whole()
			l.from += headerSize + n
		}
		l.received++
		if p.ended {
			p.Free(q)
		} else {
			p.Put(q)
			p.setBy++
		}
	}
}

// read reads what has arrived, and reports whether there was anything.
func (p *port) read(l *link) bool {
	if l.over {
		return false
	}
	if p.inLink == l {
		p.detach(l)
	}
	n, e := receive(l.fd, l.room())
	switch {
	case n > 0 && e == 0:
		l.came(n)
		return true
	case e == syscall.EAGAIN || e == syscall.EINTR:
		return false
	case e == 0:
		p.lost(l, io.EOF)
	default:
		p.lost(l, e)
	}
	return false
}

// detach gives a link another buffer, because the rank may still use a packet in its own.
func (p *port) detach(l *link) {
	lent := l.in
	if p.spare == nil {
		p.spare = make([]byte, bufferSize)
	}
	l.move(p.spare)
	p.spare, p.inLink = nil, nil
	p.lent = lent
}
