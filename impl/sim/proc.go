package sim

import (
	"iter"

	"github.com/loggp/loggp/model/unit"
)

// Proc is a process: a coroutine that is resumed by the kernel. Its methods, but for Wake and
// Parked, may be called from its own body only. The zero value is one that has not been started.
type Proc struct {
	k      *Kernel
	next   func() (struct{}, bool)
	yield  func(struct{}) bool
	parked bool // waits for Wake
	woken  bool // is in the ready queue
	cancel func()
	body   Body
}

// Body is what a process does.
type Body interface{ Live() }

// Start starts a process. Its body begins at the current time, after what is ready already. A panic
// of the body passes through Run or Close to their caller; the body of a process that is unwound by
// Close is left by a panic of the kernel's own.
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

// live is the life of a process, as a sequence of pauses.
func (p *Proc) live(yield func(struct{}) bool) {
	p.yield = yield
	deep()
	defer recoverUnwind()
	p.body.Live()
	p.k.live--
	p.cancel = nil
}

// deep makes a coroutine's stack grow at once to what the call of a message-passing library needs.
// It would grow to it anyway: later there are a dozen frames on it whose pointers have to be
// changed, which takes as long as several messages.
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

// Sleep lets d pass. Where nothing else can happen meanwhile, the clock is moved and no other
// coroutine is entered.
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

// Wake makes a parked process go on at the current time, after what is ready already. A process
// that is not parked is left alone.
func (p *Proc) Wake() {
	if p.parked && !p.woken {
		p.woken = true
		p.k.ready.push(p)
	}
}

// unwind is what leaves the body of a process that is stopped.
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

// Unwinding reports whether a recovered value is the kernel's own, by which it leaves the body of a
// stopped process. A body that recovers such a value must panic with it again.
func Unwinding(v any) bool {
	_, ok := v.(unwind)
	return ok
}
