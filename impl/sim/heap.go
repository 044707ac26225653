package sim

import "github.com/loggp/loggp/model/unit"

type event struct {
	at  unit.Time
	seq uint64
	act Action
	arg uint64
}

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.seq < f.seq
}

// heap is a 4-ary heap of events. Note: container/heap boxes every event and compares through an interface, which costs
// three times as much with a thousand processes.
type heap struct{ e []event }

func (h *heap) len() int { return len(h.e) }

func (h *heap) push(x event) {
	h.e = append(h.e, x)
	e, i := h.e, len(h.e)-1
	for i > 0 {
		up := (i - 1) / 4
		if !x.before(&e[up]) {
			break
		}
		e[i] = e[up]
		i = up
	}
	e[i] = x
}

// pop takes out the first event.
func (h *heap) pop() (at unit.Time, act Action, arg uint64) {
	e := h.e
	last := len(e) - 1
	at, act, arg = e[0].at, e[0].act, e[0].arg
	x := e[last]
	e[last].act = nil
	e = e[:last]
	h.e = e
	if last == 0 {
		return at, act, arg
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= last {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, last); c++ {
			if e[c].before(&e[least]) {
				least = c
			}
		}
		if !e[least].before(&x) {
			break
		}
		e[i] = e[least]
		i = least
	}
	e[i] = x
	return at, act, arg
}

// queue is a first-in first-out queue of processes.
type queue struct {
	p    []*Proc
	head int
}

func (q *queue) push(p *Proc) { q.p = append(q.p, p) }

func (q *queue) pop() *Proc {
	if q.head == len(q.p) {
		return nil
	}
	p := q.p[q.head]
	q.head++
	if q.head == len(q.p) {
		q.p, q.head = q.p[:0], 0
	}
	return p
}

func (q *queue) empty() bool { return q.head == len(q.p) }
