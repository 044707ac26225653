// Package queue is the simplest engine: every message is sent at once, whatever its length, and
// waits in a single queue at its receiver until a receive takes it.
//
// There are no protocols, no flow control and no remote memory. It shows what an engine has to do,
// and is a second implementation for tests of package mpi. Its packets:
//
//	data   → the message
//	ack    ← a synchronous message has been matched
//	cancel → remove the message, if it is unexpected
//	answer ← whether it was removed
//	exit     from the world: the program of a rank has ended
package queue

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// packetKind is the kind of a packet.
type packetKind uint8

const (
	kindData packetKind = iota + 1
	kindACK
	kindCancel
	kindCancelAnswer
	kindExit
)

// head is a packet's header.
type head struct {
	kind         packetKind
	mode         model.Mode
	tag          int32
	context      uint32
	signature    engine.Signature
	sender       uint32 // operation of the message's sender
	cancelSerial uint32 // for a cancel
	found        bool   // for an answer
}

func (h *head) encode() device.Head {
	w := device.Head{uint64(h.kind) | uint64(h.mode)<<8 | uint64(uint32(h.tag))<<32, uint64(h.context) | uint64(h.signature)<<32, uint64(h.sender) | uint64(h.cancelSerial)<<32}
	if h.found {
		w[3] = 1
	}
	return w
}

func decodeHead(w *device.Head) head {
	return head{kind: packetKind(w[0]), mode: model.Mode(w[0] >> 8), tag: int32(w[0] >> 32), context: uint32(w[1]), signature: engine.Signature(w[1] >> 32),
		sender: uint32(w[2]), cancelSerial: uint32(w[2] >> 32), found: w[3] == 1}
}

// Describe returns the name of a packet's kind and the other fields of its header, for traces.
func Describe(w device.Head) (name, detail string) {
	switch h := decodeHead(&w); h.kind {
	case kindData:
		return "data", fmt.Sprintf("%v, tag %d", h.mode, h.tag)
	case kindCancelAnswer:
		return "answer", map[bool]string{true: "cancelled", false: "too late"}[h.found]
	case kindACK, kindCancel, kindExit:
		return map[packetKind]string{kindACK: "ACK", kindCancel: "cancel", kindExit: "exit"}[h.kind], ""
	}
	return "unknown", ""
}

// op is a posted receive, or a synchronous send until its ack arrives.
type op struct {
	engine.Op
	postedEntry  match.Entry[*op]
	cancelSerial uint32 // of the cancel under way; 0: none
}

// Engine carries the messages of one rank. It implements engine.Engine.
type Engine struct {
	rank         *engine.Rank
	port         device.Port
	ops          []*op
	inbox        engine.Inbox[*op, head]
	packet       device.Packet
	cancelSerial uint32
}

// New creates the engines of a job. It is an engine.NewJobEnginesFunc. There are no protocols to
// choose.
func New(l *model.Library, protocol string) (engine.JobEngines, error) {
	if protocol != "" {
		return nil, fmt.Errorf("library %s: there is no protocol %q: its engine sends every message alike", l.Name, protocol)
	}
	return jobEngines{}, nil
}

type jobEngines struct{}

// Engines implements engine.JobEngines.
func (jobEngines) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine { return &all[i] }
}

// Setup and the methods below implement engine.Engine.
func (e *Engine) Setup(r *engine.Rank) { e.rank, e.port = r, r.Port() }

func (e *Engine) NewOp() *engine.Op {
	o := new(op)
	o.EngineOp, o.postedEntry.Value = o, o
	e.ops = append(e.ops, o)
	return &o.Op
}

func (e *Engine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	e.rank.SendAndAwait(m, buf, s, dst, context, tag)
}

// Isend sends the message, and completes the send unless it is synchronous. A buffered message is
// copied to the attached buffer and sent at once.
func (e *Engine) Isend(o *engine.Op) {
	e.port.Spend(model.QueueSendCost, 1)
	e.port.Spend(model.QueueByteCost, len(o.Buf))
	h := head{kind: kindData, mode: o.Mode, tag: o.Tag, context: o.Context, signature: o.Signature, sender: o.ID()}
	if o.Mode != model.BufferedMode {
		e.sendPacket(int(o.Peer), &h, o.Buf)
		if o.Mode != model.SynchronousMode {
			e.rank.Complete(o)
		}
		return
	}
	b := e.rank.NewSendOfBuffered(o)
	e.sendPacket(int(o.Peer), &h, b.Buf)
	e.rank.Complete(b)
	e.rank.Complete(o)
}

func (e *Engine) sendPacket(dst int, h *head, b []byte) {
	e.packet = device.Packet{Head: h.encode(), Data: b}
	e.port.Send(dst, &e.packet)
}

func (e *Engine) Irecv(x *engine.Op) {
	e.port.Spend(model.QueueReceiveCost, 1)
	o := x.EngineOp.(*op)
	if m := e.inbox.Post(x, &o.postedEntry); m != nil {
		e.deliver(o, m)
		e.inbox.Recycle(m)
	}
}

func (e *Engine) Recv(o *engine.Op) {
	e.Irecv(o)
	e.rank.WaitUntilFinished(o)
}

