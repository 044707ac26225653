// Package mbcf is the engine of MPI/MBCF. Receivers post requests, and a sender that has a request
// for its message writes directly into the receive buffer. Every pair of ranks has two FIFOs in
// each direction: the message FIFO in the receiver's memory, and the request FIFO in the sender's
// memory, which the receiver fills:
//
//	receiver                        sender
//	Irecv: request ───────────────▶ request FIFO
//	                                Isend: the request is valid and matches
//	user's buffer ◀──────────────── remote write of the data, then of a completion record
//	Irecv or Wait: message FIFO ◀── Isend: no such request: header and data
//
// Ranks match on both sides, so serial numbers decide which requests are valid (see peer). Engine
// has two transports, depending on the port: remoteTransport uses Memory, Queue, Watch and Signal,
// and packetTransport uses packets, and puts of long messages if there is Memory.
package mbcf

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// transport transfers requests, messages and remote writes to other ranks.
type transport interface {
	// oldestRequest removes and returns the oldest request in the request FIFO that a receiver
	// fills, or returns nil. The request is valid until the next call.
	oldestRequest(p *peer) *request

	// postRequest puts a request for a receive into the request FIFO of its source. If the FIFO is
	// full, the request is lost.
	postRequest(p *peer, o *op, h head)

	// writeToTarget writes the data of a send to the location in a request, followed by a
	// completion record. It completes the send when the data has been copied or sent.
	writeToTarget(p *peer, s *op, r *request)

	// enqueueMessage puts the message of a send, which has the next serial, into the message FIFO
	// of its receiver.
	enqueueMessage(p *peer, s *op)

	// runAtPeer runs handleControl at another rank. If the machine has signals, it runs even while
	// that rank computes.
	runAtPeer(dst int, h *head)

	// progress handles one event. If block is set it waits for one.
	progress(block bool) bool

	// drainMessages handles messages that have arrived from a rank, or from any, until receive o is
	// complete or bound to one.
	drainMessages(src int32, o *op)

	// endRemoteUse ends the remote access to the buffer of a complete receive.
	endRemoteUse(o *op)

	// recallMessage withdraws a message that is entering the FIFO. If its first part has arrived,
	// the message continues.
	recallMessage(p *peer, s *op)

	// handlePeerExit ends what is under way to a rank whose program has ended, and handles what
	// that rank has written.
	handlePeerExit(p *peer)

	// beginEngineUse and endEngineUse enclose accesses to state that signal handlers use.
	beginEngineUse()
	endEngineUse()
}

// peer is the state for one other rank. Four serial numbers keep both sides consistent:
//
//	message serial     counts the messages that a sender has put into a message FIFO
//	request serial     numbers the requests of a receiver to one sender
//	next request       in every header: the request serial that the sender expects
//	accepted message   in every request: the last message that the receiver took from the FIFO
//
// A sender uses a request if it is fresh (the receiver has accepted all messages in the FIFO) and
// in succession (its serial is the expected one). It drops all others, and sends by the FIFO. A
// header tells the receiver which requests were answered, and from which serial it numbers again.
type peer struct {
	rank int32

	// As a sender of messages.
	lastSentSerial   uint32 // serial of the last message in its FIFO
	expectedRequest  uint32 // request serial that is expected
	cancelledRequest cancelledRequest
	isPutUnderWay    bool  // a message is being put; no other may leave before it has arrived
	blockedSends     []*op // sends that wait for that

	// As a receiver.
	lastAcceptedSerial      uint32      // serial of the last message taken from its FIFO
	nextRequestSerial       uint32      // serial of the next request
	anySourceCountAtRequest uint32      // Engine.anySourceCount when nextRequestSerial was last used
	pendingReceives         receiveList // from this rank, in the order of posting
	partialMessage          *message
	wasDrained              bool // a message was taken from its FIFO since requests were posted
	cancelledMessages       []cancelledFIFOMessage

	remotePeer
	receivedRequests requestRing // if requests are packets
}

// cancelledRequest is a request that its receiver has cancelled. Requests with its serial are not
// used until the next FIFO message makes all requests stale.
type cancelledRequest struct {
	isActive bool
	serial   uint32
}

