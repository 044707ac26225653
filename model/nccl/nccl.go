// Package nccl predicts the collective operations of NCCL, NVIDIA's library for GPUs: the time of
// each algorithm and protocol, and which of them NCCL's tuner takes.
//
// A collective operation is a kernel on each GPU. It is divided among channels, each of which is a
// block of threads on every GPU and a ring, a tree or a set of peers. A channel moves its part of
// the data in chunks; a chunk of protocol Simple in slices. What a block does with a chunk (receive
// it from one peer, combine it, send it to another) is a step. Steps of a block run one after the
// other, a step waits for its data to arrive and for room in the receiver's buffer, and between
// nodes a proxy, a thread of the processor, hands each slice over to the network interface. This
// package executes these steps: all channels do the same, so one is executed with its part of the
// links, and nodes of a ring do the same, so one node is. Nothing else is left out of the schedule.
//
// Sources: NVIDIA, NCCL 2.28, files below src; Hu et al. 2025, Demystifying NCCL (arXiv
// 2507.04786).
package nccl

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// Algorithm is how a collective operation moves its data.
type Algorithm uint8

// The algorithms. The last one is of all-to-all exchanges, which are sends and receives.
const (
	Ring     Algorithm = iota
	Tree               // two binary trees of nodes, a chain within each node
	NVLS               // the switch of a node combines and multicasts
	NVLSTree           // NVLS within nodes, trees between them
	Peers
	numAlgorithms
)

var algorithmNames = append(slices.Clone(model.NCCLAlgorithms), "peers")

// String returns the name.
func (a Algorithm) String() string { return algorithmNames[a] }

// Protocol is how a block of threads hands data over to another.
type Protocol uint8

// The protocols.
const (
	LL           Protocol = iota // 4 B of data and 4 B of flag in each 8 B
	LL128                        // 120 B of data and 8 B of flag in each 128 B
	Simple                       // slices, with a barrier of the block and a fence for each
	numProtocols = model.NumNCCLProtocols
)

var protocolNames = model.NCCLProtocols

// String returns the name as NCCL_PROTO has it.
func (p Protocol) String() string { return protocolNames[p] }

// Method is an algorithm with a protocol.
type Method struct {
	Algorithm
	Protocol
}

// String returns both names, such as ring-LL.
func (m Method) String() string { return m.Algorithm.String() + "-" + m.Protocol.String() }

// MethodNamed returns the method of a name such as ring-LL.
func MethodNamed(name string) (Method, bool) {
	for _, m := range allMethods {
		if m.String() == name {
			return m, true
		}
	}
	return Method{}, false
}

// allMethods are all algorithms with the protocols that they have.
var allMethods = []Method{{Ring, LL}, {Ring, LL128}, {Ring, Simple}, {Tree, LL}, {Tree, LL128}, {Tree, Simple}, {NVLS, Simple}, {NVLSTree, Simple}, {Peers, LL}, {Peers, Simple}}

// Hardware is what NCCL finds on a machine.
type Hardware struct {
	*Tables
	*model.NCCLSettings
	GPUs       int  // of a node
	Interfaces int  // of a node to the network
	HasSwitch  bool // that joins the GPUs of a node; else each two have links of their own
}

// Communicator is a group of ranks, one on each GPU, that fill nodes.
type Communicator struct {
	*Hardware
	Ranks, Nodes int
}

// NewCommunicator returns one of ranks that fill nodes: all nodes have as many.
func NewCommunicator(h *Hardware, ranks, nodes int) (*Communicator, error) {
	switch {
	case ranks < 2 || nodes < 1 || nodes > ranks:
		return nil, fmt.Errorf("nccl: %d ranks on %d nodes: there are at least two ranks, and a rank on each node", ranks, nodes)
	case ranks%nodes != 0:
		return nil, fmt.Errorf("nccl: %d ranks on %d nodes: all nodes must have as many ranks", ranks, nodes)
	case ranks/nodes > h.GPUs:
		return nil, fmt.Errorf("nccl: %d ranks on a node: it has %d GPUs", ranks/nodes, h.GPUs)
	}
	return &Communicator{h, ranks, nodes}, nil
}

// perNode is the number of ranks of a node.
func (c *Communicator) perNode() int { return c.Ranks / c.Nodes }

