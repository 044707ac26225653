package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// ChannelNetwork is a Network whose interfaces have queues for short messages in two priorities.
// On links, messages of high priority overtake waiting ones.
type ChannelNetwork interface {
	Network
	MaxMessageBytes() int                            // length of the longest message in bytes
	QueueCapacity() int                              // messages of one priority for a rank, under way or in its queue
	BusyUntil(p *Port, dst int, high bool) unit.Time // time until which the interfaces accept no such message; 0: they accept one now
	SendMessage(p *Port, pk *Packet)                 // charges the sender and schedules the message's first event
	ChargeReceive(p *Port, pk *Packet)               // charges taking a message from its queue
}

// channelQueue has the messages of one priority for a rank.
type channelQueue struct {
	messages            PacketList
	occupiedSlots       int     // by messages in the queue and under way
	lastReceived        *Packet // what Recv returned last; valid until the next Recv
	ranksWaitingForRoom []int32 // ranks that wait for a free slot
}

// highPriorityPlusOne is the value of Packet.channelPriorityPlusOne for messages of high priority.
const highPriorityPlusOne = int8(device.HighPriority) + 1

// portAsChannel implements device.Channel for a port.
type portAsChannel struct{ *Port }

// Channel implements device.Port.
func (p *Port) Channel() device.Channel {
	if p.channelQueues == nil {
		return nil
	}
	return portAsChannel{p}
}

// hasChannels reports whether the interfaces of a network have queues for short messages.
func hasChannels(n Network) bool {
	x, ok := n.(ChannelNetwork)
	return ok && x.QueueCapacity() > 0
}

// channelNetwork returns the network that carries messages. It carries those between ranks of a
// node, too.
func (p *Port) channelNetwork() ChannelNetwork { return p.farNetwork.(ChannelNetwork) }

func (c portAsChannel) MaxMessageBytes() int { return c.channelNetwork().MaxMessageBytes() }

// Send learns at once if a queue is full: messages that wait in the network for a free slot block
// the sender's interface.
func (c portAsChannel) Send(dst int, pri device.Priority, b []byte) bool {
	c.checkRank(dst)
	net := c.channelNetwork()
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

// bufferFreedEvent is the event that a rank's message may be accepted now.
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
	c.channelNetwork().ChargeReceive(c.Port, l.lastReceived)
	c.ElapseCharges()
	c.freeChannelSlot(l)
	return &l.lastReceived.Packet
}

// freeChannelSlot frees a slot of a queue.
func (p *Port) freeChannelSlot(l *channelQueue) {
	l.occupiedSlots--
	for _, r := range l.ranksWaitingForRoom {
		(*bufferFreedEvent)(&p.Ports[r]).HandleEvent(0)
	}
	l.ranksWaitingForRoom = l.ranksWaitingForRoom[:0]
}

// appendToChannel appends an arrived message to its queue. It drops messages to a rank whose
// program has ended.
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

// dropChannelMessages drops the messages for a rank whose program has ended.
func (p *Port) dropChannelMessages() {
	if p.channelQueues == nil {
		return
	}
	for i := range p.channelQueues {
		for l := &p.channelQueues[i]; l.messages.Head != nil; p.freeChannelSlot(l) {
			p.ReleasePacket(l.messages.Pop())
		}
	}
}
