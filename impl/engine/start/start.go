// Package start is the engine of MPI-StarT: MPICH's protocol layer above a channel for clusters of
// SMPs, whose interface has programmed I/O for short messages and RDMA from pinned memory for long
// ones.
//
//	short    → header and data, in one packet
//	request  → a long message: has it a receive?
//	clear    ← yes, it is posted
//	connect  → may a transfer by RDMA begin?
//	grant    ← yes, of so many bytes to there: it is its turn, and the interface serves no other
//	block    → a block of the data, or the news that one is in the receiver's pinned memory
//	ack      ← the receive of a synchronous short message has been found
//	cancel   → remove the message, if it has no receive
//	answer   ← whether it was removed
//	exit       from the world: the program of a rank has ended
//
// Request and clear are of the protocol layer, and connect and grant of the channel below it, which
// transfers arrays of bytes and knows nothing of messages.
//
// The length from which a message is long depends on the place of the other rank: one inside an
// SMP, another between SMPs. Inside, blocks are packets, through memory that both share. Between
// SMPs, where the port has remote memory, the sender copies blocks into pinned memory, the
// interface writes them to pinned memory of the receiver, and the receiver copies them to the
// user's buffer. The three overlap (transfer.go).
package start

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// op is an operation: a receive until it has its message, a send until its data has left or its
// receive has been found.
type op struct {
	engine.Op
	postedEntry  match.Entry[*op]
	cancelSerial uint32 // of the cancel that is under way; 0: none

	// Of a long message.
	isMatched     bool   // a receive has its message, or a send its receive
	src           int32  // of a receive: its sender
	peerOp        uint32 // the operation of the other rank
	movedBytes    int    // bytes that have left, or are in the user's buffer
	transferStart int    // of the transfer that is granted: where in the message it begins
	transferEnd   int    // and where it ends
	pinnedEnd     int    // by RDMA: bytes that have been put, or are known to be in pinned memory
	key           device.Key
	next          *op // of those that wait for a transfer
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
	channelCalls     engine.SizeHistogram // of the channel
	disabledRules    transferRule
}

// sizeSettings are the library's settings.
type sizeSettings struct {
	maxShortBytes [model.NumTiers]int // longest message that goes at once
	blockBytes    int                 // copied and put at a time
	pinnedBytes   int                 // memory for transfers
}

// New makes the engines of a job. It is an engine.NewJobEnginesFunc. There are no protocols to
// choose: the length and the place of the other rank decide.
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
	disabledRules transferRule // in tests
}

// Engines implements engine.JobEngines.
func (m jobEngines) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].sizes, all[i].disabledRules = m.sizes, m.disabledRules
		return &all[i]
	}
}

// Setup implements engine.Engine, as do the methods below.
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

// Isend sends a short message, and completes it unless it is synchronous, or sends the request of a
// long one. A buffered message is copied to the attached buffer first.
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

// sendChannelControl makes a control message of the protocol layer, and gives it to the channel.
func (e *Engine) sendChannelControl(dst int, h *head) {
	e.channelCalls.Add(headBytes)
	e.sendControl(dst, h)
}

// sendControl makes a packet that is not the first of a short message, and sends it.
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

// deliver gives a message to its receive. If it is long, it tells the sender that it may send.
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

// Progress takes in one packet and continues transfers.
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

// endSend ends a send.
func (e *Engine) endSend(o *op, how func(*engine.Op)) {
	o.cancelSerial = 0
	how(&o.Op)
}

// handleMessage gives a message to the first receive that matches, or keeps it.
func (e *Engine) handleMessage(p *device.Packet, h head) {
	m, o := e.inbox.Arrive(p, h, h.context, h.tag, h.size)
	switch {
	case o != nil:
		e.deliver(o.Value, m)
		e.inbox.Recycle(m)
	case h.mode == model.ReadyMode:
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.PeerName(m.Source, h.context), h.size, h.tag)
	default:
		e.rank.Copy(m.Data, p.Data) // charges the copy that Arrive has made
	}
}

func (e *Engine) ChargeCompletionCheck(bool) { e.port.Spend(model.StartTestCost, 1) }

func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	return e.inbox.Probe(e.rank, model.StartTestCost, src, context, tag, block)
}

// Cancel removes a receive that is posted. A send is cancelled by the receiver, as only that knows
// whether its receive has been found.
func (e *Engine) Cancel(x *engine.Op) {
	switch o := x.EngineOp.(*op); {
	case o.Receive && o.isMatched: // it has a message
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

// handleCancel removes a message for its sender, unless a receive has taken it.
func (e *Engine) handleCancel(src int, h head) {
	a := head{kind: kindCancelAnswer, from: h.from, to: h.to}
	a.found = e.inbox.Withdraw(src, func(m *head) bool { return m.from == h.from && m.isSenderWaiting() })
	e.sendChannelControl(src, &a)
}

// isSenderWaiting reports whether the sender of a message waits for its receive.
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

// CancellableMessage returns a message whose sender waits for its receive: others are complete at
// theirs.
func (e *Engine) CancellableMessage() *engine.UnexpectedMessage {
	return e.inbox.CancellableMessage((*head).isSenderWaiting)
}

// LowLevelPort returns nil: there is nothing below messages that programs may use.
func (e *Engine) LowLevelPort() engine.LowLevelPort { return nil }

// The counters of an engine.
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

// Counts implements engine.CountingEngine. Transfers by RDMA are counted where they begin.
func (e *Engine) Counts(yield func(name string, n int64) bool) {
	for i, name := range countNames {
		if !yield(name, e.counts[i]) {
			return
		}
	}
	e.channelCalls.Counts("calls of the channel", yield)
}
