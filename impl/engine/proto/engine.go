// Package proto is an engine with eager and rendezvous protocols: T, TA, RTA, RAT and PTAT.
//
// A message starts with a first packet: RM, which carries data, or R, which only announces the
// message. Engine.Isend chooses the Protocol by the library's rules, from mode, length and
// distance, and sends that packet. The receiver matches it with a receive in the order of package
// match. What follows is determined by the protocol, a table of steps in a file of its own.
//
// Progress is made only inside calls, by the rank that makes them. Nothing runs concurrently with
// the program, and there are no locks. The engine knows only its port, not the machine, and cannot
// tell whether time is virtual.
package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// Engine carries the messages of one rank. It implements engine.Engine. It must not be copied.
type Engine struct {
	rank        *engine.Rank
	port        device.Port
	job         *Job
	isRealTime  bool                            // software costs are not charged
	unexpected  match.Queue[*unexpectedMessage] // messages without a receive
	posted      match.Queue[*op]                // receives without a message
	flow        flowControl
	firstPacket firstPacket         // of the message that is being handled
	packet      device.Packet       // the packet that is being sent
	waiter      device.PacketWaiter // the port; nil: it cannot await packets
	awaited     *engine.Op          // for which the rank waits in AwaitPackets; nil: none
	steps       engine.Steps        // that follow; nil: none

	// Rarely used fields come last.
	op               op    // the first operation
	ops              []*op // all operations
	firstOps         [4]*op
	messages         *messagePool  // memory for unexpected messages
	memory           device.Memory // the machine's, or by messages
	packetMemory     *packetMemory // nil if the machine has remote memory
	nodeMemory       device.Memory // memory of ranks on the same node, if it differs from that of others; or nil
	lastCancelSerial uint32        // number of the last cancel
	lowLevelQueue    lowLevelQueue
}

// Setup implements engine.Engine.
func (e *Engine) Setup(r *engine.Rank) {
	e.rank, e.port, e.isRealTime = r, r.Port(), r.IsRealTime()
	e.waiter = device.PacketWaiterOf(e.port)
	pool := &e.job.pool
	if !device.RanksAreSerialized(e.port) {
		pool = new(memoryPool)
	}
	e.messages, e.flow.tables = &pool.messages, &pool.tables
	e.memory, e.nodeMemory = e.port.Memory(), device.NodeMemoryOf(e.port)
	if e.memory == nil {
		e.packetMemory = &packetMemory{engine: e}
		e.memory = e.packetMemory
		if p, ok := e.port.(device.DirectPlacer); ok {
			p.SetPlacement(e.packetMemory.placeData)
		}
	}
	e.flow.windowBytes, e.flow.lastPeer, e.flow.peers = e.job.library.Proto.WindowBytes, &noPeer, e.flow.firstPeers[:]
}

// tier returns the distance of a rank. It does not ask the port if the library's rules do not
// depend on it.
func (e *Engine) tier(rank int32) model.Tier {
	if !e.job.dependsOnTier {
		return 0
	}
	return e.port.Tier(int(rank))
}

// memoryOf returns the memory for transfers from and to a rank.
func (e *Engine) memoryOf(rank int32) device.Memory {
	if e.nodeMemory != nil && e.port.Tier(int(rank)) == model.IntraNode {
		return e.nodeMemory
	}
	return e.memory
}

// spend charges work to the processor.
func (e *Engine) spend(w model.CostKey, n int) {
	if !e.isRealTime {
		e.port.Spend(w, n)
	}
}

// Progress implements engine.Engine.
func (e *Engine) Progress(block bool) bool {
	p := e.nextPacket(block)
	if p == nil {
		return false
	}
	e.dispatchPacket(p)
	return true
}

// nextPacket returns the next packet, after it has sent credits that are due.
func (e *Engine) nextPacket(block bool) *device.Packet {
	if len(e.flow.peersDueCredit) > 0 {
		e.sendCredits()
	}
	return e.port.Recv(block)
}

// dispatchPacket handles a packet.
func (e *Engine) dispatchPacket(p *device.Packet) {
	if n := creditOf(&p.Head); n > 0 {
		e.flow.addCredit(p.Src, int(n))
	}
	if engine.IsAccessCompletion(&p.Head) {
		e.rank.HandleAccessCompletion(p)
		return
	}
	e.spend(model.ProtoHandleCost, 1)
	if kindOf(&p.Head) == kindFirst {
		e.handleFirst(p)
	} else {
		e.handleLaterPacket(p)
	}
}

// handleLaterPacket handles a packet that is not the first of a message.
func (e *Engine) handleLaterPacket(p *device.Packet) {
	var h head
	h.decode(&p.Head)
	switch h.kind {
	case kindACK:
		s := e.ops[h.to]
		s.protocol.OnACK(e, s, h)
	case kindFinished:
		r := e.ops[h.to]
		r.protocol.OnFIN(e, r)
	case kindRemainder:
		r := e.ops[h.to]
		r.protocol.OnRemainder(e, r, p.Data)
	case kindAccessDone, kindLowLevelDone:
		if p.Refused {
			panic(fmt.Sprintf("proto: rank %d: a remote access was refused: its memory is not exposed", e.port.Rank()))
		}
		e.handleAccessEnd(&h)
	case kindLowLevel:
		e.lowLevelQueue.messages = append(e.lowLevelQueue.messages, lowLevelMessage{p.Src, append([]byte(nil), p.Data...)})
	case kindCancel:
		e.handleCancel(p.Src, &h)
	case kindCancelAnswer:
		e.handleCancelAnswer(&h)
	case kindPeerExit:
		e.handlePeerExit(int32(p.Src))
	case kindCredit:
	case kindGetRequest:
		e.packetMemory.answerGet(p, &h)
	case kindGetData:
		e.packetMemory.receiveGetData(p, &h)
	case kindPut:
		e.packetMemory.receivePut(p, &h)
	case kindAccessRefused:
		panic(fmt.Sprintf("proto: rank %d: remote access to %d bytes at %d of memory %#x of rank %d, which is not exposed",
			e.port.Rank(), h.size, h.offset(), h.key, p.Src))
	default:
		panic(fmt.Sprintf("proto: packet of unknown kind %d from rank %d", h.kind, p.Src))
	}
}

// handleAccessEnd continues an operation whose remote access has ended.
func (e *Engine) handleAccessEnd(h *head) {
	if h.kind == kindLowLevelDone {
		e.lowLevelQueue.accessDone = true
		return
	}
	o := e.ops[h.to]
	o.protocol.OnAccessDone(e, o)
}

// sendControl sends a packet without message data.
func (e *Engine) sendControl(dst int32, h *head) {
	e.spend(model.ProtoControlCost, 1)
	e.sendHead(dst, h, nil)
}

// sendHead sends a packet, together with the credit that is due to its receiver.
func (e *Engine) sendHead(dst int32, h *head, data []byte) {
	h.encode(&e.packet.Head)
	e.sendEncoded(dst, data)
}

// sendEncoded sends a packet whose head has been written.
func (e *Engine) sendEncoded(dst int32, data []byte) {
	e.addCreditAndData(dst, data)
	e.port.Send(int(dst), &e.packet)
}

// addCreditAndData completes a packet whose head has been written.
func (e *Engine) addCreditAndData(dst int32, data []byte) {
	setCredit(&e.packet.Head, e.flow.takeCredit(int(dst)))
	e.packet.Data = data
}
