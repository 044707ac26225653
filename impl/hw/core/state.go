package core

import "github.com/loggp/loggp/model/unit"

// processState is the state of a rank's process. The diagram in docs/design.md shows its
// transitions, which are the functions of this file.
//
// Two facts are not part of the state, since they hold in several states. Port.storeInProgress says
// that events carry out a store of the processor, while its rank runs ahead of it or waits.
// Port.programEnded says that the program has returned; the processor may still send exit notices,
// and wait.
type processState uint8

const (
	runningState            processState = iota // it runs, or an event is scheduled that resumes it
	computingState                              // in Delay, until the time has passed or a signal comes
	awaitingOwnStoreEnd                         // until the store ends; the charges since then stay
	awaitingStoreAndCharges                     // until the store ends and the processor has spent its charges
	movingBytesState                            // in AwaitTransfer, until EndTransfer
	awaitingWordCheck                           // until the processor is free to look at the awaited word

	// In the states below the rank waits for others: if all ranks do, it is a deadlock.

	awaitingPacket         // until a packet arrives or a network calls Wake
	awaitingControlNetwork // until that, or an event of the control network
	awaitingChange         // until that, or another rank changes memory, counters or queues of this one
)

// isWaiting reports whether the rank waits for others.
func (p *Port) isWaiting() bool { return p.processState >= awaitingPacket }

// park stops the process of the rank in a state, until a transition resumes it.
func (p *Port) park(s processState) {
	p.processState = s
	p.currentProc.Park()
}

// resume continues the process of the rank at once.
func (p *Port) resume() {
	p.processState = runningState
	p.currentProc.Wake()
}

// resumeWhenFree continues the process of the rank when its processor is free.
func (p *Port) resumeWhenFree() {
	p.processState = runningState
	if p.Clock > p.Kernel.Now() {
		p.Kernel.Schedule(p.Clock, p.currentProc, 0)
	} else {
		p.currentProc.Wake()
	}
}

// Wake continues a rank that waits, when its processor is free.
func (p *Port) Wake() {
	if p.isWaiting() && !p.isStoreInProgress {
		p.processState = runningState
		p.AdvanceToKernel()
		p.Kernel.Schedule(p.Clock, p.currentProc, 0)
	}
}

// resumeForChange wakes the rank if it waits for a change: something that it may look for has
// happened.
func (p *Port) resumeForChange() {
	if p.processState == awaitingChange && !p.isWordUnchanged() {
		p.resume()
	}
}

// wordCheckEvent is the event in which a rank first reads the word that it waits for.
type wordCheckEvent Port

// HandleEvent resumes the rank if the word has changed.
func (g *wordCheckEvent) HandleEvent(uint64) {
	if p := (*Port)(g); p.isWordUnchanged() {
		p.processState = awaitingChange
	} else {
		p.resume()
	}
}

// AwaitTransfer stops the rank while its processor moves bytes, until the network calls
// EndTransfer.
func (p *Port) AwaitTransfer() { p.park(movingBytesState) }

// EndTransfer continues a rank whose processor has moved its bytes.
func (p *Port) EndTransfer() {
	if p.processState == movingBytesState {
		p.resume()
	}
}

// MarkStoreStarted marks the processor as busy with a store, whose duration events will decide. The
// rank runs ahead meanwhile; what it is charged is added after the store.
func (p *Port) MarkStoreStarted() { p.isStoreInProgress = true }

// MarkStoreEnded marks the processor as free of the store, which kept it busy for d.
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

// resumeForPacket resumes a rank that waits, because a packet has arrived. During a store of the
// processor, MarkStoreEnded resumes it.
func (p *Port) resumeForPacket() {
	if p.isWaiting() && !p.isStoreInProgress {
		p.resumeWhenFree()
	}
}

// resumeForSignal resumes a rank whose handler is to run. A running rank finds the signal itself.
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
