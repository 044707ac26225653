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

// addCollective adds a collective operation.
func (w *generator) addCollective() {
	t := w.openComms[w.IntN(len(w.openComms))]
	if t.isInter() {
		return
	}
	p := len(t.groups[0])
	o := collective.Operation(w.IntN(int(collective.NumOperations)))
	i := w.addAction(o.String(), t)
	root := w.IntN(p)
	var do func(c *mpi.Comm) error
	switch o {
	case collective.Barrier:
		do = func(c *mpi.Comm) error { c.Barrier(); return nil }
		if rules := w.drawRules(); w.IntN(2) == 0 {
			i.name = "tune"
			do = func(c *mpi.Comm) error { c.SetCollectiveRules(rules); return nil }
		}
	case collective.Bcast:
		do = w.addBcast(i, p, root)
	case collective.Scatter, collective.Gather, collective.Allgather, collective.Alltoall:
		do = w.addDataMovement(i, o, p, root)
	default:
		do = w.addReduction(i, o, p, root)
	}
	for _, r := range t.groups[0] {
		w.addStep(i, r, blockingTurn, i.name, func(x *runner) error { return do(x.comms[t.id]) })
	}
}

// payloadOf returns the n bytes that rank from sends to rank to in an action.
func (i *action) payloadOf(from, to, n int) []byte { return Payload(n, i.id<<12+from<<6+to) }

func (w *generator) addBcast(i *action, p, root int) func(c *mpi.Comm) error {
	u := unitLayouts[w.IntN(len(unitLayouts))]
	n := w.drawBytes(20000) / u.size()
	placements := make([]placement, p)
	for r := range placements {
		placements[r] = randomPlacement(w.Rand, u, n, 1)
	}
	return func(c *mpi.Comm) error {
		l, data := placements[c.Rank()], i.payloadOf(root, 0, n*u.size())
		b := l.buffer(l.count, -i.id)
		if c.Rank() == root {
			l.scatterInto(b, 0, data)
		}
		c.Bcast(b, root)
		return checkBuffer("Bcast", c, b, l.bufferHolding(data, -i.id))
	}
}

// checkBuffer compares a buffer with its expected content.
func checkBuffer(call string, c *mpi.Comm, got, want mpi.Buffer) error {
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
	bufferElements  int   // length of the buffer in elements
}

// drawParts draws the placement of parts with the given numbers of units, multiples of a number:
// consecutive, or anywhere.
func (w *generator) drawParts(u *layout, units []int, multiple int, anywhere bool) *parts {
	each := randomDivisor(w.Rand, multiple)
	x := &parts{placement: placement{u, 0, each}, unitCounts: units, counts: make([]int, len(units)), offsets: make([]int, len(units))}
	for _, k := range w.drawOrder(len(units), anywhere) {
		if anywhere {
			x.bufferElements += w.IntN(3)
		}
		x.counts[k], x.offsets[k] = units[k]/each, x.bufferElements
		x.bufferElements += x.counts[k]
	}
	x.layout = u.deriveRandomly(w.Rand, each, true)
	if x.overlaps(x.bufferElements) {
		at := make([]int, each)
		for i := range at {
			at[i] = i * u.extent()
		}
		x.layout = u.copiesAt(mustCommit(datatype.Contiguous(each, u.datatype)), at)
	}
	x.count = x.counts[0]
	return x
}

