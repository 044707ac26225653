// Package start is the engine of MPI-StarT: MPICH's protocol layer above a channel for clusters of
// SMPs. Their interface has programmed I/O for short messages, and RDMA from pinned memory for long
// ones.
//
// A short message is one packet with header and data. A long one is a request, which the receiver
// answers when the message has been matched (see packetKind). The length limit depends on whether
// the other rank is in the same SMP. Within an SMP, blocks of the data are packets through shared
// memory. Between SMPs, if the port has remote memory, the sender copies blocks into pinned memory,
// the interface writes them into the receiver's pinned memory, and the receiver copies them to the
// user's buffer. The three steps overlap (transfer.go).
package start

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// op is an operation: a receive until it has its message, or a send until its data has left or it
// has been matched.
type op struct {
	engine.Op
	postedEntry  match.Entry[*op]
	cancelSerial uint32 // of the cancel under way; 0: none

	// For long messages.
	isMatched     bool   // it has been matched
	src           int32  // receive: the sender
	peerOp        uint32 // operation of the other rank
	movedBytes    int    // bytes that have left, or are in the user's buffer
	transferStart int    // position in the message at which the granted transfer starts
	transferEnd   int    // position at which it ends
	pinnedEnd     int    // for RDMA: end of the bytes that have been put, or have arrived in pinned memory
	key           device.Key
	next          *op // next operation that waits for a transfer
}

// Engine carries the messages of one rank. It implements engine.Engine.
type Engine struct {
	rank             *engine.Rank
	port             device.Port
	memory           device.Memory // nil: none, blocks are packets
	sizes            sizeSettings
	ops              []*op
	inbox            engine.Inbox[*op, head]
	packet           device.Packet
	lastCancelSerial uint32
	pinnedMemory     pinnedMemory
	channel          rdmaChannel
	counts           [numCounts]int64
	channelCalls     engine.SizeHistogram // calls of the channel
	disabledRules    transferRule
}

// sizeSettings are settings of the library.
type sizeSettings struct {
	maxShortBytes [model.NumTiers]int // length up to which a message is short
	blockBytes    int                 // bytes copied and put at a time
	pinnedBytes   int                 // bytes of pinned memory for transfers
}

// New creates the engines of a job. It is an engine.NewJobEnginesFunc. There are no protocols to
// choose: length and distance decide.
func New(l *model.Library, protocol string) (engine.JobEngines, error) {
	if protocol != "" {
		return nil, fmt.Errorf("library %s: there is no protocol %q: the length of a message and the place of its receiver decide how it goes", l.Name, protocol)
	}
	m := jobEngines{sizes: sizeSettings{l.Start.ShortBytes, l.Start.BlockBytes, l.Start.PinnedBytes}}
	if m.sizes.blockBytes == 0 {
		m.sizes.blockBytes = model.DefaultBlockBytes
	}
	if m.sizes.pinnedBytes == 0 {
		m.sizes.pinnedBytes = model.DefaultPinnedBytes
	}
	if least := model.MinPinnedBlocks * m.sizes.blockBytes; m.sizes.pinnedBytes < least {
		return nil, fmt.Errorf("library %s: pinned memory of %d bytes has no room for %d blocks of %d: at least %d", l.Name, m.sizes.pinnedBytes, model.MinPinnedBlocks, m.sizes.blockBytes, least)
	}
	return m, nil
}

type jobEngines struct {
	sizes         sizeSettings
	disabledRules transferRule // for tests
}

// Engines implements engine.JobEngines.
func (m jobEngines) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].sizes, all[i].disabledRules = m.sizes, m.disabledRules
		return &all[i]
	}
}

// Setup and the methods below implement engine.Engine.
func (e *Engine) Setup(r *engine.Rank) {
	e.rank, e.port = r, r.Port()
	e.memory = e.port.Memory()
	e.pinnedMemory.free = e.sizes.pinnedBytes
}

func (e *Engine) NewOp() *engine.Op {
	o := new(op)
	o.EngineOp, o.postedEntry.Value = o, o
	e.ops = append(e.ops, o)
	return &o.Op
}

func (e *Engine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	e.rank.SendAndAwait(m, buf, s, dst, context, tag)
}

// Isend sends a short message, and completes it unless it is synchronous. For a long message it
// sends a request. A buffered message is copied to the attached buffer first.
func (e *Engine) Isend(o *engine.Op) {
	e.port.Spend(model.StartSendCost, 1)
	if o.Mode != model.BufferedMode {
		e.startSend(o.EngineOp.(*op))
		return
	}
	e.startSend(e.rank.NewSendOfBuffered(o).EngineOp.(*op))
	e.rank.Complete(o)
}