// tableColumn is the column of the tables for the number of nodes.
func (c *Communicator) tableColumn() int { return min(c.Nodes, 3) - 1 }

// Call is a collective operation.
type Call struct {
	Operation collective.Operation
	Bytes     int // of the larger buffer of a rank, as nccl-tests count: of all blocks, if there are some
}

// Operations are those that NCCL has, in the order of collective.Operations.
var Operations = []collective.Operation{collective.Bcast, collective.Allgather, collective.Alltoall, collective.Reduce, collective.Allreduce, collective.ReduceScatter}

// Methods are the methods for an operation.
func (c *Communicator) Methods(o collective.Operation) (methods []Method) {
	for _, m := range allMethods {
		if c.hasMethod(o, m) {
			methods = append(methods, m)
		}
	}
	return methods
}

// Algorithms are the algorithms for an operation.
func (c *Communicator) Algorithms(o collective.Operation) (algorithms []Algorithm) {
	for _, m := range c.Methods(o) {
		if !slices.Contains(algorithms, m.Algorithm) {
			algorithms = append(algorithms, m.Algorithm)
		}
	}
	return algorithms
}

// hasMethod reports whether there is a method for an operation, as ncclTopoTuneModel has it.
func (c *Communicator) hasMethod(o collective.Operation, m Method) bool {
	if c.isExcluded(m) {
		return false
	}
	hasNVLS := c.HasSwitch && c.nvlsShares[c.GPU] > 0
	switch m.Algorithm {
	case Ring:
		return slices.Contains(Operations, o) && o != collective.Alltoall
	case Tree:
		return o == collective.Allreduce
	case NVLS:
		return hasNVLS && c.Nodes == 1 && (o == collective.Allreduce || o == collective.Allgather || o == collective.ReduceScatter)
	case NVLSTree:
		return hasNVLS && c.Nodes > 1 && o == collective.Allreduce
	}
	return o == collective.Alltoall
}

// isExcluded reports whether the settings exclude a method. Messages are always possible.
func (c *Communicator) isExcluded(m Method) bool {
	return m.Algorithm != Peers && (len(c.NCCLSettings.Algorithms) > 0 && !slices.Contains(c.NCCLSettings.Algorithms, m.Algorithm.String()) ||
		len(c.Protocols) > 0 && !slices.Contains(c.Protocols, m.Protocol.String()))
}

// Time returns what an operation takes by a method, from the launch of the kernels on all GPUs to
// the end of the last.
func (c *Communicator) Time(call Call, m Method) unit.Time {
	if call.Bytes < 0 || !c.hasMethod(call.Operation, m) {
		panic(fmt.Sprintf("nccl: %v of %d bytes by %v", call.Operation, call.Bytes, m))
	}
	base := c.callLatency(m)
	switch m.Algorithm {
	case Ring:
		if call.Operation == collective.Bcast || call.Operation == collective.Reduce {
			return base + c.chainTime(call, m)
		}
		return base + c.ringTime(call, m)
	case Tree, NVLSTree:
		return base + c.treeTime(call, m)
	case NVLS:
		return base + c.switchTime(call)
	}
	return c.exchangeTime(call, m)
}

// callLatency is the base latency of a call: that of the tables, or as much more or less as the
// measured one of a ring is.
func (c *Communicator) callLatency(m Method) unit.Time {
	a := m.Algorithm
	if a == Peers {
		a = Ring
	}
	base := timeOfMicroseconds(c.callLatencies[a][m.Protocol])
	if measured := c.Call[m.Protocol]; measured > 0 {
		base += measured - timeOfMicroseconds(c.callLatencies[Ring][m.Protocol])
	}
	return base
}

// BusFactor returns by what nccl-tests multiply the bytes of the larger buffer over the time, for
// the bandwidth of links: doc/PERFORMANCE.md of nccl-tests.
func BusFactor(o collective.Operation, ranks int) float64 {
	n := float64(ranks)
	switch o {
	case collective.Allreduce:
		return 2 * (n - 1) / n
	case collective.Allgather, collective.ReduceScatter, collective.Alltoall:
		return (n - 1) / n
	}
	return 1
}

func timeOfMicroseconds(us float64) unit.Time { return unit.FromMicros(us) }
