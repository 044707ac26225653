package sim

import (
	"iter"

	"github.com/loggp/loggp/model/unit"
)

// Proc is a process: a coroutine resumed by the kernel. Only its own body may call its methods,
// except Wake and Parked. The zero value has not been started.
type Proc struct {
	kernel            *Kernel
	continueCoroutine func() (struct{}, bool)
	yield             func(struct{}) bool
	isParked          bool       // waiting for Wake
	isReady           bool       // is in the ready queue
	isInWaiter        bool       // its Waiter runs, sleeps or is parked
	waiter            Waiter     // continues its wait; nil: it is not in ParkUntil
	blockedLoop       *eventLoop // has the stack of its Waiter, which sleeps or is parked; nil: none
	cancelCoroutine   func()
	body              Body
}

// Body is the code of a process.
type Body interface{ RunBody() }

// Start starts a process. Its body starts at the current time, after the processes that are already
// ready. A panic of the body passes through Run or Close to their caller. Close unwinds a process
// by a panic, which IsUnwind recognizes.
func (k *Kernel) Start(p *Proc, body Body) {
	p.kernel, p.body = k, body
	p.continueCoroutine, p.cancelCoroutine = iter.Pull(p.runBody)
	k.procs = append(k.procs, p)
	k.liveProcs++
	k.readyProcs.push(p)
	p.isReady = true
}

// Go starts a process whose body is a function.
func (k *Kernel) Go(body func(*Proc)) *Proc {
	p := new(Proc)
	k.Start(p, &functionBody{p, body})
	return p
}

// functionBody is a Body that calls a function.
type functionBody struct {
	p    *Proc
	body func(*Proc)
}

func (f *functionBody) RunBody() { f.body(f.p) }

// runBody runs the body of a process as an iterator whose values are its pauses.
func (p *Proc) runBody(yield func(struct{}) bool) {
	p.yield = yield
	growStack()
	defer recoverUnwind()
	p.body.RunBody()
	p.kernel.liveProcs--
	p.cancelCoroutine = nil
}

// growStack grows the stack of a new coroutine at once to the size that a message-passing library
// needs. Later growth would have to adjust the pointers of a dozen frames, which takes as long as
// several messages.
//
//go:noinline
func growStack() {
	var frame [2 << 10]byte
	keepOnStack(&frame)
}

//go:noinline
func keepOnStack(*[2 << 10]byte) {}

func (p *Proc) resume() {
	p.isReady, p.isParked = false, false
	if p.waiter != nil && !p.continueWait() {
		return
	}
	p.kernel.switches++
	p.continueCoroutine()
}

func (p *Proc) unwind() {
	if p.cancelCoroutine != nil {
		p.cancelCoroutine()
		p.cancelCoroutine = nil
	}
}

// HandleEvent resumes the process: it is the handler of the event that ends a sleep.
func (p *Proc) HandleEvent(uint64) { p.resume() }

// Now returns the virtual time.
func (p *Proc) Now() unit.Time { return p.kernel.now }

// Sleep lets d pass. If no other event is due meanwhile, it advances the clock without a coroutine
// switch.
func (p *Proc) Sleep(d unit.Time) {
	k := p.kernel
	t := k.now + d
	k.stepsSinceCheck++
	if k.IsIdleUntil(t) && k.stepsSinceCheck < stepsPerContextCheck && k.err == nil && uint64(t) <= uint64(Latest) {
		k.now = t
		return
	}
	k.Schedule(t, p, 0)
	p.yieldToKernel()
}

// Park suspends the process until Wake is called.
func (p *Proc) Park() {
	p.isParked = true
	p.yieldToKernel()
}

// Wake resumes a parked process at the current time, after the processes that are already ready. It
// has no effect on other processes.
func (p *Proc) Wake() {
	if p.isParked && !p.isReady {
		p.isReady = true
		p.kernel.readyProcs.push(p)
	}
}

// unwindPanic is the panic value that unwinds a stopped process.
type unwindPanic struct{}

// yieldToKernel is the only place where a process yields.
func (p *Proc) yieldToKernel() {
	if p.isInWaiter {
		p.kernel.block(p)
		return
	}
	if !p.yield(struct{}{}) {
		panic(unwindPanic{})
	}
}

func recoverUnwind() {
	if v := recover(); v != nil {
		if _, ok := v.(unwindPanic); !ok {
			panic(v)
		}
	}
}

// IsUnwind reports whether a recovered value is the one that unwinds a stopped process. A body that
// recovers it must panic with it again.
func IsUnwind(v any) bool {
	_, ok := v.(unwindPanic)
	return ok
}

// procQueue is a first-in first-out queue of processes.
type procQueue struct {
	procs []*Proc
	head  int
}

func (q *procQueue) push(p *Proc) { q.procs = append(q.procs, p) }

func (q *procQueue) pop() *Proc {
	if q.head == len(q.procs) {
		return nil
	}
	p := q.procs[q.head]
	q.head++
	if q.head == len(q.procs) {
		q.procs, q.head = q.procs[:0], 0
	}
	return p
}

func (q *procQueue) isEmpty() bool { return q.head == len(q.procs) }
