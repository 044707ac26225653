package schedule

import "slices"

// The rules of LogGOPSim at commit 76451de, in nanoseconds:
//
//   - calc d: when its CPU is free, which it occupies for d.
//   - send of s bytes: when CPU and interface are free. It occupies the CPU for o + (s−1) O and the
//     interface for g + (s−1) G. The message arrives o + L later, whatever its size.
//   - message: when the CPU and the interface of the receiver that have the indices of the send are
//     free. It occupies them for o + max((s−1) O, (s−1) G) and g + (s−1) G, matched or not.
//   - recv takes no time.
//   - A send of more than S bytes ends when its message is matched; others end when they begin.
//     Where the message came first it is the receive's size that counts. So such a send may never
//     end, if the receive has fewer: times are printed all the same if all messages have been
//     matched. And a send may end twice, if the receive has more: what waits for it and for others
//     may begin too early.
//   - An operation begins when others end, but the time at which they do is not passed on: what it
//     needs is free, at its own time. So times of events may run backwards.
//   - Sizes of 0 bytes have s−1 = 2⁶⁴−1: they cost o−O and g−G.
//   - What becomes ready at once begins in the order of ranks, then send, recv, calc, then of the
//     file. LogGOPSim sorts with std::sort, which keeps the order of equals up to 16 only.

// Classes of events that wait for one resource: calcs of each CPU, then sends and messages of each
// CPU and interface.
func (r *run) sends(o *Op) int    { return r.cpus + int(o.CPU)*r.nics + int(o.NIC) }
func (r *run) arrivals(o *Op) int { return r.sends(o) + r.cpus*r.nics }

// classes returns how many classes a rank has.
func (r *run) classes() int { return r.cpus * (1 + 2*r.nics) }

// mostClasses bounds the memory for classes. With more, all events stand in the queue.
const mostClasses = 1 << 26

func (r *run) loggopsim() {
	r.plain = r.o < r.O.integer || r.g < r.G.integer || // then an empty message frees a resource again
		r.Ranks()*r.classes() > mostClasses
	r.begin()
	for !r.empty() {
		e := r.pop()
		op := e.what >> 3
		o := &r.ops[op]
		switch {
		case e.what&7 == arriving:
			r.classicMessage(e, op, o)
		case o.Kind == Calc:
			cpu := int(o.rank)*r.cpus + int(o.CPU)
			if free := r.cpu[cpu]; free > e.at {
				r.wait(o.rank, int(o.CPU), e, free)
				continue
			}
			r.took(e, cpu, -1, -1)
			r.cpu[cpu] = e.at + o.Size*r.calc
			r.granted(o.rank, int(o.CPU), e, r.cpu[cpu])
			r.started(op)
			r.finished(op, e.at)
		case o.Kind == Send:
			cpu, nic := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(o.NIC)
			if free := max(r.cpu[cpu], r.out[nic]); free > e.at {
				r.wait(o.rank, r.sends(o), e, free)
				continue
			}
			r.started(op)
			r.took(e, cpu, nic, -1)
			r.cpu[cpu] = e.at + r.o + (o.Size-1)*r.O.integer
			r.out[nic] = e.at + r.g + (o.Size-1)*r.G.integer
			r.granted(o.rank, r.sends(o), e, max(r.cpu[cpu], r.out[nic]))
			r.later(e.at+r.o+r.L, op<<3|arriving)
			r.messages++
			if o.Size <= r.S {
				r.finished(op, e.at)
			}
		default:
			r.started(op)
			if send, ok := r.match.post(op); ok {
				r.pair(send, op)
				if o.Size > r.S {
					r.received(e)
					r.released(send, e.at, e.at, e.at, o)
				}
				r.finished(op, e.at)
			}
		}
		r.flush()
	}
}

// classicMessage lets a message arrive.
func (r *run) classicMessage(e event, op uint32, o *Op) {
	cpu, nic := int(o.Peer)*r.cpus+int(o.CPU), int(o.Peer)*r.nics+int(o.NIC)
	if free := max(r.cpu[cpu], r.in[nic]); free > e.at {
		r.wait(o.Peer, r.arrivals(o), e, free)
		return
	}
	r.took(e, cpu, -1, nic)
	r.cpu[cpu] = e.at + r.o + max((o.Size-1)*r.O.integer, (o.Size-1)*r.G.integer)
	r.in[nic] = e.at + r.g + (o.Size-1)*r.G.integer
	r.granted(o.Peer, r.arrivals(o), e, max(r.cpu[cpu], r.in[nic]))
	if recv, ok := r.match.arrive(op); ok {
		r.pair(op, recv)
		if o.Size > r.S {
			r.released(op, e.at, e.at, e.at, o)
		}
		r.finished(recv, e.at)
	}
}

// released ends a send that has waited for its receive. The CPU and the interface of the sender are
// occupied until certain times; their indices are those of the operation that was matched last.
func (r *run) released(send uint32, end, cpuTime, nicTime uint64, by *Op) {
	if r.sent(&r.ops[send]) > r.S {
		r.finished(send, end)
	} else { // it has ended before
		r.ended(send, end)
	}
	from := int(r.ops[send].rank)
	cpu, nic := from*r.cpus+int(by.CPU), from*r.nics+int(by.NIC)
	r.bump(cpuTime, nicTime, cpu, nic)
	r.cpu[cpu], r.out[nic] = max(r.cpu[cpu], cpuTime), max(r.out[nic], nicTime)
}

