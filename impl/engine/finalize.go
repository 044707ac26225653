package engine

import (
	"fmt"

	"github.com/loggp/loggp/impl/match"
)

// Unfinished returns how many operations there are that the program knows and has not completed,
// and what the first of them waits for. None are counted after a call that failed and whose error
// the program has handled: it may have left some that it does not know.
func (r *Rank) Unfinished() (int, Wait) {
	n := r.Open() - r.buffer.pending - r.freed
	if n == 0 || r.failed {
		return 0, Wait{}
	}
	return n, r.explain(r.firstOpen(0))
}

// firstOpen returns the first operation that has not been released and is of those that the program
// does not know, or of the others.
func (r *Rank) firstOpen(of state) *Op {
	unused := make([]bool, len(r.ops))
	for o := r.unused; o != nil; o = o.next {
		unused[o.id] = true
	}
	for i, o := range r.ops {
		if !unused[i] && o.state&(detached|freed) == of {
			return o
		}
	}
	panic("engine: no operation is open")
}

// Settle makes progress until buffered messages and operations that the program has given up are
// complete: it may need their memory no longer.
func (r *Rank) Settle() {
	r.waits = finalizing{}
	for r.buffer.pending > 0 || r.freed > 0 {
		r.engine.Progress(true)
	}
	r.waits = nil
}

// Finalize makes progress until nothing of the rank is under way: what Settle waits for, and
// messages without a receive whose senders may yet cancel them.
// It returns how many messages have arrived that were not received, and the first of them: to look
// for more would take time from programs that have none.
func (r *Rank) Finalize() (int, *Arrival) {
	r.Settle()
	r.waits = finalizing{}
	for r.engine.Unsettled() != nil {
		r.engine.Progress(true)
	}
	r.waits = nil
	return r.engine.Unreceived(AnyContext)
}

// finalizing is what a rank in Finalize waits for.
type finalizing struct{}

func (finalizing) wait(r *Rank) Wait {
	switch m := r.engine.Unsettled(); {
	case r.buffer.pending > 0:
		return r.buffer.wait(r)
	case r.freed > 0:
		w := r.explain(r.firstOpen(freed))
		w.Open = r.freed
		return w
	case m != nil:
		return Wait{For: ForCancel, Peer: m.Source, Context: m.Context, Tag: m.Tag, Bytes: m.Bytes}
	}
	return Wait{Peer: Any}
}

// Idle returns an error if something of the rank is under way, or memory of Room was given back
// twice. It is for tests of engines.
func (r *Rank) Idle() error {
	seen := map[*byte]bool{}
	for _, b := range r.rooms {
		seen[&b[:1][0]] = true
	}
	switch {
	case r.Open() != 0:
		return fmt.Errorf("%d operations are open", r.Open())
	case len(r.buffer.used) != 0 || r.buffer.pending != 0:
		return fmt.Errorf("%d messages are in the attached buffer", len(r.buffer.used))
	case r.freed != 0:
		return fmt.Errorf("%d operations that were freed are under way", r.freed)
	case len(seen) < len(r.rooms):
		return fmt.Errorf("memory to copy messages through was given back twice")
	case len(r.rooms) > 2*len(r.ops): // of data with gaps, and staged
		return fmt.Errorf("%d pieces of memory to copy messages through for %d operations", len(r.rooms), len(r.ops))
	}
	return nil
}

// Unreceived is Engine.Unreceived of an engine that keeps messages without a receive in a queue.
func Unreceived[T any](q *match.Queue[T], context uint32, arrival func(T) *Arrival) (int, *Arrival) {
	m := q.First()
	if context != AnyContext {
		m = q.Match(match.Envelope{Context: context, Source: match.Any, Tag: match.Any})
	}
	if m == nil {
		return q.Len(), nil
	}
	return q.Len(), arrival(m.Value)
}

// Unsettled is Engine.Unsettled of such an engine, whose senders may cancel messages that are open.
func Unsettled[T any](q *match.Queue[T], open func(T) bool, arrival func(T) *Arrival) *Arrival {
	for m := range q.All() {
		if open(m.Value) {
			return arrival(m.Value)
		}
	}
	return nil
}
