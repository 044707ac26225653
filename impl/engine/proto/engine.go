// Package proto is the message-passing engine of one rank, and the protocols by which messages
// travel.
//
// A message begins with a first packet: RM, which carries the data, or R, which only announces it.
// The receiver pairs first packets with receives in the order of package match; what happens then
// is the protocol's, a table of steps in a file of its own. Which protocol a message takes is
// chosen by the library's rules from its mode and length.
//
// Progress is made only inside calls, by the rank that makes them: nothing here runs beside the
// program, and no lock is held. The engine knows ports, not machines; it cannot tell whether time
// is virtual.
package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// Engine sends and receives the messages of one rank. It implements engine.Engine. It may not be
// copied.
type Engine struct {
	rank        *engine.Rank
	port        device.Port
	job         *Job
	isRealTime  bool                            // work takes its own time
	unexpected  match.Queue[*unexpectedMessage] // messages without a receive
	posted      match.Queue[*op]                // receives without a message
	flow        flowControl
	firstPacket firstPacket   // the message whose first packet is being taken in
	packet      device.Packet // the packet that is being sent

	// Fields that few messages need come last.
	op               op    // the first operation
	ops              []*op // all
	firstOps         [4]*op
	freeUnexpected   *unexpectedMessage
	memory           device.Memory // the machine's, or messages
	packetMemory     *packetMemory // nil where the machine has remote memory
	nodeMemory       device.Memory // of the ranks of the node, where it differs from that of others; or nil
	lastCancelSerial uint32        // names the last cancel
	lowLevelQueue    lowLevelQueue
}

// Setup implements engine.Engine.
func (e *Engine) Setup(r *engine.Rank) {
	e.rank, e.port, e.isRealTime = r, r.Port(), r.IsRealTime()
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

// tier says how near a rank is. It does not ask the port if the library treats all alike.
func (e *Engine) tier(rank int32) model.Tier {
	if !e.job.dependsOnTier {
		return 0
	}
	return e.port.Tier(int(rank))
}

// memoryOf returns the memory by which a message from a rank or to it travels.
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

// nextPacket takes the next packet, after what has to be sent before.
func (e *Engine) nextPacket(block bool) *device.Packet {
	if len(e.flow.peersDueCredit) > 0 {
		e.sendCredits()
	}
	return e.port.Recv(block)
}

// dispatchPacket does what a packet asks for.
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

// handleLaterPacket does what a packet asks for that is not the first of a message.
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

// handleAccessEnd goes on where a remote access has ended.
func (e *Engine) handleAccessEnd(h *head) {
	if h.kind == kindLowLevelDone {
		e.lowLevelQueue.accessDone = true
		return
	}
	o := e.ops[h.to]
	o.protocol.OnAccessDone(e, o)
}

// sendControl makes a packet without message data and sends it.
func (e *Engine) sendControl(dst int32, h *head) {
	e.spend(model.ProtoControlCost, 1)
	e.sendHead(dst, h, nil)
}

// sendHead sends a packet, and with it the credit that is due to its receiver.
func (e *Engine) sendHead(dst int32, h *head, data []byte) {
	h.encode(&e.packet.Head)
	e.sendEncoded(dst, data)
}

// sendEncoded sends the packet whose head is written.
func (e *Engine) sendEncoded(dst int32, data []byte) {
	setCredit(&e.packet.Head, e.flow.takeCredit(int(dst)))
	e.packet.Data = data
	e.port.Send(int(dst), &e.packet)
}