// endTwice reports whether a send may end twice: a receive has more than S bytes, and a send has
// not.
func (r *run) endTwice() bool {
	long, short := false, false
	for i := range r.ops {
		switch o := &r.ops[i]; o.Kind {
		case Recv:
			long = long || r.sent(o) > r.S
		case Send:
			short = short || r.sent(o) <= r.S
		}
	}
	return long && short
}

// sent returns the size of a message.
func (r *run) sent(o *Op) uint64 {
	if r.Dialect == LGS {
		return max(o.Size, 1)
	}
	return o.Size
}

// begin makes events of all operations that wait for none.
func (r *run) begin() {
	if r.endTwice() {
		r.readied = make([]uint64, len(r.ops)/64+1)
	}
	for i, n := range r.state {
		if n == 0 {
			r.lateOps = append(r.lateOps, uint32(i))
			r.begun++
		}
		if o := r.ops[i]; i+1 == int(r.first[o.rank+1]) {
			r.flush()
		}
	}
}

// started lets operations go on that wait for the start of another one. In dialect LGS those that
// have waited for nothing else lately begin at time 0.
func (r *run) started(op uint32) {
	for _, d := range r.deps[r.after[op]:r.after[op+1]] {
		if d&1 == 0 || r.isReady(d>>1) {
			continue
		}
		if r.due != nil && r.state[d>>1] == 1 {
			r.due[d>>1] = 0
			r.cause(d>>1, 0)
		}
		r.unblock(d >> 1)
	}
}

// finished is the end of an operation at a time. Dialect LogGOPSim does not pass on the time.
func (r *run) finished(op uint32, at uint64) {
	r.pending--
	r.ended(op, at)
}

// ended lets operations go on that wait for the end of another one.
func (r *run) ended(op uint32, at uint64) {
	for _, d := range r.deps[r.after[op]:r.after[op+1]] {
		if d&1 != 0 || r.isReady(d>>1) {
			continue
		}
		if r.due != nil && at >= r.due[d>>1] {
			r.due[d>>1] = at
			r.cause(d>>1, byReady)
		}
		r.unblock(d >> 1)
	}
}

// isReady reports whether an operation waits for nothing any more, where that is kept.
func (r *run) isReady(op uint32) bool {
	return r.readied != nil && r.readied[op>>6]>>(op&63)&1 != 0
}

func (r *run) unblock(op uint32) {
	if r.state[op]--; r.state[op] == 0 {
		if r.readied != nil {
			r.readied[op>>6] |= 1 << (op & 63)
		}
		r.lateOps = append(r.lateOps, op)
		r.begun++
	}
}

// flush makes events of the operations that have become ready.
func (r *run) flush() {
	if len(r.lateOps) == 0 {
		return
	}
	if r.Dialect == LGS {
		r.flushLGS()
		return
	}
	key := func(op uint32) uint64 { return uint64(r.ops[op].rank)<<2 | uint64(r.ops[op].Kind) }
	if len(r.lateOps) > 20 {
		slices.SortStableFunc(r.lateOps, func(a, b uint32) int { return int(key(a)) - int(key(b)) })
	} else {
		for i := 1; i < len(r.lateOps); i++ {
			op := r.lateOps[i]
			j := i
			for ; j > 0 && key(r.lateOps[j-1]) > key(op); j-- {
				r.lateOps[j] = r.lateOps[j-1]
			}
			r.lateOps[j] = op
		}
	}
	for _, op := range r.lateOps {
		o := &r.ops[op]
		cpu := int(o.rank)*r.cpus + int(o.CPU)
		at := r.cpu[cpu]
		if r.log != nil && o.Kind == Recv {
			r.log.cause[op] = via(r.log.cpu[cpu], byCPU)
		}
		if o.Kind == Send {
			at = max(at, r.out[int(o.rank)*r.nics+int(o.NIC)])
		}
		r.later(at, op<<3+beginning)
	}
	r.lateOps = r.lateOps[:0]
}

// wait puts an event off until its resource is free, for which others may wait, too.
func (r *run) wait(rank uint32, class int, e event, free uint64) {
	w := r.waiting(rank, class)
	switch {
	case r.plain || w.queued && w.first == e.serial:
	case w.queued && w.first < e.serial:
		w.add(e)
		return
	default:
		w.queued, w.first = true, e.serial
	}
	e.at = free
	r.push(e)
}

// granted lets the next event of a class go for its resource when one of them has got it.
func (r *run) granted(rank uint32, class int, e event, free uint64) {
	if r.blocks == nil || r.blocks[rank] < 0 {
		return
	}
	w := r.waiting(rank, class)
	if !w.queued || w.first != e.serial {
		return
	}
	if w.queued = len(w.rest) > 0; w.queued {
		next := w.take()
		w.first = next.serial
		next.at = max(e.at, free)
		r.push(next)
	}
}

func (r *run) waiting(rank uint32, class int) *waiting {
	if r.plain {
		return nil
	}
	size := r.classes()
	if r.blocks == nil {
		r.blocks = make([]int32, r.Ranks())
		for i := range r.blocks {
			r.blocks[i] = -1
		}
	}
	at := r.blocks[rank]
	if at < 0 {
		at = int32(len(r.waits) / size)
		r.blocks[rank] = at
		r.waits = append(r.waits, make([]waiting, size)...)
	}
	return &r.waits[int(at)*size+class]
}
