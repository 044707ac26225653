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
	requestBlockBytes    = 16
	completionBlockBytes = 8
)

// Flags of both blocks. The block is there when its flag is.
const (
	requestWordEmpty   = 0 // also pending
	requestWordPending = 1 // a request has been made
	requestWordDone    = 1 // and carried out
)

// maxMessageBytes is the longest message: lengths have 32 bits.
const maxMessageBytes = math.MaxInt32

func (e *PE) requestOffset(receiver int) int { return receiver * requestBlockBytes }
func (e *PE) completionOffset() int          { return e.peCount * requestBlockBytes }

// packLengthAndFlag is a word with a length and a flag.
func packLengthAndFlag(length, flag int) uint64 { return uint64(length)<<32 | uint64(flag) }

// Send sends b to dst and returns when it is in the buffer of the receive that dst has called, or
// calls later.
func (e *PE) Send(dst int, b []byte) {
	e.enterCall("Send", dst)
	e.checkRank(dst)
	if dst == e.rank {
		e.failCall("a PE does not meet itself: use SendReceive")
	}
	e.sendByPut(dst, b)
	e.leaveCall()
}

// Receive receives a message of src and returns its length, which is at most that of b.
func (e *PE) Receive(src int, b []byte) int {
	e.enterCall("Receive", src)
	e.checkRank(src)
	if src == e.rank {
		e.failCall("a PE does not meet itself: use SendReceive")
	}
	n := e.receiveByPut(src, b)
	e.leaveCall()
	return n
}

// SendReceive does Send and Receive at the same time. It returns the length of the message that was
// received. dst and src may be the same, and may be the PE itself. The buffers must not overlap.
func (e *PE) SendReceive(dst int, out []byte, src int, in []byte) int {
	e.enterCall("SendReceive", dst)
	e.checkRank(dst)
	e.checkRank(src)
	n := e.exchange(dst, out, src, in)
	e.leaveCall()
	return n
}

// sendByPut, get and exchange are what Send, Receive and SendReceive do. Collective calls use them,
// too.
func (e *PE) sendByPut(dst int, b []byte) {
	e.awaitedPE = dst
	e.transport.send(dst, b)
}

func (e *PE) receiveByPut(src int, b []byte) int {
	e.awaitedPE = src
	return e.transport.receive(src, b)
}

func (e *PE) exchange(dst int, out []byte, src int, in []byte) int {
	e.awaitedPE = dst
	return e.transport.exchange(dst, out, src, in)
}

// putTransport is the port to machines with put and fetch-and-increment, as the Cray T3D.
type putTransport struct{ *PE }

func (e putTransport) send(dst int, b []byte) {
	e.spend(model.AclmplSendCost, 1)
	e.serveRequest(dst, b)
}

func (e putTransport) receive(src int, b []byte) int {
	e.spend(model.AclmplReceiveCost, 1)
	return e.awaitPut(e.postRequest(src, b))
}

func (e putTransport) exchange(dst int, out []byte, src int, in []byte) int {
	e.spend(model.AclmplReceiveCost, 1)
	k := e.postRequest(src, in)
	e.spend(model.AclmplSendCost, 1)
	e.serveRequest(dst, out)
	e.awaitedPE = src
	return e.awaitPut(k)
}

// postRequest asks src for a message.
func (e *PE) postRequest(src int, b []byte) device.Key {
	if len(b) > maxMessageBytes {
		b = b[:maxMessageBytes]
	}
	k := e.memory.Expose(b)
	e.memory.StoreWord(e.completionOffset(), requestWordEmpty)
	e.memory.PutWords(src, e.requestOffset(e.rank), uint64(k), packLengthAndFlag(len(b), requestWordPending))
	return k
}

// serveRequest waits for the request of dst and carries it out. The request block is cleared first:
// dst may make its next request as soon as it sees the completion block. A fence separates the data
// from the completion block, since one-sided hardware in general does not keep puts in order.
func (e *PE) serveRequest(dst int, b []byte) {
	at := e.requestOffset(dst)
	w := e.memory.WaitForWordChange(at+8, requestWordEmpty)
	k := device.Key(e.memory.LoadWord(at))
	e.spend(model.AclmplReadCost, 1)
	room := int(w >> 32)
	if len(b) > room {
		e.failCall("%d bytes for PE %d, whose receive has a buffer of %d", len(b), dst, room)
	}
	e.memory.StoreWord(at+8, requestWordEmpty)
	e.memory.Put(dst, k, 0, b)
	e.memory.Quiet()
	e.memory.PutWords(dst, e.completionOffset(), packLengthAndFlag(len(b), requestWordDone))
}

// awaitPut waits until a request that was made has been carried out.
func (e *PE) awaitPut(k device.Key) int {
	n := int(e.memory.WaitForWordChange(e.completionOffset(), requestWordEmpty) >> 32)
	e.spend(model.AclmplReadCost, 1)
	e.memory.Withdraw(k)
	return n
}
