package core

import "github.com/loggp/loggp/impl/device"

// signalState is a rank's signal handler with the pending signals. The handler runs in the rank's
// own process when the rank waits, computes (Delay), polls or unmasks signals. It does not run
// within other calls, because a system runs handlers when it returns to the program.
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

// ensureSignalState returns the rank's signal state, and creates it if necessary.
func (p *Port) ensureSignalState() *signalState {
	if p.signalState == nil {
		p.signalState = new(signalState)
	}
	return p.signalState
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

// DeliverSignal runs the handler of the rank for a signal as soon as it may run.
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

// runSignalHandler runs the handler for the pending signals if it may run, and reports whether it
// did. Charged work that has not elapsed is delayed.
func (p *Port) runSignalHandler() bool {
	h := p.signalState
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

// computeWithSignals lets the rank's charges elapse. Signals may interrupt it.
func (p *Port) computeWithSignals() {
	for p.runSignalHandler(); p.Clock > p.Kernel.Now(); p.runSignalHandler() {
		p.Kernel.Schedule(p.Clock, (*computeEndEvent)(p), uint64(p.waitSerial))
		p.park(computingState)
		p.waitSerial++
	}
}

// computeEndEvent is the event that ends a rank's computing.
type computeEndEvent Port

// HandleEvent wakes the rank if it still computes.
func (w *computeEndEvent) HandleEvent(rest uint64) {
	if p := (*Port)(w); uint64(p.waitSerial) == rest && p.processState == computingState {
		p.resume()
	}
}
