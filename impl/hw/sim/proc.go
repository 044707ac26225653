package sim

import (
	"iter"

	"github.com/loggp/loggp/model/unit"
)

// Proc is a process: a coroutine that is resumed by the kernel. Only its own body may call its
// methods, except for Wake and Parked. The zero value has not been started.
type Proc struct {
	k      *Kernel
	next   func() (struct{}, bool)
	yield  func(struct{}) bool
	parked bool // waits for Wake
	woken  bool // is in the ready queue
	cancel func()
	body   Body
}

// Body is the code of a process.
type Body interface{ Live() }

// Start starts a process. Its body begins at the current time, after the processes that are ready
// already. A panic of the body passes through Run or Close to their caller. Close unwinds a process
// by a panic of its own, see Unwinding.
func (k *Kernel) Start(p *Proc, body Body) {
	p.k, p.body = k, body
	p.next, p.cancel = iter.Pull(p.live)
	k.procs = append(k.procs, p)
	k.live++
	k.ready.push(p)
	p.woken = true
}

// Go starts a process whose body is a function.
func (k *Kernel) Go(body func(*Proc)) *Proc {
	p := new(Proc)
	k.Start(p, &function{p, body})
	return p
}

// function is a Body.
type function struct {
	p    *Proc
	body func(*Proc)
}

func (f *function) Live() { f.body(f.p) }

// live runs the body of a process as a sequence of pauses.
func (p *Proc) live(yield func(struct{}) bool) {
	p.yield = yield
	deep()
	defer recoverUnwind()
	p.body.Live()
	p.k.live--
	p.cancel = nil
}

// deep makes a coroutine's stack grow at once to the size that a message-passing library needs. It
// would grow anyway, but later it holds a dozen frames whose pointers have to be adjusted, which
// takes as long as several messages.
//
//go:noinline
func deep() {
	var frame [2 << 10]byte
	use(&frame)
}

//go:noinline
func use(*[2 << 10]byte) {}

func (p *Proc) resume() {
	p.woken, p.parked = false, false
	p.next()
}

func (p *Proc) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
}

// Act resumes the process: a sleep is an event whose action is the process itself.
func (p *Proc) Act(uint64) { p.resume() }

// Now returns the virtual time.
func (p *Proc) Now() unit.Time { return p.k.now }

// Sleep lets d pass. If no other event is due meanwhile, it moves the clock without a switch of
// coroutines.
func (p *Proc) Sleep(d unit.Time) {
	k := p.k
	t := k.now + d
	k.steps++
	if k.Quiet(t) && k.steps < checkEvery && k.err == nil {
		k.now = t
		return
	}
	k.At(t, p, 0)
	p.pause()
}

// Park waits until Wake is called.
func (p *Proc) Park() {
	p.parked = true
	p.pause()
}

// Wake resumes a parked process at the current time, after the processes that are ready already. It
// has no effect on a process that is not parked.
func (p *Proc) Wake() {
	if p.parked && !p.woken {
		p.woken = true
		p.k.ready.push(p)
	}
}

// unwind is the panic value that unwinds a process when it is stopped.
type unwind struct{}

// pause is the only place where a process yields.
func (p *Proc) pause() {
	if !p.yield(struct{}{}) {
		panic(unwind{})
	}
}

func recoverUnwind() {
	if v := recover(); v != nil {
		if _, ok := v.(unwind); !ok {
			panic(v)
		}
	}
}

// Unwinding reports whether a recovered value is the one by which the kernel unwinds a stopped
// process. A body that recovers it must panic with it again.
func Unwinding(v any) bool {
	_, ok := v.(unwind)
	return ok
}
