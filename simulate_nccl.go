package loggp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/flow"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// ncclFlows has the messages and collective operations of NCCL for a simulation by flows. Those
// that run at the same time share the links of GPUs and all that messages between nodes pass.
type ncclFlows struct {
	*nccl.Hardware
	machine *model.Machine
	library *model.Library
	times   map[ncclTimeKey]unit.Time
}

// ncclTimeKey identifies calls that take the same time, wherever their ranks are.
type ncclTimeKey struct {
	nccl.Call
	ranks, nodes int
	algorithm    string
}

// newNCCLFlows returns those of a library of a platform; nil if it is not NCCL.
func newNCCLFlows(p *platform.Platform, library string) (flow.Library, error) {
	if library == "" {
		return nil, nil
	}
	l, err := p.Library(library)
	if err != nil || l.CarriedBy() != model.NCCLEngine {
		return nil, nil // what else is wrong others say
	}
	h, err := nccl.NewHardware(p.Machine, l)
	if err != nil {
		return nil, err
	}
	return &ncclFlows{h, p.Machine, l, map[ncclTimeKey]unit.Time{}}, nil
}

// gpuLinks are the links of a GPU within its node, in one direction.
func gpuLinks(direction string, rank int) model.Component {
	return model.Component{Name: "links " + direction + " of GPU", Index: rank}
}

// Message implements flow.Library: a send and its receive in a group of their own.
func (f *ncclFlows) Message(into []model.Occupation, from, to, bytes int) (unit.Time, []model.Occupation) {
	if f.machine.TierOfRanks(from, to) == model.InterNode {
		c := nccl.Communicator{Hardware: f.Hardware, Ranks: 2, Nodes: 2}
		return c.GroupTime([]nccl.Message{{From: 0, To: 1, Bytes: bytes}}), f.machine.AppendOccupations(into, f.library, from, to, bytes)
	}
	c := nccl.Communicator{Hardware: f.Hardware, Ranks: 2, Nodes: 1}
	into = f.appendLinks(into, from, 0, bytes)
	into[len(into)-1].Component = gpuLinks("in", to)
	into = f.appendLinks(into, from, 0, bytes)
	into[len(into)-1].Component = gpuLinks("out", from)
	return c.GroupTime([]nccl.Message{{From: 0, To: 1, Bytes: bytes}}), into
}

// appendLinks appends the links of a GPU into its node for so many bytes, for alone at most; 0: any
// time.
func (f *ncclFlows) appendLinks(into []model.Occupation, rank int, alone unit.Time, bytes int) []model.Occupation {
	t := f.NVLink.Time(bytes)
	if alone > 0 {
		t = min(t, alone)
	}
	return append(into, model.Occupation{Component: gpuLinks("out", rank), Time: t})
}

// Collective implements flow.Library. A barrier is an allreduce of one number, as PyTorch has it.
func (f *ncclFlows) Collective(into []model.Occupation, o collective.Operation, job collective.Job, ranks []int, algorithm string) (unit.Time, []model.Occupation, error) {
	if len(ranks) < 2 {
		return 0, into, nil
	}
	const barrierBytes = 4
	bytes := job.Bytes
	switch {
	case o == collective.Barrier:
		o, bytes = collective.Allreduce, barrierBytes
	case o.HasBlocks():
		bytes *= len(ranks)
	}
	c, err := f.communicator(ranks)
	if err != nil {
		return 0, nil, err
	}
	if !slices.Contains(nccl.Operations, o) {
		return 0, nil, fmt.Errorf("library %s has no %v", f.library.Name, o)
	}
	call := nccl.Call{Operation: o, Bytes: bytes}
	method, err := choose(c, call, algorithm)
	if err != nil {
		return 0, nil, err
	}
	key := ncclTimeKey{call, c.Ranks, c.Nodes, algorithm}
	alone, known := f.times[key]
	if !known {
		alone = c.Time(call, method)
		f.times[key] = alone
	}
	return alone, f.appendCollective(into, c, call, method, ranks, alone), nil
}

// communicator returns that of a group of ranks.
func (f *ncclFlows) communicator(ranks []int) (*nccl.Communicator, error) {
	nodes := map[int]int{}
	for _, r := range ranks {
		nodes[f.machine.NodeOfRank(r)]++
	}
	for _, n := range nodes {
		if n != len(ranks)/len(nodes) {
			return nil, fmt.Errorf("library %s: a group of %d ranks has not as many on each of its %d nodes", f.library.Name, len(ranks), len(nodes))
		}
	}
	return nccl.NewCommunicator(f.Hardware, len(ranks), len(nodes))
}

// choose returns what NCCL takes, or the protocol that it takes for the algorithm that is asked
// for.
func choose(c *nccl.Communicator, call nccl.Call, algorithm string) (nccl.Method, error) {
	if algorithm == "" {
		return c.Choice(call), nil
	}
	var names []string
	for _, a := range c.Algorithms(call.Operation) {
		if a.String() == algorithm {
			return c.Choice(call, a), nil
		}
		names = append(names, a.String())
	}
	return nccl.Method{}, fmt.Errorf("NCCL has no %v by %q for %d ranks on %d nodes: it has %s", call.Operation, algorithm, c.Ranks, c.Nodes, strings.Join(names, ", "))
}

// appendCollective appends the links that an operation occupies. In a node each GPU sends the bytes
// of its bandwidth (nccl.BusFactor). Each node sends its data to the next node of the group, a part
// from each of its ranks; of an exchange, to the one opposite.
func (f *ncclFlows) appendCollective(into []model.Occupation, c *nccl.Communicator, call nccl.Call, m nccl.Method, ranks []int, alone unit.Time) []model.Occupation {
	n, perNode := float64(c.Ranks), float64(c.Ranks/c.Nodes)
	sent := nccl.BusFactor(call.Operation, c.Ranks) * float64(call.Bytes)
	near, far, step := sent, sent/perNode, c.Ranks/c.Nodes
	switch {
	case call.Operation == collective.Alltoall:
		near, far, step = sent*(perNode-1)/(n-1), sent*(n-perNode)/(n-1), c.Ranks/c.Nodes*max(c.Nodes/2, 1)
	case m.Algorithm == nccl.Tree || m.Algorithm == nccl.NVLSTree:
		far = 2 * float64(call.Bytes) * float64(c.Nodes-1) / float64(c.Nodes) / perNode
	}
	for i, r := range ranks {
		if perNode > 1 {
			into = f.appendLinks(into, r, alone, int(near))
		}
		if c.Nodes > 1 {
			into = f.machine.AppendOccupations(into, f.library, r, ranks[(i+step)%c.Ranks], int(far))
		}
	}
	return into
}
