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
	MaxMessageBytes() int                            // length of the longest message
	QueueCapacity() int                              // messages of a priority for a rank, under way or not received
	BusyUntil(p *Port, dst int, high bool) unit.Time // until when the interfaces take no such message; 0: they take one now
	SendMessage(p *Port, pk *Packet)                 // charges the sender and schedules the message's first move
	ChargeReceive(p *Port, pk *Packet)               // charges the taking of a message from its queue
}

// channelQueue is the messages of one priority for a rank.
type channelQueue struct {
	messages            PacketList
	occupiedSlots       int     // of these, and of those under way
	lastReceived        *Packet // what Recv returned last; valid until the next Recv
	ranksWaitingForRoom []int32 // ranks that wait for room
}

// highPriorityPlusOne is Packet.channelPriorityPlusOne of messages of high priority.
const highPriorityPlusOne = int8(device.HighPriority) + 1

// portAsChannel implements device.Channel for a port.
type portAsChannel struct{ *Port }

// Channel implements device.Port.
func (p *Port) Channel() device.Channel {
	if x, ok := p.farNetwork.(PriorityNetwork); !ok || x.QueueCapacity() == 0 {
		return nil
	}
	return portAsChannel{p}
}

// priorityNetwork returns the network that carries messages. Between ranks of a node it does, too.
func (p *Port) priorityNetwork() PriorityNetwork { return p.farNetwork.(PriorityNetwork) }

func (c portAsChannel) MaxMessageBytes() int { return c.priorityNetwork().MaxMessageBytes() }

// Send finds that a queue is full when it sends, as what waits in the network for room makes it
// known to the sender's interface.
func (c portAsChannel) Send(dst int, pri device.Priority, b []byte) bool {
	c.checkRank(dst)
	net := c.priorityNetwork()
	if len(b) > net.MaxMessageBytes() {
		panic(fmt.Sprintf("hw: a message of %d bytes: %d at most", len(b), net.MaxMessageBytes()))
	}
	c.ElapseCharges()
	to := &c.Ports[dst]
	l := &to.channelQueues[pri]
	switch t := net.BusyUntil(c.Port, dst, pri == device.HighPriority); {
	case to.hasProgramEnded:
		return true
	case t > 0:
		c.Kernel.Schedule(t, (*bufferFreedEvent)(c.Port), 0)
	case l.occupiedSlots == net.QueueCapacity():
		l.ranksWaitingForRoom = append(l.ranksWaitingForRoom, c.ID)
	default:
		l.occupiedSlots++
		pk := c.newPacket(c.ID, int32(dst), &device.Head{}, b)
		pk.Network, pk.channelPriorityPlusOne = net, int8(pri)+1
		net.SendMessage(c.Port, pk)
		return true
	}
	c.throttlePolling(&c.loadThrottle, maxPollsWithoutTime)
	return false
}

// bufferFreedEvent is the event of a rank whose message may be taken now.
type bufferFreedEvent Port

// HandleEvent notifies the rank.
func (r *bufferFreedEvent) HandleEvent(uint64) {
	r.watchEventCount++
	(*Port)(r).resumeForChange()
}

func (c portAsChannel) Recv(pri device.Priority) *device.Packet {
	c.ElapseCharges()
	l := &c.channelQueues[pri]
	if l.lastReceived != nil {
		c.ReleasePacket(l.lastReceived)
		l.lastReceived = nil
	}
	if l.messages.Head == nil {
		c.throttlePolling(&c.loadThrottle, maxPollsWithoutTime)
		return nil
	}
	l.lastReceived = l.messages.Pop()
	c.priorityNetwork().ChargeReceive(c.Port, l.lastReceived)
	c.ElapseCharges()
	c.freeChannelSlot(l)
	return &l.lastReceived.Packet
}

// freeChannelSlot makes room for a message.
func (p *Port) freeChannelSlot(l *channelQueue) {
	l.occupiedSlots--
	for _, r := range l.ranksWaitingForRoom {
		(*bufferFreedEvent)(&p.Ports[r]).HandleEvent(0)
	}
	l.ranksWaitingForRoom = l.ranksWaitingForRoom[:0]
}

// appendToChannel puts a message that has arrived into its queue. A message to a rank whose program
// has ended is dropped.
func (p *Port) appendToChannel(pk *Packet) {
	l := &p.channelQueues[pk.channelPriorityPlusOne-1]
	if p.hasProgramEnded {
		p.freeChannelSlot(l)
		p.ReleasePacket(pk)
		return
	}
	l.messages.Push(pk)
	p.watchEventCount++
	p.resumeForChange()
}

// dropChannelMessages drops the messages of a rank whose program has ended.
func (p *Port) dropChannelMessages() {
	for i := range p.channelQueues {
		for l := &p.channelQueues[i]; l.messages.Head != nil; p.freeChannelSlot(l) {
			p.ReleasePacket(l.messages.Pop())
		}
	}
}
