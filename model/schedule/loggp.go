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
	r.readyAt = make([]uint64, len(r.ops))
	if r.cpus > 1 {
		r.cpuHeld = make([]bool, len(r.cpuFree))
		r.heldRequests = map[int][]request{}
	}
	for i, n := range r.state {
		if n == 0 {
			r.begunOps++
			r.schedule(0, uint32(i)<<3)
		}
	}
	for !r.empty() {
		e := r.pop()
		op := e.what >> 3
		o := &r.ops[op]
		switch what := e.what & 7; what {
		case beginOp:
			r.opReady(e.at, op)
		case messageArrives:
			_, taken := r.enterInterface(e.at, o.Peer, op, messageArrives, o.NIC, r.firstMessageBytes(o))
			r.noteCause(op, byData)
			if recv, ok := r.match.matchMessage(op); ok {
				r.pairMessage(e.at, taken, op, recv, true)
			} else {
				r.readyAt[op] = taken
			}
		case answerArrives:
			begin, _ := r.enterInterface(e.at, o.rank, op, answerArrives, o.NIC, 0)
			r.noteCause(op, byAnswer)
			r.askOrSchedule(e.at, begin, op, sendData)
		case dataArrives:
			_, taken := r.enterInterface(e.at, o.Peer, op, dataArrives, o.NIC, bytesAfterFirst(o))
			recv := r.state[op] - 1
			r.noteCause(recv, byData)
			r.askOrSchedule(e.at, taken, recv, takeMessage)
		case messageLeaves:
			r.leaveInterface(e.at, op, r.injection(op), r.readyAt[op])
		default:
			r.askCPU(e.at, op, what)
		}
	}
}

// bytesAfterFirst returns k.
func bytesAfterFirst(o *Op) uint64 { return max(o.Size, 1) - 1 }

// firstMessageBytes returns k of what a send sends first: its message, or a request.
func (r *run) firstMessageBytes(o *Op) uint64 {
	if o.Size > r.S {
		return 0
	}
	return bytesAfterFirst(o)
}

// askOrSchedule asks for the CPU of an operation at a time, which may be now.
func (r *run) askOrSchedule(now, at uint64, op uint32, what uint32) {
	if at > now {
		r.schedule(at, op<<3|what)
	} else {
		r.askCPU(now, op, what)
	}
}

// releaseDependants lets operations go on that wait for the end, or the start, of another one,
// which the entry of a path says that occupied its CPU last.
func (r *run) releaseDependants(op uint32, at uint64, start uint32, by uint32) {
	for _, d := range r.deps[r.after[op]:r.after[op+1]] {
		if d&1 != start {
			continue
		}
		d >>= 1
		if at >= r.readyAt[d] {
			r.readyAt[d] = at
			if r.pathLog != nil {
				r.pathLog.causes[d] = causeBy(by, byReady)
			}
		}
		if r.state[d]--; r.state[d] == 0 {
			r.begunOps++
			r.schedule(r.readyAt[d], d<<3)
		}
	}
}

// endOp ends an operation when its CPU is free.
func (r *run) endOp(op uint32, cpu int) {
	r.pendingOps--
	r.releaseDependants(op, r.cpuFree[cpu], 0, r.pathLog.lastEntryOnCPU(cpu))
}

// opReady lets an operation begin that has nothing to wait for.
func (r *run) opReady(at uint64, op uint32) {
	if r.ops[op].Kind != Recv {
		r.askCPU(at, op, beginOp)
		return
	}
	by := uint32(0)
	if r.pathLog != nil && r.after[op] < r.after[op+1] {
		by = r.pathLog.addEntry(at, op<<3+beginOp, r.pathLog.causes[op])
		r.noteCause(op, byReady)
	}
	r.releaseDependants(op, at, 1, by)
	if send, ok := r.match.matchReceive(op); ok {
		r.pairMessage(at, r.readyAt[send], send, op, false)
	}
}

// pairMessage brings a message, or a request, and its receive together. The message can be taken
// from a time on. last says that the message came later.
func (r *run) pairMessage(at, taken uint64, send, recv uint32, last bool) {
	r.checkPairSizes(send, recv)
	r.state[recv], r.state[send] = send, recv+1
	if r.pathLog != nil && (last || taken > at) {
		r.pathLog.causes[recv] = r.pathLog.causes[send]
	}
	what := uint32(takeMessage)
	if r.ops[send].Size > r.S {
		what = sendAnswer
	}
	r.askOrSchedule(at, max(at, taken), recv, what)
}

// request is work for a CPU that waits for it.
type request struct {
	at   uint64
	op   uint32
	what uint32
}

// askCPU asks for the CPU of an operation. If until when the CPU is occupied is known, so is when
// it does this work. It is not if the CPU waits for an interface that others use, too.
func (r *run) askCPU(at uint64, op, what uint32) {
	o := &r.ops[op]
	if cpu := int(o.rank)*r.cpus + int(o.CPU); r.cpuHeld != nil && r.cpuHeld[cpu] {
		r.heldRequests[cpu] = append(r.heldRequests[cpu], request{at, op, what})
		return
	}
	r.work(at, op, what)
}

