package recorder

import "github.com/loggp/loggp/model/schedule"

// Programs with threads. The operations of all threads of a rank are recorded in the order of their
// start. Each requires the end of the earlier one if that had ended, and its start if its thread
// was still in the call. The recording thus keeps the order of what threads do for each other
// between calls.

// threadState is the recorder's state of a thread's call.
type threadState struct {
	engineCallDepth                              int
	callFoundComplete, previousCallFoundComplete bool
	openSend                                     int
}

// SwapThreadState implements engine.ThreadObserver.
func (e *recordingEngine) SwapThreadState(saved *any) {
	l := e.rankRecorder
	if !l.isRecording {
		return
	}
	l.isMultithreaded, l.currentCall = true, ""
	if l.engineCallDepth == 0 { // the thread has worked
		l.unrecordedWork += l.scatterTime + l.workTime() - l.endOfWorkInLastCall
		l.scatterTime = 0
	} else if l.previousCallOpen && !l.previousGoesOn {
		l.previousGoesOn = true
		if l.ops[l.previousOperation].kind == schedule.Send {
			l.openSend = l.previousOperation + 1
		}
	}
	l.endOfWorkInLastCall = l.workTime()
	next, _ := (*saved).(threadState)
	*saved = threadState{l.engineCallDepth, l.callFoundComplete, l.previousCallFoundComplete, l.openSend}
	l.engineCallDepth, l.callFoundComplete, l.previousCallFoundComplete, l.openSend = next.engineCallDepth, next.callFoundComplete, next.previousCallFoundComplete, next.openSend
}
