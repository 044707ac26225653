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
	posted match.Entry[*op]
	serial uint32 // of the cancel that is under way; 0: none

	// Of a long message.
	bound bool   // a receive has its message, or a send its receive
	src   int32  // of a receive: its sender
	other uint32 // the operation of the other rank
	moved int    // bytes that have left, or are in the user's buffer
	from  int    // of the transfer that is granted: where in the message it begins
	till  int    // and where it ends
	there int    // by RDMA: bytes that have been put, or are known to be in pinned memory
	key   device.Key
	next  *op // of those that wait for a transfer
}

// Engine carries the messages of one rank. It implements engine.Engine.
type Engine struct {
	rank    *engine.Rank
	port    device.Port
	memory  device.Memory // nil: none, blocks are packets
	size    sizes
	ops     []*op
	inbox   engine.Inbox[*op, head]
	packet  device.Packet
	cancels uint32
	pinned  pinned
	channel channel
	counts  [numCounts]int64
	calls   engine.Sizes // of the channel
	skip    rule
}

// sizes are the library's settings.
type sizes struct {
	short  [model.NumTiers]int // longest message that goes at once
	block  int                 // copied and put at a time
	pinned int                 // memory for transfers
}

// New makes the engines of a job. It is an engine.New. There are no protocols to choose: the length
// and the place of the other rank decide.
func New(l *model.Library, protocol string) (engine.Maker, error) {
	if protocol != "" {
		return nil, fmt.Errorf("library %s: there is no protocol %q: the length of a message and the place of its receiver decide how it goes", l.Name, protocol)
	}
	m := maker{size: sizes{l.Start.ShortBytes, l.Start.BlockBytes, l.Start.PinnedBytes}}
	if m.size.block == 0 {
		m.size.block = model.DefaultBlockBytes
	}
	if m.size.pinned == 0 {
		m.size.pinned = model.DefaultPinnedBytes
	}
	if least := model.MinBlocks * m.size.block; m.size.pinned < least {
		return nil, fmt.Errorf("library %s: pinned memory of %d bytes has no room for %d blocks of %d: at least %d", l.Name, m.size.pinned, model.MinBlocks, m.size.block, least)
	}
	return m, nil
}

type maker struct {
	size sizes
	skip rule // in tests
}

// Engines implements engine.Maker.
func (m maker) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].size, all[i].skip = m.size, m.skip
		return &all[i]
	}
}

// Setup implements engine.Engine, as do the methods below.
func (e *Engine) Setup(r *engine.Rank) {
	e.rank, e.port = r, r.Port()
	e.memory = e.port.Memory()
	e.pinned.free = e.size.pinned
}

func (e *Engine) NewOp() *engine.Op {
	o := new(op)
	o.Self, o.posted.Value = o, o
	e.ops = append(e.ops, o)
	return &o.Op
}

func (e *Engine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	e.rank.SendAndAwait(m, buf, s, dst, context, tag)
}

// Isend sends a short message, and completes it unless it is synchronous, or sends the request of a
// long one. A buffered message is copied to the attached buffer first.
func (e *Engine) Isend(o *engine.Op) {
	e.port.Spend(model.StartSend, 1)
	if o.Mode != model.Buffered {
		e.start(o.Self.(*op))
		return
	}
	e.start(e.rank.Buffer(o).Self.(*op))
	e.rank.Complete(o)
}

func (e *Engine) start(s *op) {
	s.bound, s.moved, s.serial = false, 0, 0
	h := head{kind: short, mode: s.Mode, tag: s.Tag, context: s.Context, sign: s.Sign, from: s.ID(), size: s.Size}
	if s.Size > e.size.short[e.port.Tier(int(s.Peer))] {
		h.kind = request
		e.counts[long]++
		e.call(int(s.Peer), &h)
		return
	}
	e.counts[shorts]++
	e.calls.Add(headBytes + s.Size)
	e.send(int(s.Peer), &h, s.Buf)
	if s.Mode != model.Synchronous {
		e.rank.Complete(&s.Op)
	}
}

// send sends a packet through the channel.
func (e *Engine) send(dst int, h *head, b []byte) {
	if e.port.Tier(dst) == model.Inter {
		e.port.Spend(model.StartRemote, 1)
	}
	e.packet = device.Packet{Head: h.words(), Data: b}
	e.port.Send(dst, &e.packet)
}

// call makes a control message of the protocol layer, and gives it to the channel.
func (e *Engine) call(dst int, h *head) {
	e.calls.Add(headBytes)
	e.control(dst, h)
}

// control makes a packet that is not the first of a short message, and sends it.
func (e *Engine) control(dst int, h *head) {
	e.port.Spend(model.StartControl, 1)
	e.send(dst, h, nil)
}

func (e *Engine) Irecv(x *engine.Op) {
	e.port.Spend(model.StartReceive, 1)
	o := x.Self.(*op)
	o.bound, o.moved, o.there = false, 0, 0
	if m := e.inbox.Post(x, &o.posted); m != nil {
		e.deliver(o, m)
		e.inbox.Drop(m)
	}
}

func (e *Engine) Recv(o *engine.Op) {
	e.Irecv(o)
	e.rank.Await(o)
}

// deliver gives a message to its receive. If it is long, it tells the sender that it may send.
func (e *Engine) deliver(o *op, m *engine.Arrived[head]) {
	h := &m.Head
	e.rank.Check(&o.Op, o.Context, m.Source, m.Tag, m.Size, h.sign)
	o.Peer, o.Tag, o.Size = m.Source, m.Tag, m.Size
	if h.kind == request {
		o.bound, o.src, o.other = true, m.Source, h.from
		e.call(m.Src, &head{kind: clear, from: o.ID(), to: o.other})
		return
	}
	e.rank.Copy(o.Buf, m.Data)
	if h.mode == model.Synchronous {
		e.call(m.Src, &head{kind: ack, from: h.from})
	}
	e.rank.Complete(&o.Op)
}

