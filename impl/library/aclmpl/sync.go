package aclmpl

import (
	"math"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// Symmetric memory begins with the request blocks, by receiver, and the completion block.
//
//	request     buffer (8 bytes)  length (4)  flag (4)
//	completion                    length (4)  flag (4)
const (
	requestSize    = 16
	completionSize = 8
)

// Flags of both blocks. The block is there when its flag is.
const (
	empty = 0 // also pending
	ready = 1 // a request has been made
	done  = 1 // and carried out
)

// maxBytes is the longest message: lengths have 32 bits.
const maxBytes = math.MaxInt32

func (e *PE) request(receiver int) int { return receiver * requestSize }
func (e *PE) completion() int          { return e.n * requestSize }

// flagged is a word with a length and a flag.
func flagged(length, flag int) uint64 { return uint64(length)<<32 | uint64(flag) }

// Send sends b to dst and returns when it is in the buffer of the receive that dst has called, or
// calls later.
func (e *PE) Send(dst int, b []byte) {
	e.enter("Send", dst)
	e.check(dst)
	if dst == e.rank {
		e.fail("a PE does not meet itself: use SendReceive")
	}
	e.give(dst, b)
	e.leave()
}

// Receive receives a message of src and returns its length, which is at most that of b.
func (e *PE) Receive(src int, b []byte) int {
	e.enter("Receive", src)
	e.check(src)
	if src == e.rank {
		e.fail("a PE does not meet itself: use SendReceive")
	}
	n := e.get(src, b)
	e.leave()
	return n
}

// SendReceive does Send and Receive at the same time. It returns the length of the message that was
// received. dst and src may be the same, and may be the PE itself. The buffers must not overlap.
func (e *PE) SendReceive(dst int, out []byte, src int, in []byte) int {
	e.enter("SendReceive", dst)
	e.check(dst)
	e.check(src)
	n := e.exchange(dst, out, src, in)
	e.leave()
	return n
}

// give, get and exchange are what Send, Receive and SendReceive do. Collective calls use them, too.
func (e *PE) give(dst int, b []byte) {
	e.peer = dst
	e.by.send(dst, b)
}

func (e *PE) get(src int, b []byte) int {
	e.peer = src
	return e.by.receive(src, b)
}

func (e *PE) exchange(dst int, out []byte, src int, in []byte) int {
	e.peer = dst
	return e.by.exchange(dst, out, src, in)
}

// puts is the port to machines with put and fetch-and-increment, as the Cray T3D.
type puts struct{ *PE }

func (e puts) send(dst int, b []byte) {
	e.spend(model.AclmplSend, 1)
	e.carryOut(dst, b)
}

func (e puts) receive(src int, b []byte) int {
	e.spend(model.AclmplReceive, 1)
	return e.received(e.post(src, b))
}

func (e puts) exchange(dst int, out []byte, src int, in []byte) int {
	e.spend(model.AclmplReceive, 1)
	k := e.post(src, in)
	e.spend(model.AclmplSend, 1)
	e.carryOut(dst, out)
	e.peer = src
	return e.received(k)
}

// post asks src for a message.
func (e *PE) post(src int, b []byte) device.Key {
	if len(b) > maxBytes {
		b = b[:maxBytes]
	}
	k := e.mem.Expose(b)
	e.mem.Store(e.completion(), empty)
	e.mem.PutWords(src, e.request(e.rank), uint64(k), flagged(len(b), ready))
	return k
}

// carryOut waits for the request of dst and carries it out. The request block is cleared first: dst
// may make its next request as soon as it sees the completion block. A fence separates the data
// from the completion block, since one-sided hardware in general does not keep puts in order.
func (e *PE) carryOut(dst int, b []byte) {
	at := e.request(dst)
	w := e.mem.WaitWord(at+8, empty)
	k := device.Key(e.mem.Load(at))
	e.spend(model.AclmplRead, 1)
	room := int(w >> 32)
	if len(b) > room {
		e.fail("%d bytes for PE %d, whose receive has a buffer of %d", len(b), dst, room)
	}
	e.mem.Store(at+8, empty)
	e.mem.Put(dst, k, 0, b)
	e.mem.Quiet()
	e.mem.PutWords(dst, e.completion(), flagged(len(b), done))
}

// received waits until a request that was made has been carried out.
func (e *PE) received(k device.Key) int {
	n := int(e.mem.WaitWord(e.completion(), empty) >> 32)
	e.spend(model.AclmplRead, 1)
	e.mem.Withdraw(k)
	return n
}
