package engine

import "github.com/loggp/loggp/impl/device"

// A service is a part of the library that answers messages of other ranks within unrelated calls of
// the program, such as the target side of one-sided communication. Its operations are unknown to
// the program.

// service is the service of a rank.
type service struct {
	serve          func()
	hasFinishedOps bool // operations of the service have finished
	running        bool
	openOps        int             // operations that have not been released
	wait           WaitDescription // what the rank waits for, if it waits for the service
	memory         device.Memory   // of the machine; nil: none
}

// SetService sets the function that every call that makes progress calls after operations of the
// service have finished. It may start operations but must not wait. Ranks without a service have no
// overhead.
func (r *Rank) SetService(serve func()) {
	if r.service == nil {
		r.engine = engineWithService{r.engine, r}
		r.service = &service{memory: r.port.Memory()}
	}
	r.service.serve = serve
}

// HasService reports whether calls must wait by Rank.WaitUntilFinished and similar methods, which
// run the service and other threads.
func (r *Rank) HasService() bool { return r.service != nil || r.threads != nil }

// RunService calls the service if operations of it have finished, and reports whether it did.
func (r *Rank) RunService() bool {
	s := r.service
	if s == nil || !s.hasFinishedOps || s.running {
		return false
	}
	s.running = true
	defer func() { s.running = false }() // it may fail, and the program may handle the error
	for s.hasFinishedOps {
		s.hasFinishedOps = false
		s.serve()
	}
	return true
}

// engineWithService is the engine of a rank that has a service.
type engineWithService struct {
	Engine
	r *Rank
}

// Progress implements Engine. It returns true also if only the service made progress, because the
// caller may wait for that.
func (e engineWithService) Progress(block bool) bool {
	if e.r.RunService() {
		return true
	}
	ok := e.Engine.Progress(block)
	e.r.RunService()
	return ok
}

// innermostEngine returns the engine without wrappers for the service and for threads.
func (r *Rank) innermostEngine() Engine {
	e := r.engine
	if s, ok := e.(engineWithService); ok {
		e = s.Engine
	}
	if t, ok := e.(engineWithThreads); ok {
		e = t.Engine
	}
	return e
}

// AwaitProgress waits for an event and handles it.
func (r *Rank) AwaitProgress() { r.engine.Progress(true) }

// ServiceSend starts to send buf to a rank for the service. owned says that buf comes from
// ScratchBuffer, and is released with the operation.
func (r *Rank) ServiceSend(buf []byte, owned bool, dst int, context uint32, tag int) *Op {
	o := r.newServiceOp()
	o.isBufOfRank = owned
	o.SetSend(0, buf, 0, dst, context, tag)
	if r.overlapChecker != nil {
		r.overlapChecker.countPeerMessages(dst, context, 0, 1)
	}
	r.traffic.Sent[context&1].add(dst)
	r.engine.Isend(o)
	return o
}

// ServiceReceive starts a receive for the service, into buf or, if x is not nil, into data with a
// layout.
func (r *Rank) ServiceReceive(buf []byte, x Layout, src int, context uint32, tag int) *Op {
	o := r.newServiceOp()
	if o.Buf = buf; x != nil {
		r.setReceiveLayout(o, x)
	}
	o.Receive, o.Peer, o.Tag, o.Context = true, int32(src), int32(tag), context
	r.engine.Irecv(o)
	return o
}

func (r *Rank) newServiceOp() *Op {
	o := r.NewOp()
	o.flags = opService
	r.service.openOps++
	return o
}

// ReleaseService releases a finished operation of the service.
func (r *Rank) ReleaseService(o *Op) {
	r.service.openOps--
	o.flags = 0
	r.Release(o)
}

// HandOpToProgram passes an operation of the service to the program, which completes it as its own.
func (r *Rank) HandOpToProgram(o *Op) {
	r.service.openOps--
	o.flags &^= opService
}

// StopServiceReceive ends and releases a receive of the service for which no message will arrive.
func (r *Rank) StopServiceReceive(o *Op) {
	r.Cancel(o)
	for !o.finished {
		r.engine.Progress(true)
	}
	r.ReleaseService(o)
}

// AwaitService makes progress until found returns true. w describes what the rank waits for.
func (r *Rank) AwaitService(w WaitDescription, found func() bool) {
	if found() {
		return
	}
	r.service.wait = w
	r.waitTarget = &r.service.wait
	for !found() {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
}

// PollService handles events that have occurred, and returns found().
func (r *Rank) PollService(w WaitDescription, found func() bool) bool {
	r.service.wait = w
	r.waitTarget, r.isPolling = &r.service.wait, true
	ok := found()
	for i := 0; i < MaxPolledPackets && !ok && r.engine.Progress(false); i++ {
		ok = found()
	}
	r.waitTarget, r.isPolling = nil, false
	r.engine.ChargeCompletionCheck(ok)
	return ok
}

func (w *WaitDescription) waitState(*Rank) WaitDescription { return *w }
