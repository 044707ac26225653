package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// packetMemory is remote memory by packets, for an engine whose machine has none. A get is a
// request that the other engine answers with the data when it makes progress; a put is a packet
// with the data. The writer is done when the packet is sent: what it sends afterwards arrives after
// the bytes.
//
// It differs from device.Memory in three things. The other side helps, in its calls. The end of an
// access takes its step at once and not with a packet: that of a put before Put returns. And a
// refused access is told by a packet of its own.
type packetMemory struct {
	e       *Engine
	exposed device.Regions
	pending []pendingGet // by what the request says it is from
	idle    []uint32     // places of pending that are not in use
}

// pendingGet is a get whose data is to come.
type pendingGet struct {
	b    []byte
	done device.Head
}

// Expose implements device.Memory.
func (m *packetMemory) Expose(b []byte) device.Key { return m.exposed.Expose(b) }

// Withdraw implements device.Memory.
func (m *packetMemory) Withdraw(k device.Key) {
	if !m.exposed.Withdraw(k) {
		panic(fmt.Sprintf("proto: withdraw of memory %#x that rank %d does not expose", k, m.e.port.Rank()))
	}
}

// ask returns a place of pending that is not in use.
func (m *packetMemory) ask() uint32 {
	last := len(m.idle) - 1
	if last < 0 {
		m.pending = append(m.pending, pendingGet{})
		return uint32(len(m.pending) - 1)
	}
	i := m.idle[last]
	m.idle = m.idle[:last]
	return i
}

// Get implements device.Memory: it asks for bytes.
func (m *packetMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	i := m.ask()
	m.pending[i] = pendingGet{b, done}
	h := head{kind: kindGet, key: k, size: len(b), from: i}
	h.setOffset(off)
	m.e.control(int32(dst), &h)
}

// Put implements device.Memory: it sends the bytes.
func (m *packetMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	h := head{kind: kindPut, key: k, size: len(b)}
	h.setOffset(off)
	m.bytes(int32(dst), &h, b)
	m.finish(&done)
}

// bytes makes a packet with bytes of memory and sends it.
func (m *packetMemory) bytes(dst int32, h *head, b []byte) {
	m.e.spend(model.ProtoControl, 1)
	m.e.send(dst, h, b)
}

// answer sends the bytes that a rank asks for.
func (m *packetMemory) answer(p *device.Packet, h *head) {
	if b, ok := m.reach(p.Src, h); ok {
		m.bytes(int32(p.Src), &head{kind: kindData, size: h.size, to: h.from}, b)
	}
}

// place says where the data of a packet is to be, if it is known: bytes that were asked for, or
// that are put.
func (m *packetMemory) place(src int, words *device.Head, n int) []byte {
	var h head
	h.decode(words)
	switch h.kind {
	case kindData:
		if int(h.to) < len(m.pending) && len(m.pending[h.to].b) == n {
			return m.pending[h.to].b
		}
	case kindPut:
		if b, ok := m.exposed.Reach(h.key, h.offset(), h.size); ok && len(b) == n {
			return b
		}
	}
	return nil
}

// put puts bytes where they are to be, unless the port has.
func (m *packetMemory) put(to, data []byte) {
	if len(to) == 0 || len(data) == 0 || &to[0] != &data[0] {
		m.e.unpack(to, data)
	}
}

// take takes in the bytes that were asked for.
func (m *packetMemory) take(p *device.Packet, h *head) {
	a := &m.pending[h.to]
	b, done := a.b, a.done
	a.b = nil
	m.idle = append(m.idle, h.to)
	m.put(b, p.Data)
	m.finish(&done)
}

// finish takes the step that follows an access.
func (m *packetMemory) finish(done *device.Head) {
	var h head
	h.decode(done)
	m.e.ended(&h)
}

// write takes in the bytes that a rank puts.
func (m *packetMemory) write(p *device.Packet, h *head) {
	if b, ok := m.reach(p.Src, h); ok {
		m.put(b, p.Data)
	}
}

// reach returns the memory that a rank accesses. If it is not exposed, the rank is told.
func (m *packetMemory) reach(src int, h *head) ([]byte, bool) {
	b, ok := m.exposed.Reach(h.key, h.offset(), h.size)
	if !ok {
		h.kind = kindRefused
		m.e.control(int32(src), h)
	}
	return b, ok
}
