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

func (r *run) simulateLogGP() {
	r.readyAt = make([]uint64, len(r.ops))
	if r.cpus > 1 {
		r.cpuHeld = make([]bool, len(r.cpuFree))
		r.heldRequests = map[int][]cpuRequest{}
	}
	for i, n := range r.stateOfOp {
		if n == 0 {
			r.begunOps++
			r.addEvent(0, uint32(i)<<3)
		}
	}
	for !r.empty() {
		e := r.pop()
		op := e.opAndAction >> 3
		o := &r.ops[op]
		switch what := e.opAndAction & 7; what {
		case beginOpAction:
			r.opReady(e.at, op)
		case messageArrivesAction:
			_, taken := r.enterInterface(e.at, o.Peer, op, messageArrivesAction, o.NIC, r.firstMessageBytes(o))
			r.noteCause(op, causeData)
			if recv, ok := r.matcher.matchMessage(op); ok {
				r.pairMessage(e.at, taken, op, recv, true)
			} else {
				r.readyAt[op] = taken
			}
		case answerArrivesAction:
			begin, _ := r.enterInterface(e.at, o.rank, op, answerArrivesAction, o.NIC, 0)
			r.noteCause(op, causeAnswer)
			r.requestOrScheduleCPU(e.at, begin, op, sendDataAction)
		case dataArrivesAction:
			_, taken := r.enterInterface(e.at, o.Peer, op, dataArrivesAction, o.NIC, bytesAfterFirst(o))
			recv := r.stateOfOp[op] - 1
			r.noteCause(recv, causeData)
			r.requestOrScheduleCPU(e.at, taken, recv, takeMessageAction)
		case messageLeavesAction:
			r.leaveInterface(e.at, op, r.injectedMessage(op), r.readyAt[op])
		default:
			r.requestCPU(e.at, op, what)
		}
	}
}

// bytesAfterFirst returns k.
func bytesAfterFirst(o *Op) uint64 { return max(o.Size, 1) - 1 }

// firstMessageBytes returns k of what a send sends first: its message, or a request.
func (r *run) firstMessageBytes(o *Op) uint64 {
	if o.Size > r.eagerLimit {
		return 0
	}
	return bytesAfterFirst(o)
}

// requestOrScheduleCPU asks for the CPU of an operation at a time, which may be now.
func (r *run) requestOrScheduleCPU(now, at uint64, op uint32, what uint32) {
	if at > now {
		r.addEvent(at, op<<3|what)
	} else {
		r.requestCPU(now, op, what)
	}
}

