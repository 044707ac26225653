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
func (r *run) sendWaitClass(o *Op) int    { return r.cpus + int(o.CPU)*r.nics + int(o.NIC) }
func (r *run) arrivalWaitClass(o *Op) int { return r.sendWaitClass(o) + r.cpus*r.nics }

// resourcesPerRank returns how many classes a rank has.
func (r *run) resourcesPerRank() int { return r.cpus * (1 + 2*r.nics) }

// maxWaitQueues bounds the memory for classes. With more, all events stand in the queue.
const maxWaitQueues = 1 << 26

func (r *run) simulateLogGOPSim() {
	r.queuesAll = r.overhead < r.overheadPerByte.integer || r.gap < r.gapPerByte.integer || // then an empty message frees a resource again
		r.CountRanks()*r.resourcesPerRank() > maxWaitQueues
	r.scheduleFirstOps()
	for !r.empty() {
		e := r.pop()
		op := e.opAndAction >> 3
		o := &r.ops[op]
		switch {
		case e.opAndAction&7 == messageArrivesAction:
			r.handleArrivalInLogGOPSim(e, op, o)
		case o.Kind == Calc:
			cpu := int(o.rank)*r.cpus + int(o.CPU)
			if free := r.cpuFree[cpu]; free > e.at {
				r.queueUntilFree(o.rank, int(o.CPU), e, free)
				continue
			}
			r.noteOccupation(e, cpu, -1, -1)
			r.cpuFree[cpu] = e.at + o.Size*r.unitsPerNanosecond
			r.scheduleNextWaiting(o.rank, int(o.CPU), e, r.cpuFree[cpu])
			r.releaseOnStart(op)
			r.finishOp(op, e.at)
		case o.Kind == Send:
			cpu, nic := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(o.NIC)
			if free := max(r.cpuFree[cpu], r.outFree[nic]); free > e.at {
				r.queueUntilFree(o.rank, r.sendWaitClass(o), e, free)
				continue
			}
			r.releaseOnStart(op)
			r.noteOccupation(e, cpu, nic, -1)
			r.cpuFree[cpu] = e.at + r.overhead + (o.Size-1)*r.overheadPerByte.integer
			r.outFree[nic] = e.at + r.gap + (o.Size-1)*r.gapPerByte.integer
			r.scheduleNextWaiting(o.rank, r.sendWaitClass(o), e, max(r.cpuFree[cpu], r.outFree[nic]))
			r.addEvent(e.at+r.overhead+r.latency, op<<3|messageArrivesAction)
			r.messages++
			if o.Size <= r.eagerLimit {
				r.finishOp(op, e.at)
			}
		default:
			r.releaseOnStart(op)
			if send, ok := r.matcher.matchReceive(op); ok {
				r.checkPairSizes(send, op)
				if o.Size > r.eagerLimit {
					r.noteReceive(e)
					r.endWaitingSend(send, e.at, e.at, e.at, o)
				}
				r.finishOp(op, e.at)
			}
		}
		r.scheduleReadyOps()
	}
}

// handleArrivalInLogGOPSim lets a message arrive.
func (r *run) handleArrivalInLogGOPSim(e event, op uint32, o *Op) {
	cpu, nic := int(o.Peer)*r.cpus+int(o.CPU), int(o.Peer)*r.nics+int(o.NIC)
	if free := max(r.cpuFree[cpu], r.inFree[nic]); free > e.at {
		r.queueUntilFree(o.Peer, r.arrivalWaitClass(o), e, free)
		return
	}
	r.noteOccupation(e, cpu, -1, nic)
	r.cpuFree[cpu] = e.at + r.overhead + max((o.Size-1)*r.overheadPerByte.integer, (o.Size-1)*r.gapPerByte.integer)
	r.inFree[nic] = e.at + r.gap + (o.Size-1)*r.gapPerByte.integer
	r.scheduleNextWaiting(o.Peer, r.arrivalWaitClass(o), e, max(r.cpuFree[cpu], r.inFree[nic]))
	if recv, ok := r.matcher.matchMessage(op); ok {
		r.checkPairSizes(op, recv)
		if o.Size > r.eagerLimit {
			r.endWaitingSend(op, e.at, e.at, e.at, o)
		}
		r.finishOp(recv, e.at)
	}
}

// endWaitingSend ends a send that has waited for its receive. The CPU and the interface of the
// sender are occupied until certain times; their indices are those of the operation that was
// matched last.
func (r *run) endWaitingSend(send uint32, end, cpuTime, nicTime uint64, by *Op) {
	if r.messageBytes(&r.ops[send]) > r.eagerLimit {
		r.finishOp(send, end)
	} else { // it has ended before
		r.releaseOnEnd(send, end)
	}
	from := int(r.ops[send].rank)
	cpu, nic := from*r.cpus+int(by.CPU), from*r.nics+int(by.NIC)
	r.noteRelease(cpuTime, nicTime, cpu, nic)
	r.cpuFree[cpu], r.outFree[nic] = max(r.cpuFree[cpu], cpuTime), max(r.outFree[nic], nicTime)
}

