package core

import "github.com/loggp/loggp/impl/device"

// signalState is a rank's handler of signals, and the signals that wait for it. The handler runs in
// the rank's own process, when the rank waits, computes (Delay), polls or unmasks its signals; not
// in the middle of another call, since a system runs handlers when it returns to the program.
type signalState struct {
	handler          func(src int, head device.Head)
	pending          []pendingSignal
	isHandlerRunning bool
	isMasked         bool
}

type pendingSignal struct {
	src  int32
	head device.Head
}

// portAsSignals implements device.Signal for a port.
type portAsSignals struct{ *Port }

// Signal implements device.Port.
func (p *Port) Signal() device.Signal {
	if !p.Job.hasQueuesAndSignals {
		return nil
	}
	return portAsSignals{p}
}

// ensureSignalState returns the rank's signals, and makes their state if there is none.
func (p *Port) ensureSignalState() *signalState {
	if p.signals == nil {
		p.signals = new(signalState)
	}
	return p.signals
}

func (s portAsSignals) SetHandler(handler func(src int, head device.Head)) {
	s.ensureSignalState().handler = handler
	s.ElapseCharges()
	s.runSignalHandler()
}

func (s portAsSignals) RaiseAt(dst int, head device.Head) {
	s.checkRank(dst)
	s.remoteNetworkTo(dst).SendSignal(s.Port, dst, head)
}

func (s portAsSignals) Mask(on bool) {
	h := s.ensureSignalState()
	h.isMasked = on
	if !on && len(h.pending) > 0 {
		s.ElapseCharges()
		s.runSignalHandler()
	}
}

// DeliverSignal lets the handler of the rank run for a signal, as soon as it may.
func (p *Port) DeliverSignal(src int32, head device.Head) {
	if p.hasProgramEnded {
		return
	}
	h := p.ensureSignalState()
	h.pending = append(h.pending, pendingSignal{src, head})
	if !h.isMasked && !h.isHandlerRunning && h.handler != nil {
		p.resumeForSignal()
	}
}

// runSignalHandler runs the handler for the signals that wait, if it may run, and reports whether
// it has. Work that the rank has been charged and not done yet is done later.
func (p *Port) runSignalHandler() bool {
	h := p.signals
	if h == nil || h.isHandlerRunning || h.handler == nil || len(h.pending) == 0 || h.isMasked {
		return false
	}
	left := max(p.Clock-p.Kernel.Now(), 0)
	p.Clock = p.Kernel.Now()
	h.isHandlerRunning = true
	for len(h.pending) > 0 && !h.isMasked {
		x := h.pending[0]
		h.pending = h.pending[:copy(h.pending, h.pending[1:])]
		p.remoteNetworkTo(int(p.ID)).ChargeSignalHandler(p)
		h.handler(int(x.src), x.head)
		p.ElapseCharges()
		p.watchEventCount++
	}
	h.isHandlerRunning = false
	p.AdvanceToKernel()
	p.Clock += left
	return true
}

// computeWithSignals lets the rank do what it has been charged. Signals interrupt it.
func (p *Port) computeWithSignals() {
	for p.runSignalHandler(); p.Clock > p.Kernel.Now(); p.runSignalHandler() {
		p.Kernel.Schedule(p.Clock, (*computeEndEvent)(p), uint64(p.waitSerial))
		p.park(computingState)
		p.waitSerial++
	}
}

// computeEndEvent is the end of what a rank computes.
type computeEndEvent Port

// HandleEvent wakes the rank if it still sleeps.
func (w *computeEndEvent) HandleEvent(rest uint64) {
	if p := (*Port)(w); uint64(p.waitSerial) == rest && p.processState == computingState {
		p.resume()
	}
}
