package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Send sends buf and returns when the rank may reuse it, according to the mode.
func (r *Rank) Send(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int) {
	r.noteSend(buf, dst, context)
	r.engine.Send(m, buf, s, dst, context, tag)
	r.flushSends()
}

// RunSteps carries out the steps of the rank, which use BeginSend and BeginRecv for blocking calls.
// It may do so in another goroutine while the rank waits, unless inGoroutine is set.
func (r *Rank) RunSteps(s Steps, inGoroutine bool) {
	if e, ok := r.engine.(StepEngine); ok && !inGoroutine {
		e.RunSteps(s)
		return
	}
	for o := s.Advance(); o != nil; o = s.Advance() {
		r.WaitUntilFinished(o)
	}
}

// BeginSend starts a Send in standard mode. Call EndSend when the operation is finished. nil is
// finished.
func (r *Rank) BeginSend(buf []byte, s Signature, dst int, context uint32, tag int) *Op {
	e, ok := r.innermostEngine().(StepEngine)
	if !ok {
		r.Send(model.StandardMode, buf, s, dst, context, tag)
		return nil
	}
	r.noteSend(buf, dst, context)
	return e.BeginSend(model.StandardMode, buf, s, dst, context, tag)
}

// EndSend ends a send of BeginSend.
func (r *Rank) EndSend(o *Op) {
	if o != nil {
		r.innermostEngine().(StepEngine).EndSend(o)
	}
	r.flushSends()
}

// BeginRecv starts a Recv. Call EndRecv when the operation is finished.
func (r *Rank) BeginRecv(buf []byte, s Signature, src int, context uint32, tag int) *Op {
	o := r.NewOp()
	o.Buf, o.Signature = buf, s
	r.setReceive(o, src, context, tag)
	if e, ok := r.innermostEngine().(StepEngine); ok {
		e.BeginRecv(o)
	} else {
		r.engine.Recv(o)
	}
	return o
}

// EndRecv ends a receive of BeginRecv.
func (r *Rank) EndRecv(o *Op) Status {
	if e, ok := r.innermostEngine().(StepEngine); ok {
		e.EndRecv()
	}
	return r.EndIrecv(o)
}

// noteSend checks and counts a blocking send.
func (r *Rank) noteSend(buf []byte, dst int, context uint32) {
	if r.overlapChecker != nil {
		r.checkNotBeingReceived(memoryInterval(buf, 0, nil))
		r.overlapChecker.countPeerMessages(dst, context, 0, 1)
	}
	r.traffic.Sent[context&1].add(dst)
}

// flushSends completes sends that the port has buffered. It makes progress meanwhile, which may
// cause other sends.
func (r *Rank) flushSends() {
	if r.bufferedSender != nil {
		for !r.bufferedSender.Flush() {
			r.engine.Progress(false)
		}
	}
}

// SendAndAwait implements Engine.Send by Isend and a wait.
func (r *Rank) SendAndAwait(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int) {
	o := r.NewOp()
	o.SetSend(m, buf, s, dst, context, tag)
	r.engine.Isend(o)
	r.WaitUntilFinished(o)
	r.Release(o)
}

// Isend starts to send buf.
func (r *Rank) Isend(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int) *Op {
	o := r.NewOp()
	o.Buf = buf
	r.isend(o, m, s, dst, context, tag)
	return o
}

// isend starts to send o.Buf.
func (r *Rank) isend(o *Op, m model.Mode, s Signature, dst int, context uint32, tag int) {
	o.SetSend(m, o.Buf, s, dst, context, tag)
	if r.overlapChecker != nil {
		r.trackSendMemory(o)
		r.overlapChecker.countPeerMessages(dst, context, 0, 1)
	}
	r.traffic.Sent[context&1].add(dst)
	r.engine.Isend(o)
}

// SendLayout is Send for data with a layout.
func (r *Rank) SendLayout(m model.Mode, x Layout, dst int, context uint32, tag int) {
	buf, gathered := r.gather(x)
	r.Send(m, buf, x.Signature(len(buf)), dst, context, tag)
	if gathered {
		r.ReleaseScratch(buf)
	}
}

