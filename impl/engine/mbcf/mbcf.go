// Package mbcf is the engine of MPI/MBCF: receivers post requests, and a sender that finds a
// request for the message in hand writes straight into the receive buffer.
//
// Every pair of ranks has two FIFOs in each direction of messages: the message FIFO in the memory
// of the receiver, and the request FIFO in that of the sender, which the receiver fills:
//
//	receiver                        sender
//	Irecv: request ───────────────▶ request FIFO
//	                                Isend: the request is valid and matches
//	user's buffer ◀──────────────── remote write of the data, then of a completion record
//
//	Irecv or Wait: message FIFO ◀── Isend: no such request: header and data
//
// Ranks match on both sides, so serial numbers decide which requests are valid:
//
//	message serial     counts the messages that a sender has put into a message FIFO
//	request serial     numbers the requests of a receiver to one sender
//	next request       in every header: the request serial that the sender expects
//	accepted message   in every request: the last message that the receiver took from the FIFO
//
// A sender uses a request if it is fresh (the receiver has accepted all messages in the FIFO) and
// in succession (its serial is the next one). It drops all others, and sends by the FIFO. A header
// tells the receiver which requests were answered (retire) and from where it numbers again
// (repost).
//
// There are two ways below this, by what the port has: remote uses its Memory, Queue, Watch and
// Signal, and packets uses nothing but packets, and puts of long messages where there is Memory.
package mbcf

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// transport is how requests, messages and remote writes get to other ranks.
type transport interface {
	// oldestRequest takes the oldest request out of the request FIFO that a receiver fills, or
	// returns nil. The request is valid until the next call.
	oldestRequest(p *peer) *request

	// postRequest puts a request for a receive into the request FIFO of its source. A full FIFO
	// loses it.
	postRequest(p *peer, o *op, h head)

	// writeToTarget writes the data of a send to where a request says, and then a completion
	// record, and completes the send when the data has been taken.
	writeToTarget(p *peer, s *op, r *request)

	// enqueueMessage puts a send's message, whose serial is next, into the message FIFO of its
	// receiver.
	enqueueMessage(p *peer, s *op)

	// runAtPeer runs told at another rank, even if that rank computes where the machine can do so.
	runAtPeer(dst int, h *head)

	// progress takes in one thing that has happened, or with block waits for one.
	progress(block bool) bool

	// drainMessages takes in the messages that have come from a rank, or from any, until receive o
	// is complete or bound to one.
	drainMessages(src int32, o *op)

	// endRemoteUse ends the remote use of a receive that is complete.
	endRemoteUse(o *op)

	// recallMessage takes back a message that is on its way into the FIFO; if its first part has
	// arrived, recall returns and the message continues.
	recallMessage(p *peer, s *op)

	// handlePeerExit ends what is on the way to a rank whose program has ended, and takes in what
	// the rank has written.
	handlePeerExit(p *peer)

	// beginEngineUse and leave bracket the engine's use of what told uses.
	beginEngineUse()
	endEngineUse()
}

// peer is what a rank knows of another rank.
type peer struct {
	rank int32

	// As a sender of messages.
	lastSentSerial   uint32 // serial of the last message in its FIFO
	expectedRequest  uint32 // request serial that is expected
	cancelledRequest cancelledRequest
	isPutUnderWay    bool  // a message is being put, and none may leave before it is there
	blockedSends     []*op // sends that wait for that

	// As a receiver.
	lastAcceptedSerial      uint32      // serial of the last message taken from its FIFO
	nextRequestSerial       uint32      // serial of the next request
	anySourceCountAtRequest uint32      // Engine.wild when reqNo was used last
	pendingReceives         receiveList // pending receives from this rank, in posting order
	partialMessage          *message
	wasDrained              bool // a message was taken since requests were posted
	cancelledMessages       []cancelledFIFOMessage

	remotePeer
	receivedRequests requestRing // of requests, where they are packets
}

// cancelledRequest is a request that its receiver has cancelled: those with its serial are not
// used, until the next message by the FIFO makes all requests stale.
type cancelledRequest struct {
	isActive bool
	serial   uint32
}

// request is what a receiver asks for.
type request struct {
	context            uint32
	tag                int32
	size               int    // room for data
	serial             uint32 // request serial
	lastAcceptedSerial uint32 // accepted message number
	writeTarget
}

// op is an operation.
type op struct {
	engine.Op
	postedEntry match.Entry[*op]

	// Of a receive.
	list           *receiveList
	prev, next     *op
	number         uint64 // in posting order
	serial         uint32 // of the request that was posted last, if it is live; of a send: of the message
	hasLiveRequest bool   // a request is out that may be answered

	isAcknowledged bool   // of a synchronous send by the FIFO
	isEnteringFIFO bool   // of a send: its message is on the way into the FIFO
	cancelSerial   uint32 // serial of the cancel under way; 0: none
	transportOp
}

