package loop

import (
	"runtime"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// The lanes of a channel take a few messages of a few words, as interfaces on the I/O bus do, so
// that programs meet full lanes.
const (
	maxMessageSize = 88
	laneCapacity   = 16
)

// lane is the messages of one priority for a rank.
type lane struct {
	mu           sync.Mutex
	messages     bufferList
	lent         *buffer      // lent to the rank
	refusedRanks map[int]bool // ranks to be notified when there is room again
	isClosed     bool         // the rank's program has ended: messages are dropped
}

type channel struct{ *port }

func (channel) MaxMessageBytes() int { return maxMessageSize }

func (c channel) Send(dst int, p device.Priority, b []byte) bool {
	to := c.portOf(dst)
	checkLength("a message", len(b), maxMessageSize)
	if c.random.isHit(c.faults.Refuse) {
		c.inbox.countEvent(c.job)
		return false
	}
	l := &to.lanes[p]
	l.mu.Lock()
	switch {
	case l.isClosed:
		l.mu.Unlock()
		return true
	case l.messages.length == laneCapacity:
		l.refusedRanks[c.Rank()] = true
		l.mu.Unlock()
		return false
	}
	l.messages.push(c.buffers.takeCopy(c.Rank(), &device.Head{}, b))
	l.mu.Unlock()
	to.inbox.countEvent(c.job)
	return true
}

func (c channel) Recv(p device.Priority) *device.Packet {
	c.ExitIfJobFailed()
	l := &c.lanes[p]
	l.mu.Lock()
	defer l.mu.Unlock()
	c.buffers.release(l.lent)
	if l.lent = l.messages.pop(); l.lent == nil {
		runtime.Gosched() // as Load does
		return nil
	}
	c.announceRoom(l)
	return &l.lent.Packet
}

// announceRoom notifies the ranks whose messages were refused that there is room. The lock is held.
func (p *port) announceRoom(l *lane) {
	for r := range l.refusedRanks {
		p.ports[r].inbox.countEvent(p.job)
	}
	clear(l.refusedRanks)
}

// closeLanes makes the lanes drop messages from now on.
func (p *port) closeLanes() {
	for i := range p.lanes {
		l := &p.lanes[i]
		l.mu.Lock()
		l.isClosed = true
		p.announceRoom(l)
		l.mu.Unlock()
	}
}
