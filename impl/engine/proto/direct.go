package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Low-level messages are what protocols are made of: one packet, neither matched nor buffered for
// long. They are here so that their overheads, latency and gaps can be measured like those of whole
// messages: the o_s, o_r, L, g and G of equations (1) to (7).

// directQueue holds low-level messages that were taken in while the rank waited for something else.
type directQueue struct {
	waiting []directMessage
	done    bool // a remote access has ended
}

type directMessage struct {
	src  int
	data []byte
}

// Direct implements engine.Engine.
func (e *Engine) Direct() engine.Direct { return direct{e} }

// direct implements engine.Direct.
type direct struct{ *Engine }

// SendPacket implements engine.Direct.
func (e direct) SendPacket(dst int, b []byte) {
	e.spend(model.ProtoControlCost, 1)
	e.sendHead(int32(dst), &head{kind: kindDirect, size: len(b)}, b)
}

// RecvPacket implements engine.Direct.
func (e direct) RecvPacket(b []byte) int {
	for len(e.direct.waiting) == 0 {
		p := e.nextPacket(true)
		if kind(p.Head[0]) == kindDirect {
			e.spend(model.ProtoHandleCost, 1)
			e.checkDirect(b, p.Data)
			return e.rank.Copy(b, p.Data)
		}
		e.dispatch(p)
	}
	m := e.direct.waiting[0]
	e.direct.waiting = e.direct.waiting[1:]
	e.checkDirect(b, m.data)
	return e.rank.Copy(b, m.data)
}

func (e *Engine) checkDirect(b, data []byte) {
	if len(data) > len(b) {
		e.rank.Fail(engine.ErrTruncate, "a low-level message of %d bytes does not fit %d", len(data), len(b))
	}
}

// Remote implements engine.Direct.
func (e direct) Remote() bool { return e.packetMemory == nil }

// Expose implements engine.Direct.
func (e direct) Expose(b []byte) device.Key { return e.memory.Expose(b) }

// Withdraw implements engine.Direct.
func (e direct) Withdraw(k device.Key) { e.memory.Withdraw(k) }

// Get implements engine.Direct.
func (e direct) Get(dst int, k device.Key, b []byte) {
	e.memory.Get(dst, k, 0, b, directDoneHead())
	e.awaitDirect()
}

// Put implements engine.Direct.
func (e direct) Put(dst int, k device.Key, b []byte) {
	e.memory.Put(dst, k, 0, b, directDoneHead())
	e.awaitDirect()
}

// directDoneHead is the head of the packet that tells of the end.
func directDoneHead() device.Head {
	h := head{kind: kindDirectDone}
	return h.words()
}

func (e *Engine) awaitDirect() {
	for !e.direct.done {
		e.Progress(true)
	}
	e.direct.done = false
}