// releaseDependants lets operations go on that wait for the end, or the start, of another one,
// which the entry of a path says that occupied its CPU last.
func (r *run) releaseDependants(op uint32, at uint64, start uint32, by uint32) {
	for _, d := range r.dependants[r.firstDependant[op]:r.firstDependant[op+1]] {
		if d&1 != start {
			continue
		}
		d >>= 1
		if at >= r.readyAt[d] {
			r.readyAt[d] = at
			if r.pathLog != nil {
				r.pathLog.causes[d] = encodeCause(by, causeReady)
			}
		}
		if r.stateOfOp[d]--; r.stateOfOp[d] == 0 {
			r.begunOps++
			r.addEvent(r.readyAt[d], d<<3)
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
		r.requestCPU(at, op, beginOpAction)
		return
	}
	by := uint32(0)
	if r.pathLog != nil && r.firstDependant[op] < r.firstDependant[op+1] {
		by = r.pathLog.addEntry(at, op<<3+beginOpAction, r.pathLog.causes[op])
		r.noteCause(op, causeReady)
	}
	r.releaseDependants(op, at, 1, by)
	if send, ok := r.matcher.matchReceive(op); ok {
		r.pairMessage(at, r.readyAt[send], send, op, false)
	}
}

// pairMessage brings a message, or a request, and its receive together. The message can be taken
// from a time on. last says that the message came later.
func (r *run) pairMessage(at, taken uint64, send, recv uint32, last bool) {
	r.checkPairSizes(send, recv)
	r.stateOfOp[recv], r.stateOfOp[send] = send, recv+1
	if r.pathLog != nil && (last || taken > at) {
		r.pathLog.causes[recv] = r.pathLog.causes[send]
	}
	what := uint32(takeMessageAction)
	if r.ops[send].Size > r.eagerLimit {
		what = sendAnswerAction
	}
	r.requestOrScheduleCPU(at, max(at, taken), recv, what)
}

// cpuRequest is work for a CPU that waits for it.
type cpuRequest struct {
	readyAt     uint64
	op          uint32
	opAndAction uint32
}

// requestCPU asks for the CPU of an operation. If until when the CPU is occupied is known, so is
// when it does this work. It is not if the CPU waits for an interface that others use, too.
func (r *run) requestCPU(at uint64, op, what uint32) {
	o := &r.ops[op]
	if cpu := int(o.rank)*r.cpus + int(o.CPU); r.cpuHeld != nil && r.cpuHeld[cpu] {
		r.heldRequests[cpu] = append(r.heldRequests[cpu], cpuRequest{at, op, what})
		return
	}
	r.workOrWait(at, op, what)
}

// workOrWait lets the CPU of an operation do what was asked for at a time, as soon as it is free.
func (r *run) workOrWait(at uint64, op, what uint32) {
	o := &r.ops[op]
	cpu := int(o.rank)*r.cpus + int(o.CPU)
	begin := max(at, r.cpuFree[cpu])
	if r.pathLog != nil {
		c := r.pathLog.causes[op]
		if begin > at {
			c = encodeCause(r.pathLog.lastEntryOfCPU[cpu], causeCPU)
		}
		r.pathLog.lastEntryOfCPU[cpu] = r.pathLog.addEntry(begin, op<<3|what, c)
	}
	work := r.overhead
	switch {
	case what == takeMessageAction:
		k := bytesAfterFirst(&r.ops[r.stateOfOp[op]])
		r.cpuFree[cpu] = r.Noise.endOfWork(o.rank, begin, r.overhead+r.timeOfOverheadBytes(k))
		r.endOp(op, cpu)
		return
	case o.Kind == Calc:
		r.cpuFree[cpu] = r.Noise.endOfWork(o.rank, begin, o.Size*r.unitsPerNanosecond)
		r.releaseDependants(op, begin, 1, r.pathLog.lastEntryOnCPU(cpu))
		r.endOp(op, cpu)
		return
	case what == beginOpAction:
		r.releaseDependants(op, begin, 1, r.pathLog.lastEntryOnCPU(cpu))
		r.messages++
	default:
		work = 2 * r.overhead
	}
	ready := r.Noise.endOfWork(o.rank, begin, work)
	if r.pathLog != nil {
		r.pathLog.causes[op] = encodeCause(r.pathLog.lastEntryOfCPU[cpu], causeMessage)
	}
	if r.cpuHeld == nil {
		r.leaveInterface(ready, op, what, begin)
		return
	}
	r.cpuHeld[cpu] = true
	r.readyAt[op] = begin
	r.addEvent(ready, op<<3|messageLeavesAction)
}

// injectedMessage returns what an operation sends whose message is to leave.
func (r *run) injectedMessage(op uint32) uint32 {
	switch {
	case r.ops[op].Kind == Recv:
		return sendAnswerAction
	case r.stateOfOp[op] != 0: // it has met its receive
		return sendDataAction
	}
	return beginOpAction
}

// leaveInterface lets a message leave that is ready at a time. Its CPU began to work on it before.
func (r *run) leaveInterface(ready uint64, op, what uint32, begin uint64) {
	o := &r.ops[op]
	send, k := op, uint64(0)
	switch what {
	case beginOpAction:
		k = r.firstMessageBytes(o)
	case sendDataAction:
		k = bytesAfterFirst(o)
	case sendAnswerAction:
		send = r.stateOfOp[op]
	}
	cpu, out := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(r.ops[send].NIC)
	end := ready
	if work := r.timeOfOverheadBytes(k); work > 0 {
		end = r.Noise.endOfWork(o.rank, ready, work)
	}
	left := max(ready, r.outFree[out])
	if r.pathLog != nil {
		last := r.pathLog.causes[op] >> 3
		if left > ready {
			last = r.pathLog.addEntry(left, op<<3|messageLeavesAction, encodeCause(r.pathLog.lastEntryOfOutInterface[out], causeInterface))
			if left >= end {
				r.pathLog.lastEntryOfCPU[cpu] = last
			}
		}
		r.pathLog.lastEntryOfOutInterface[out] = last
		r.pathLog.causes[send] = encodeCause(last, causeMessage)
	}
	r.cpuFree[cpu] = max(left, end)
	r.outFree[out] = left + r.gap + r.timeOfGapBytes(k)
	switch what {
	case beginOpAction:
		r.addEvent(left+r.latency, op<<3|messageArrivesAction)
		if o.Size <= r.eagerLimit {
			r.endOp(op, cpu)
		}
	case sendAnswerAction:
		r.addEvent(left+r.latency, send<<3|answerArrivesAction)
	case sendDataAction:
		r.addEvent(left+r.latency, op<<3|dataArrivesAction)
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
		r.workOrWait(next.readyAt, next.op, next.opAndAction)
	}
	if len(asked) > 0 {
		r.heldRequests[cpu] = asked
	} else {
		delete(r.heldRequests, cpu)
	}
}

// timeOfGapBytes returns k G, and bytes k O.
func (r *run) timeOfGapBytes(k uint64) uint64 {
	return r.gapPerByte.roundedCost(k)*r.unitsPerByteCost + r.extraGapPerByte*k
}
func (r *run) timeOfOverheadBytes(k uint64) uint64 {
	return r.overheadPerByte.roundedCost(k)*r.unitsPerByteCost + r.extraOverheadPerByte*k
}

// enterInterface lets a message into an interface of its receiver. It returns when that begins, and
// when a CPU may begin to take the message.
func (r *run) enterInterface(at uint64, rank, op, what uint32, nic uint8, k uint64) (begin, taken uint64) {
	in := int(rank)*r.nics + int(nic)
	begin = max(at, r.inFree[in])
	if r.pathLog != nil {
		c := r.pathLog.causes[op]
		if begin > at {
			c = encodeCause(r.pathLog.lastEntryOfInInterface[in], causeInterface)
		}
		r.pathLog.lastEntryOfInInterface[in] = r.pathLog.addEntry(begin, op<<3|what, c)
	}
	flow := r.timeOfGapBytes(k)
	r.inFree[in] = begin + r.gap + flow
	if work := r.timeOfOverheadBytes(k); flow > work {
		return begin, begin + flow - work
	}
	return begin, begin
}
