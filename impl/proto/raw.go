package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Low-level messages are what protocols are made of: one packet, neither matched nor buffered for long. They are here so that
// their overheads, latency and gaps can be measured like those of whole messages: the o_s, o_r, L, g and G of equations (1) to (7).

// rawQueue holds low-level messages that were taken in while the rank waited for something else.
type rawQueue struct {
	waiting []rawMessage
	done    bool // a remote access has ended
}

type rawMessage struct {
	src  int
	data []byte
}

func (q *rawQueue) add(p *device.Packet) {
	q.waiting = append(q.waiting, rawMessage{p.Src, append([]byte(nil), p.Data...)})
}

// Direct implements engine.Engine.
func (e *Engine) Direct() engine.Direct { return direct{e} }

// direct implements engine.Direct.
type direct struct{ *Engine }

// SendPacket implements engine.Direct.
func (e direct) SendPacket(dst int, b []byte) {
	e.spend(model.ProtoControl, 1)
	e.send(int32(dst), &head{kind: kindRaw, size: len(b)}, b)
}

// RecvPacket implements engine.Direct.
func (e direct) RecvPacket(b []byte) int {
	for len(e.raw.waiting) == 0 {
		p := e.next(true)
		if kind(p.Head[0]) == kindRaw {
			e.spend(model.ProtoHandle, 1)
			e.checkRaw(b, p.Data)
			return e.rank.Copy(b, p.Data)
		}
		e.dispatch(p)
	}
	m := e.raw.waiting[0]
	e.raw.waiting = e.raw.waiting[1:]
	e.checkRaw(b, m.data)
	return e.rank.Copy(b, m.data)
}

func (e *Engine) checkRaw(b, data []byte) {
	if len(data) > len(b) {
		e.rank.Fail(engine.ErrTruncate, "a low-level message of %d bytes does not fit %d", len(data), len(b))
	}
}

// Remote implements engine.Direct.
func (e direct) Remote() bool { return e.messages == nil }

// Expose implements engine.Direct.
func (e direct) Expose(b []byte) device.Key { return e.memory.Expose(b) }

// Withdraw implements engine.Direct.
func (e direct) Withdraw(k device.Key) { e.memory.Withdraw(k) }

// Get implements engine.Direct.
func (e direct) Get(dst int, k device.Key, b []byte) {
	e.memory.Get(dst, k, 0, b, rawDone())
	e.awaitRaw()
}

// Put implements engine.Direct.
func (e direct) Put(dst int, k device.Key, b []byte) {
	e.memory.Put(dst, k, 0, b, rawDone())
	e.awaitRaw()
}

// rawDone is the head of the packet that tells of the end.
func rawDone() device.Head {
	h := head{kind: kindRawDone}
	return h.words()
}

func (e *Engine) awaitRaw() {
	for !e.raw.done {
		e.Progress(true)
	}
	e.raw.done = false
}
