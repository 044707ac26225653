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

func (r *run) lgs() {
	r.due = make([]uint64, len(r.ops))
	r.loose = true
	r.begin()
	for !r.empty() {
		e := r.pop()
		op := e.what >> 3
		o := &r.ops[op]
		r.touched = o.rank
		if e.what&7 == arriving {
			r.touched = o.Peer
		}
		cpu, nic := int(o.rank)*r.cpus+int(o.CPU), int(o.rank)*r.nics+int(o.NIC)
		switch {
		case e.what&7 == arriving:
			r.lgsMessage(e, op, o)
		case o.Kind == Calc:
			if free := r.cpu[cpu]; free > e.at {
				r.push(event{free, e.serial, e.what})
				continue
			}
			r.took(e, cpu, -1, -1)
			r.cpu[cpu] = e.at + o.Size
			r.started(op)
			r.finished(op, r.cpu[cpu])
		case o.Kind == Send:
			if free := max(r.cpu[cpu], r.out[nic]); free > e.at {
				r.push(event{free, e.serial, e.what})
				continue
			}
			bytes := r.sent(o) - 1
			r.started(op)
			r.took(e, cpu, nic, -1)
			r.cpu[cpu] = e.at + r.o + r.O.of(bytes)
			r.out[nic] = e.at + r.g + r.G.floor(bytes)
			r.later(r.cpu[cpu]+r.L+r.G.floor(bytes), op<<3|arriving)
			r.messages++
			if r.sent(o) <= r.S {
				r.finished(op, r.cpu[cpu])
			}
		default:
			r.started(op)
			if send, ok := r.match.post(op); ok {
				if e.at < r.due[send] {
					if r.early == 0 {
						r.asserts = op
					}
					r.early++
				}
				if r.sent(o) > r.S {
					r.touched = r.ops[send].rank
				}
				r.pair(send, op)
				r.took(e, cpu, nic, -1)
				r.in[nic] = max(r.out[nic], e.at) + r.g
				r.cpu[cpu] = r.in[nic] + r.o + r.O.of(r.sent(o)-1)
				if r.log != nil {
					r.log.in[nic] = uint32(len(r.log.entries))
				}
				if r.sent(o) > r.S {
					r.released(send, r.cpu[cpu], r.cpu[cpu], r.in[nic], o)
				}
				r.finished(op, r.cpu[cpu])
			}
		}
		r.flush()
	}
}

// flushLGS makes events of the operations that have become ready.
func (r *run) flushLGS() {
	put := func(op uint32) {
		o := &r.ops[op]
		at := r.due[op]
		switch o.Kind {
		case Send:
			at = max(at, r.out[int(o.rank)*r.nics+int(o.NIC)])
		case Calc:
			at = max(at, r.cpu[int(o.rank)*r.cpus+int(o.CPU)])
		}
		r.later(at, op<<3+beginning)
	}
	for _, op := range r.lateOps {
		if r.ops[op].rank == r.touched {
			put(op)
		}
	}
	for _, op := range r.lateOps {
		if r.ops[op].rank != r.touched {
			put(op)
		}
	}
	r.lateOps = r.lateOps[:0]
}

// lgsMessage lets a message arrive.
func (r *run) lgsMessage(e event, op uint32, o *Op) {
	recv, ok := r.match.arrive(op)
	if !ok {
		r.due[op] = e.at
		return
	}
	cpu, nic := int(o.Peer)*r.cpus+int(r.ops[recv].CPU), int(o.Peer)*r.nics+int(o.NIC)
	if free := max(r.cpu[cpu], r.in[nic]); free > e.at {
		r.match.repost(recv)
		r.push(event{free, e.serial, e.what})
		return
	}
	r.pair(op, recv)
	r.took(e, cpu, -1, nic)
	r.in[nic] = max(r.in[nic], e.at) + r.g
	r.cpu[cpu] = r.in[nic] + r.o + r.O.of(r.sent(o)-1)
	if r.sent(o) > r.S {
		r.released(op, r.cpu[cpu], r.cpu[cpu], r.in[nic], o)
	}
	r.finished(recv, r.cpu[cpu])
}
