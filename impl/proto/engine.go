// Package proto is the message-passing engine of one rank, and the protocols by which messages travel.
//
// A message begins with a first packet: RM, which carries the data, or R, which only announces it. The receiver pairs first
// packets with receives in the order of package match; what happens then is the protocol's, a table of steps in a file of
// its own. Which protocol a message takes is chosen by the library's rules from its mode and length.
//
// Progress is made only inside calls, by the rank that makes them: nothing here runs beside the program, and no lock is held. The
// engine knows ports, not machines; it cannot tell whether time is virtual.
package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/match"
	"github.com/loggp/loggp/model"
)

// Engine sends and receives the messages of one rank. It may not be copied.
type Engine struct {
	port     device.Port
	job      *Job
	unpriced bool                // work takes its own time
	failed   bool                // a call has failed: what it had begun may be left
	recall   uint32              // names the last cancel
	unused   *Op                 // operations to use again
	watch    *watch              // nil: nobody checks the program
	early    match.Queue[*early] // messages without a receive
	posted   match.Queue[*Op]    // receives without a message
	flow     flow
	call     string        // the call the program is in, for whoever asks why it does not end
	on       uint32        // the context of the communicator on which the program makes it
	expect   int           // the tag of a collective call's messages
	wait     awaited       // and what it waits for
	met      msg           // the message whose first packet is being taken in
	out      device.Packet // the packet that is being sent

	// What few messages need comes last.
	op       Op     // the first operation
	ops      []*Op  // all
	opAt     [4]*Op // memory of them
	spare    *early
	memory   device.Memory // the machine's, or messages
	messages *messages     // nil where the machine has remote memory
	stages   [][]byte      // memory to stage and bounce, to be used again
	buffer   attached
	freed    int // operations under way that the program has given up
	raw      rawQueue
	list     list   // of which what the program waits for is the first
	sought   sought // what a probe looks for
	gone     gone   // the port of a program that has ended
}

// Setup makes the zero value the engine of a rank.
func (e *Engine) Setup(port device.Port, j *Job) {
	e.port, e.job, e.memory = port, j, port.Memory()
	if e.memory == nil {
		e.messages = &messages{e: e}
		e.memory = e.messages
		if p, ok := port.(device.Placer); ok {
			p.Place(e.messages.place)
		}
	}
	_, e.unpriced = port.(device.RealTime)
	e.flow.window, e.flow.last, e.flow.peers = j.lib.Window, &nobody, e.flow.first[:]
	if j.check {
		e.watch = &watch{owner: self(), calls: map[*Op]*call{}}
	}
}

// tier says how near a rank is. Where that does not matter nobody is asked.
func (e *Engine) tier(rank int32) model.Tier {
	if !e.job.tiered {
		return 0
	}
	return e.port.Tier(int(rank))
}

// Port returns the port that the engine was made for.
func (e *Engine) Port() device.Port { return e.port }

// spend charges work to the processor.
func (e *Engine) spend(w model.Work, n int) {
	if !e.unpriced {
		e.port.Spend(w, n)
	}
}

// Copy copies, and charges that.
func (e *Engine) Copy(dst, src []byte) int {
	if e.unpriced {
		return copy(dst, src)
	}
	return e.port.Copy(dst, src)
}

// Enter notes the call that the program makes next, on no communicator.
func (e *Engine) Enter(call string) { e.EnterOn(call, 0) }

// EnterOn notes the call, and the context of the communicator that it is made on.
func (e *Engine) EnterOn(call string, context uint32) {
	if e.job.heeds {
		e.heed(call)
	}
	e.call, e.on = call, context
}

// On notes the communicator of the call that the program is in, if it is of several.
func (e *Engine) On(context uint32) { e.on = context }

// Call returns the call that the program is in.
func (e *Engine) Call() string { return e.call }

// Expect says which tag messages have that go with the collective call that the program is in.
func (e *Engine) Expect(tag int) { e.expect = tag }

// heed tells who wants to know of a call, if it is the rank that makes it. It is apart so that Enter is inlined.
func (e *Engine) heed(call string) {
	e.Own(call)
	if e.job.enter != nil {
		e.job.enter(e.port.Rank(), call)
	}
}

// Own complains of a call that another goroutine makes than the rank's, in a program that is checked.
func (e *Engine) Own(call string) {
	if e.watch != nil {
		e.own(call)
	}
}

// own is apart so that Own is inlined.
func (e *Engine) own(call string) {
	if e.watch.owner != self() {
		e.stranger(call)
	}
}

// stranger fails in the goroutine that makes a call, and changes nothing. A rank that has ended has no goroutine: what fails then says so itself.
func (e *Engine) stranger(call string) {
	if _, ended := e.port.(*gone); ended {
		return
	}
	f := &Error{Class: ErrOther, Rank: e.port.Rank(), Call: call, Text: "another goroutine than the rank's makes this call: what belongs to a rank is for its own goroutine alone"}
	if e.job.site != nil {
		f.At = e.job.site()
	}
	panic(f)
}

// progress takes one packet and does what it asks for. It reports whether there was one; with block it waits until there is.
func (e *Engine) progress(block bool) bool {
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
	e.spend(model.WorkHandle, 1)
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
	case kindDone, kindRawDone:
		e.ended(&h)
	case kindRaw:
		e.raw.add(p)
	case kindCancel:
		e.takeOut(p.Src, &h)
	case kindAnswer:
		e.answered(&h)
	case kindGone:
		e.survive(int32(p.Src))
	case kindCredit:
	case kindGet:
		e.messages.answer(p, &h)
	case kindData:
		e.messages.take(p, &h)
	case kindPut:
		e.messages.write(p, &h)
	default:
		panic(fmt.Sprintf("proto: packet of unknown kind %d from rank %d", h.kind, p.Src))
	}
}

// ended goes on where a remote access has ended.
func (e *Engine) ended(h *head) {
	if h.kind == kindRawDone {
		e.raw.done = true
		return
	}
	o := e.ops[h.to]
	o.protocol.Done(e, o)
}

// control makes a packet without message data and sends it.
func (e *Engine) control(dst int32, h *head) {
	e.spend(model.WorkControl, 1)
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
