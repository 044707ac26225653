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

	Torus *Torus // processors on a torus with remote memory access
	LogGP *LogGP // the synthetic machine that is LogGP itself
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
	Copy Channel // memory to memory, by the processor; of infinite bandwidth where copies take no time
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

// LogGP is the machine of the model: nothing below it. Alexandrov, Ionescu, Schauser and Scheiman 1995.
type LogGP struct {
	L      unit.Time    // latency of the wire
	SendO  unit.Time    // o_s: the processor is busy sending
	RecvO  unit.Time    // o_r: the processor is busy receiving
	Gap    unit.Time    // g: between the starts of consecutive messages of one processor, sending or receiving
	BigGap unit.PerByte // G: per byte of a message after the first
}