// request is a receiver's request for a message.
type request struct {
	context            uint32
	tag                int32
	size               int    // bytes of the buffer
	serial             uint32 // request serial
	lastAcceptedSerial uint32 // accepted message number
	writeTarget
}

// op is an operation of this engine.
type op struct {
	engine.Op
	postedEntry match.Entry[*op]

	// Of a receive.
	list           *receiveList
	prev, next     *op
	number         uint64 // in the order of posting
	serial         uint32 // receive: of the last posted request, if it is live; send: of the message
	hasLiveRequest bool   // a request is posted that may be answered

	isAcknowledged bool   // a synchronous send by the FIFO has been matched
	isEnteringFIFO bool   // a send's message is entering the FIFO
	cancelSerial   uint32 // serial of the cancel under way; 0: none
	transportOp
}

// receiveList is a list of receives in the order of posting.
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
	packetTransport *packetTransport // the transport, if it is a packetTransport
	isRealTime      bool             // software costs are not charged
	sizes           sizeSettings
	selfRank        int32

	hasSelfFIFO bool // messages to the rank itself go through FIFOs, too
	isProbing   bool // unexpected messages are to be found

	posted            match.Queue[*op]      // receives without a message
	unexpected        match.Queue[*message] // messages without a receive
	anySourceReceives receiveList           // posted receives from any source
	nextReceiveNumber uint64                // number of the next receive
	anySourceCount    uint32                // number of receives from any source so far
	drainedPeers      []*peer               // peers whose FIFOs were drained

	peers            map[int32]*peer
	peerList         []*peer // in the order of first use
	lastPeer         *peer
	ops              []*op
	freeMessages     *message
	lastCancelSerial uint32
	packet           device.Packet
	lastCancel       head // of the last cancel
	counts           [numCounts]int64
	disabledRules    orderRule
}

// orderRule is one of the rules that keep messages in order. Tests disable each of them to check
// that tests notice.
type orderRule uint8

const (
	ruleRefuseStaleRequests       orderRule = 1 << iota // a request is stale unless all messages in the FIFO have been accepted
	ruleUseRequestsInOrder                              // a request is not used if an earlier one was not used
	ruleRetireAnsweredReceives                          // a header ends the receives whose requests were answered before it
	ruleRepostToDrainedSourceOnly                       // receives are reposted only to sources whose FIFOs were drained
	ruleRepostAfterEarlyEnd                             // also if a receive has ended the draining
	ruleAnySourceUsesSerials                            // a receive from any source, and later receives, use serials and are not posted
	ruleAnySourceStopsReposting                         // receives after one from any source are not reposted
	ruleSerialForEveryReceive                           // a receive is posted or uses a serial even if other FIFOs were drained
)

// sizeSettings are settings of the library.
type sizeSettings struct {
	messageFIFOBytes   int // bytes of a message FIFO
	requestFIFOEntries int // entries of a request FIFO; 0: no requests are posted
}

// New creates the engines of a job. It is an engine.NewJobEnginesFunc. There are no protocols to
// choose: the order of arrival decides.
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
	disabledRules orderRule // for tests
}

// Engines implements engine.JobEngines.
func (m jobEngines) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].sizes, all[i].disabledRules = m.sizeSettings, m.disabledRules
		return &all[i]
	}
}

// Setup and the methods below implement engine.Engine. If the port has queues, Setup exchanges them
// between all ranks, so it returns when all have called it.
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

// peer returns the state for another rank.
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

// Barrier implements engine.BarrierEngine, if the port has memory and queues.
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

// LowLevelPort returns nil: the engine has no lower level.
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

// CancellableMessage returns a synchronous message: other messages are already complete at their
// senders.
func (e *Engine) CancellableMessage() *engine.UnexpectedMessage {
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	return engine.FindCancellable(&e.unexpected, func(m *message) bool { return m.mode == model.SynchronousMode }, (*message).arrival)
}

func (m *message) arrival() *engine.UnexpectedMessage {
	return &engine.UnexpectedMessage{Source: int(m.Source), Tag: int(m.Tag), Bytes: m.size, Context: m.Context}
}

// Names of the engine's counters.
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

// Counts implements engine.CountingEngine. Lost requests are counted where the loss is detected.
func (e *Engine) Counts(yield func(name string, n int64) bool) {
	for i, name := range countNames {
		if !yield(name, e.counts[i]) {
			return
		}
	}
}
