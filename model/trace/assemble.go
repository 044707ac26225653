package trace

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/workload"
)

// assembler makes a workload of files.
type assembler struct {
	Options
	files  []rankFile
	report *Report

	workload workload.Workload
	groups   map[string]int // of the workload, by name and ranks; the group of all ranks by its name
	allRanks []int          // all ranks; nil: not needed yet
}

func newAssembler(files []rankFile, o Options, report *Report) *assembler {
	if o.Ranks == 0 {
		o.Ranks = len(files)
	}
	return &assembler{Options: o, files: files, report: report, groups: map[string]int{}}
}

func (a *assembler) assemble() (*workload.Workload, error) {
	if a.Ranks > workload.MaxRanks {
		return nil, fmt.Errorf("%d ranks: at most %d", a.Ranks, workload.MaxRanks)
	}
	programs := make([]*programFile, len(a.files))
	for i := range a.files {
		p, err := a.newProgram(&a.files[i])
		if err != nil {
			return nil, err
		}
		programs[i] = p
		a.files[i].nodes = nil
	}
	for rank, at := 0, 0; rank < a.Ranks; rank++ {
		if at+1 < len(a.files) && a.files[at+1].rank == rank {
			at++
		}
		if a.files[at].rank != rank {
			a.report.RepeatedRanks++
		}
		r, err := a.addRank(rank, programs[at])
		if err != nil {
			return nil, err
		}
		a.workload.Ranks = append(a.workload.Ranks, r)
	}
	return &a.workload, nil
}

// programFile is the program of a file, with the groups and peers of the rank that was recorded.
type programFile struct {
	*workload.Program
	rank   int
	groups []recordedGroup
	peers  []int64
}

// recordedGroup is a process group of a file.
type recordedGroup struct {
	name  string
	ranks []int // nil: all ranks
}

// newProgram makes the program of a file.
func (a *assembler) newProgram(f *rankFile) (*programFile, error) {
	order, edges, err := sortNodes(f, a.report)
	if err != nil {
		return nil, err
	}
	p := &programFile{Program: workload.NewProgram(f.name), rank: f.rank}
	listed, err := listedGroups(f)
	if err != nil {
		return nil, err
	}
	names := map[string]uint32{}
	streams := map[streamKey]uint8{}
	lastOfStream := map[uint8]uint32{}
	numbers := make([]uint32, len(f.nodes))
	var before []uint32
	for _, i := range order {
		n := &f.nodes[i]
		op, err := a.newOperation(p, n, listed)
		if err != nil {
			return nil, fmt.Errorf("%s: node %d (%s): %w", f.name, n.id, n.name, err)
		}
		if op.Stream, err = numberStream(streams, n); err != nil {
			return nil, fmt.Errorf("%s: node %d (%s): %w", f.name, n.id, n.name, err)
		}
		name, known := names[n.name]
		if !known {
			name = uint32(len(p.Names))
			names[n.name], p.Names = name, append(p.Names, n.name)
		}
		op.Name = name
		before = before[:0]
		for _, b := range edges[i] {
			before = append(before, numbers[b])
		}
		if last, any := lastOfStream[op.Stream]; any && op.Stream != workload.NoStream && !slices.Contains(before, last) {
			a.report.StreamEdges++
		}
		numbers[i] = p.AddOp(op, before...)
		lastOfStream[op.Stream] = numbers[i]
		p.SetID(n.id)
		if n.onHost {
			a.report.HostOps++
		}
	}
	a.report.Streams += len(streams)
	return p, nil
}

// streamKey is a thread of the host or a stream of the device.
type streamKey struct {
	onHost bool
	stream int64
}

func numberStream(streams map[streamKey]uint8, n *traceNode) (uint8, error) {
	if n.stream < 0 {
		return workload.NoStream, nil
	}
	key := streamKey{n.onHost, n.stream}
	if s, known := streams[key]; known {
		return s, nil
	}
	if len(streams)+1 >= workload.MaxStreams {
		return 0, fmt.Errorf("more than %d threads and streams", workload.MaxStreams-1)
	}
	streams[key] = uint8(len(streams) + 1)
	return streams[key], nil
}

