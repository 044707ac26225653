// Package model says what a machine is, what each protocol costs on it as a sum of named terms, and what LogP,
// LogGP, LogGPS and PLogP see of that.
//
// A Machine is hardware: processors, memory, interfaces, wires. A Library is message-passing software on it: what its
// steps cost, which protocol it takes for which message, how much it buffers. Both are plain data, read from a
// platform file by model/platform, emulated by impl/hw and computed upon here. The two never share code beyond this
// data, so that each can be the test of the other.
package model

import "github.com/loggp/loggp/model/unit"

// Machine is the hardware of a platform. Exactly one of its networks is set.
type Machine struct {
	Name        string // short, as given to --platform
	Description string
	Ranks       Ranks
	Timer       unit.Time // resolution of the clock that programs read
	Noise       Noise
	Processor   Processor
	Private     bool // no processor can access another's memory, even if the network has a way to

	Torus      *Torus      // processors on a torus with remote memory access
	Hypernodes *Hypernodes // processors that share memory, in hypernodes that rings join
	Ethernet   *Ethernet   // workstations on one shared Ethernet
	LogGP      *LogGP      // the synthetic machine that is LogGP itself
}

// Remote reports whether processors can read and write each other's memory. Where they cannot, as on workstations, a library does it by packets.
func (m *Machine) Remote() bool {
	_, ok := m.hardware().on(Path{}).(memory)
	return ok && !m.Private
}

// Ranks bounds the number of processors of a job.
type Ranks struct{ Default, Min, Max int }

// Noise is random variation of what processors do.
type Noise struct {
	// Relative is the standard deviation of every processor step, divided by its mean. The mean is not moved.
	Relative float64
}

// Processor is a processor with its memory.
type Processor struct {
	Copy      Channel   // memory to memory, by the processor; of infinite bandwidth where copies take no time
	Operation unit.Time // an addition, multiplication or comparison of a program's own, on average, with the memory that it takes; 0: not known
}

// Channel moves bytes after a start-up: Start + k/Bandwidth for k bytes.
type Channel struct {
	Start     unit.Time
	Bandwidth unit.Rate
}

// Time returns how long the channel takes for k bytes.
func (c Channel) Time(k int) unit.Time { return c.Start + c.Bandwidth.Time(k) }

// String prints the rate, after the start-up if there is one: 170MB/s, 1.2us + 120MB/s.
func (c Channel) String() string {
	if c.Start == 0 {
		return c.Bandwidth.String()
	}
	return c.Start.String() + " + " + c.Bandwidth.String()
}

// Torus is a three-dimensional torus of nodes, each with PerNode processors behind one switch, with
// dimension-order routing and virtual cut-through.
type Torus struct {
	PerNode int       // processors that share a switch
	Hop     unit.Time // per switch-to-switch link
	Turn    unit.Time // per change of dimension
	Deliver unit.Time // from the last switch until a processor can see the packet in its memory
	Link    unit.Rate // each direction of each link
	Chunk   int       // bytes of a transfer that hold a link before others may pass
	Header  int       // bytes of a packet beside its payload

	Send    Channel   // a packet stored into the peer's queue by the processor, which is busy until the last byte left
	Receive unit.Time // taking one arrived packet off the queue
	Put     Channel   // remote write by the node's transfer engine; the processor is busy for Start only
	Get     Channel   // remote read, likewise
	Counter unit.Time // a fetch-and-increment at the register, beside the way there and back
}

// Hypernodes is a machine whose processors share memory in two tiers: a crossbar joins those of a hypernode and their memories, rings join
// the hypernodes. Ranks fill the hypernodes in order. A processor moves all bytes itself: what it writes to, or reads
// from, the memory of another keeps it busy to the last byte, and takes its time at the ports and rings on the way.
type Hypernodes struct {
	Sizes    []int     // processors of each hypernode
	PerBlock int       // processors that share a functional block: a memory with one port to the crossbar
	Port     unit.Rate // of a block's port, each direction
	Rings    int       // between the hypernodes; block i of a hypernode, modulo Rings, is on ring i
	Ring     unit.Rate // of each ring, which turns one way
	Hop      unit.Time // from one hypernode to the next on a ring. A request and its answer together go round once
	Chunk    int       // bytes of a transfer that hold a port or ring before others may pass
	Header   int       // bytes of a packet beside its payload
	Access   [NumTiers]Access
}

