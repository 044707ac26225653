package tcp

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/transport"
)

// progressSize returns the bytes of a rank's progress in a frame.
func progressSize(ranks int) int { return 2 * 8 * ranks }

// awaitsExit is set in the number of packets received from a rank of whose end the receiver has
// asked to be told, and has not been.
const awaitsExit = 1 << 63

// goesOn stands in the place of packets that a rank sends to itself: a datagram has come, and it
// waits no more.
const goesOn = 1

// encodeProgress writes how far a rank is.
func encodeProgress(b []byte, links []*link) {
	for r, l := range links {
		var sent, received uint64
		if l != nil {
			sent, received = l.sent, l.received
			if l.awaitsExit {
				received |= awaitsExit
			}
		}
		binary.LittleEndian.PutUint64(b[16*r:], sent)
		binary.LittleEndian.PutUint64(b[16*r+8:], received)
	}
}

// progressTable is what rank 0 knows of the progress of all ranks.
type progressTable struct {
	mu    sync.Mutex // the job is looked at while the rank runs
	ranks []transport.Progress

	changed time.Time     // when a rank reported last
	settled time.Duration // how long no rank may have reported, so that none that goes on by a datagram is overlooked
}

func newProgressTable(ranks int) *progressTable {
	return &progressTable{ranks: transport.NewProgress(ranks)}
}

// note takes down what a rank reports.
func (t *progressTable) note(rank int, ended bool, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.ranks[rank]
	p.Known, p.Ended = binary.LittleEndian.Uint64(b[16*rank:]) != goesOn, ended
	t.changed = time.Now()
	for r := range p.Sent {
		p.Sent[r] = binary.LittleEndian.Uint64(b[16*r:])
		received := binary.LittleEndian.Uint64(b[16*r+8:])
		p.Received[r], p.AwaitsExit[r] = received&^awaitsExit, received&awaitsExit != 0
	}
}

// deadlock returns the ranks that wait if nothing can happen any more, else nil.
func (t *progressTable) deadlock() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.changed) < t.settled {
		return nil
	}
	return transport.Deadlock(t.ranks)
}

// report sends over a link how far this rank has come, and notes it at rank 0.
func (p *port) report(k kind, l *link) {
	encodeProgress(p.progress, p.links)
	if p.active {
		binary.LittleEndian.PutUint64(p.progress[16*p.Rank():], goesOn)
	}
	if p.table != nil {
		p.table.note(0, k == ends, p.progress)
	}
	if l != nil && !l.cut {
		p.send(l, k, &none, p.progress)
	}
}

// reported takes in what another rank reports.
func (p *port) reported(l *link, k kind, b []byte) {
	if p.table != nil {
		p.table.note(l.peer, k == ends, b)
	}
	if k == ends {
		p.ignore(l)
		if l.awaitsExit {
			p.putExit(l)
		}
	}
}

// none is the head of what is no packet.
var none device.Head