// newOperation makes the operation of a node.
func (a *assembler) newOperation(p *programFile, n *traceNode, listed map[string][]int) (workload.Op, error) {
	switch n.kind {
	case commCollNode:
		switch {
		case n.commType >= 0 && (n.commSize >= 0 || n.commType == barrierType):
			return a.newCollective(p, n, listed)
		case n.onHost:
			a.report.HostCalls++
		case n.duration > 0:
			a.report.WithoutBytes++
		default:
			return workload.Op{}, fmt.Errorf("a collective operation without comm_type, comm_size or duration: record the trace with them")
		}
		return a.newCompute(n)
	case commSendNode, commRecvNode:
		return a.newMessage(p, n)
	case metadataNode:
		return workload.Op{Kind: workload.Compute}, nil
	case memLoadNode, memStoreNode, compNode, storageNode, batchNode, checkpointNode:
		return a.newCompute(n)
	}
	return workload.Op{}, fmt.Errorf("node type %d is unknown: this reads types 1 to %d of Chakra's schema", n.kind, numNodeTypes-1)
}

// newCompute takes the recorded duration, or the time of the node's operations at the rate.
func (a *assembler) newCompute(n *traceNode) (workload.Op, error) {
	op := workload.Op{Kind: workload.Compute}
	switch {
	case n.operations > 0 && a.ComputeRate > 0:
		a.report.ByRate++
		ns := math.Round(float64(n.operations) / a.ComputeRate * 1e9)
		if ns > workload.MaxCompute {
			return op, fmt.Errorf("%d operations take %g s at %g a second: at most %g s", n.operations, ns/1e9, a.ComputeRate, workload.MaxCompute/1e9)
		}
		op.Size = uint64(ns)
	case n.duration > workload.MaxCompute/1000:
		return op, fmt.Errorf("it takes %d us: at most %d", n.duration, uint64(workload.MaxCompute/1000))
	case n.duration > 0:
		op.Size = n.duration * 1000
	case n.operations > 0:
		return op, fmt.Errorf("it has %d operations and no duration: give the operations per second by --compute-rate", n.operations)
	default:
		a.report.UntimedNodes++
	}
	return op, nil
}

// newMessage makes a send or a receive.
func (a *assembler) newMessage(p *programFile, n *traceNode) (workload.Op, error) {
	op := workload.Op{Kind: workload.Send}
	peer, attribute := n.destination, "comm_dst"
	if n.kind == commRecvNode {
		op.Kind = workload.Recv
		peer, attribute = n.source, "comm_src"
	}
	switch {
	case peer < 0:
		return op, fmt.Errorf("a %v without %s", op.Kind, attribute)
	case n.commSize < 0:
		return op, fmt.Errorf("a %v without comm_size", op.Kind)
	case n.tag > workload.MaxTag:
		return op, fmt.Errorf("its tag is %d: at most %d", n.tag, workload.MaxTag)
	}
	i := slices.Index(p.peers, peer)
	if i < 0 {
		i = len(p.peers)
		p.peers = append(p.peers, peer)
	}
	op.Peer, op.Size, op.Tag = uint32(i), uint64(n.commSize), uint32(max(n.tag, 0))
	return op, nil
}

// barrierType is the number of a barrier in enum CollectiveCommType.
const barrierType = 9

// newCollective makes a collective operation.
func (a *assembler) newCollective(p *programFile, n *traceNode, listed map[string][]int) (workload.Op, error) {
	op := workload.Op{Kind: workload.Collective, Size: uint64(max(n.commSize, 0))}
	if n.commType >= int64(len(operationByCommType)) {
		return op, fmt.Errorf("comm_type %d is unknown: this reads 0 to %d of Chakra's schema", n.commType, len(operationByCommType)-1)
	}
	op.Operation = operationByCommType[n.commType]
	if op.Operation == collective.Barrier {
		op.Size = 0
	}
	if n.group == "" && n.usesSomeDimensions {
		return op, fmt.Errorf("involved_dim leaves out dimensions of a topology that is not in the trace: name the process group by pg_name")
	}
	i := slices.IndexFunc(p.groups, func(g recordedGroup) bool { return g.name == n.group })
	if i < 0 {
		ranks, err := a.groupRanks(p.rank, n.group, listed)
		if err != nil {
			return op, err
		}
		i = len(p.groups)
		p.groups = append(p.groups, recordedGroup{name: n.group, ranks: ranks})
	}
	op.Peer = uint32(i)
	if root := max(n.root, n.source); root > 0 {
		member := int(root)
		if ranks := p.groups[i].ranks; ranks != nil {
			if member = slices.Index(ranks, int(root)); member < 0 {
				return op, fmt.Errorf("its root %d is not in the process group %s", root, n.group)
			}
		}
		op.Root = uint32(member)
	}
	return op, nil
}
