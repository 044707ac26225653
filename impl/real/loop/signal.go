package loop

import (
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// signalState holds the signals of a rank that wait for its handler. The handler runs in a
// goroutine of its own, or in the rank's when the rank unmasks signals.
type signalState struct {
	mu          sync.Mutex
	handlerDone sync.Cond // running is false
	handler     func(src int, head device.Head)
	pending     []raisedSignal
	isRunning   bool
	isMasked    bool
	isClosed    bool // the rank's program has ended
}

type raisedSignal struct {
	src  int
	head device.Head
}

type signal struct{ *port }

func (s signal) SetHandler(handler func(src int, head device.Head)) {
	s.ExitIfJobFailed()
	h := &s.signals
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handler = handler
	s.startHandler()
}

func (s signal) RaiseAt(dst int, head device.Head) {
	to := s.portOf(dst)
	if s.faults.Delay > 0 {
		s.runLater(func() { to.addSignal(raisedSignal{s.Rank(), head}) })
	} else {
		to.addSignal(raisedSignal{s.Rank(), head})
	}
}

// addSignal adds a signal to the pending ones of the port.
func (p *port) addSignal(r raisedSignal) {
	h := &p.signals
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isClosed {
		h.pending = append(h.pending, r)
		p.startHandler()
	}
}

// startHandler starts a goroutine for pending signals, if they may be handled and no handler runs.
// The lock is held. The goroutine counts as a rank that does not wait.
func (p *port) startHandler() {
	h := &p.signals
	if h.isRunning || h.isMasked || h.handler == nil || len(h.pending) == 0 {
		return
	}
	h.isRunning = true
	p.idleCount.Add(-1)
	p.goroutines.Go(func() {
		defer p.countIdle()
		p.guardProgram(p.Rank(), func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			p.handlePending()
			return nil
		})
	})
}

// handlePending runs the handler for pending signals until they are masked. The lock is held by the
// caller, and released while the handler runs.
func (p *port) handlePending() {
	h := &p.signals
	h.isRunning = true
	defer func() {
		h.isRunning = false
		h.handlerDone.Broadcast()
	}()
	for !h.isMasked && len(h.pending) > 0 {
		next := h.pending[0]
		h.pending = h.pending[1:]
		h.callHandler(next)
		p.inbox.countEvent(p.job)
	}
}

// callHandler runs the handler. The lock is held by the caller, and released while the handler
// runs.
func (h *signalState) callHandler(r raisedSignal) {
	handler := h.handler
	h.mu.Unlock()
	defer h.mu.Lock()
	handler(r.src, r.head)
}

func (s signal) Mask(on bool) {
	s.ExitIfJobFailed()
	h := &s.signals
	h.mu.Lock()
	defer h.mu.Unlock()
	h.isMasked = on
	for h.isRunning {
		h.handlerDone.Wait()
	}
	if !on && h.handler != nil {
		s.handlePending()
	}
}

// closeSignals drops signals from now on.
func (p *port) closeSignals() {
	h := &p.signals
	h.mu.Lock()
	defer h.mu.Unlock()
	h.isClosed, h.pending = true, nil
}
