package schedule

// The rules of the LogGOPSim of ATLAHS at commit 8837294, where they differ from those of
// LogGOPSim:
//
//   - An operation begins when all that it requires have ended, at the latest of these times; but
//     at time 0 if the last that it waited for is a start. A send also waits for its interface.
//   - The size of an empty message is 1. (s−1) G is cut to whole nanoseconds.
//   - A message arrives (s−1) G + L after the CPU of its sender is free.
//   - A message looks for its receive first, and waits for CPU and interface only if there is one;
//     then the receive goes to the end of its queue. It takes g from the interface, and after that
//     o + (s−1) O from the CPU of the receive. There is no G, so that messages to one receiver do
//     not share its bandwidth.
//   - The receive of a message that has arrived takes g, counted from when the interface is free
//     for sends, and then o + (s−1) O. After g the interface is free for messages.
//   - A send of more than S bytes ends with its receive. The CPU of the sender is occupied until
//     then, and its interface until the receiver's is free.
//   - There are no wildcards, and operations that can never end are not noticed.
//   - A receive that begins at time 0 because it waited for a start last may find a message that
//     arrives later. An assertion of ATLAHS fails there; this program goes on, with a warning.
//
// ATLAHS leaves the order of events of one time to std::priority_queue, as this program does. What
// becomes ready at once is put there in the order in which it was released, that of the rank which
// the event has touched last first; at the beginning in that of the file.

func (r *run) simulateLGS() {
	r.readyAt = make([]uint64, len(r.ops))
	r.orderedByTimeOnly = true
	r.scheduleFirstOps()
	for !r.empty() {
		e := r.pop()
		op := e.opAndAction >> 3
		o := &r.ops[op]
		r.lastTouchedRank = o.rank
		if e.opAndAction&7 == messageArrivesAction {
			r.lastTouchedRank = o.Peer
		}
		cpu, nic := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(o.NIC)
		switch {
		case e.opAndAction&7 == messageArrivesAction:
			r.handleArrivalInLGS(e, op, o)
		case o.Kind == Calc:
			if free := r.cpuFree[cpu]; free > e.at {
				r.push(event{free, e.serial, e.opAndAction})
				continue
			}
			r.noteOccupation(e, cpu, -1, -1)
			r.cpuFree[cpu] = e.at + o.Size
			r.releaseOnStart(op)
			r.finishOp(op, r.cpuFree[cpu])
		case o.Kind == Send:
			if free := max(r.cpuFree[cpu], r.outFree[nic]); free > e.at {
				r.push(event{free, e.serial, e.opAndAction})
				continue
			}
			bytes := r.messageBytes(o) - 1
			r.releaseOnStart(op)
			r.noteOccupation(e, cpu, nic, -1)
			r.cpuFree[cpu] = e.at + r.overhead + r.overheadPerByte.roundedCost(bytes)
			r.outFree[nic] = e.at + r.gap + r.gapPerByte.truncatedCost(bytes)
			r.addEvent(r.cpuFree[cpu]+r.latency+r.gapPerByte.truncatedCost(bytes), op<<3|messageArrivesAction)
			r.messages++
			if r.messageBytes(o) <= r.eagerLimit {
				r.finishOp(op, r.cpuFree[cpu])
			}
		default:
			r.releaseOnStart(op)
			if send, ok := r.matcher.matchReceive(op); ok {
				if e.at < r.readyAt[send] {
					if r.earlyReceives == 0 {
						r.firstEarlyReceive = op
					}
					r.earlyReceives++
				}
				if r.messageBytes(o) > r.eagerLimit {
					r.lastTouchedRank = r.ops[send].rank
				}
				r.checkPairSizes(send, op)
				r.noteOccupation(e, cpu, nic, -1)
				r.inFree[nic] = max(r.outFree[nic], e.at) + r.gap
				r.cpuFree[cpu] = r.inFree[nic] + r.overhead + r.overheadPerByte.roundedCost(r.messageBytes(o)-1)
				if r.pathLog != nil {
					r.pathLog.lastEntryOfInInterface[nic] = uint32(len(r.pathLog.entries))
				}
				if r.messageBytes(o) > r.eagerLimit {
					r.endWaitingSend(send, r.cpuFree[cpu], r.cpuFree[cpu], r.inFree[nic], o)
				}
				r.finishOp(op, r.cpuFree[cpu])
			}
		}
		r.scheduleReadyOps()
	}
}

// flushLGS makes events of the operations that have become ready.
func (r *run) flushLGS() {
	put := func(op uint32) {
		o := &r.ops[op]
		at := r.readyAt[op]
		switch o.Kind {
		case Send:
			at = max(at, r.outFree[int(o.rank)*r.nics+int(o.NIC)])
		case Calc:
			at = max(at, r.cpuFree[int(o.rank)*r.cpus+int(o.CPU)])
		}
		r.addEvent(at, op<<3+beginOpAction)
	}
	for _, op := range r.lateOps {
		if r.ops[op].rank == r.lastTouchedRank {
			put(op)
		}
	}
	for _, op := range r.lateOps {
		if r.ops[op].rank != r.lastTouchedRank {
			put(op)
		}
	}
	r.lateOps = r.lateOps[:0]
}

// handleArrivalInLGS lets a message arrive.
func (r *run) handleArrivalInLGS(e event, op uint32, o *Op) {
	recv, ok := r.matcher.matchMessage(op)
	if !ok {
		r.readyAt[op] = e.at
		return
	}
	cpu, nic := int(o.Peer)*r.cpus+int(r.ops[recv].CPU), int(o.Peer)*r.nics+int(o.NIC)
	if free := max(r.cpuFree[cpu], r.inFree[nic]); free > e.at {
		r.matcher.requeueReceive(recv)
		r.push(event{free, e.serial, e.opAndAction})
		return
	}
	r.checkPairSizes(op, recv)
	r.noteOccupation(e, cpu, -1, nic)
	r.inFree[nic] = max(r.inFree[nic], e.at) + r.gap
	r.cpuFree[cpu] = r.inFree[nic] + r.overhead + r.overheadPerByte.roundedCost(r.messageBytes(o)-1)
	if r.messageBytes(o) > r.eagerLimit {
		r.endWaitingSend(op, r.cpuFree[cpu], r.cpuFree[cpu], r.inFree[nic], o)
	}
	r.finishOp(recv, r.cpuFree[cpu])
}
