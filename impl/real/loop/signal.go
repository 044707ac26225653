package loop

import (
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// handlers is the signals of a rank that wait for its handler, which runs in a goroutine of its
// own, or in the rank's when it unmasks them.
type handlers struct {
	mu      sync.Mutex
	idle    sync.Cond // running is false
	handler func(src int, head device.Head)
	waiting []raised
	running bool
	masked  bool
	closed  bool // the rank's program has ended
}

type raised struct {
	src  int
	head device.Head
}

type signal struct{ *port }

func (s signal) Handle(handler func(src int, head device.Head)) {
	s.leave()
	h := &s.handlers
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handler = handler
	s.dispatch()
}

func (s signal) Raise(dst int, head device.Head) {
	to := s.reach(dst)
	if s.faults.Delay > 0 {
		s.later(func() { to.signal(raised{s.rank, head}) })
	} else {
		to.signal(raised{s.rank, head})
	}
}

// signal adds a signal to those of the port.
func (p *port) signal(r raised) {
	h := &p.handlers
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.waiting = append(h.waiting, r)
		p.dispatch()
	}
}

// dispatch starts a goroutine for the signals that wait, if they may run and none does. The lock is
// held. The goroutine counts as a rank that does not wait.
func (p *port) dispatch() {
	h := &p.handlers
	if h.running || h.masked || h.handler == nil || len(h.waiting) == 0 {
		return
	}
	h.running = true
	p.idle.Add(-1)
	p.running.Go(func() {
		defer p.rest()
		p.guard(p.rank, func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			p.handle()
			return nil
		})
	})
}

// handle runs the handler for the signals that wait, until they are masked. The lock is held, but
// not meanwhile.
func (p *port) handle() {
	h := &p.handlers
	h.running = true
	defer func() {
		h.running = false
		h.idle.Broadcast()
	}()
	for !h.masked && len(h.waiting) > 0 {
		next := h.waiting[0]
		h.waiting = h.waiting[1:]
		h.call(next)
		p.inbox.event(p.job)
	}
}

// call runs the handler. The lock is held, but not meanwhile.
func (h *handlers) call(r raised) {
	handler := h.handler
	h.mu.Unlock()
	defer h.mu.Lock()
	handler(r.src, r.head)
}

func (s signal) Mask(on bool) {
	s.leave()
	h := &s.handlers
	h.mu.Lock()
	defer h.mu.Unlock()
	h.masked = on
	for h.running {
		h.idle.Wait()
	}
	if !on && h.handler != nil {
		s.handle()
	}
}

// closeSignals drops signals from now on.
func (p *port) closeSignals() {
	h := &p.handlers
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed, h.waiting = true, nil
}
