package schedule

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/unit"
)

// What txt2bin of LogGOPSim writes, little endian. Positions of ranks count from behind the cookie.
//
//	u64 cookie
//	u32 ranks, u8 CPUs, u8 interfaces
//	for each rank: u64 position, u64 end
//	each rank:
//	  u32 operations, u32 roots, the roots: u32 each
//	  for each operation: u32 predecessors, u8 kind (1 send, 2 recv, 3 calc), u32 peer, u64 size,
//	    u32 tag, u8 CPU, u8 interface, and twice, for those that wait for its end and its start:
//	    u32 number, u32 index of the first in the list of dependants
//	  the list of dependants: u32 each
const (
	binaryCookie      = 4223
	binaryCookieBytes = 8
	binaryNodeBytes   = 39
)

// isBinary reports whether a file begins like one of txt2bin.
func isBinary(head []byte) bool {
	return len(head) >= binaryCookieBytes && binary.LittleEndian.Uint64(head) == binaryCookie
}

// readBinary reads what txt2bin writes.
func readBinary(in io.Reader, name string, memory int64) (*Schedule, error) {
	b, err := io.ReadAll(io.LimitReader(in, memory+1))
	if err != nil {
		return nil, readError(name, err)
	}
	fail := func(at int, format string, args ...any) (*Schedule, error) {
		return nil, &Error{name, 0, at, fmt.Sprintf(format, args...)}
	}
	if int64(len(b)) > memory {
		return fail(int(memory), "the file is longer than %s; %s", unit.Bytes(int(memory)), input.RaiseHint)
	}
	le := binary.LittleEndian
	if len(b) < binaryCookieBytes+6 {
		return fail(len(b), "the file ends in its header")
	}
	body := b[binaryCookieBytes:]
	ranks := le.Uint32(body)
	if ranks == 0 || ranks > MaxRanks {
		return fail(binaryCookieBytes, "it has %d ranks: a schedule has 1 to %d", ranks, MaxRanks)
	}
	table := body[6:]
	if uint64(len(table)) < 16*uint64(ranks) {
		return fail(len(b), "the file ends in the table of %d ranks", ranks)
	}
	p := &schedulePart{}
	for r := range ranks {
		at := binaryCookieBytes + 6 + 16*int(r)
		from, to := le.Uint64(table[16*r:]), le.Uint64(table[16*r+8:])
		if from > to || to > uint64(len(body)) {
			return fail(at, "rank %d stands at %d to %d of %d bytes: the file was cut, or this is wrong", r, from, to, len(body))
		}
		mine, base := body[from:to], binaryCookieBytes+int(from)
		if len(mine) < 8 {
			return fail(base, "rank %d has %d bytes, too few for its numbers of operations and roots", r, len(mine))
		}
		n, roots := uint64(le.Uint32(mine)), uint64(le.Uint32(mine[4:]))
		if roots > n || uint64(len(mine)) < 8+4*roots+binaryNodeBytes*n {
			return fail(base, "rank %d has %d bytes, too few for %d operations of which %d are roots", r, len(mine), n, roots)
		}
		if uint64(len(p.ops))+n > MaxOps || int64(len(p.ops)+int(n))*BytesPerOp+int64(len(p.dependants))*bytesPerDependency > memory {
			return fail(base, "%s", describeTooLarge(int(r), memory))
		}
		nodes, list := mine[8+4*roots:8+4*roots+binaryNodeBytes*n], mine[8+4*roots+binaryNodeBytes*n:]
		p.beginRank()
		first := uint32(len(p.ops))
		for i := range n {
			node, at := nodes[binaryNodeBytes*i:binaryNodeBytes*(i+1)], base+8+4*int(roots)+binaryNodeBytes*int(i)
			o := Op{Kind: Kind(node[4] - 1), Peer: le.Uint32(node[5:]), Size: le.Uint64(node[9:]), Tag: le.Uint32(node[17:]), CPU: node[21], NIC: node[22]}
			switch {
			case node[4] < 1 || node[4] > 3:
				return fail(at+4, "rank %d, operation %d: kind %d is none of 1, 2 and 3", r, i, node[4])
			case o.Kind == Calc && o.Size > maxCalc || o.Kind != Calc && o.Size > maxSize:
				return fail(at+9, "rank %d, operation %d: %v: the number is too large", r, i, o)
			case o.Kind == Calc:
				o.Peer, o.Tag, o.NIC = 0, 0, 0
			case o.Peer >= ranks && !(o.Kind == Recv && o.Peer == Any):
				return fail(at+5, "rank %d, operation %d: rank %d, and there are %d ranks", r, i, o.Peer, ranks)
			}
			p.addOp(o)
		}
		for i := range n {
			for kind := range uint64(2) { // those that wait for the end, and for the start
				place := binaryNodeBytes*i + 23 + 8*kind
				count, begin := uint64(le.Uint32(nodes[place:])), uint64(le.Uint32(nodes[place+4:]))
				at := base + 8 + 4*int(roots) + int(place)
				if count > 0 && 4*(begin+count) > uint64(len(list)) {
					return fail(at, "rank %d, operation %d: dependants %d to %d of %d", r, i, begin, begin+count, len(list)/4)
				}
				if uint64(len(p.dependencies))+count > math.MaxUint32/2 || int64(len(p.dependencies)+len(p.dependants))*bytesPerDependency > memory {
					return fail(at, "%s", describeTooLarge(int(r), memory))
				}
				for k := begin; k < begin+count; k++ {
					d := le.Uint32(list[4*k:])
					if uint64(d) >= n {
						return fail(base+8+4*int(roots)+binaryNodeBytes*int(n)+4*int(k), "rank %d: operation %d waits, and there are %d", r, d, n)
					}
					p.addDependency(first+d, first+uint32(i), kind == 1)
				}
			}
		}
		if d := p.endRank(); d != nil {
			return fail(base, "rank %d waits for itself: operation %d is in a cycle of dependencies", r, d.after>>1-first)
		}
	}
	return joinParts(name, []*schedulePart{p}), nil
}
