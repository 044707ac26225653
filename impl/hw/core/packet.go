package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Packet is a packet that is in flight or has arrived.
type Packet struct {
	device.Packet
	Job                    *Job
	Network                Network // that carries it
	Dst                    int32
	isCompletion           bool             // not from a network: the end of a remote access
	polledBy               CompletionPoller // of a completion: charges its taking; or nil
	channelPriorityPlusOne int8             // of a message of a Channel; 0: a packet of the inbox
	Next                   *Packet
	buffer                 []byte // memory of Data, kept when the packet is used again
	Transit                Transit
}

// Transit is the position of a packet or an access in the network, which defines its meaning.
type Transit struct {
	Step                      int8
	Position                  int
	Size                      int // of all of it
	NextTime                  unit.Time
	SenderNetworkDelayAtStart unit.Time // Port.TotalNetworkDelay of the sender when the sending began
	Duration                  unit.Time // how long all of it takes at the rate of its source

	IsCarriedByNetworkInterface bool // carries it, and no processor
	HasHighPriority             bool // it goes before what waits for a link
}

// PacketList is a queue of packets. A packet is in one list at most.
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

// Pop takes the first packet of a list that is not empty.
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
	if len(data) > 0 {
		pk.buffer = append(pk.buffer[:0], data...)
		pk.Data = pk.buffer
	}
	return pk
}

// ReleasePacket takes back a packet that will not be received.
func (j *Job) ReleasePacket(pk *Packet) { pk.Next, j.freePackets = j.freePackets, pk }

// allocatePackets makes packets, one for each rank or as many as one allocation is for, and returns
// the first. It is not inlined, so that newPacket is.
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

// HandleEvent lets the packet arrive.
func (a *ArrivalEvent) HandleEvent(uint64) { (*Packet)(a).Arrive() }

// Arrive puts a packet into its destination's inbox. The rank goes on when the event has ended.
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
