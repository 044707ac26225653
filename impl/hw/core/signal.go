package core

import "github.com/loggp/loggp/impl/device"

// handlers are the pending signals of a rank. Its handler runs in the rank's own process, when the
// rank waits, computes (Delay), polls or unmasks its signals; not in the middle of another call,
// since a system runs handlers when it returns to the program.
type handlers struct {
	handler func(src int, head device.Head)
	waiting []raised
	running bool
	masked  bool
}

type raised struct {
	src  int32
	head device.Head
}

// signal is a port as the Signal of its rank.
type signal struct{ *Port }

// Signal implements device.Port.
func (p *Port) Signal() device.Signal {
	if !p.Job.queues {
		return nil
	}
	return signal{p}
}

// signals returns the rank's handlers.
func (p *Port) signals() *handlers {
	if p.handlers == nil {
		p.handlers = new(handlers)
	}
	return p.handlers
}

func (s signal) Handle(handler func(src int, head device.Head)) {
	s.signals().handler = handler
	s.Pay()
	s.deliver()
}

func (s signal) Raise(dst int, head device.Head) {
	s.check(dst)
	s.remoteTo(dst).Raise(s.Port, dst, head)
}

func (s signal) Mask(on bool) {
	h := s.signals()
	h.masked = on
	if !on && len(h.waiting) > 0 {
		s.Pay()
		s.deliver()
	}
}

// Interrupt lets the handler of the rank run for a signal, as soon as it may.
func (p *Port) Interrupt(src int32, head device.Head) {
	if p.ended {
		return
	}
	h := p.signals()
	h.waiting = append(h.waiting, raised{src, head})
	if !h.masked && !h.running && h.handler != nil {
		p.notifySignal()
	}
}

// deliver runs the handler for the signals that wait, if it may run, and reports whether it has.
// Work that the rank has been charged and not done yet is done later.
func (p *Port) deliver() bool {
	h := p.handlers
	if h == nil || h.running || h.handler == nil || len(h.waiting) == 0 || h.masked {
		return false
	}
	left := max(p.Clock-p.Kernel.Now(), 0)
	p.Clock = p.Kernel.Now()
	h.running = true
	for len(h.waiting) > 0 && !h.masked {
		x := h.waiting[0]
		h.waiting = h.waiting[:copy(h.waiting, h.waiting[1:])]
		p.remoteTo(int(p.ID)).Upcall(p)
		h.handler(int(x.src), x.head)
		p.Pay()
		p.events++
	}
	h.running = false
	p.CatchUp()
	p.Clock += left
	return true
}

// work lets the rank do what it has been charged. Signals interrupt it.
func (p *Port) work() {
	for p.deliver(); p.Clock > p.Kernel.Now(); p.deliver() {
		p.Kernel.At(p.Clock, (*wake)(p), uint64(p.rests))
		p.park(computing)
		p.rests++
	}
}

// wake is the end of a nap.
type wake Port

// Act wakes the rank if it still sleeps.
func (w *wake) Act(rest uint64) {
	if p := (*Port)(w); uint64(p.rests) == rest && p.state == computing {
		p.resume()
	}
}
