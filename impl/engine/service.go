package engine

import "github.com/loggp/loggp/impl/device"

// A service is a part of the library that answers messages of other ranks within calls of the
// program that have nothing to do with them, such as the accesses of one-sided communication. It
// sends and receives by operations that the program does not know.

// service is the service of a rank.
type service struct {
	serve          func()
	hasFinishedOps bool // operations of it have finished
	running        bool
	openOps        int             // that were not released
	wait           WaitDescription // what the rank waits for, if it is of the service
	memory         device.Memory   // of the machine; nil: it has none
}

// SetService sets the function that is called in every call that makes progress, after operations
// of the service have finished. It may start operations but not wait. Ranks without a service do
// not look for one.
func (r *Rank) SetService(serve func()) {
	if r.service == nil {
		r.engine = engineWithService{r.engine, r}
		r.service = &service{memory: r.port.Memory()}
	}
	r.service.serve = serve
}

// HasService reports whether calls that wait have to do so by Rank.WaitUntilFinished and the like,
// which call the service and let other threads run.
func (r *Rank) HasService() bool { return r.service != nil || r.hasThreads }

// RunService calls the service if operations of it have finished, and reports whether it has.
func (r *Rank) RunService() bool {
	s := r.service
	if s == nil || !s.hasFinishedOps || s.running {
		return false
	}
	s.running = true
	defer func() { s.running = false }() // it may fail, and the program handle that
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

// Progress implements Engine. What the service does is progress, too: the caller may wait for that.
func (e engineWithService) Progress(block bool) bool {
	if e.r.RunService() {
		return true
	}
	ok := e.Engine.Progress(block)
	e.r.RunService()
	return ok
}

// innermostEngine returns the engine without the service and the threads.
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

// AwaitProgress waits until something has happened, and takes it in.
func (r *Rank) AwaitProgress() { r.engine.Progress(true) }

// ServiceSend starts to send buf to a rank for the service. If owned is set, buf is of
// ScratchBuffer, and is given back when the operation is released.
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

// ServiceReceive starts to receive for the service into buf or, if there is a layout, into data
// that has it.
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

// ReleaseService gives back an operation of the service that is finished.
func (r *Rank) ReleaseService(o *Op) {
	r.service.openOps--
	o.flags = 0
	r.Release(o)
}

// HandOpToProgram gives an operation of the service to the program, which completes it as its own.
func (r *Rank) HandOpToProgram(o *Op) {
	r.service.openOps--
	o.flags &^= opService
}

// StopServiceReceive ends a receive of the service for which no message will come, and gives it
// back.
func (r *Rank) StopServiceReceive(o *Op) {
	r.Cancel(o)
	for !o.finished {
		r.engine.Progress(true)
	}
	r.ReleaseService(o)
}

// AwaitService makes progress until found; w says what the rank waits for.
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

// PollService takes in what has arrived, and reports whether found.
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
