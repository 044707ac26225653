package proto

import "github.com/loggp/loggp/impl/match"

// Unfinished returns how many operations there are that the program knows and has not completed, and what the first of them waits for. None are counted
// after a call that failed and whose error the program has handled: it may have left some, of which nobody knows.
func (e *Engine) Unfinished() (int, Wait) {
	n := e.Open() - e.buffer.pending - e.freed
	if n == 0 || e.failed {
		return 0, Wait{}
	}
	return n, e.firstOpen(0).awaited()
}

// firstOpen returns the first operation that has not been released and is of those that nobody will ask for, or of the others.
func (e *Engine) firstOpen(of state) *Op {
	unused := make([]bool, len(e.ops))
	for o := e.unused; o != nil; o = o.next {
		unused[o.id] = true
	}
	for i, o := range e.ops {
		if !unused[i] && o.state&(detached|freed) == of {
			return o
		}
	}
	panic("proto: no operation is open")
}

// Finalize makes progress until nothing of the rank is under way: buffered messages, operations that the program has given up, and messages without a
// receive whose senders may yet cancel them. It returns how many messages have been taken in that nobody received, and the first of them: to look for
// more would take time from programs that have none.
func (e *Engine) Finalize() (int, *Arrival) {
	e.wait = (*leaving)(e)
	for e.buffer.pending > 0 || e.freed > 0 || e.unsettled() != nil {
		e.progress(true)
	}
	e.wait = nil
	if m := e.early.First(); m != nil {
		return e.early.Len(), m.Value.arrival()
	}
	return 0, nil
}

// unsettled returns an early message that its sender may cancel, or nil.
func (e *Engine) unsettled() *early {
	for m := range e.early.All() {
		if !m.Value.protocol.Forgets {
			return m.Value
		}
	}
	return nil
}

// leaving is an engine in Finalize.
type leaving Engine

func (l *leaving) awaited() Wait {
	e := (*Engine)(l)
	switch m := e.unsettled(); {
	case e.buffer.pending > 0:
		return e.buffer.awaited()
	case e.freed > 0:
		w := e.firstOpen(freed).awaited()
		w.Open = e.freed
		return w
	case m != nil:
		return Wait{For: ForCancel, Peer: int(m.src), Context: m.Context, Tag: int(m.tag), Bytes: m.size}
	}
	return Wait{Peer: match.Any}
}
