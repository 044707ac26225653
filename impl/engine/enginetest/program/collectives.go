package program

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/library/reduction"
	"github.com/loggp/loggp/model/collective"
)

// Collective operations of random programs. Results are compared with the definitions.

// operation adds a collective operation.
func (w *generator) operation() {
	t := w.open[w.IntN(len(w.open))]
	if t.inter() {
		return
	}
	p := len(t.groups[0])
	o := collective.Operation(w.IntN(int(collective.NumOperations)))
	i := w.action(o.String(), t)
	root := w.IntN(p)
	var do func(c *mpi.Comm) error
	switch o {
	case collective.Barrier:
		do = func(c *mpi.Comm) error { c.Barrier(); return nil }
		if rules := w.rules(); w.IntN(2) == 0 {
			i.name = "tune"
			do = func(c *mpi.Comm) error { c.SetCollectiveRules(rules); return nil }
		}
	case collective.Bcast:
		do = w.bcast(i, p, root)
	case collective.Scatter, collective.Gather, collective.Allgather, collective.Alltoall:
		do = w.distribute(i, o, p, root)
	default:
		do = w.reduce(i, o, p, root)
	}
	for _, r := range t.groups[0] {
		w.step(i, r, block, i.name, func(x *runner) error { return do(x.comms[t.id]) })
	}
}

// block returns the n bytes that rank from sends to rank to in an action.
func (i *action) block(from, to, n int) []byte { return Text(n, i.id<<12+from<<6+to) }

func (w *generator) bcast(i *action, p, root int) func(c *mpi.Comm) error {
	u := units[w.IntN(len(units))]
	n := w.length(20000) / u.size()
	placements := make([]placement, p)
	for r := range placements {
		placements[r] = arrange(w.Rand, u, n, 1)
	}
	return func(c *mpi.Comm) error {
		l, data := placements[c.Rank()], i.block(root, 0, n*u.size())
		b := l.buffer(l.count, -i.id)
		if c.Rank() == root {
			l.put(b, 0, data)
		}
		c.Bcast(b, root)
		return became("Bcast", c, b, l.holding(data, -i.id))
	}
}

// became compares a buffer with its expected content.
func became(call string, c *mpi.Comm, got, want mpi.Buffer) error {
	if bytes.Equal(got.Bytes, want.Bytes) {
		return nil
	}
	k := 0
	for got.Bytes[k] == want.Bytes[k] {
		k++
	}
	return fmt.Errorf("%s: byte %d of %d at rank %d of %d is %d, not %d", call, k, len(got.Bytes), c.Rank(), c.Size(), got.Bytes[k], want.Bytes[k])
}

// parts are elements of a layout in parts, one part per rank.
type parts struct {
	placement
	unitCounts      []int // per part
	counts, offsets []int // in elements
	room            int   // length of the buffer in elements
}

// parts draws the placement of parts with the given numbers of units, multiples of a number:
// consecutive, or anywhere.
func (w *generator) parts(u *layout, units []int, multiple int, anywhere bool) *parts {
	each := divisor(w.Rand, multiple)
	x := &parts{placement: placement{u, 0, each}, unitCounts: units, counts: make([]int, len(units)), offsets: make([]int, len(units))}
	for _, k := range w.order(len(units), anywhere) {
		if anywhere {
			x.room += w.IntN(3)
		}
		x.counts[k], x.offsets[k] = units[k]/each, x.room
		x.room += x.counts[k]
	}
	x.layout = u.derive(w.Rand, each, true)
	if x.overlaps(x.room) {
		at := make([]int, each)
		for i := range at {
			at[i] = i * u.extent()
		}
		x.layout = u.copies(must(datatype.Contiguous(each, u.t)), at)
	}
	x.count = x.counts[0]
	return x
}