// receiveList is receives in posting order.
type receiveList struct{ head, tail *op }

func (l *receiveList) add(o *op) {
	o.list, o.prev, o.next = l, l.tail, nil
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

func (l *receiveList) remove(o *op) {
	if o.prev == nil {
		l.head = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		l.tail = o.prev
	} else {
		o.next.prev = o.prev
	}
	o.list, o.prev, o.next = nil, nil, nil
}

// Engine carries the messages of one rank. It implements engine.Engine.
type Engine struct {
	rank            *engine.Rank
	port            device.Port
	transport       transport
	packetTransport *packetTransport // the fabric, if it is that
	isRealTime      bool             // nothing is charged to the processor
	sizes           sizeSettings
	selfRank        int32

	hasSelfFIFO bool // messages to the rank itself go like others, by FIFOs of its own
	isProbing   bool // messages without a receive are of interest

	posted            match.Queue[*op]      // receives without a message
	unexpected        match.Queue[*message] // messages without a receive: "unexpected" in the thesis
	anySourceReceives receiveList           // receives from any source among the posted ones
	nextReceiveNumber uint64                // of receives
	anySourceCount    uint32                // counts receives from any source
	drainedPeers      []*peer               // those that are drained

	peers            map[int32]*peer
	peerList         []*peer // in the order in which they became known
	lastPeer         *peer
	ops              []*op
	freeMessages     *message
	lastCancelSerial uint32
	packet           device.Packet
	lastCancel       head // of the cancel that was asked for last
	counts           [numCounts]int64
	disabledRules    orderRule
}

// orderRule is one of the rules that keep messages in order. Tests leave out each of them, to see
// that its absence is noticed.
type orderRule uint8

const (
	refuseStaleRequests       orderRule = 1 << iota // a request is stale unless all messages in the FIFO were accepted
	useRequestsInOrder                              // a request is not used if one before it was not
	retireAnsweredReceives                          // a header ends the receives that were answered before it
	repostToDrainedSourceOnly                       // receives are posted again to the source whose FIFO was drained, only
	repostAfterEarlyEnd                             // they are posted again also if a receive has ended the draining
	anySourceUsesSerials                            // a receive from any source, and what is behind it, uses serials and is not posted
	anySourceStopsReposting                         // what is behind a receive from any source is not posted again
	serialForEveryReceive                           // a receive is posted or uses a serial also if other FIFOs were drained
)

// sizeSettings are the library's settings.
type sizeSettings struct {
	messageFIFOBytes   int // bytes of a message FIFO
	requestFIFOEntries int // entries of a request FIFO; 0: none are posted
}

// New makes the engines of a job. It is an engine.NewJobEnginesFunc. There are no protocols to
// choose: who comes first decides.
func New(l *model.Library, protocol string) (engine.JobEngines, error) {
	if protocol != "" {
		return nil, fmt.Errorf("library %s: there is no protocol %q: whether a message goes by remote write or by a FIFO depends on whether its request is there", l.Name, protocol)
	}
	m := jobEngines{sizeSettings: sizeSettings{l.MBCF.FIFOBytes, l.MBCF.Requests}}
	if m.messageFIFOBytes == 0 {
		m.messageFIFOBytes = model.DefaultFIFOBytes
	}
	switch {
	case m.requestFIFOEntries == 0:
		m.requestFIFOEntries = model.DefaultRequestFIFOEntries
	case m.requestFIFOEntries < 0:
		m.requestFIFOEntries = 0
	}
	if m.messageFIFOBytes < model.MinFIFOBytes {
		return nil, fmt.Errorf("library %s: a message FIFO of %d bytes has no room for a header: at least %d", l.Name, m.messageFIFOBytes, model.MinFIFOBytes)
	}
	return m, nil
}

type jobEngines struct {
	sizeSettings
	disabledRules orderRule // in tests
}

// Engines implements engine.JobEngines.
func (m jobEngines) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].sizes, all[i].disabledRules = m.sizeSettings, m.disabledRules
		return &all[i]
	}
}

// Setup implements engine.Engine, as do the methods below. Where the port has queues, ranks tell
// each other theirs, so it returns when all have called it.
func (e *Engine) Setup(r *engine.Rank) {
	e.rank, e.port, e.selfRank, e.isRealTime = r, r.Port(), int32(r.Port().Rank()), r.IsRealTime()
	e.peers = map[int32]*peer{}
	if p := e.port; p.Memory() != nil && p.Queues() != nil && p.Watch() != nil && p.Signal() != nil {
		e.hasSelfFIFO = true
		e.transport = newRemoteTransport(e)
	} else {
		e.packetTransport = newPacketTransport(e)
		e.transport = e.packetTransport
	}
}

