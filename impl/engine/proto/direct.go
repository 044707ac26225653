package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Low-level messages are the elements of protocols: single packets without matching. They allow
// measuring overheads, latency and gaps like those of whole messages: the o_s, o_r, L, g and G of
// equations (1) to (7).

// lowLevelQueue has low-level messages that arrived while the rank waited for something else.
type lowLevelQueue struct {
	messages   []lowLevelMessage
	accessDone bool // a remote access has ended
}

type lowLevelMessage struct {
	src  int
	data []byte
}

// LowLevelPort implements engine.Engine.
func (e *Engine) LowLevelPort() engine.LowLevelPort { return lowLevelPort{e} }

// lowLevelPort implements engine.LowLevelPort.
type lowLevelPort struct{ *Engine }

// SendPacket implements engine.LowLevelPort.
func (e lowLevelPort) SendPacket(dst int, b []byte) {
	e.spend(model.ProtoControlCost, 1)
	e.sendHead(int32(dst), &head{kind: kindLowLevel, size: len(b)}, b)
}

// RecvPacket implements engine.LowLevelPort.
func (e lowLevelPort) RecvPacket(b []byte) int {
	for len(e.lowLevelQueue.messages) == 0 {
		p := e.nextPacket(true)
		if packetKind(p.Head[0]) == kindLowLevel {
			e.spend(model.ProtoHandleCost, 1)
			e.checkLowLevelBuffer(b, p.Data)
			return e.rank.Copy(b, p.Data)
		}
		e.dispatchPacket(p)
	}
	m := e.lowLevelQueue.messages[0]
	e.lowLevelQueue.messages = e.lowLevelQueue.messages[1:]
	e.checkLowLevelBuffer(b, m.data)
	return e.rank.Copy(b, m.data)
}

func (e *Engine) checkLowLevelBuffer(b, data []byte) {
	if len(data) > len(b) {
		e.rank.Fail(engine.ErrTruncate, "a low-level message of %d bytes does not fit %d", len(data), len(b))
	}
}

// HasRemoteMemory implements engine.LowLevelPort.
func (e lowLevelPort) HasRemoteMemory() bool { return e.packetMemory == nil }

// Expose implements engine.LowLevelPort.
func (e lowLevelPort) Expose(b []byte) device.Key { return e.memory.Expose(b) }

// Withdraw implements engine.LowLevelPort.
func (e lowLevelPort) Withdraw(k device.Key) { e.memory.Withdraw(k) }

// Get implements engine.LowLevelPort.
func (e lowLevelPort) Get(dst int, k device.Key, b []byte) {
	e.memory.Get(dst, k, 0, b, lowLevelDoneHead())
	e.awaitLowLevelAccess()
}

// Put implements engine.LowLevelPort.
func (e lowLevelPort) Put(dst int, k device.Key, b []byte) {
	e.memory.Put(dst, k, 0, b, lowLevelDoneHead())
	e.awaitLowLevelAccess()
}

// lowLevelDoneHead is the head of the completion of a low-level access.
func lowLevelDoneHead() device.Head {
	h := head{kind: kindLowLevelDone}
	return h.words()
}

func (e *Engine) awaitLowLevelAccess() {
	for !e.lowLevelQueue.accessDone {
		e.Progress(true)
	}
	e.lowLevelQueue.accessDone = false
}
