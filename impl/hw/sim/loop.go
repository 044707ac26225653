package sim

import (
	"context"
	"iter"
)

// Waiter continues the wait of a process in place of the process.
type Waiter interface {
	// ContinueWait is called whenever the process is resumed, in the kernel's own goroutine. It
	// does what the process would do, and reports whether the wait has ended. If not, the process
	// stays parked. It may sleep and park like the process itself.
	ContinueWait() (done bool)
}

// ParkUntil parks the process until a Waiter says that its wait has ended. Meanwhile the kernel
// does not switch to the process. With a thousand processes a switch takes some hundred nanoseconds
// because the stack of the process is in no cache.
func (p *Proc) ParkUntil(w Waiter) {
	p.waiter = w
	p.Park()
}

// continueWait calls the Waiter of a process, or continues its call that has slept or parked. It
// reports whether the wait has ended.
func (p *Proc) continueWait() (done bool) {
	if l := p.blockedLoop; l != nil {
		p.blockedLoop = nil
		p.kernel.runLoop(l) // it calls resume
		return false
	}
	p.isInWaiter = true
	done = p.waiter.ContinueWait()
	p.isInWaiter = false
	if p.isParked = !done; done {
		p.waiter = nil
	}
	return done
}

// eventLoop is a coroutine that runs events. A Waiter runs on the stack of the loop that called it.
// If it sleeps or parks, that stack belongs to it until it returns, and another loop runs events.
type eventLoop struct {
	continueCoroutine func() (struct{}, bool)
	cancelCoroutine   func()
	yield             func(struct{}) bool
}

// runLoops runs events until the run has ended.
func (k *Kernel) runLoops(ctx context.Context) {
	for isFirst := true; isFirst || k.eventLoop == nil; isFirst = false {
		l := k.takeLoop(ctx)
		k.eventLoop = l
		k.runLoop(l)
	}
}

// takeLoop returns a loop that is not in use.
func (k *Kernel) takeLoop(ctx context.Context) *eventLoop {
	if last := len(k.unusedLoops) - 1; last >= 0 {
		l := k.unusedLoops[last]
		k.unusedLoops = k.unusedLoops[:last]
		return l
	}
	l := new(eventLoop)
	l.continueCoroutine, l.cancelCoroutine = iter.Pull(func(yield func(struct{}) bool) {
		l.yield = yield
		growStack()
		defer recoverUnwind()
		for {
			k.runEvents(ctx, l)
			if k.eventLoop == l { // the run has ended
				return
			}
			k.unusedLoops = append(k.unusedLoops, l)
			l.yieldToCaller()
		}
	})
	k.loops = append(k.loops, l)
	return l
}

// runLoop runs a loop until a Waiter on its stack sleeps or parks, until another loop can continue,
// or until the run has ended.
func (k *Kernel) runLoop(l *eventLoop) {
	caller := k.currentLoop
	k.currentLoop = l
	l.continueCoroutine()
	k.currentLoop = caller
}

// block suspends a Waiter of a process with the loop on whose stack it runs.
func (k *Kernel) block(p *Proc) {
	l := k.currentLoop
	p.blockedLoop = l
	if k.eventLoop == l {
		k.eventLoop = nil
	}
	l.yieldToCaller()
}

func (l *eventLoop) yieldToCaller() {
	if !l.yield(struct{}{}) {
		panic(unwindPanic{})
	}
}
