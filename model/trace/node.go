package trace

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/model/collective"
)

// nodeType is the type of a node. MLCommons Chakra, schema/protobuf/et_def.proto, enum NodeType.
type nodeType uint64

const (
	invalidNode nodeType = iota
	metadataNode
	memLoadNode
	memStoreNode
	compNode
	commSendNode
	commRecvNode
	commCollNode
	storageNode
	batchNode
	checkpointNode
	numNodeTypes
)

// traceNode is a node of an execution trace, with those attributes that matter here. Numbers that
// are not given are -1.
type traceNode struct {
	id       uint64
	name     string
	kind     nodeType
	control  []uint64 // dependencies
	data     []uint64
	start    uint64 // microseconds
	duration uint64 // microseconds
	hasStart bool
	onHost   bool
	stream   int64  // thread of the host, or stream of the device
	inputs   string // of a metadata node

	commType, commSize, source, destination, tag, root, operations int64
	group                                                          string
	usesSomeDimensions                                             bool // only some dimensions of a topology take part
}

func newNode() traceNode {
	return traceNode{stream: -1, commType: -1, commSize: -1, source: -1, destination: -1, tag: -1, root: -1, operations: -1}
}

// operationByCommType are the operations of enum CollectiveCommType.
var operationByCommType = [...]collective.Operation{
	collective.Allreduce, collective.Reduce, collective.Allgather, collective.Gather, collective.Scatter, collective.Bcast,
	collective.Alltoall, collective.ReduceScatter, collective.ReduceScatter, collective.Barrier,
}

// setAttribute notes an attribute of a node: its value is a number, a text or a list of truth
// values.
func (n *traceNode) setAttribute(name string, v attributeValue) error {
	number := func(to *int64) error {
		if !v.isNumber {
			return fmt.Errorf("attribute %s is no number", name)
		}
		*to = v.number
		return nil
	}
	switch name {
	case "is_cpu_op":
		n.onHost = v.number != 0
	case "tid", "stream":
		return number(&n.stream)
	case "comm_type":
		return number(&n.commType)
	case "comm_size":
		return number(&n.commSize)
	case "comm_src":
		return number(&n.source)
	case "comm_dst":
		return number(&n.destination)
	case "comm_tag":
		return number(&n.tag)
	case "comm_root", "root", "root_rank":
		return number(&n.root)
	case "num_ops":
		return number(&n.operations)
	case "pg_name", "comm_group":
		if n.group = v.text; v.isNumber {
			n.group = fmt.Sprint(v.number)
		}
	case "involved_dim":
		n.usesSomeDimensions = v.someFalse
	}
	return nil
}

// attributeValue is the value of an attribute.
type attributeValue struct {
	isNumber  bool
	number    int64
	text      string
	someFalse bool // a list of truth values that are not all true
}

// processGroupNode is in the names of the metadata nodes of PyTorch that list process groups. A
// group without ranks is of all ranks.
const processGroupNode = "process_group:init"

func (n *traceNode) listsGroups() bool { return strings.Contains(n.name, processGroupNode) }
