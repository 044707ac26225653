package core

import "github.com/loggp/loggp/model/unit"

// processState is the state of a rank's process. The functions of this file are the transitions:
//
//	                   ┌───────────────────────────── running ◀──────────────────────────────┐
//	                   │                                                                      │
//	Delay ─────────────┼──▶ computing ────────── its end, resumeForSignal ───────────────────▶│
//	AwaitStore ────────┼──▶ awaitingOwnStoreEnd MarkStoreEnded ──────────────────────────────▶│
//	ElapseCharges ─────┼──▶ awaitingStoreAndCharges ── MarkStoreEnded, resumeWhenFree ───────▶│
//	AwaitTransfer ─────┼──▶ movingBytes ──────── EndTransfer ─────────────────────────────────▶│
//	Recv, Park ────────┼──▶ awaitingPacket ───── resumeForPacket, Wake ──────────────────────▶│
//	Control ───────────┼──▶ awaitingControl ──── the same, and controlNetworkEvent ──────────▶│
//	WaitForEvent ──────┼──▶ awaitingChange ───── the same, and resumeForChange, a timeout ───▶│
//	WaitForWordChange ─┴──▶ awaitingWordCheck ── wordCheckEvent: the word has changed ───────▶┘
//	                             └── wordCheckEvent: it has not ──▶ awaitingChange
//
// Two facts hold in several states, so they are separate. Port.isStoreInProgress says that events
// carry out a store by the processor, while its rank runs ahead or waits. Port.hasProgramEnded says
// that the program has returned; the processor may still send exit notices, and wait.
type processState uint8

const (
	runningState            processState = iota // it runs, or a scheduled event resumes it
	computingState                              // in Delay, until the time has passed or a signal arrives
	awaitingOwnStoreEnd                         // until the store ends; charges since then remain
	awaitingStoreAndCharges                     // until the store ends and the charges have elapsed
	movingBytesState                            // in AwaitTransfer, until EndTransfer
	awaitingWordCheck                           // until the processor is free to check the awaited word

	// In the following states the rank waits for others. If all ranks do, it is a deadlock.

	awaitingPacket         // until a packet arrives or a network calls Wake
	awaitingControlNetwork // like awaitingPacket, or until an event of the control network
	awaitingChange         // like awaitingPacket, or until another rank changes memory, counters or queues of this one
)

// isWaiting reports whether the rank waits for others.
func (p *Port) isWaiting() bool { return p.processState >= awaitingPacket }

// park suspends the rank's process in a state until a transition resumes it.
func (p *Port) park(s processState) {
	p.processState = s
	p.currentProc.Park()
}

// resume resumes the rank's process at once.
func (p *Port) resume() {
	p.processState = runningState
	p.currentProc.Wake()
}

// resumeWhenFree resumes the rank's process when its processor is free.
func (p *Port) resumeWhenFree() {
	p.processState = runningState
	if p.Clock > p.Kernel.Now() {
		p.Kernel.Schedule(p.Clock, p.currentProc, 0)
	} else {
		p.currentProc.Wake()
	}
}

// Wake resumes a waiting rank when its processor is free.
func (p *Port) Wake() {
	if p.isWaiting() && !p.isStoreInProgress {
		p.processState = runningState
		p.AdvanceToKernel()
		p.Kernel.Schedule(p.Clock, p.currentProc, 0)
	}
}

// resumeForChange resumes a rank that waits for a change.
func (p *Port) resumeForChange() {
	if p.processState == awaitingChange && !p.isWordUnchanged() {
		p.resume()
	}
}

// wordCheckEvent is the event at which a rank first reads the word for which it waits.
type wordCheckEvent Port

// HandleEvent resumes the rank if the word has changed.
func (g *wordCheckEvent) HandleEvent(uint64) {
	if p := (*Port)(g); p.isWordUnchanged() {
		p.processState = awaitingChange
	} else {
		p.resume()
	}
}

// AwaitTransfer suspends the rank while its processor moves bytes, until the network calls
// EndTransfer.
func (p *Port) AwaitTransfer() { p.park(movingBytesState) }

// EndTransfer resumes a rank whose processor has moved its bytes.
func (p *Port) EndTransfer() {
	if p.processState == movingBytesState {
		p.resume()
	}
}

// MarkStoreStarted marks the processor as busy with a store whose duration is determined by events.
// The rank runs ahead meanwhile; its charges are added after the store.
func (p *Port) MarkStoreStarted() { p.isStoreInProgress = true }

// MarkStoreEnded marks the store as ended. It kept the processor busy for d.
func (p *Port) MarkStoreEnded(d unit.Time) {
	p.isStoreInProgress = false
	p.Clock += d
	switch {
	case p.processState == awaitingOwnStoreEnd:
		p.resume()
	case p.processState == awaitingStoreAndCharges:
		p.resumeWhenFree()
	case p.processState == awaitingWordCheck && p.Clock > p.Kernel.Now():
		p.Kernel.Schedule(p.Clock, (*wordCheckEvent)(p), 0)
	case p.processState == awaitingWordCheck:
		(*wordCheckEvent)(p).HandleEvent(0)
	case p.isWaiting() && p.inbox.Head != nil:
		p.resumeWhenFree()
	}
}

// resumeForPacket resumes a waiting rank because a packet has arrived. During a store
// MarkStoreEnded resumes it.
func (p *Port) resumeForPacket() {
	if p.isWaiting() && !p.isStoreInProgress {
		p.resumeWhenFree()
	}
}

// resumeForSignal resumes a rank so that its handler can run. A running rank finds the signal
// itself.
func (p *Port) resumeForSignal() {
	switch p.processState {
	case computingState:
		p.resume()
	case awaitingChange:
		p.resumeForChange()
	default:
		p.Wake()
	}
}