// IsendLayout is Isend for data with a layout.
func (r *Rank) IsendLayout(m model.Mode, x Layout, dst int, context uint32, tag int) *Op {
	o := r.NewOp()
	r.isendLayout(o, m, x, dst, context, tag)
	return o
}

func (r *Rank) isendLayout(o *Op, m model.Mode, x Layout, dst int, context uint32, tag int) {
	buf, gathered := r.gather(x)
	o.Buf = buf
	r.isend(o, m, x.Signature(len(buf)), dst, context, tag)
	o.isBufOfRank = gathered
}

// gather returns data in travel order, and whether it is in memory of the rank.
func (r *Rank) gather(x Layout) ([]byte, bool) {
	if flat, ok := x.ContiguousBytes(); ok {
		return flat, false
	}
	if r.overlapChecker != nil {
		r.checkNotBeingReceived(appendLayoutIntervals(nil, x, nil)...)
	}
	buf := r.ScratchFor(x.Len(), x.IsSizeOnly())
	x.Gather(buf)
	return buf, true
}

// Recv receives into buf and waits until the message has arrived. src and tag may be
// AnySourceOrTag.
func (r *Rank) Recv(buf []byte, s Signature, src int, context uint32, tag int) Status {
	o := r.NewOp()
	o.Buf, o.Signature = buf, s
	return r.recv(o, src, context, tag)
}

// RecvLayout is Recv into data with a layout.
func (r *Rank) RecvLayout(x Layout, src int, context uint32, tag int) Status {
	o := r.NewOp()
	r.setReceiveLayout(o, x)
	return r.recv(o, src, context, tag)
}

func (r *Rank) recv(o *Op, src int, context uint32, tag int) Status {
	r.setReceive(o, src, context, tag)
	r.engine.Recv(o)
	st := r.EndIrecv(o)
	if st.Err != nil && !isCollective(context) && !r.receiveErrorsInStatus {
		panic(st.Err)
	}
	return st
}

// EndIrecv releases a finished receive and returns its status.
func (r *Rank) EndIrecv(o *Op) Status {
	st, _ := o.Received()
	st.Err = r.ReceiveError(o)
	r.Release(o)
	return st
}

// Irecv starts to receive into buf.
func (r *Rank) Irecv(buf []byte, s Signature, src int, context uint32, tag int) *Op {
	o := r.NewOp()
	o.Buf, o.Signature = buf, s
	r.irecv(o, src, context, tag)
	return o
}

// IrecvLayout starts to receive into data with a layout.
func (r *Rank) IrecvLayout(x Layout, src int, context uint32, tag int) *Op {
	o := r.NewOp()
	r.setReceiveLayout(o, x)
	r.irecv(o, src, context, tag)
	return o
}

func (r *Rank) irecv(o *Op, src int, context uint32, tag int) {
	r.setReceive(o, src, context, tag)
	r.receivesPosted++
	o.postingNumber = r.receivesPosted
	r.engine.Irecv(o)
}

// setReceive makes o a receive.
func (r *Rank) setReceive(o *Op, src int, context uint32, tag int) {
	o.Receive, o.Peer, o.Tag, o.Context = true, int32(src), int32(tag), context
	if r.overlapChecker != nil {
		r.trackReceiveMemory(o)
	}
}

// setReceiveLayout makes an operation receive data with a layout.
func (r *Rank) setReceiveLayout(o *Op, x Layout) {
	flat, ok := x.ContiguousBytes()
	if !ok {
		flat = r.ScratchFor(x.Len(), x.IsSizeOnly())
	}
	o.Buf, o.Signature, o.layout, o.isBufOfRank = flat, 0, x, !ok
}

// SetAwaitedOp records that the rank waits for an operation; nil: it no longer waits.
func (r *Rank) SetAwaitedOp(o *Op) {
	if o == nil {
		r.waitTarget = nil
		return
	}
	r.waitTarget = o
}

