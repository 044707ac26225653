package sim

import (
	"iter"

	"github.com/loggp/loggp/model/unit"
)

// Proc is a process: a coroutine that is resumed by the kernel. Only its own body may call its
// methods, except for Wake and Parked. The zero value has not been started.
type Proc struct {
	kernel            *Kernel
	continueCoroutine func() (struct{}, bool)
	yield             func(struct{}) bool
	isParked          bool // waits for Wake
	isReady           bool // is in the ready queue
	cancelCoroutine   func()
	body              Body
}

// Body is the code of a process.
type Body interface{ RunBody() }

// Start starts a process. Its body begins at the current time, after the processes that are ready
// already. A panic of the body passes through Run or Close to their caller. Close unwinds a process
// by a panic of its own, see IsUnwind.
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

// functionBody is a Body.
type functionBody struct {
	p    *Proc
	body func(*Proc)
}

func (f *functionBody) RunBody() { f.body(f.p) }

// runBody runs the body of a process as a sequence of pauses.
func (p *Proc) runBody(yield func(struct{}) bool) {
	p.yield = yield
	growStack()
	defer recoverUnwind()
	p.body.RunBody()
	p.kernel.liveProcs--
	p.cancelCoroutine = nil
}

// growStack makes a coroutine's stack grow at once to the size that a message-passing library
// needs. It would grow anyway, but later it holds a dozen frames whose pointers have to be
// adjusted, which takes as long as several messages.
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
	p.continueCoroutine()
}

func (p *Proc) unwind() {
	if p.cancelCoroutine != nil {
		p.cancelCoroutine()
		p.cancelCoroutine = nil
	}
}

// HandleEvent resumes the process: the event that ends a sleep has the process as its handler.
func (p *Proc) HandleEvent(uint64) { p.resume() }

// Now returns the virtual time.
func (p *Proc) Now() unit.Time { return p.kernel.now }

// Sleep lets d pass. If no other event is due meanwhile, it moves the clock without a switch of
// coroutines.
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

// Park waits until Wake is called.
func (p *Proc) Park() {
	p.isParked = true
	p.yieldToKernel()
}

// Wake resumes a parked process at the current time, after the processes that are ready already. It
// has no effect on a process that is not parked.
func (p *Proc) Wake() {
	if p.isParked && !p.isReady {
		p.isReady = true
		p.kernel.readyProcs.push(p)
	}
}

// unwindPanic is the panic value that unwinds a process when it is stopped.
type unwindPanic struct{}

// yieldToKernel is the only place where a process yields.
func (p *Proc) yieldToKernel() {
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

// IsUnwind reports whether a recovered value is the one by which the kernel unwinds a stopped
// process. A body that recovers it must panic with it again.
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
