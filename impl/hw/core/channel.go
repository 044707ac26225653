package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Prioritized is a Network whose interfaces have queues of short messages in two priorities. On
// links a message of high priority overtakes others that wait.
type Prioritized interface {
	Network
	Limit() int                                 // length of the longest message
	Room() int                                  // messages of a priority for a rank, under way or not received
	Held(p *Port, dst int, high bool) unit.Time // until when the interfaces take no such message; 0: they take one now
	Issue(p *Port, pk *Packet)                  // charges the sender and schedules the message's first move
	Take(p *Port, pk *Packet)                   // charges the taking of a message from its queue
}

// lane is the messages of one priority for a rank.
type lane struct {
	messages List
	n        int     // of these, and of those under way
	held     *Packet // lent to the rank until the next Recv
	refused  []int32 // ranks that wait for room
}

// urgent is the lane of packets of high priority.
const urgent = int8(device.High) + 1

// channel is a port as its Channel.
type channel struct{ *Port }

// Channel implements device.Port.
func (p *Port) Channel() device.Channel {
	if x, ok := p.far.(Prioritized); !ok || x.Room() == 0 {
		return nil
	}
	return channel{p}
}

// prioritized returns the network that carries messages. Between ranks of a node it does, too.
func (p *Port) prioritized() Prioritized { return p.far.(Prioritized) }

func (c channel) Limit() int { return c.prioritized().Limit() }

// Send finds that a queue is full when it sends, as what waits in the network for room makes it
// known to the sender's interface.
func (c channel) Send(dst int, pri device.Priority, b []byte) bool {
	c.check(dst)
	net := c.prioritized()
	if len(b) > net.Limit() {
		panic(fmt.Sprintf("hw: a message of %d bytes: %d at most", len(b), net.Limit()))
	}
	c.Pay()
	to := &c.Ports[dst]
	l := &to.lanes[pri]
	switch t := net.Held(c.Port, dst, pri == device.High); {
	case to.ended:
		return true
	case t > 0:
		c.Kernel.At(t, (*room)(c.Port), 0)
	case l.n == net.Room():
		l.refused = append(l.refused, c.ID)
	default:
		l.n++
		pk := c.newPacket(c.ID, int32(dst), &device.Head{}, b)
		pk.Net, pk.lane = net, int8(pri)+1
		net.Issue(c.Port, pk)
		return true
	}
	c.again(&c.loads, freeReadings)
	return false
}

// room is the event of a rank whose message may be taken now.
type room Port

// Act notifies the rank.
func (r *room) Act(uint64) {
	r.events++
	(*Port)(r).concern()
}

func (c channel) Recv(pri device.Priority) *device.Packet {
	c.Pay()
	l := &c.lanes[pri]
	if l.held != nil {
		c.Release(l.held)
		l.held = nil
	}
	if l.messages.Head == nil {
		c.again(&c.loads, freeReadings)
		return nil
	}
	l.held = l.messages.Pop()
	c.prioritized().Take(c.Port, l.held)
	c.Pay()
	c.leave(l)
	return &l.held.Packet
}

// leave makes room for a message.
func (p *Port) leave(l *lane) {
	l.n--
	for _, r := range l.refused {
		(*room)(&p.Ports[r]).Act(0)
	}
	l.refused = l.refused[:0]
}

// queued puts a message that has arrived into its queue. A message to a rank whose program has
// ended is dropped.
func (p *Port) queued(pk *Packet) {
	l := &p.lanes[pk.lane-1]
	if p.ended {
		p.leave(l)
		p.Release(pk)
		return
	}
	l.messages.Push(pk)
	p.events++
	p.concern()
}

// closeLanes drops the messages of a rank whose program has ended.
func (p *Port) closeLanes() {
	for i := range p.lanes {
		for l := &p.lanes[i]; l.messages.Head != nil; p.leave(l) {
			p.Release(l.messages.Pop())
		}
	}
}