// WaitUntilFinished makes progress until an operation is finished.
func (r *Rank) WaitUntilFinished(o *Op) {
	if o.finished {
		return
	}
	r.waitTarget = o
	for !o.finished {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
}

// Wait waits until an operation is finished. The caller must then release it.
func (r *Rank) Wait(o *Op) {
	r.WaitUntilFinished(o)
	r.flushSends()
	r.engine.ChargeCompletionCheck(true)
}

// Progress handles at most one event without waiting, and reports whether there was one.
func (r *Rank) Progress() bool { return r.engine.Progress(false) }

// AwaitEvent handles one event, or waits for one until deadline and may not handle it. Other
// threads of the program do not run meanwhile.
func (r *Rank) AwaitEvent(deadline unit.Time) {
	if !r.engine.Progress(false) {
		device.AwaitPacket(r.port, deadline)
	}
}

// ProbeUntil waits for a message that a receive with these arguments would take, until the rank's
// clock reaches deadline.
func (r *Rank) ProbeUntil(src int, context uint32, tag int, deadline unit.Time) (Status, bool) {
	for {
		st, ok := r.Probe(src, context, tag, false)
		if ok || r.port.Now() >= deadline {
			return st, ok
		}
		if r.threads == nil || !r.threads.YieldInWait(deadline) {
			r.AwaitEvent(deadline)
		}
	}
}

// ProgressUntil makes progress until found returns true. The rank waits for o, possibly among
// others.
func (r *Rank) ProgressUntil(o *Op, found func() bool) {
	r.waitTarget = o
	for !found() {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
	r.flushSends()
	r.engine.ChargeCompletionCheck(true)
}

// MaxPolledPackets limits the packets that a nonblocking call handles, because other ranks may send
// faster than they can be handled.
const MaxPolledPackets = 256

// PollFor handles events that have occurred, and returns found(). The rank polls for o, possibly
// among others.
func (r *Rank) PollFor(o *Op, found func() bool) bool {
	r.waitTarget, r.isPolling = o, true
	ok := found()
	for i := 0; i < MaxPolledPackets && !ok && r.engine.Progress(false); i++ {
		ok = found()
	}
	r.engine.ChargeCompletionCheck(ok)
	r.waitTarget, r.isPolling = nil, false
	return ok
}

// Test handles arrived packets and reports whether an operation is finished.
func (r *Rank) Test(o *Op) bool {
	r.waitTarget, r.isPolling = o, true
	for i := 0; i < MaxPolledPackets && !o.finished && r.engine.Progress(false); i++ {
	}
	r.engine.ChargeCompletionCheck(o.finished)
	r.waitTarget, r.isPolling = nil, false
	return o.finished
}

// Probe searches a message that a receive with these arguments would take. If block is true it
// waits for one.
func (r *Rank) Probe(src int, context uint32, tag int, block bool) (Status, bool) {
	r.probedMessage = probedMessage{src, context, tag}
	r.waitTarget, r.isPolling = &r.probedMessage, !block
	st, ok := r.engine.Probe(src, context, tag, block)
	r.waitTarget, r.isPolling = nil, false
	return st, ok
}

// Cancel requests the cancellation of an active operation. It has no effect on a finished one.
func (r *Rank) Cancel(o *Op) {
	if !o.finished {
		r.engine.Cancel(o)
	}
}

// Barrier returns true when all n ranks have called it, or false if the engine has no barrier of
// its own: see BarrierEngine.
func (r *Rank) Barrier(n, me int, rank func(i int) int) bool {
	b, ok := r.innermostEngine().(BarrierEngine)
	return ok && b.Barrier(n, me, rank)
}

// SetBarrierPeer records that the rank waits for another one in a barrier; negative: it no longer
// waits.
func (r *Rank) SetBarrierPeer(rank int) {
	if r.waitTarget = nil; rank >= 0 {
		r.waitTarget = barrierWait(rank)
	}
}

// barrierWait is the rank for whose barrier signal a rank waits.
type barrierWait int

func (s barrierWait) waitState(*Rank) WaitDescription {
	return WaitDescription{Cause: WaitBarrier, Peer: int(s), Tag: AnySourceOrTag}
}

// LowLevelPort returns access to single packets and remote memory, or nil if the engine has none.
func (r *Rank) LowLevelPort() LowLevelPort { return r.engine.LowLevelPort() }