// Progress takes in one packet and continues transfers.
func (e *Engine) Progress(wait bool) bool {
	p := e.port.Recv(wait)
	if p == nil {
		return false
	}
	h := headOf(&p.Head)
	if h.kind != done {
		if e.port.Tier(p.Src) == model.Inter {
			e.port.Spend(model.StartRemote, 1)
		}
		e.port.Spend(model.StartHandle, 1)
	}
	switch h.kind {
	case short, request:
		e.arrive(p, h)
	case clear:
		e.cleared(e.ops[h.to], &h)
	case connect:
		e.channel.waiting.add(e.ops[h.to])
		e.grant()
	case grant:
		e.granted(e.ops[h.to], &h)
	case block:
		e.blockArrived(e.ops[h.to], &h, p.Data)
	case done:
		e.putEnded(&h, p.Refused)
	case ack:
		e.end(e.ops[h.from], e.rank.Complete)
	case cancel:
		e.withdraw(p.Src, h)
	case answer:
		if o := e.ops[h.from]; o.serial == h.to && h.found && o.serial > 0 {
			e.end(o, e.rank.Cancelled)
		} else if o.serial == h.to {
			o.serial = 0
		}
	case exit: // the rank has sent everything, and has not received what is being cancelled
		for _, o := range e.ops {
			if o.serial > 0 && int(o.Peer) == p.Src {
				e.end(o, e.rank.Cancelled)
			}
		}
	}
	return true
}

// end ends a send.
func (e *Engine) end(o *op, how func(*engine.Op)) {
	o.serial = 0
	how(&o.Op)
}

// arrive gives a message to the first receive that matches, or keeps it.
func (e *Engine) arrive(p *device.Packet, h head) {
	m, o := e.inbox.Arrive(p, h, h.context, h.tag, h.size)
	switch {
	case o != nil:
		e.deliver(o.Value, m)
		e.inbox.Drop(m)
	case h.mode == model.Ready:
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.Name(m.Source, h.context), h.size, h.tag)
	default:
		e.rank.Copy(m.Data, p.Data) // charges the copy that Arrive has made
	}
}

func (e *Engine) Looked(bool) { e.port.Spend(model.StartTest, 1) }

func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	return e.inbox.Probe(e.rank, model.StartTest, src, context, tag, block)
}

// Cancel removes a receive that is posted. A send is cancelled by the receiver, as only that knows
// whether its receive has been found.
func (e *Engine) Cancel(x *engine.Op) {
	switch o := x.Self.(*op); {
	case o.Receive && o.bound: // it has a message
	case o.Receive:
		e.inbox.Posted.Remove(&o.posted)
		e.rank.Cancelled(x)
	case o.serial == 0 && !o.bound:
		e.cancels++
		o.serial = e.cancels
		e.call(int(o.Peer), &head{kind: cancel, from: o.ID(), to: o.serial})
		e.port.NotifyExit(int(o.Peer), (&head{kind: exit}).words())
	}
}

// withdraw removes a message for its sender, unless a receive has taken it.
func (e *Engine) withdraw(src int, h head) {
	a := head{kind: answer, from: h.from, to: h.to}
	a.found = e.inbox.Withdraw(src, func(m *head) bool { return m.from == h.from && m.open() })
	e.call(src, &a)
}

// open reports whether the sender of a message waits for its receive.
func (h *head) open() bool { return h.mode == model.Synchronous || h.kind == request }

func (e *Engine) Explain(x *engine.Op) engine.Wait {
	o := x.Self.(*op)
	w := engine.Wait{For: engine.ForMessage, Peer: int(o.Peer), Context: o.Context, Tag: int(o.Tag)}
	switch {
	case o.Receive && o.bound:
		w.For = engine.ForData
	case !o.Receive:
		w.For, w.Bytes, w.Mode, w.Protocol = engine.ForReceive, o.Size, o.Mode, "short"
		if o.Size > e.size.short[e.port.Tier(int(o.Peer))] {
			w.Protocol = "rendezvous"
		}
		if o.serial > 0 {
			w.For = engine.ForAnswer
		}
	}
	return w
}

func (e *Engine) Unreceived(context uint32) (int, *engine.Arrival) {
	return e.inbox.Unreceived(context)
}

// Unsettled returns a message whose sender waits for its receive: others are complete at theirs.
func (e *Engine) Unsettled() *engine.Arrival { return e.inbox.Unsettled((*head).open) }

// Direct returns nil: there is nothing below messages that programs may use.
func (e *Engine) Direct() engine.Direct { return nil }

// The counters of an engine.
const (
	shorts = iota
	long
	transfers
	blocks
	copiedIn
	copiedOut
	numCounts
)

var countNames = [numCounts]string{
	shorts: "short messages", long: "long messages", transfers: "transfers by RDMA", blocks: "blocks",
	copiedIn: "bytes copied to pinned memory", copiedOut: "bytes copied from pinned memory",
}

// Counts implements engine.Counter. Transfers by RDMA are counted where they begin.
func (e *Engine) Counts(yield func(name string, n int64) bool) {
	for i, name := range countNames {
		if !yield(name, e.counts[i]) {
			return
		}
	}
	e.calls.Counts("calls of the channel", yield)
}
