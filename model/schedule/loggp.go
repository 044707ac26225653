package schedule

// The rules of dialect loggp, in picoseconds. CPUs and interfaces serve requests one after the
// other, in the order in which they come. k is the size less 1, or 0 for an empty message.
//
//   - An operation is ready when all that it requires have ended, and all whose start it waits for
//     have begun.
//   - calc d asks for its CPU when it is ready, and occupies it for d.
//   - send asks for its CPU when it is ready, and occupies it for o. Then the message leaves, as
//     soon as the interface is free; until then the CPU stays occupied, and for k O after o at
//     least. The interface is occupied for g + k G from when the message leaves. The send ends when
//     its CPU is free again.
//   - The first byte arrives L after it has left, and occupies the interface of the receiver that
//     has the index of the send's for g + k G. The last byte is in k max(G, O) after that has
//     begun.
//   - recv is posted when it is ready. When it has its message, it asks for its CPU so early that
//     the CPU can be done o after the last byte is in. It occupies it for o + k O, and ends then.
//   - Receives and messages are paired in the order in which receives are posted and first bytes
//     arrive. Sizes need not be the same.
//   - A message of more than S bytes is announced by a request without data. When request and
//     receive have met, the receiver answers, and then the data is sent. Request and answer are
//     empty messages: the CPU of the receive is occupied for 2 o, that of the send for 2 o and what
//     the data takes. The send ends when its CPU has sent the data.
//
// So one message between idle ranks takes o + L + k max(G, O) + o, and one of more than S bytes
// 6 o + 3 L + k max(G, O), as in LogGPS (Ino, Fujimoto and Hagihara 2001; model.LogGPS).

func (r *run) loggp() {
	r.due = make([]uint64, len(r.ops))
	if r.cpus > 1 {
		r.held = make([]bool, len(r.cpu))
		r.asked = map[int][]request{}
	}
	for i, n := range r.state {
		if n == 0 {
			r.begun++
			r.later(0, uint32(i)<<3)
		}
	}
	for !r.empty() {
		e := r.pop()
		op := e.what >> 3
		o := &r.ops[op]
		switch what := e.what & 7; what {
		case beginning:
			r.ready(e.at, op)
		case arriving:
			_, taken := r.enter(e.at, o.Peer, op, arriving, o.NIC, r.opening(o))
			r.cause(op, byData)
			if recv, ok := r.match.arrive(op); ok {
				r.meet(e.at, taken, op, recv, true)
			} else {
				r.due[op] = taken
			}
		case answered:
			begin, _ := r.enter(e.at, o.rank, op, answered, o.NIC, 0)
			r.cause(op, byAnswer)
			r.when(e.at, begin, op, giving)
		case given:
			_, taken := r.enter(e.at, o.Peer, op, given, o.NIC, length(o))
			recv := r.state[op] - 1
			r.cause(recv, byData)
			r.when(e.at, taken, recv, taking)
		case leaving:
			r.leave(e.at, op, r.injection(op), r.due[op])
		default:
			r.ask(e.at, op, what)
		}
	}
}

// length returns k.
func length(o *Op) uint64 { return max(o.Size, 1) - 1 }

// opening returns k of what a send sends first: its message, or a request.
func (r *run) opening(o *Op) uint64 {
	if o.Size > r.S {
		return 0
	}
	return length(o)
}

// when asks for the CPU of an operation at a time, which may be now.
func (r *run) when(now, at uint64, op uint32, what uint32) {
	if at > now {
		r.later(at, op<<3|what)
	} else {
		r.ask(now, op, what)
	}
}

// release lets operations go on that wait for the end, or the start, of another one, which the
// entry of a path says that occupied its CPU last.
func (r *run) release(op uint32, at uint64, start uint32, by uint32) {
	for _, d := range r.deps[r.after[op]:r.after[op+1]] {
		if d&1 != start {
			continue
		}
		d >>= 1
		if at >= r.due[d] {
			r.due[d] = at
			if r.log != nil {
				r.log.cause[d] = via(by, byReady)
			}
		}
		if r.state[d]--; r.state[d] == 0 {
			r.begun++
			r.later(r.due[d], d<<3)
		}
	}
}

// end ends an operation when its CPU is free.
func (r *run) end(op uint32, cpu int) {
	r.pending--
	r.release(op, r.cpu[cpu], 0, r.log.lastOn(cpu))
}

// ready lets an operation begin that has nothing to wait for.
func (r *run) ready(at uint64, op uint32) {
	if r.ops[op].Kind != Recv {
		r.ask(at, op, beginning)
		return
	}
	by := uint32(0)
	if r.log != nil && r.after[op] < r.after[op+1] {
		by = r.log.add(at, op<<3+beginning, r.log.cause[op])
		r.cause(op, byReady)
	}
	r.release(op, at, 1, by)
	if send, ok := r.match.post(op); ok {
		r.meet(at, r.due[send], send, op, false)
	}
}

// meet brings a message, or a request, and its receive together. The message can be taken from a
// time on. last says that the message came later.
func (r *run) meet(at, taken uint64, send, recv uint32, last bool) {
	r.pair(send, recv)
	r.state[recv], r.state[send] = send, recv+1
	if r.log != nil && (last || taken > at) {
		r.log.cause[recv] = r.log.cause[send]
	}
	what := uint32(taking)
	if r.ops[send].Size > r.S {
		what = answering
	}
	r.when(at, max(at, taken), recv, what)
}

