package datatype

// dataNode is where some bytes are: a run of bytes, a loop over a node, or a list of nodes.
// Displacements of what is inside count from that of the node itself. The nil node has no bytes.
// Nodes never change.
type dataNode struct {
	kind         nodeKind
	displacement int         // displacement
	size         int         // bytes of data in all
	loopCount    int         // of a loop: how often
	stride       int         // of a loop: bytes from one to the next
	inner        *dataNode   // of a loop
	nodes        []*dataNode // of a list
}

type nodeKind uint8

const (
	kindRun nodeKind = iota
	kindLoop
	kindList
)

func (n *dataNode) countBytes() int {
	if n == nil {
		return 0
	}
	return n.size
}

func newRun(size int) *dataNode { return &dataNode{kind: kindRun, size: size} }

// shifted returns the node moved by some bytes.
func (n *dataNode) shifted(by int) *dataNode {
	if n == nil || by == 0 {
		return n
	}
	moved := *n
	moved.displacement += by
	return &moved
}

// newLoop returns count of a node, as simple as can be: runs without gaps are one, and loops that
// go on where they stop are one.
func newLoop(count, stride int, n *dataNode) *dataNode {
	switch {
	case n == nil || count == 1:
		return n
	case n.kind == kindRun && stride == n.size:
		return &dataNode{kind: kindRun, displacement: n.displacement, size: count * n.size}
	case n.kind == kindLoop && stride == n.loopCount*n.stride:
		return &dataNode{kind: kindLoop, displacement: n.displacement, size: count * n.size, loopCount: count * n.loopCount, stride: n.stride, inner: n.inner}
	}
	return &dataNode{kind: kindLoop, displacement: n.displacement, size: count * n.size, loopCount: count, stride: stride, inner: n.shifted(-n.displacement)}
}

// newList returns nodes one after another, runs without gaps as one.
func newList(nodes []*dataNode) *dataNode {
	var kept []*dataNode
	size := 0
	for _, n := range nodes {
		size += n.size
		if len(kept) > 0 {
			last := kept[len(kept)-1]
			if n.kind == kindRun && last.kind == kindRun && n.displacement == last.displacement+last.size {
				kept[len(kept)-1] = &dataNode{kind: kindRun, displacement: last.displacement, size: last.size + n.size}
				continue
			}
		}
		kept = append(kept, n)
	}
	switch len(kept) {
	case 0:
		return nil
	case 1:
		return kept[0]
	}
	return &dataNode{kind: kindList, size: size, nodes: kept}
}
