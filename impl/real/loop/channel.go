package loop

import (
	"runtime"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// The lanes of a channel take messages of a few words, as those of interfaces on the I/O bus, and
// few of them, so that programs meet full ones.
const (
	channelLimit = 88
	laneRoom     = 16
)

// lane is the messages of one priority for a rank.
type lane struct {
	mu       sync.Mutex
	messages list
	held     *buffer      // lent to the rank
	refused  map[int]bool // ranks to be told when there is room again
	closed   bool         // the rank's program has ended: messages are dropped
}

type channel struct{ *port }

func (channel) Limit() int { return channelLimit }

func (c channel) Send(dst int, p device.Priority, b []byte) bool {
	to := c.reach(dst)
	checkLength("a message", len(b), channelLimit)
	if c.dice.chance(c.faults.Refuse) {
		c.inbox.event(c.job)
		return false
	}
	l := &to.lanes[p]
	l.mu.Lock()
	switch {
	case l.closed:
		l.mu.Unlock()
		return true
	case l.messages.n == laneRoom:
		l.refused[c.rank] = true
		l.mu.Unlock()
		return false
	}
	l.messages.push(c.buffers.pack(c.rank, &device.Head{}, b))
	l.mu.Unlock()
	to.inbox.event(c.job)
	return true
}

func (c channel) Recv(p device.Priority) *device.Packet {
	c.leave()
	l := &c.lanes[p]
	l.mu.Lock()
	defer l.mu.Unlock()
	c.buffers.free(l.held)
	if l.held = l.messages.pop(); l.held == nil {
		runtime.Gosched() // as Load does
		return nil
	}
	c.room(l)
	return &l.held.Packet
}

// room tells those whose messages were refused that there is room. The lock is held.
func (p *port) room(l *lane) {
	for r := range l.refused {
		p.ports[r].inbox.event(p.job)
	}
	clear(l.refused)
}

// closeLanes drops messages from now on.
func (p *port) closeLanes() {
	for i := range p.lanes {
		l := &p.lanes[i]
		l.mu.Lock()
		l.closed = true
		p.room(l)
		l.mu.Unlock()
	}
}