func (e *Engine) startSend(s *op) {
	s.isMatched, s.movedBytes, s.cancelSerial = false, 0, 0
	h := head{kind: kindShort, mode: s.Mode, tag: s.Tag, context: s.Context, signature: s.Signature, from: s.ID(), size: s.Size}
	if s.Size > e.sizes.maxShortBytes[e.port.Tier(int(s.Peer))] {
		h.kind = kindRequest
		e.counts[longMessages]++
		e.sendChannelControl(int(s.Peer), &h)
		return
	}
	e.counts[shortMessages]++
	e.channelCalls.Add(headBytes + s.Size)
	e.sendPacket(int(s.Peer), &h, s.Buf)
	if s.Mode != model.SynchronousMode {
		e.rank.Complete(&s.Op)
	}
}

// sendPacket sends a packet through the channel.
func (e *Engine) sendPacket(dst int, h *head, b []byte) {
	if e.port.Tier(dst) == model.InterNode {
		e.port.Spend(model.StartRemoteCost, 1)
	}
	e.packet = device.Packet{Head: h.encode(), Data: b}
	e.port.Send(dst, &e.packet)
}

// sendChannelControl prepares a control message of the protocol layer, and passes it to the
// channel.
func (e *Engine) sendChannelControl(dst int, h *head) {
	e.channelCalls.Add(headBytes)
	e.sendControl(dst, h)
}

// sendControl sends a packet other than a short message.
func (e *Engine) sendControl(dst int, h *head) {
	e.port.Spend(model.StartControlCost, 1)
	e.sendPacket(dst, h, nil)
}

func (e *Engine) Irecv(x *engine.Op) {
	e.port.Spend(model.StartReceiveCost, 1)
	o := x.EngineOp.(*op)
	o.isMatched, o.movedBytes, o.pinnedEnd = false, 0, 0
	if m := e.inbox.Post(x, &o.postedEntry); m != nil {
		e.deliver(o, m)
		e.inbox.Recycle(m)
	}
}

func (e *Engine) Recv(o *engine.Op) {
	e.Irecv(o)
	e.rank.WaitUntilFinished(o)
}

// deliver passes a message to its receive. For a long message it tells the sender that it may send.
func (e *Engine) deliver(o *op, m *engine.ArrivedMessage[head]) {
	h := &m.Head
	e.rank.CheckMessage(&o.Op, o.Context, m.Source, m.Tag, m.Size, h.signature)
	o.Peer, o.Tag, o.Size = m.Source, m.Tag, m.Size
	if h.kind == kindRequest {
		o.isMatched, o.src, o.peerOp = true, m.Source, h.from
		e.sendChannelControl(m.Src, &head{kind: kindClearToSend, from: o.ID(), to: o.peerOp})
		return
	}
	e.rank.Copy(o.Buf, m.Data)
	if h.mode == model.SynchronousMode {
		e.sendChannelControl(m.Src, &head{kind: kindACK, from: h.from})
	}
	e.rank.Complete(&o.Op)
}

// Progress handles one packet and continues transfers.
func (e *Engine) Progress(wait bool) bool {
	p := e.port.Recv(wait)
	if p == nil {
		return false
	}
	if engine.IsAccessCompletion(&p.Head) {
		e.rank.HandleAccessCompletion(p)
		return true
	}
	h := decodeHead(&p.Head)
	if h.kind != kindPutDone {
		if e.port.Tier(p.Src) == model.InterNode {
			e.port.Spend(model.StartRemoteCost, 1)
		}
		e.port.Spend(model.StartHandleCost, 1)
	}
	switch h.kind {
	case kindShort, kindRequest:
		e.handleMessage(p, h)
	case kindClearToSend:
		e.handleClearToSend(e.ops[h.to], &h)
	case kindConnect:
		e.channel.waitingReceives.push(e.ops[h.to])
		e.grantNextTransfer()
	case kindGrant:
		e.handleGrant(e.ops[h.to], &h)
	case kindBlock:
		e.handleBlock(e.ops[h.to], &h, p.Data)
	case kindPutDone:
		e.handlePutDone(&h, p.Refused)
	case kindACK:
		e.endSend(e.ops[h.from], e.rank.Complete)
	case kindCancel:
		e.handleCancel(p.Src, h)
	case kindCancelAnswer:
		if o := e.ops[h.from]; o.cancelSerial == h.to && h.found && o.cancelSerial > 0 {
			e.endSend(o, e.rank.FinishCancelled)
		} else if o.cancelSerial == h.to {
			o.cancelSerial = 0
		}
	case kindExit: // the rank has sent everything, and has not received what is being cancelled
		for _, o := range e.ops {
			if o.cancelSerial > 0 && int(o.Peer) == p.Src {
				e.endSend(o, e.rank.FinishCancelled)
			}
		}
	}
	return true
}