// spend charges work to the processor.
func (e *Engine) spend(w model.CostKey) {
	if !e.isRealTime {
		e.port.Spend(w, 1)
	}
}

// peer returns what is known of another rank.
func (e *Engine) peer(rank int32) *peer {
	if p := e.lastPeer; p != nil && p.rank == rank {
		return p
	}
	p := e.peers[rank]
	if p == nil {
		p = &peer{rank: rank, expectedRequest: 1, nextRequestSerial: 1}
		e.peers[rank] = p
		e.peerList = append(e.peerList, p)
	}
	e.lastPeer = p
	return p
}

func (e *Engine) NewOp() *engine.Op {
	o := new(op)
	o.EngineOp, o.postedEntry.Value = o, o
	e.ops = append(e.ops, o)
	return &o.Op
}

func (e *Engine) Progress(block bool) bool {
	if e.packetTransport != nil {
		return e.packetTransport.progress(block)
	}
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	return e.transport.progress(block)
}

// Barrier implements engine.BarrierEngine, where the port has memory and queues.
func (e *Engine) Barrier(n, me int, rank func(i int) int) bool {
	f, ok := e.transport.(*remoteTransport)
	if ok {
		f.beginEngineUse()
		defer f.endEngineUse()
		f.barrier(n, me, rank)
	}
	return ok
}

func (e *Engine) ChargeCompletionCheck(bool) { e.spend(model.MBCFTestCost) }

// LowLevelPort returns nil: there is nothing below messages.
func (e *Engine) LowLevelPort() engine.LowLevelPort { return nil }

func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	e.isProbing = true
	defer func() { e.isProbing = false }()
	x := match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	for {
		for i := 0; i < engine.MaxPolledPackets && e.transport.progress(false); i++ {
		}
		e.spend(model.MBCFTestCost)
		if m := e.unexpected.Match(x); m != nil {
			return engine.Status{Source: int(m.Source), Tag: int(m.Tag), Bytes: m.Value.size}, true
		}
		if !block {
			return engine.Status{}, false
		}
		e.transport.progress(true)
	}
}

func (e *Engine) ExplainWait(x *engine.Op) engine.WaitDescription {
	o := x.EngineOp.(*op)
	w := engine.WaitDescription{Cause: engine.WaitMessage, Peer: int(o.Peer), Context: o.Context, Tag: int(o.Tag)}
	switch {
	case o.cancelSerial > 0:
		w.Cause = engine.WaitCancelAnswer
	case o.Receive && o.list == nil:
		w.Cause = engine.WaitData
	}
	if !o.Receive {
		w.Bytes, w.Mode, w.Protocol = o.Size, o.Mode, "FIFO"
		if o.cancelSerial == 0 {
			w.Cause = engine.WaitReceive
		}
	}
	return w
}

func (e *Engine) UnexpectedMessages(context uint32) (int, *engine.UnexpectedMessage) {
	return engine.CountUnexpected(&e.unexpected, context, (*message).arrival)
}

// CancellableMessage returns a synchronous message: others are complete at their senders.
func (e *Engine) CancellableMessage() *engine.UnexpectedMessage {
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	return engine.FindCancellable(&e.unexpected, func(m *message) bool { return m.mode == model.SynchronousMode }, (*message).arrival)
}

func (m *message) arrival() *engine.UnexpectedMessage {
	return &engine.UnexpectedMessage{Source: int(m.Source), Tag: int(m.Tag), Bytes: m.size, Context: m.Context}
}

// The counters of an engine.
const (
	remoteWrites = iota
	remoteWriteBytes
	fifoMessages
	fifoBytes
	requestsPosted
	requestsDropped
	requestsLost
	temporaryBuffers
	retriedEntries
	numCounts
)

var countNames = [numCounts]string{
	remoteWrites: "messages by remote write", remoteWriteBytes: "bytes by remote write", fifoMessages: "messages by FIFO", fifoBytes: "bytes by FIFO",
	requestsPosted: "requests posted", requestsDropped: "requests dropped", requestsLost: "requests lost", temporaryBuffers: "temporary buffers used", retriedEntries: "FIFO writes retried",
}

// Counts implements engine.CountingEngine. Requests that were lost are counted where that is found.
func (e *Engine) Counts(yield func(name string, n int64) bool) {
	for i, name := range countNames {
		if !yield(name, e.counts[i]) {
			return
		}
	}
}
