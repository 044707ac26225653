// Package model describes machines and message-passing libraries, and computes what each protocol
// costs on them as a sum of named terms. It has the parameters of LogP, LogGP, LogGPS and PLogP
// that follow.
//
// A Machine is hardware: processors, memory, interfaces, wires. A Library is message-passing
// software on it: the cost of its steps, the rules by which it chooses protocols, the size of its
// buffers. Both are plain data, read from a platform file by model/platform. This package computes
// times from the data; impl/hw emulates the same machine. The two share no code beyond the data, so
// each can test the other.
package model

import "github.com/loggp/loggp/model/unit"

// Machine is the hardware of a platform: ranks on a network, or nodes of several ranks on a
// network.
type Machine struct {
	Name        string // short, as given to --platform
	Description string
	Ranks       Ranks
	Timer       unit.Time // resolution of the clock that programs read
	Noise       Noise
	Processor   Processor
	Private     bool // no processor can access another's memory, even if the network could

	Network Network // between the ranks, or between the nodes if there are Nodes
	Nodes   *Nodes  // nil: the network joins the ranks themselves
}

// Nodes describes the nodes of a composed machine. Ranks fill one node after the other. Rank i of a
// node uses its interface i modulo Interfaces. The interfaces are the ends of the machine's
// Network.
type Nodes struct {
	Ranks      int     // processors of a node
	Interfaces int     // of a node to the network between nodes
	Inside     Network // between the ranks of a node
}

// Remote reports whether processors can read and write each other's memory. If they cannot, as on
// workstations, a library sends packets instead.
func (m *Machine) Remote() bool {
	if m.Nodes != nil && !hasMemory(m.Nodes.Inside) {
		return false
	}
	return hasMemory(m.network()) && !m.Private
}

// Counters reports whether processors can change each other's counters.
func (m *Machine) Counters() bool {
	return m.Remote() && hasCounters(m.network()) && (m.Nodes == nil || hasCounters(m.Nodes.Inside))
}

// Ranks bounds the number of processors of a job.
type Ranks struct{ Default, Min, Max int }

// Noise is random variation of what processors do.
type Noise struct {
	// Relative is the standard deviation of every processor step, divided by its mean. Noise does
	// not change the mean.
	Relative float64
}

// Processor is a processor with its memory.
type Processor struct {
	Copy      Channel   // memory to memory, by the processor; of infinite bandwidth if copies take no time
	Operation unit.Time // average arithmetic operation or comparison of a program, with its memory accesses; 0: not known
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