func (w *generator) drawOrder(n int, any bool) []int {
	if any {
		return w.Perm(n)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// bufferWith returns memory that contains the data of each part.
func (x *parts) bufferWith(seed int, data func(i, n int) []byte) mpi.Buffer {
	b := x.buffer(x.bufferElements, seed)
	if data != nil {
		for i, at := range x.offsets {
			x.scatterInto(b, at, data(i, x.unitCounts[i]*x.unitSize()))
		}
	}
	return b
}

func (x *parts) unitSize() int { return x.size() / x.unitsPerElement }

// drawCounts draws a length for each of n parts, multiples of a number: equal lengths unless differ
// is set.
func (w *generator) drawCounts(n, most, multiple int, differ bool) []int {
	all := make([]int, n)
	for i := range all {
		if i == 0 || differ {
			all[0] = w.drawBytes(most) / multiple * multiple
		}
		if all[i] = all[0]; differ && w.IntN(4) == 0 {
			all[i] = 0
		}
	}
	return all
}

// addDataMovement adds an operation that moves data between ranks.
func (w *generator) addDataMovement(i *action, o collective.Operation, p, root int) func(c *mpi.Comm) error {
	u, multiple, vector := unitLayouts[w.IntN(len(unitLayouts))], 1+w.IntN(6), w.IntN(2) == 0
	most := 20000 / p / u.size()
	if o == collective.Alltoall {
		most /= p
	}
	if vector {
		i.name += " of vectors"
	}
	out, in := make([]*parts, p), make([]*parts, p)
	one := w.drawCounts(p, most, multiple, vector) // of parts, except for Alltoall
	table := make([][]int, p)
	for r := range table {
		table[r] = one
		if o == collective.Alltoall && vector {
			table[r] = w.drawCounts(p, most, multiple, true)
		}
	}
	for r := range p {
		single := []int{one[r]}
		switch o {
		case collective.Scatter:
			out[r], in[r] = w.drawParts(u, one, multiple, vector), w.drawParts(u, single, multiple, false)
		case collective.Gather, collective.Allgather:
			out[r], in[r] = w.drawParts(u, single, multiple, false), w.drawParts(u, one, multiple, vector)
		default:
			column := make([]int, p)
			for k := range column {
				column[k] = table[k][r]
			}
			out[r], in[r] = w.drawParts(u, table[r], multiple, vector), w.drawParts(u, column, multiple, vector)
		}
	}
	return func(c *mpi.Comm) error {
		me := c.Rank()
		from, to := out[me], in[me]
		var gives, takes func(i, n int) []byte
		switch o {
		case collective.Scatter:
			gives = func(k, n int) []byte { return i.payloadOf(root, k, n) }
			takes = func(_, n int) []byte { return i.payloadOf(root, me, n) }
		case collective.Gather, collective.Allgather:
			gives = func(_, n int) []byte { return i.payloadOf(me, 0, n) }
			takes = func(k, n int) []byte { return i.payloadOf(k, 0, n) }
		case collective.Alltoall:
			gives = func(k, n int) []byte { return i.payloadOf(me, k, n) }
			takes = func(k, n int) []byte { return i.payloadOf(k, me, n) }
		}
		send, recv := from.bufferWith(-i.id, gives), to.bufferWith(-i.id, nil)
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
		if err := checkBuffer(i.name+", what is given", c, send, from.bufferWith(-i.id, gives)); err != nil {
			return err
		}
		return checkBuffer(i.name, c, recv, to.bufferWith(-i.id, takes))
	}
}

// reductionCase is a reduction of elements of a layout, with its definition.
type reductionCase struct {
	name string
	*layout
	op           *mpi.Op
	combineBytes func(a, b []byte) // stores a ∘ b in b
	makeValid    func(b []byte)    // turns random bytes into valid values; nil: they are valid
}

// combineWords folds data word by word.
func combineWords(f func(a, b uint64) uint64) func(a, b []byte) {
	return func(a, b []byte) {
		for k := 0; k < len(b); k += 8 {
			binary.LittleEndian.PutUint64(b[k:], f(binary.LittleEndian.Uint64(a[k:]), binary.LittleEndian.Uint64(b[k:])))
		}
	}
}

// combineCompositions folds pairs of words as compose does.
func combineCompositions(a, b []byte) {
	for k := 0; k < len(b); k += 16 {
		f0, f1 := binary.LittleEndian.Uint64(a[k:]), binary.LittleEndian.Uint64(a[k+8:])
		g0, g1 := binary.LittleEndian.Uint64(b[k:]), binary.LittleEndian.Uint64(b[k+8:])
		binary.LittleEndian.PutUint64(b[k:], f0*g0)
		binary.LittleEndian.PutUint64(b[k+8:], f1*g0+g1)
	}
}

// combineMinLoc combines pairs of a Float64 and an Int32 as MinLoc does.
func combineMinLoc(a, b []byte) {
	for k := 0; k < len(b); k += 12 {
		x, y := math.Float64frombits(binary.LittleEndian.Uint64(a[k:])), math.Float64frombits(binary.LittleEndian.Uint64(b[k:]))
		i, j := int32(binary.LittleEndian.Uint32(a[k+8:])), int32(binary.LittleEndian.Uint32(b[k+8:]))
		if x < y || x == y && i < j {
			copy(b[k:k+12], a[k:])
		}
	}
}

// makeSmallIntegers turns pairs of a Float64 and an Int32 into small integers.
func makeSmallIntegers(b []byte) {
	for k := 0; k+12 <= len(b); k += 12 {
		binary.LittleEndian.PutUint64(b[k:], math.Float64bits(float64(b[k]%4)))
	}
}

// makeFactorsOdd makes factors odd, so that products modulo 2^64 stay distinct.
func makeFactorsOdd(b []byte) {
	for k := 0; k < len(b); k += 16 {
		b[k] |= 1
	}
}

// drawReduction draws a reduction.
func (w *generator) drawReduction() *reductionCase {
	words := basicLayout(mpi.Uint64, 8)
	switch w.IntN(7) {
	case 0:
		return &reductionCase{name: "Sum", layout: words, op: mpi.Sum, combineBytes: combineWords(func(a, b uint64) uint64 { return a + b })}
	case 1:
		return &reductionCase{name: "Max", layout: words, op: mpi.Max, combineBytes: combineWords(func(a, b uint64) uint64 { return max(a, b) })}
	case 2:
		return &reductionCase{name: "Bxor", layout: basicLayout(mpi.Byte, 1), op: mpi.Bxor, combineBytes: func(a, b []byte) {
			for k := range b {
				b[k] ^= a[k]
			}
		}}
	case 3:
		pair := &layout{datatype.Float64Int32, []byteRange{{0, 8}, {8, 4}}, 0, 16, 8}
		return &reductionCase{name: "MinLoc", layout: pair, op: mpi.MinLoc, combineBytes: combineMinLoc, makeValid: makeSmallIntegers}
	case 4:
		return w.newUserOperation("a sum", words, true, combineWords(func(a, b uint64) uint64 { return a + b }), nil)
	}
	pair := words.deriveRandomly(w.Rand, 2, false)
	return w.newUserOperation("compositions", pair, false, combineCompositions, makeFactorsOdd)
}

// newUserOperation creates a user-defined operation.
func (w *generator) newUserOperation(name string, l *layout, commutes bool, fold func(a, b []byte), give func(b []byte)) *reductionCase {
	l = l.deriveRandomly(w.Rand, 1+w.IntN(3), true)
	return &reductionCase{name, l, reduction.New(func(in, inout mpi.Buffer) {
		x := placement{layout: l, count: inout.Count}
		b := x.gatherFrom(inout, x.count)
		fold(x.gatherFrom(in, x.count), b)
		x.scatterInto(inout, 0, b)
	}, commutes), fold, give}
}

// addReduction adds a collective operation that combines elements.
func (w *generator) addReduction(i *action, o collective.Operation, p, root int) func(c *mpi.Comm) error {
	f := w.drawReduction()
	i.name = fmt.Sprintf("%v of %s", o, f.name)
	most := 6000 / f.size()
	if o == collective.ReduceScatter {
		most /= p
	}
	differ := o == collective.ReduceScatter && w.IntN(2) == 0
	counts := w.drawCounts(p, most, 1, differ)
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
		b := i.payloadOf(r, 0, n*f.size())
		if f.makeValid != nil {
			f.makeValid(b)
		}
		return b
	}
	upTo := func(last int) []byte {
		all := mine(0)
		for r := 1; r <= last; r++ {
			b := mine(r)
			f.combineBytes(all, b)
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
		send, recv := give.bufferHolding(mine(me), -i.id), take.buffer(take.count, -i.id)
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
		if err := checkBuffer(i.name+", what is given", c, send, give.bufferHolding(mine(me), -i.id)); err != nil {
			return err
		}
		return checkBuffer(i.name, c, recv, take.bufferHolding(want, -i.id))
	}
}

func sum(x []int) int {
	n := 0
	for _, v := range x {
		n += v
	}
	return n
}
