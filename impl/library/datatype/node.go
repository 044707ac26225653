package datatype

// node is where some bytes are: a run of bytes, a loop over a node, or a list of nodes.
// Displacements of what is inside count from that of the node itself. The nil node has no bytes.
// Nodes never change.
type node struct {
	kind   shape
	at     int     // displacement
	size   int     // bytes of data in all
	n      int     // of a loop: how often
	stride int     // of a loop: bytes from one to the next
	inner  *node   // of a loop
	nodes  []*node // of a list
}

type shape uint8

const (
	isRun shape = iota
	isLoop
	isList
)

func (n *node) bytes() int {
	if n == nil {
		return 0
	}
	return n.size
}

func run(size int) *node { return &node{kind: isRun, size: size} }

// shift returns the node moved by some bytes.
func (n *node) shift(by int) *node {
	if n == nil || by == 0 {
		return n
	}
	moved := *n
	moved.at += by
	return &moved
}

// loop returns count of a node, as simple as can be: runs without gaps are one, and loops that go
// on where they stop are one.
func loop(count, stride int, n *node) *node {
	switch {
	case n == nil || count == 1:
		return n
	case n.kind == isRun && stride == n.size:
		return &node{kind: isRun, at: n.at, size: count * n.size}
	case n.kind == isLoop && stride == n.n*n.stride:
		return &node{kind: isLoop, at: n.at, size: count * n.size, n: count * n.n, stride: n.stride, inner: n.inner}
	}
	return &node{kind: isLoop, at: n.at, size: count * n.size, n: count, stride: stride, inner: n.shift(-n.at)}
}

// list returns nodes one after another, runs without gaps as one.
func list(nodes []*node) *node {
	var kept []*node
	size := 0
	for _, n := range nodes {
		size += n.size
		if len(kept) > 0 {
			last := kept[len(kept)-1]
			if n.kind == isRun && last.kind == isRun && n.at == last.at+last.size {
				kept[len(kept)-1] = &node{kind: isRun, at: last.at, size: last.size + n.size}
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
	return &node{kind: isList, size: size, nodes: kept}
}
