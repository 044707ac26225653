package datatype

import (
	"encoding/binary"
	"errors"
)

// AppendLayout appends a description of where the data of the buffer lies, for another rank that
// gets it there: a byte for the kind of each node, and its numbers. ParseLayout reads it.
func (b Buffer) AppendLayout(to []byte) []byte {
	all, err := b.Type.layout.repeated(b.Count, b.Type.extent())
	if err != nil || all.body == nil {
		return appendNode(to, newRun(0))
	}
	return appendNode(to, all.body)
}

func appendNode(to []byte, n *dataNode) []byte {
	to = binary.AppendVarint(append(to, byte(n.kind)), int64(n.displacement))
	switch n.kind {
	case kindRun:
		to = binary.AppendUvarint(to, uint64(n.size))
	case kindLoop:
		to = binary.AppendVarint(binary.AppendUvarint(to, uint64(n.loopCount)), int64(n.stride))
		to = appendNode(to, n.inner)
	case kindList:
		to = binary.AppendUvarint(to, uint64(len(n.nodes)))
		for _, m := range n.nodes {
			to = appendNode(to, m)
		}
	}
	return to
}

// ParseLayout returns a type whose data lies as AppendLayout has described. It is committed, and
// matches elements of every kind.
func ParseLayout(b []byte) (*Type, error) {
	p := layoutParser{rest: b}
	n, low, end := p.node(0)
	if p.failed || len(p.rest) > 0 {
		return nil, errors.New("the description of a layout is damaged")
	}
	l := layout{low: low, end: end, align: 1}
	if n.size > 0 {
		l.body = n
	}
	t := newType("", l)
	return t.Commit(), nil
}

// layoutParser reads descriptions. Once it has failed all numbers are 0.
type layoutParser struct {
	rest   []byte
	failed bool
}

// maxLayoutDepth bounds nodes within nodes.
const maxLayoutDepth = 1000

// node reads a node, and returns it with where its data begins and ends.
func (p *layoutParser) node(depth int) (n *dataNode, low, end int) {
	n = &dataNode{kind: kindRun}
	if len(p.rest) == 0 || depth > maxLayoutDepth {
		p.failed = true
		return n, 0, 0
	}
	n.kind = nodeKind(p.rest[0])
	p.rest = p.rest[1:]
	n.displacement = p.number(binary.Varint)
	switch n.kind {
	case kindRun:
		n.size = p.count()
		end = n.size
	case kindLoop:
		n.loopCount, n.stride = p.count(), p.number(binary.Varint)
		n.inner, low, end = p.node(depth + 1)
		size, err := multiplyChecked(n.loopCount, n.inner.size)
		far, tooFar := multiplyChecked(n.loopCount-1, n.stride)
		p.failed = p.failed || err != nil || tooFar != nil || n.loopCount < 1
		n.size = size
		low, end = low+min(far, 0), end+max(far, 0)
	case kindList:
		count := p.count()
		for i := 0; i < count && !p.failed; i++ {
			m, from, to := p.node(depth + 1)
			n.nodes, n.size = append(n.nodes, m), n.size+m.size
			if i == 0 {
				low, end = from, to
			}
			low, end = min(low, from), max(end, to)
		}
	default:
		p.failed = true
	}
	return n, low + n.displacement, end + n.displacement
}

func (p *layoutParser) number(read func([]byte) (int64, int)) int {
	v, n := read(p.rest)
	if n <= 0 || abs(int(v)) > maxDisplacement {
		p.failed = true
		return 0
	}
	p.rest = p.rest[n:]
	return int(v)
}

func (p *layoutParser) count() int {
	return p.number(func(b []byte) (int64, int) {
		v, n := binary.Uvarint(b)
		return int64(v), n
	})
}