// endSend completes a send.
func (e *Engine) endSend(o *op, how func(*engine.Op)) {
	o.cancelSerial = 0
	how(&o.Op)
}

// handleMessage passes a message to the first matching receive, or queues it.
func (e *Engine) handleMessage(p *device.Packet, h head) {
	m, o := e.inbox.Arrive(p, h, h.context, h.tag, h.size)
	switch {
	case o != nil:
		e.deliver(o.Value, m)
		e.inbox.Recycle(m)
	case h.mode == model.ReadyMode:
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.PeerName(m.Source, h.context), h.size, h.tag)
	default:
		e.rank.Copy(m.Data, p.Data) // charges the copy made by Arrive
	}
}

func (e *Engine) ChargeCompletionCheck(bool) { e.port.Spend(model.StartTestCost, 1) }

func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	return e.inbox.Probe(e.rank, model.StartTestCost, src, context, tag, block)
}

// Cancel removes a posted receive. A send is cancelled by its receiver, because only the receiver
// knows whether it has been matched.
func (e *Engine) Cancel(x *engine.Op) {
	switch o := x.EngineOp.(*op); {
	case o.Receive && o.isMatched: // a message is bound to it
	case o.Receive:
		e.inbox.Posted.Remove(&o.postedEntry)
		e.rank.FinishCancelled(x)
	case o.cancelSerial == 0 && !o.isMatched:
		e.lastCancelSerial++
		o.cancelSerial = e.lastCancelSerial
		e.sendChannelControl(int(o.Peer), &head{kind: kindCancel, from: o.ID(), to: o.cancelSerial})
		e.port.NotifyExit(int(o.Peer), (&head{kind: kindExit}).encode())
	}
}

// handleCancel removes a message for its sender, unless it has been matched.
func (e *Engine) handleCancel(src int, h head) {
	a := head{kind: kindCancelAnswer, from: h.from, to: h.to}
	a.found = e.inbox.Withdraw(src, func(m *head) bool { return m.from == h.from && m.isSenderWaiting() })
	e.sendChannelControl(src, &a)
}

// isSenderWaiting reports whether the sender of a message waits for its match.
func (h *head) isSenderWaiting() bool {
	return h.mode == model.SynchronousMode || h.kind == kindRequest
}

func (e *Engine) ExplainWait(x *engine.Op) engine.WaitDescription {
	o := x.EngineOp.(*op)
	w := engine.WaitDescription{Cause: engine.WaitMessage, Peer: int(o.Peer), Context: o.Context, Tag: int(o.Tag)}
	switch {
	case o.Receive && o.isMatched:
		w.Cause = engine.WaitData
	case !o.Receive:
		w.Cause, w.Bytes, w.Mode, w.Protocol = engine.WaitReceive, o.Size, o.Mode, "short"
		if o.Size > e.sizes.maxShortBytes[e.port.Tier(int(o.Peer))] {
			w.Protocol = "rendezvous"
		}
		if o.cancelSerial > 0 {
			w.Cause = engine.WaitCancelAnswer
		}
	}
	return w
}

func (e *Engine) UnexpectedMessages(context uint32) (int, *engine.UnexpectedMessage) {
	return e.inbox.UnexpectedMessages(context)
}

// CancellableMessage returns a message whose sender waits for its match: other messages are already
// complete at their senders.
func (e *Engine) CancellableMessage() *engine.UnexpectedMessage {
	return e.inbox.CancellableMessage((*head).isSenderWaiting)
}

// LowLevelPort returns nil: the engine has no lower level for programs.
func (e *Engine) LowLevelPort() engine.LowLevelPort { return nil }

// Names of the engine's counters.
const (
	shortMessages = iota
	longMessages
	rdmaTransfers
	rdmaBlocks
	bytesCopiedIn
	bytesCopiedOut
	numCounts
)

var countNames = [numCounts]string{
	shortMessages: "short messages", longMessages: "long messages", rdmaTransfers: "transfers by RDMA", rdmaBlocks: "blocks",
	bytesCopiedIn: "bytes copied to pinned memory", bytesCopiedOut: "bytes copied from pinned memory",
}

// Counts implements engine.CountingEngine. RDMA transfers are counted at their start.
func (e *Engine) Counts(yield func(name string, n int64) bool) {
	for i, name := range countNames {
		if !yield(name, e.counts[i]) {
			return
		}
	}
	e.channelCalls.Counts("calls of the channel", yield)
}