// deliver passes a message to its receive.
func (e *Engine) deliver(o *op, m *engine.ArrivedMessage[head]) {
	e.rank.CheckMessage(&o.Op, o.Context, m.Source, m.Tag, m.Size, m.Head.signature)
	o.Peer, o.Tag, o.Size = m.Source, m.Tag, m.Size
	e.port.Spend(model.QueueByteCost, m.Size)
	e.rank.Copy(o.Buf, m.Data)
	if m.Head.isSynchronousSend() {
		e.sendPacket(m.Src, &head{kind: kindACK, sender: m.Head.sender}, nil)
	}
	e.rank.Complete(&o.Op)
}

// Progress handles one packet.
func (e *Engine) Progress(block bool) bool {
	p := e.port.Recv(block)
	if p == nil {
		return false
	}
	if engine.IsAccessCompletion(&p.Head) {
		e.rank.HandleAccessCompletion(p)
		return true
	}
	e.port.Spend(model.QueueHandleCost, 1)
	h := decodeHead(&p.Head)
	switch h.kind {
	case kindData:
		e.handleMessage(p, h)
	case kindACK:
		e.completeSynchronousSend(e.ops[h.sender], e.rank.Complete)
	case kindCancel:
		e.handleCancel(p.Src, h)
	case kindCancelAnswer:
		if o := e.ops[h.sender]; o.cancelSerial == h.cancelSerial && h.found {
			e.completeSynchronousSend(o, e.rank.FinishCancelled)
		}
	case kindExit: // the rank has sent everything, and has not received what is being cancelled
		for _, o := range e.ops {
			if o.cancelSerial > 0 && int(o.Peer) == p.Src {
				e.completeSynchronousSend(o, e.rank.FinishCancelled)
			}
		}
	}
	return true
}

// completeSynchronousSend completes a synchronous send.
func (e *Engine) completeSynchronousSend(o *op, how func(*engine.Op)) {
	o.cancelSerial = 0
	how(&o.Op)
}

// handleMessage passes a message to the first matching receive, or queues it.
func (e *Engine) handleMessage(p *device.Packet, h head) {
	m, o := e.inbox.Arrive(p, h, h.context, h.tag, len(p.Data))
	switch {
	case o != nil:
		e.deliver(o.Value, m)
		e.inbox.Recycle(m)
	case h.mode == model.ReadyMode:
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.PeerName(m.Source, h.context), m.Size, h.tag)
	default:
		e.rank.Copy(m.Data, p.Data) // charges the copy made by Arrive
	}
}

func (e *Engine) ChargeCompletionCheck(bool) { e.port.Spend(model.QueueTestCost, 1) }

func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	return e.inbox.Probe(e.rank, model.QueueTestCost, src, context, tag, block)
}

// Cancel removes a posted receive. A synchronous send is cancelled by its receiver, because only
// the receiver knows whether it has been matched.
func (e *Engine) Cancel(x *engine.Op) {
	switch o := x.EngineOp.(*op); {
	case o.Receive:
		e.inbox.Posted.Remove(&o.postedEntry)
		e.rank.FinishCancelled(x)
	case o.cancelSerial == 0:
		e.cancelSerial++
		o.cancelSerial = e.cancelSerial
		e.sendPacket(int(o.Peer), &head{kind: kindCancel, sender: o.ID(), cancelSerial: o.cancelSerial}, nil)
		e.port.NotifyExit(int(o.Peer), (&head{kind: kindExit}).encode())
	}
}

// handleCancel removes a message for its sender, unless it has been matched.
func (e *Engine) handleCancel(src int, h head) {
	a := head{kind: kindCancelAnswer, sender: h.sender, cancelSerial: h.cancelSerial}
	a.found = e.inbox.Withdraw(src, func(m *head) bool { return m.sender == h.sender && m.isSynchronousSend() })
	e.sendPacket(src, &a, nil)
}

// isSynchronousSend reports whether the sender of a message waits for its match.
func (h *head) isSynchronousSend() bool { return h.mode == model.SynchronousMode }

func (e *Engine) ExplainWait(x *engine.Op) engine.WaitDescription {
	o := x.EngineOp.(*op)
	w := engine.WaitDescription{Cause: engine.WaitMessage, Peer: int(o.Peer), Context: o.Context, Tag: int(o.Tag)}
	if !o.Receive {
		w.Cause, w.Bytes, w.Mode, w.Protocol = engine.WaitReceive, o.Size, o.Mode, "queue"
		if o.cancelSerial > 0 {
			w.Cause = engine.WaitCancelAnswer
		}
	}
	return w
}

func (e *Engine) UnexpectedMessages(context uint32) (int, *engine.UnexpectedMessage) {
	return e.inbox.UnexpectedMessages(context)
}

// CancellableMessage returns a synchronous message: other messages are already complete at their
// senders.
func (e *Engine) CancellableMessage() *engine.UnexpectedMessage {
	return e.inbox.CancellableMessage((*head).isSynchronousSend)
}

// LowLevelPort returns nil: the engine has no lower level.
func (e *Engine) LowLevelPort() engine.LowLevelPort { return nil }