// endTwice reports whether a send may end twice: a receive has more than S bytes, and a send has
// not.
func (r *run) endTwice() bool {
	long, short := false, false
	for i := range r.ops {
		switch o := &r.ops[i]; o.Kind {
		case Recv:
			long = long || r.messageBytes(o) > r.eagerLimit
		case Send:
			short = short || r.messageBytes(o) <= r.eagerLimit
		}
	}
	return long && short
}

// messageBytes returns the size of a message.
func (r *run) messageBytes(o *Op) uint64 {
	if r.Dialect == LGS {
		return max(o.Size, 1)
	}
	return o.Size
}

// scheduleFirstOps makes events of all operations that wait for none.
func (r *run) scheduleFirstOps() {
	if r.endTwice() {
		r.readyBits = make([]uint64, len(r.ops)/64+1)
	}
	for i, n := range r.stateOfOp {
		if n == 0 {
			r.lateOps = append(r.lateOps, uint32(i))
			r.begunOps++
		}
		if o := r.ops[i]; i+1 == int(r.firstOpOfRank[o.rank+1]) {
			r.scheduleReadyOps()
		}
	}
}

// releaseOnStart lets operations go on that wait for the start of another one. In dialect LGS those
// that have waited for nothing else lately begin at time 0.
func (r *run) releaseOnStart(op uint32) {
	for _, d := range r.dependants[r.firstDependant[op]:r.firstDependant[op+1]] {
		if d&1 == 0 || r.isReady(d>>1) {
			continue
		}
		if r.readyAt != nil && r.stateOfOp[d>>1] == 1 {
			r.readyAt[d>>1] = 0
			r.noteCause(d>>1, 0)
		}
		r.countDown(d >> 1)
	}
}

// finishOp is the end of an operation at a time. Dialect LogGOPSim does not pass on the time.
func (r *run) finishOp(op uint32, at uint64) {
	r.pendingOps--
	r.releaseOnEnd(op, at)
}

// releaseOnEnd lets operations go on that wait for the end of another one.
func (r *run) releaseOnEnd(op uint32, at uint64) {
	for _, d := range r.dependants[r.firstDependant[op]:r.firstDependant[op+1]] {
		if d&1 != 0 || r.isReady(d>>1) {
			continue
		}
		if r.readyAt != nil && at >= r.readyAt[d>>1] {
			r.readyAt[d>>1] = at
			r.noteCause(d>>1, causeReady)
		}
		r.countDown(d >> 1)
	}
}

// isReady reports whether an operation waits for nothing any more, where that is kept.
func (r *run) isReady(op uint32) bool {
	return r.readyBits != nil && r.readyBits[op>>6]>>(op&63)&1 != 0
}

func (r *run) countDown(op uint32) {
	if r.stateOfOp[op]--; r.stateOfOp[op] == 0 {
		if r.readyBits != nil {
			r.readyBits[op>>6] |= 1 << (op & 63)
		}
		r.lateOps = append(r.lateOps, op)
		r.begunOps++
	}
}

// scheduleReadyOps makes events of the operations that have become ready.
func (r *run) scheduleReadyOps() {
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
		at := r.cpuFree[cpu]
		if r.pathLog != nil && o.Kind == Recv {
			r.pathLog.causes[op] = encodeCause(r.pathLog.lastEntryOfCPU[cpu], causeCPU)
		}
		if o.Kind == Send {
			at = max(at, r.outFree[int(o.rank)*r.nics+int(o.NIC)])
		}
		r.addEvent(at, op<<3+beginOpAction)
	}
	r.lateOps = r.lateOps[:0]
}

// queueUntilFree puts an event off until its resource is free, for which others may wait, too.
func (r *run) queueUntilFree(rank uint32, class int, e event, free uint64) {
	w := r.waitQueueOf(rank, class)
	switch {
	case r.queuesAll || w.hasScheduled && w.scheduledSerial == e.serial:
	case w.hasScheduled && w.scheduledSerial < e.serial:
		w.push(e)
		return
	default:
		w.hasScheduled, w.scheduledSerial = true, e.serial
	}
	e.at = free
	r.push(e)
}

// scheduleNextWaiting lets the next event of a class go for its resource when one of them has got
// it.
func (r *run) scheduleNextWaiting(rank uint32, class int, e event, free uint64) {
	if r.waitBlocks == nil || r.waitBlocks[rank] < 0 {
		return
	}
	w := r.waitQueueOf(rank, class)
	if !w.hasScheduled || w.scheduledSerial != e.serial {
		return
	}
	if w.hasScheduled = len(w.laterEvents) > 0; w.hasScheduled {
		next := w.pop()
		w.scheduledSerial = next.serial
		next.at = max(e.at, free)
		r.push(next)
	}
}

func (r *run) waitQueueOf(rank uint32, class int) *waitQueue {
	if r.queuesAll {
		return nil
	}
	size := r.resourcesPerRank()
	if r.waitBlocks == nil {
		r.waitBlocks = make([]int32, r.CountRanks())
		for i := range r.waitBlocks {
			r.waitBlocks[i] = -1
		}
	}
	at := r.waitBlocks[rank]
	if at < 0 {
		at = int32(len(r.waitQueues) / size)
		r.waitBlocks[rank] = at
		r.waitQueues = append(r.waitQueues, make([]waitQueue, size)...)
	}
	return &r.waitQueues[int(at)*size+class]
}
