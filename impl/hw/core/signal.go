package core

import "github.com/loggp/loggp/impl/device"

// signalQueue are the pending signals of a rank. Its handler runs in the rank's own process, when
// the rank waits, computes (Delay), polls or unmasks its signals; not in the middle of another
// call, since a system runs handlers when it returns to the program.
type signalQueue struct {
	handler func(src int, head device.Head)
	pending []pendingSignal
	running bool
	masked  bool
}

type pendingSignal struct {
	src  int32
	head device.Head
}

// signalPort is a port as the Signal of its rank.
type signalPort struct{ *Port }

// Signal implements device.Port.
func (p *Port) Signal() device.Signal {
	if !p.Job.hasQueues {
		return nil
	}
	return signalPort{p}
}

// signalQueue returns the rank's handlers.
func (p *Port) signalQueue() *signalQueue {
	if p.pendingSignals == nil {
		p.pendingSignals = new(signalQueue)
	}
	return p.pendingSignals
}

func (s signalPort) SetHandler(handler func(src int, head device.Head)) {
	s.signalQueue().handler = handler
	s.ElapseCharges()
	s.runSignalHandler()
}

func (s signalPort) Raise(dst int, head device.Head) {
	s.checkRank(dst)
	s.remoteNetworkTo(dst).SendSignal(s.Port, dst, head)
}

func (s signalPort) Mask(on bool) {
	h := s.signalQueue()
	h.masked = on
	if !on && len(h.pending) > 0 {
		s.ElapseCharges()
		s.runSignalHandler()
	}
}

// DeliverSignal lets the handler of the rank run for a signal, as soon as it may.
func (p *Port) DeliverSignal(src int32, head device.Head) {
	if p.programEnded {
		return
	}
	h := p.signalQueue()
	h.pending = append(h.pending, pendingSignal{src, head})
	if !h.masked && !h.running && h.handler != nil {
		p.notifySignal()
	}
}

// runSignalHandler runs the handler for the signals that wait, if it may run, and reports whether
// it has. Work that the rank has been charged and not done yet is done later.
func (p *Port) runSignalHandler() bool {
	h := p.pendingSignals
	if h == nil || h.running || h.handler == nil || len(h.pending) == 0 || h.masked {
		return false
	}
	left := max(p.Clock-p.Kernel.Now(), 0)
	p.Clock = p.Kernel.Now()
	h.running = true
	for len(h.pending) > 0 && !h.masked {
		x := h.pending[0]
		h.pending = h.pending[:copy(h.pending, h.pending[1:])]
		p.remoteNetworkTo(int(p.ID)).ChargeHandlerCall(p)
		h.handler(int(x.src), x.head)
		p.ElapseCharges()
		p.watchEventCount++
	}
	h.running = false
	p.AdvanceToKernel()
	p.Clock += left
	return true
}

// computeWithSignals lets the rank do what it has been charged. Signals interrupt it.
func (p *Port) computeWithSignals() {
	for p.runSignalHandler(); p.Clock > p.Kernel.Now(); p.runSignalHandler() {
		p.Kernel.Schedule(p.Clock, (*computeEnd)(p), uint64(p.waitSerial))
		p.park(computing)
		p.waitSerial++
	}
}

// computeEnd is the end of a nap.
type computeEnd Port

// HandleEvent wakes the rank if it still sleeps.
func (w *computeEnd) HandleEvent(rest uint64) {
	if p := (*Port)(w); uint64(p.waitSerial) == rest && p.state == computing {
		p.resume()
	}
}