// request is work for a CPU that waits for it.
type request struct {
	at   uint64
	op   uint32
	what uint32
}

// ask asks for the CPU of an operation. If until when the CPU is occupied is known, so is when it
// does this work. It is not if the CPU waits for an interface that others use, too.
func (r *run) ask(at uint64, op, what uint32) {
	o := &r.ops[op]
	if cpu := int(o.rank)*r.cpus + int(o.CPU); r.held != nil && r.held[cpu] {
		r.asked[cpu] = append(r.asked[cpu], request{at, op, what})
		return
	}
	r.work(at, op, what)
}

// work lets the CPU of an operation do what was asked for at a time, as soon as it is free.
func (r *run) work(at uint64, op, what uint32) {
	o := &r.ops[op]
	cpu := int(o.rank)*r.cpus + int(o.CPU)
	begin := max(at, r.cpu[cpu])
	if r.log != nil {
		c := r.log.cause[op]
		if begin > at {
			c = via(r.log.cpu[cpu], byCPU)
		}
		r.log.cpu[cpu] = r.log.add(begin, op<<3|what, c)
	}
	work := r.o
	switch {
	case what == taking:
		k := length(&r.ops[r.state[op]])
		r.cpu[cpu] = r.Noise.end(o.rank, begin, r.o+r.bytes(k))
		r.end(op, cpu)
		return
	case o.Kind == Calc:
		r.cpu[cpu] = r.Noise.end(o.rank, begin, o.Size*r.calc)
		r.release(op, begin, 1, r.log.lastOn(cpu))
		r.end(op, cpu)
		return
	case what == beginning:
		r.release(op, begin, 1, r.log.lastOn(cpu))
		r.messages++
	default:
		work = 2 * r.o
	}
	ready := r.Noise.end(o.rank, begin, work)
	if r.log != nil {
		r.log.cause[op] = via(r.log.cpu[cpu], byMessage)
	}
	if r.held == nil {
		r.leave(ready, op, what, begin)
		return
	}
	r.held[cpu] = true
	r.due[op] = begin
	r.later(ready, op<<3|leaving)
}

// injection returns what an operation sends whose message is to leave.
func (r *run) injection(op uint32) uint32 {
	switch {
	case r.ops[op].Kind == Recv:
		return answering
	case r.state[op] != 0: // it has met its receive
		return giving
	}
	return beginning
}

// leave lets a message leave that is ready at a time. Its CPU began to work on it before.
func (r *run) leave(ready uint64, op, what uint32, begin uint64) {
	o := &r.ops[op]
	send, k := op, uint64(0)
	switch what {
	case beginning:
		k = r.opening(o)
	case giving:
		k = length(o)
	case answering:
		send = r.state[op]
	}
	cpu, out := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(r.ops[send].NIC)
	end := ready
	if work := r.bytes(k); work > 0 {
		end = r.Noise.end(o.rank, ready, work)
	}
	left := max(ready, r.out[out])
	if r.log != nil {
		last := r.log.cause[op] >> 3
		if left > ready {
			last = r.log.add(left, op<<3|leaving, via(r.log.out[out], byInterface))
			if left >= end {
				r.log.cpu[cpu] = last
			}
		}
		r.log.out[out] = last
		r.log.cause[send] = via(last, byMessage)
	}
	r.cpu[cpu] = max(left, end)
	r.out[out] = left + r.g + r.flow(k)
	switch what {
	case beginning:
		r.later(left+r.L, op<<3|arriving)
		if o.Size <= r.S {
			r.end(op, cpu)
		}
	case answering:
		r.later(left+r.L, send<<3|answered)
	case giving:
		r.later(left+r.L, op<<3|given)
		r.end(op, cpu)
	}
	if r.held == nil {
		return
	}
	r.held[cpu] = false
	asked := r.asked[cpu]
	for len(asked) > 0 && !r.held[cpu] {
		next := asked[0]
		asked = asked[1:]
		r.work(next.at, next.op, next.what)
	}
	if len(asked) > 0 {
		r.asked[cpu] = asked
	} else {
		delete(r.asked, cpu)
	}
}

// flow returns k G, and bytes k O.
func (r *run) flow(k uint64) uint64  { return r.G.of(k)*r.unit + r.dG*k }
func (r *run) bytes(k uint64) uint64 { return r.O.of(k)*r.unit + r.dO*k }

// enter lets a message into an interface of its receiver. It returns when that begins, and when a
// CPU may begin to take the message.
func (r *run) enter(at uint64, rank, op, what uint32, nic uint8, k uint64) (begin, taken uint64) {
	in := int(rank)*r.nics + int(nic)
	begin = max(at, r.in[in])
	if r.log != nil {
		c := r.log.cause[op]
		if begin > at {
			c = via(r.log.in[in], byInterface)
		}
		r.log.in[in] = r.log.add(begin, op<<3|what, c)
	}
	flow := r.flow(k)
	r.in[in] = begin + r.g + flow
	if work := r.bytes(k); flow > work {
		return begin, begin + flow - work
	}
	return begin, begin
}
