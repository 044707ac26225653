package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Packet is a packet under way or in an inbox.
type Packet struct {
	device.Packet
	Job                    *Job
	Network                Network // carries the packet
	Dst                    int32
	isCompletion           bool             // the completion of a remote access or a send, not a packet of a network
	polledBy               CompletionPoller // charges the polling of a completion; or nil
	Completion             *Packet          // the completion that the sender gets when the packet has been delivered; or nil
	channelPriorityPlusOne int8             // for a message of a Channel; 0: a packet for the inbox
	Next                   *Packet
	buffer                 []byte // memory of Data, reused
	Transit                Transit
}

// Transit is the position of a packet or an access in the network. The network defines its meaning.
type Transit struct {
	Step                      int8
	Position                  int
	Size                      int // total bytes
	NextTime                  unit.Time
	SenderNetworkDelayAtStart unit.Time // Port.TotalNetworkDelay of the sender when it started to send
	Duration                  unit.Time // total time at the rate of the source

	IsCarriedByNetworkInterface bool // the interface carries it, not a processor
	HasHighPriority             bool // it precedes others that wait for a link
}

// PacketList is a queue of packets. A packet is in at most one list.
type PacketList struct{ Head, Tail *Packet }

// Push appends a packet.
func (l *PacketList) Push(pk *Packet) {
	if l.Tail == nil {
		l.Head = pk
	} else {
		l.Tail.Next = pk
	}
	l.Tail = pk
}

// Pop removes and returns the first packet. The list must not be empty.
func (l *PacketList) Pop() *Packet {
	pk := l.Head
	if l.Head = pk.Next; l.Head == nil {
		l.Tail = nil
	}
	pk.Next = nil
	return pk
}

func (j *Job) newPacket(src, dst int32, head *device.Head, data []byte) *Packet {
	pk := j.freePackets
	if pk == nil {
		pk = j.allocatePackets()
	}
	j.freePackets = pk.Next
	pk.Next = nil
	pk.Src, pk.Dst, pk.Head, pk.isCompletion, pk.Refused = int(src), dst, *head, false, false
	pk.channelPriorityPlusOne = 0
	pk.Data = nil
	switch {
	case len(data) == 0:
	case device.IsSizeOnly(data):
		pk.Data = data
	default:
		pk.buffer = append(pk.buffer[:0], data...)
		pk.Data = pk.buffer
	}
	return pk
}

// ReleasePacket makes a packet available for reuse.
func (j *Job) ReleasePacket(pk *Packet) { pk.Next, j.freePackets = j.freePackets, pk }

// allocatePackets allocates one packet per rank, or as many as fit one allocation, and returns the
// first. It is not inlined, so that newPacket is.
//
//go:noinline
func (j *Job) allocatePackets() *Packet {
	const most = 32
	all := make([]Packet, min(len(j.Ports), most))
	for i := range all {
		all[i].Job, all[i].Next = j, j.freePackets
		j.freePackets = &all[i]
	}
	return j.freePackets
}

// ArrivalEvent is the event that a packet has arrived.
type ArrivalEvent Packet

// HandleEvent calls Arrive.
func (a *ArrivalEvent) HandleEvent(uint64) { (*Packet)(a).Arrive() }

// Arrive puts a packet into the inbox of its destination. The rank continues after the current
// event.
func (pk *Packet) Arrive() {
	p := &pk.Job.Ports[pk.Dst]
	if pk.channelPriorityPlusOne > 0 {
		p.appendToChannel(pk)
		return
	}
	p.inbox.Push(pk)
	p.watchEventCount++
	p.resumeForPacket()
}
