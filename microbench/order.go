package microbench

import (
	"encoding/binary"
	"slices"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// In a launch of a campaign P1 leads: what is measured next, and how often, depends on what was seen. P2 follows its orders.

// order is what both ranks do next.
type order struct {
	end    bool // nothing any more
	look   bool // no more than how quickly processors work
	cell   Cell
	stage  int // of those of a campaign
	warm   int // rounds with the first root of which no sample is kept; with the other it is rewarm
	rounds int // rounds with each root
	batch  int
	delta  unit.Time // 0: what a few rounds of warm-up say
}

// rewarm returns how many rounds with the other root do not count.
func (o order) rewarm() int { return min(o.warm, rewarming, max(1, o.rounds/2)) }

// orders is the tag of orders.
const orders = 2

// Kinds of orders.
const (
	measuring = iota
	ending
	looking
)

// orderBytes is how long an order is as a message: eight numbers.
const orderBytes = 8 * 8

// give sends an order to P2.
func (w *crew) give(o order) {
	mode, kind := modeNumber(o.cell.Mode), measuring
	switch {
	case o.end:
		kind = ending
	case o.look:
		kind = looking
	}
	raw := w.paper[:0]
	for _, n := range [...]int{kind, mode, o.cell.Bytes, o.stage, o.warm, o.rounds, o.batch, int(o.delta)} {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
	}
	mpi.Send(w.roots[0], raw, 1, orders)
}

// take receives an order from P1.
func (w *crew) take() order {
	mpi.Recv(w.roots[0], w.paper[:], 0, orders)
	var n [8]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint64(w.paper[8*i:]))
	}
	return order{n[0] == ending, n[0] == looking, Cell{modeNamed(n[1]), n[2]}, n[3], n[4], n[5], n[6], unit.Time(n[7])}
}

// modeNumber returns the place of a mode in the list of all, and modeNamed the mode at a place.
func modeNumber(name string) int {
	for i := range modes {
		if modes[i].name == name {
			return i
		}
	}
	return len(modes)
}

func modeNamed(i int) string {
	if i < len(modes) {
		return modes[i].name
	}
	return Message
}

// crew is what one of the two ranks needs to do what is ordered.
type crew struct {
	*pair
	plan    Plan
	benches map[Cell]*bench
	reading unit.Time
	dither  dither

	look          func(*mpi.Comm) unit.Time
	before, after unit.Time // how long the work of a look took, before and after what was done last

	paper         [orderBytes]byte
	out, in, lent []byte // for all cells, so that they are where they were: in the caches
}

func (p *Plan) crew(x *pair, step unit.Time) *crew {
	w := &crew{pair: x, plan: *p, benches: make(map[Cell]*bench), look: look}
	most := max(slices.Max(p.Sizes), steadyBytes)
	w.out, w.in, w.lent = touched(most), touched(most), touched(4*(most+mpi.BsendOverhead))
	w.reading, w.dither = calibrate(x.roots[0]), ditherOf(x.roots[0], step)
	return w
}

// bench returns the side of measuring a cell, with what was measured of it.
func (w *crew) bench(cell Cell) *bench {
	b := w.benches[cell]
	if b == nil {
		b = w.pair.bench(&w.plan, cell)
		b.dither = &w.dither
		w.benches[cell] = b
	}
	b.reading = w.reading
	b.out, b.in = w.out[:cell.Bytes], w.in[:cell.Bytes]
	return b
}

// touched returns a buffer of n bytes, all of which have been written to.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// do does what is ordered.
func (w *crew) do(o order) {
	w.before = w.look(w.roots[0])
	if w.after = w.before; !o.look {
		w.measure(o)
		w.after = w.look(w.roots[0])
	}
}

// measure measures what is ordered.
func (w *crew) measure(o order) {
	w.reading = min(w.reading, readings(w.roots[0])) // the launch may have begun in a slow moment
	b := w.bench(o.cell)
	b.batch, w.plan.Delta, w.plan.Warmup = o.batch, o.delta, 0
	b.attach(w.lent)
	defer b.detach()
	if o.delta == 0 {
		// No wait: the first rounds take much longer than those that follow, and a wait that begins with them lasts.
		w.plan.Warmup, w.plan.Delta, b.round = o.warm, 1, 0
		b.root, b.comm = 0, w.roots[0]
		pingPong(b, 0)
		return
	}
	s, warm := campaigned[o.stage], o.warm
	for i, r := range w.roots {
		b.root, b.comm = i, r
		b.idle = true
		s.run(b, warm)
		warm = o.rewarm()
		b.idle = false
		s.run(b, o.rounds)
	}
	b.gather()
}

// tell sends P1 what P2 saw of its processor, before and after what was done last; saw is what both saw.
func (w *crew) tell() {
	putTime(w.paper[:], w.before)
	putTime(w.paper[8:], w.after)
	mpi.Send(w.roots[0], w.paper[:16], 0, orders)
}

func (w *crew) saw() (before, after looks) {
	mpi.Recv(w.roots[0], w.paper[:16], 1, orders)
	return looks{w.before, getTime(w.paper[:])}, looks{w.after, getTime(w.paper[8:])}
}

// follow does what P1 orders until there is nothing any more.
func (w *crew) follow() {
	for o := w.take(); !o.end; o = w.take() {
		w.do(o)
		w.tell()
	}
}
