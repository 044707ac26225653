package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// PriorityNetwork is a Network whose interfaces have queues of short messages in two priorities. On
// links a message of high priority overtakes others that wait.
type PriorityNetwork interface {
	Network
	MaxMessage() int                                 // length of the longest message
	QueueCapacity() int                              // messages of a priority for a rank, under way or not received
	BusyUntil(p *Port, dst int, high bool) unit.Time // until when the interfaces take no such message; 0: they take one now
	SendMessage(p *Port, pk *Packet)                 // charges the sender and schedules the message's first move
	ChargeReceive(p *Port, pk *Packet)               // charges the taking of a message from its queue
}

// channelQueue is the messages of one priority for a rank.
type channelQueue struct {
	messages       PacketList
	count          int     // of these, and of those under way
	lent           *Packet // lent to the rank until the next Recv
	refusedSenders []int32 // ranks that wait for room
}

// highPriority is the lane of packets of high priority.
const highPriority = int8(device.HighPriority) + 1

// channelPort is a port as its Channel.
type channelPort struct{ *Port }

// Channel implements device.Port.
func (p *Port) Channel() device.Channel {
	if x, ok := p.farNetwork.(PriorityNetwork); !ok || x.QueueCapacity() == 0 {
		return nil
	}
	return channelPort{p}
}

// priorityNetwork returns the network that carries messages. Between ranks of a node it does, too.
func (p *Port) priorityNetwork() PriorityNetwork { return p.farNetwork.(PriorityNetwork) }

func (c channelPort) Limit() int { return c.priorityNetwork().MaxMessage() }

// Send finds that a queue is full when it sends, as what waits in the network for room makes it
// known to the sender's interface.
func (c channelPort) Send(dst int, pri device.Priority, b []byte) bool {
	c.checkRank(dst)
	net := c.priorityNetwork()
	if len(b) > net.MaxMessage() {
		panic(fmt.Sprintf("hw: a message of %d bytes: %d at most", len(b), net.MaxMessage()))
	}
	c.ElapseCharges()
	to := &c.Ports[dst]
	l := &to.channelQueues[pri]
	switch t := net.BusyUntil(c.Port, dst, pri == device.HighPriority); {
	case to.programEnded:
		return true
	case t > 0:
		c.Kernel.Schedule(t, (*bufferFreed)(c.Port), 0)
	case l.count == net.QueueCapacity():
		l.refusedSenders = append(l.refusedSenders, c.ID)
	default:
		l.count++
		pk := c.newPacket(c.ID, int32(dst), &device.Head{}, b)
		pk.Network, pk.channelClass = net, int8(pri)+1
		net.SendMessage(c.Port, pk)
		return true
	}
	c.throttlePolling(&c.loadPolls, maxFreePolls)
	return false
}

// bufferFreed is the event of a rank whose message may be taken now.
type bufferFreed Port

// HandleEvent notifies the rank.
func (r *bufferFreed) HandleEvent(uint64) {
	r.watchEventCount++
	(*Port)(r).resumeOnChange()
}

func (c channelPort) Recv(pri device.Priority) *device.Packet {
	c.ElapseCharges()
	l := &c.channelQueues[pri]
	if l.lent != nil {
		c.ReleasePacket(l.lent)
		l.lent = nil
	}
	if l.messages.Head == nil {
		c.throttlePolling(&c.loadPolls, maxFreePolls)
		return nil
	}
	l.lent = l.messages.Pop()
	c.priorityNetwork().ChargeReceive(c.Port, l.lent)
	c.ElapseCharges()
	c.freeChannelSlot(l)
	return &l.lent.Packet
}

// freeChannelSlot makes room for a message.
func (p *Port) freeChannelSlot(l *channelQueue) {
	l.count--
	for _, r := range l.refusedSenders {
		(*bufferFreed)(&p.Ports[r]).HandleEvent(0)
	}
	l.refusedSenders = l.refusedSenders[:0]
}

// appendToChannel puts a message that has arrived into its queue. A message to a rank whose program
// has ended is dropped.
func (p *Port) appendToChannel(pk *Packet) {
	l := &p.channelQueues[pk.channelClass-1]
	if p.programEnded {
		p.freeChannelSlot(l)
		p.ReleasePacket(pk)
		return
	}
	l.messages.Push(pk)
	p.watchEventCount++
	p.resumeOnChange()
}

// dropChannelMessages drops the messages of a rank whose program has ended.
func (p *Port) dropChannelMessages() {
	for i := range p.channelQueues {
		for l := &p.channelQueues[i]; l.messages.Head != nil; p.freeChannelSlot(l) {
			p.ReleasePacket(l.messages.Pop())
		}
	}
}
