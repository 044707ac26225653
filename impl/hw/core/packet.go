package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Packet is a packet that is in flight or has arrived.
type Packet struct {
	device.Packet
	J     *Job
	Net   Network // that carries it
	Dst   int32
	local bool // not from a network: the end of a remote access
	lane  int8 // of a Channel, the priority and 1; 0: a packet
	Next  *Packet
	buf   []byte // memory of Data, kept when the packet is used again
	Wire  Wire
}

// Wire is the position of a packet or an access in the network, which defines its meaning.
type Wire struct {
	Step int8
	Pos  int
	Size int // of all of it
	At   unit.Time
	Late unit.Time // how long the network had delayed the sender before
	Long unit.Time // how long all of it takes at the rate of its source

	Engine bool // carries it, and no processor
	Urgent bool // it goes before what waits for a link
}

// List is a queue of packets. A packet is in one list at most.
type List struct{ Head, Tail *Packet }

// Push appends a packet.
func (l *List) Push(pk *Packet) {
	if l.Tail == nil {
		l.Head = pk
	} else {
		l.Tail.Next = pk
	}
	l.Tail = pk
}

// Pop takes the first packet of a list that is not empty.
func (l *List) Pop() *Packet {
	pk := l.Head
	if l.Head = pk.Next; l.Head == nil {
		l.Tail = nil
	}
	pk.Next = nil
	return pk
}

func (j *Job) newPacket(src, dst int32, head *device.Head, data []byte) *Packet {
	pk := j.free
	if pk == nil {
		pk = j.morePackets()
	}
	j.free = pk.Next
	pk.Next = nil
	pk.Src, pk.Dst, pk.Head, pk.local, pk.Refused = int(src), dst, *head, false, false
	pk.lane = 0
	pk.Data = nil
	if len(data) > 0 {
		pk.buf = append(pk.buf[:0], data...)
		pk.Data = pk.buf
	}
	return pk
}

// Release takes back a packet that will not be received.
func (j *Job) Release(pk *Packet) { pk.Next, j.free = j.free, pk }

// morePackets makes packets, one for each rank or as many as one allocation is for, and returns the
// first. It is not inlined, so that newPacket is.
//
//go:noinline
func (j *Job) morePackets() *Packet {
	const most = 32
	all := make([]Packet, min(len(j.Ports), most))
	for i := range all {
		all[i].J, all[i].Next = j, j.free
		j.free = &all[i]
	}
	return j.free
}

// Arrival is the event that a packet has arrived.
type Arrival Packet

// Act lets the packet arrive.
func (a *Arrival) Act(uint64) { (*Packet)(a).Arrive() }

// Arrive puts a packet into its destination's inbox. The rank goes on when the event has ended.
func (pk *Packet) Arrive() {
	p := &pk.J.Ports[pk.Dst]
	if pk.lane > 0 {
		p.queued(pk)
		return
	}
	p.inbox.Push(pk)
	p.events++
	p.notifyPacket()
}