func (w *generator) order(n int, any bool) []int {
	if any {
		return w.Perm(n)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// with returns memory that contains the data of each part.
func (x *parts) with(seed int, data func(i, n int) []byte) mpi.Buffer {
	b := x.buffer(x.room, seed)
	if data != nil {
		for i, at := range x.offsets {
			x.put(b, at, data(i, x.unitCounts[i]*x.unitSize()))
		}
	}
	return b
}

func (x *parts) unitSize() int { return x.size() / x.each }

// lengths draws a length for each of n parts, multiples of a number: equal lengths unless differ is
// set.
func (w *generator) lengths(n, most, multiple int, differ bool) []int {
	all := make([]int, n)
	for i := range all {
		if i == 0 || differ {
			all[0] = w.length(most) / multiple * multiple
		}
		if all[i] = all[0]; differ && w.IntN(4) == 0 {
			all[i] = 0
		}
	}
	return all
}

// distribute adds an operation that moves data between ranks.
func (w *generator) distribute(i *action, o collective.Operation, p, root int) func(c *mpi.Comm) error {
	u, multiple, vector := units[w.IntN(len(units))], 1+w.IntN(6), w.IntN(2) == 0
	most := 20000 / p / u.size()
	if o == collective.Alltoall {
		most /= p
	}
	if vector {
		i.name += " of vectors"
	}
	out, in := make([]*parts, p), make([]*parts, p)
	one := w.lengths(p, most, multiple, vector) // of parts, except for Alltoall
	table := make([][]int, p)
	for r := range table {
		table[r] = one
		if o == collective.Alltoall && vector {
			table[r] = w.lengths(p, most, multiple, true)
		}
	}
	for r := range p {
		single := []int{one[r]}
		switch o {
		case collective.Scatter:
			out[r], in[r] = w.parts(u, one, multiple, vector), w.parts(u, single, multiple, false)
		case collective.Gather, collective.Allgather:
			out[r], in[r] = w.parts(u, single, multiple, false), w.parts(u, one, multiple, vector)
		default:
			column := make([]int, p)
			for k := range column {
				column[k] = table[k][r]
			}
			out[r], in[r] = w.parts(u, table[r], multiple, vector), w.parts(u, column, multiple, vector)
		}
	}
	return func(c *mpi.Comm) error {
		me := c.Rank()
		from, to := out[me], in[me]
		var gives, takes func(i, n int) []byte
		switch o {
		case collective.Scatter:
			gives = func(k, n int) []byte { return i.block(root, k, n) }
			takes = func(_, n int) []byte { return i.block(root, me, n) }
		case collective.Gather, collective.Allgather:
			gives = func(_, n int) []byte { return i.block(me, 0, n) }
			takes = func(k, n int) []byte { return i.block(k, 0, n) }
		case collective.Alltoall:
			gives = func(k, n int) []byte { return i.block(me, k, n) }
			takes = func(k, n int) []byte { return i.block(k, me, n) }
		}
		send, recv := from.with(-i.id, gives), to.with(-i.id, nil)
		switch {
		case o == collective.Scatter && vector:
			c.Scatterv(send, from.counts, from.offsets, recv, root)
		case o == collective.Scatter:
			c.Scatter(send, recv, root)
		case o == collective.Gather && vector:
			c.Gatherv(send, recv, to.counts, to.offsets, root)
		case o == collective.Gather:
			c.Gather(send, recv, root)
		case o == collective.Allgather && vector:
			c.Allgatherv(send, recv, to.counts, to.offsets)
		case o == collective.Allgather:
			c.Allgather(send, recv)
		case vector:
			c.Alltoallv(send, from.counts, from.offsets, recv, to.counts, to.offsets)
		default:
			c.Alltoall(send, recv)
		}
		if o == collective.Gather && me != root {
			takes = nil
		}
		if err := became(i.name+", what is given", c, send, from.with(-i.id, gives)); err != nil {
			return err
		}
		return became(i.name, c, recv, to.with(-i.id, takes))
	}
}

// combine is a reduction of elements of a layout, with its definition.
type combine struct {
	name string
	*layout
	op   *mpi.Op
	fold func(a, b []byte) // stores a ∘ b in b
	give func(b []byte)    // turns random bytes into valid values; nil: they are valid
}

// each64 folds data word by word.
func each64(f func(a, b uint64) uint64) func(a, b []byte) {
	return func(a, b []byte) {
		for k := 0; k < len(b); k += 8 {
			binary.LittleEndian.PutUint64(b[k:], f(binary.LittleEndian.Uint64(a[k:]), binary.LittleEndian.Uint64(b[k:])))
		}
	}
}

// composing folds pairs of words as compose does.
func composing(a, b []byte) {
	for k := 0; k < len(b); k += 16 {
		f0, f1 := binary.LittleEndian.Uint64(a[k:]), binary.LittleEndian.Uint64(a[k+8:])
		g0, g1 := binary.LittleEndian.Uint64(b[k:]), binary.LittleEndian.Uint64(b[k+8:])
		binary.LittleEndian.PutUint64(b[k:], f0*g0)
		binary.LittleEndian.PutUint64(b[k+8:], f1*g0+g1)
	}
}

// least combines pairs of a Float64 and an Int32 as MinLoc does.
func least(a, b []byte) {
	for k := 0; k < len(b); k += 12 {
		x, y := math.Float64frombits(binary.LittleEndian.Uint64(a[k:])), math.Float64frombits(binary.LittleEndian.Uint64(b[k:]))
		i, j := int32(binary.LittleEndian.Uint32(a[k+8:])), int32(binary.LittleEndian.Uint32(b[k+8:]))
		if x < y || x == y && i < j {
			copy(b[k:k+12], a[k:])
		}
	}
}

// whole turns pairs of a Float64 and an Int32 into small integers.
func whole(b []byte) {
	for k := 0; k+12 <= len(b); k += 12 {
		binary.LittleEndian.PutUint64(b[k:], math.Float64bits(float64(b[k]%4)))
	}
}

// oddFactors makes factors odd, so that products modulo 2^64 stay distinct.
func oddFactors(b []byte) {
	for k := 0; k < len(b); k += 16 {
		b[k] |= 1
	}
}

// combine draws a reduction.
func (w *generator) combine() *combine {
	words := basic(mpi.Uint64, 8)
	switch w.IntN(7) {
	case 0:
		return &combine{name: "Sum", layout: words, op: mpi.Sum, fold: each64(func(a, b uint64) uint64 { return a + b })}
	case 1:
		return &combine{name: "Max", layout: words, op: mpi.Max, fold: each64(func(a, b uint64) uint64 { return max(a, b) })}
	case 2:
		return &combine{name: "Bxor", layout: basic(mpi.Byte, 1), op: mpi.Bxor, fold: func(a, b []byte) {
			for k := range b {
				b[k] ^= a[k]
			}
		}}
	case 3:
		pair := &layout{datatype.Float64Int32, []piece{{0, 8}, {8, 4}}, 0, 16, 8}
		return &combine{name: "MinLoc", layout: pair, op: mpi.MinLoc, fold: least, give: whole}
	case 4:
		return w.own("a sum", words, true, each64(func(a, b uint64) uint64 { return a + b }), nil)
	}
	pair := words.derive(w.Rand, 2, false)
	return w.own("compositions", pair, false, composing, oddFactors)
}

// own creates a user-defined operation.
func (w *generator) own(name string, l *layout, commutes bool, fold func(a, b []byte), give func(b []byte)) *combine {
	l = l.derive(w.Rand, 1+w.IntN(3), true)
	return &combine{name, l, reduction.New(func(in, inout mpi.Buffer) {
		x := placement{layout: l, count: inout.Count}
		b := x.take(inout, x.count)
		fold(x.take(in, x.count), b)
		x.put(inout, 0, b)
	}, commutes), fold, give}
}

// reduce adds a collective operation that combines elements.
func (w *generator) reduce(i *action, o collective.Operation, p, root int) func(c *mpi.Comm) error {
	f := w.combine()
	i.name = fmt.Sprintf("%v of %s", o, f.name)
	most := 6000 / f.size()
	if o == collective.ReduceScatter {
		most /= p
	}
	differ := o == collective.ReduceScatter && w.IntN(2) == 0
	counts := w.lengths(p, most, 1, differ)
	if (placement{layout: f.layout}).overlaps(sum(counts)) {
		for k := range counts {
			counts[k] = min(counts[k], 1)
		}
		if o == collective.ReduceScatter && (placement{layout: f.layout}).overlaps(p) {
			clear(counts)
		}
	}
	n := counts[0]
	if o == collective.ReduceScatter {
		n = sum(counts)
	}
	mine := func(r int) []byte {
		b := i.block(r, 0, n*f.size())
		if f.give != nil {
			f.give(b)
		}
		return b
	}
	upTo := func(last int) []byte {
		all := mine(0)
		for r := 1; r <= last; r++ {
			b := mine(r)
			f.fold(all, b)
			all = b
		}
		return all
	}
	return func(c *mpi.Comm) error {
		me := c.Rank()
		give, take := placement{f.layout, n, 1}, placement{f.layout, n, 1}
		want := upTo(p - 1)
		switch o {
		case collective.Scan:
			want = upTo(me)
		case collective.ReduceScatter:
			take.count = counts[me]
			want = want[sum(counts[:me])*f.size():][:counts[me]*f.size()]
		}
		send, recv := give.holding(mine(me), -i.id), take.buffer(take.count, -i.id)
		switch o {
		case collective.Reduce:
			c.Reduce(send, recv, f.op, root)
			if me != root {
				want = nil
			}
		case collective.Allreduce:
			c.Allreduce(send, recv, f.op)
		case collective.Scan:
			c.Scan(send, recv, f.op)
		case collective.ReduceScatter:
			c.ReduceScatter(send, recv, counts, f.op)
		}
		if err := became(i.name+", what is given", c, send, give.holding(mine(me), -i.id)); err != nil {
			return err
		}
		return became(i.name, c, recv, take.holding(want, -i.id))
	}
}

func sum(x []int) int {
	n := 0
	for _, v := range x {
		n += v
	}
	return n
}