// work lets the CPU of an operation do what was asked for at a time, as soon as it is free.
func (r *run) work(at uint64, op, what uint32) {
	o := &r.ops[op]
	cpu := int(o.rank)*r.cpus + int(o.CPU)
	begin := max(at, r.cpuFree[cpu])
	if r.pathLog != nil {
		c := r.pathLog.causes[op]
		if begin > at {
			c = causeBy(r.pathLog.cpu[cpu], byCPU)
		}
		r.pathLog.cpu[cpu] = r.pathLog.addEntry(begin, op<<3|what, c)
	}
	work := r.o
	switch {
	case what == takeMessage:
		k := bytesAfterFirst(&r.ops[r.state[op]])
		r.cpuFree[cpu] = r.Noise.endOfWork(o.rank, begin, r.o+r.bytes(k))
		r.endOp(op, cpu)
		return
	case o.Kind == Calc:
		r.cpuFree[cpu] = r.Noise.endOfWork(o.rank, begin, o.Size*r.unitsPerNanosecond)
		r.releaseDependants(op, begin, 1, r.pathLog.lastEntryOnCPU(cpu))
		r.endOp(op, cpu)
		return
	case what == beginOp:
		r.releaseDependants(op, begin, 1, r.pathLog.lastEntryOnCPU(cpu))
		r.messages++
	default:
		work = 2 * r.o
	}
	ready := r.Noise.endOfWork(o.rank, begin, work)
	if r.pathLog != nil {
		r.pathLog.causes[op] = causeBy(r.pathLog.cpu[cpu], byMessage)
	}
	if r.cpuHeld == nil {
		r.leaveInterface(ready, op, what, begin)
		return
	}
	r.cpuHeld[cpu] = true
	r.readyAt[op] = begin
	r.schedule(ready, op<<3|messageLeaves)
}

// injection returns what an operation sends whose message is to leave.
func (r *run) injection(op uint32) uint32 {
	switch {
	case r.ops[op].Kind == Recv:
		return sendAnswer
	case r.state[op] != 0: // it has met its receive
		return sendData
	}
	return beginOp
}

// leaveInterface lets a message leave that is ready at a time. Its CPU began to work on it before.
func (r *run) leaveInterface(ready uint64, op, what uint32, begin uint64) {
	o := &r.ops[op]
	send, k := op, uint64(0)
	switch what {
	case beginOp:
		k = r.firstMessageBytes(o)
	case sendData:
		k = bytesAfterFirst(o)
	case sendAnswer:
		send = r.state[op]
	}
	cpu, out := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(r.ops[send].NIC)
	end := ready
	if work := r.bytes(k); work > 0 {
		end = r.Noise.endOfWork(o.rank, ready, work)
	}
	left := max(ready, r.outFree[out])
	if r.pathLog != nil {
		last := r.pathLog.causes[op] >> 3
		if left > ready {
			last = r.pathLog.addEntry(left, op<<3|messageLeaves, causeBy(r.pathLog.out[out], byInterface))
			if left >= end {
				r.pathLog.cpu[cpu] = last
			}
		}
		r.pathLog.out[out] = last
		r.pathLog.causes[send] = causeBy(last, byMessage)
	}
	r.cpuFree[cpu] = max(left, end)
	r.outFree[out] = left + r.g + r.flow(k)
	switch what {
	case beginOp:
		r.schedule(left+r.L, op<<3|messageArrives)
		if o.Size <= r.S {
			r.endOp(op, cpu)
		}
	case sendAnswer:
		r.schedule(left+r.L, send<<3|answerArrives)
	case sendData:
		r.schedule(left+r.L, op<<3|dataArrives)
		r.endOp(op, cpu)
	}
	if r.cpuHeld == nil {
		return
	}
	r.cpuHeld[cpu] = false
	asked := r.heldRequests[cpu]
	for len(asked) > 0 && !r.cpuHeld[cpu] {
		next := asked[0]
		asked = asked[1:]
		r.work(next.at, next.op, next.what)
	}
	if len(asked) > 0 {
		r.heldRequests[cpu] = asked
	} else {
		delete(r.heldRequests, cpu)
	}
}

// flow returns k G, and bytes k O.
func (r *run) flow(k uint64) uint64  { return r.G.rounded(k)*r.unitsPerByteCost + r.dG*k }
func (r *run) bytes(k uint64) uint64 { return r.O.rounded(k)*r.unitsPerByteCost + r.dO*k }

// enterInterface lets a message into an interface of its receiver. It returns when that begins, and
// when a CPU may begin to take the message.
func (r *run) enterInterface(at uint64, rank, op, what uint32, nic uint8, k uint64) (begin, taken uint64) {
	in := int(rank)*r.nics + int(nic)
	begin = max(at, r.inFree[in])
	if r.pathLog != nil {
		c := r.pathLog.causes[op]
		if begin > at {
			c = causeBy(r.pathLog.in[in], byInterface)
		}
		r.pathLog.in[in] = r.pathLog.addEntry(begin, op<<3|what, c)
	}
	flow := r.flow(k)
	r.inFree[in] = begin + r.g + flow
	if work := r.bytes(k); flow > work {
		return begin, begin + flow - work
	}
	return begin, begin
}
