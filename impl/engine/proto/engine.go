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
	rank       *engine.Rank
	port       device.Port
	job        *Job
	unpriced   bool                     // work takes its own time
	unexpected match.Queue[*unexpected] // messages without a receive
	posted     match.Queue[*op]         // receives without a message
	flow       flow
	met        msg           // the message whose first packet is being taken in
	out        device.Packet // the packet that is being sent

	// Fields that few messages need come last.
	op       op    // the first operation
	ops      []*op // all
	opAt     [4]*op
	spare    *unexpected
	memory   device.Memory // the machine's, or messages
	messages *packetMemory // nil where the machine has remote memory
	cancels  uint32        // names the last cancel
	direct   directQueue
}

// Setup implements engine.Engine.
func (e *Engine) Setup(r *engine.Rank) {
	e.rank, e.port, e.unpriced = r, r.Port(), r.Unpriced()
	e.memory = e.port.Memory()
	if e.memory == nil {
		e.messages = &packetMemory{e: e}
		e.memory = e.messages
		if p, ok := e.port.(device.Placer); ok {
			p.Place(e.messages.place)
		}
	}
	e.flow.window, e.flow.last, e.flow.peers = e.job.lib.Proto.Window, &noPeer, e.flow.first[:]
}

// tier says how near a rank is. It does not ask the port if the library treats all alike.
func (e *Engine) tier(rank int32) model.Tier {
	if !e.job.tiered {
		return 0
	}
	return e.port.Tier(int(rank))
}

// spend charges work to the processor.
func (e *Engine) spend(w model.CostKey, n int) {
	if !e.unpriced {
		e.port.Spend(w, n)
	}
}

// Progress implements engine.Engine.
func (e *Engine) Progress(block bool) bool {
	p := e.next(block)
	if p == nil {
		return false
	}
	e.dispatch(p)
	return true
}

// next takes the next packet, after what has to be sent before.
func (e *Engine) next(block bool) *device.Packet {
	if len(e.flow.owing) > 0 {
		e.payCredits()
	}
	return e.port.Recv(block)
}

// dispatch does what a packet asks for.
func (e *Engine) dispatch(p *device.Packet) {
	if n := creditOf(&p.Head); n > 0 {
		e.flow.credit(p.Src, int(n))
	}
	e.spend(model.ProtoHandle, 1)
	if kindOf(&p.Head) == kindFirst {
		e.first(p)
	} else {
		e.follow(p)
	}
}

// follow does what a packet asks for that is not the first of a message.
func (e *Engine) follow(p *device.Packet) {
	var h head
	h.decode(&p.Head)
	switch h.kind {
	case kindACK:
		s := e.ops[h.to]
		s.protocol.ACK(e, s, h)
	case kindFIN:
		r := e.ops[h.to]
		r.protocol.FIN(e, r)
	case kindRest:
		r := e.ops[h.to]
		r.protocol.Rest(e, r, p.Data)
	case kindDone, kindDirectDone:
		if p.Refused {
			panic(fmt.Sprintf("proto: rank %d: a remote access was refused: its memory is not exposed", e.port.Rank()))
		}
		e.ended(&h)
	case kindDirect:
		e.direct.waiting = append(e.direct.waiting, directMessage{p.Src, append([]byte(nil), p.Data...)})
	case kindCancel:
		e.takeOut(p.Src, &h)
	case kindAnswer:
		e.answered(&h)
	case kindGone:
		e.peerEnded(int32(p.Src))
	case kindCredit:
	case kindGet:
		e.messages.answer(p, &h)
	case kindData:
		e.messages.take(p, &h)
	case kindPut:
		e.messages.write(p, &h)
	case kindRefused:
		panic(fmt.Sprintf("proto: rank %d: remote access to %d bytes at %d of memory %#x of rank %d, which is not exposed",
			e.port.Rank(), h.size, h.offset(), h.key, p.Src))
	default:
		panic(fmt.Sprintf("proto: packet of unknown kind %d from rank %d", h.kind, p.Src))
	}
}

// ended goes on where a remote access has ended.
func (e *Engine) ended(h *head) {
	if h.kind == kindDirectDone {
		e.direct.done = true
		return
	}
	o := e.ops[h.to]
	o.protocol.Done(e, o)
}

// control makes a packet without message data and sends it.
func (e *Engine) control(dst int32, h *head) {
	e.spend(model.ProtoControl, 1)
	e.send(dst, h, nil)
}

// send sends a packet, and with it the credit that is due to its receiver.
func (e *Engine) send(dst int32, h *head, data []byte) {
	h.encode(&e.out.Head)
	e.sendOut(dst, data)
}

// sendOut sends the packet whose head is written.
func (e *Engine) sendOut(dst int32, data []byte) {
	setCredit(&e.out.Head, e.flow.due(int(dst)))
	e.out.Data = data
	e.port.Send(int(dst), &e.out)
}