// Node returns the hypernode of a rank: ranks fill one after the other.
func (h *Hypernodes) Node(rank int) int {
	for i, n := range h.Sizes {
		if rank < n {
			return i
		}
		rank -= n
	}
	return len(h.Sizes)
}

// Used returns how many hypernodes a job of so many ranks uses: those are on its rings.
func (h *Hypernodes) Used(ranks int) int { return h.Node(ranks-1) + 1 }

// Processors returns how many there are.
func (h *Hypernodes) Processors() int {
	sum := 0
	for _, n := range h.Sizes {
		sum += n
	}
	return sum
}

// Access is what processors pay for the memory of another, in the same hypernode or in another.
type Access struct {
	Latency unit.Time    // from when a processor has written something until another can see it, beside the hops
	Send    Channel      // a packet written into the queue of its receiver by the sender
	Settle  unit.Time    // how long the sender is busy beyond that, when the packet can be seen already: its writes are confirmed, locks released
	Receive unit.Time    // taking one packet off the queue
	Fetch   unit.PerByte // per byte of the packet's data beyond what a copy in the processor's own memory costs
	Put     Channel      // write to exposed memory
	Get     Channel      // read from exposed memory
	Counter unit.Time    // a fetch-and-increment at the register, beside the way there and back
}

// Ethernet is workstations, one rank each, on one shared medium with CSMA/CD (IEEE 802.3), and the TCP/IP of their systems on it.
type Ethernet struct {
	Rate        unit.Rate // of the medium
	Preamble    int       // bytes, with the start delimiter
	Header      int       // bytes of addresses and type
	FCS         int       // bytes of the check sequence
	Gap         int       // bytes of silence between frames
	MinPayload  int       // shorter payloads are padded
	MTU         int       // longest payload of a frame
	Slot        unit.Time // unit of the back-off
	Jam         int       // bytes that a station sends on after it has seen a collision
	Backoff     int       // collisions of a frame after which its back-off doubles no more
	Attempts    int       // collisions of a frame after which it is given up
	Propagation unit.Time // between any two stations
	TCP         TCP
}

// TCP is the transport of an operating system as a program's sockets show it: one connection between each two ranks. Effort in a system call
// is the caller's; what an arriving segment asks for interrupts whatever the processor does.
type TCP struct {
	Header        int       // bytes of IP and TCP headers of each segment
	Record        int       // bytes that frame each packet in the stream, beside its data
	SendBuffer    int       // bytes that a socket takes before they are acknowledged
	ReceiveBuffer int       // bytes that it holds before they are read: the largest window
	Write         Channel   // a call of write, and the copy and checksum of what it takes
	Read          Channel   // a call of read, and the copy of what it returns
	Poll          unit.Time // a call of select: before a read, and where there is nothing
	Output        unit.Time // sending a segment, with data or without
	Input         unit.Time // the interrupt for a segment that arrives, and what the protocol does with it
	AckEvery      int       // segments after which the receiver acknowledges at once
	AckDelay      unit.Time // how long it waits otherwise, for data that an acknowledgement can go with
	Retransmit    unit.Time // until a segment that is not acknowledged is sent again; doubles each time
}

// LogGP is the machine of the model: nothing below it. Alexandrov, Ionescu, Schauser and Scheiman 1995.
type LogGP struct {
	L      unit.Time    // latency of the wire
	SendO  unit.Time    // o_s: the processor is busy sending
	RecvO  unit.Time    // o_r: the processor is busy receiving
	Gap    unit.Time    // g: between the starts of consecutive messages of one processor, sending or receiving
	BigGap unit.PerByte // G: per byte of a message after the first
}
