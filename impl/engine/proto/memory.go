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
	engine      *Engine
	exposed     device.Regions
	pendingGets []pendingGet // by what the request says it is from
	freeGets    []uint32     // places of pending that are not in use
}

// pendingGet is a get whose data is to come.
type pendingGet struct {
	buffer         []byte
	completionHead device.Head
}

// Expose implements device.Memory.
func (m *packetMemory) Expose(b []byte) device.Key { return m.exposed.Expose(b) }

// Withdraw implements device.Memory.
func (m *packetMemory) Withdraw(k device.Key) {
	if !m.exposed.Withdraw(k) {
		panic(fmt.Sprintf("proto: withdraw of memory %#x that rank %d does not expose", k, m.engine.port.Rank()))
	}
}

// allocateGet returns a place of pending that is not in use.
func (m *packetMemory) allocateGet() uint32 {
	last := len(m.freeGets) - 1
	if last < 0 {
		m.pendingGets = append(m.pendingGets, pendingGet{})
		return uint32(len(m.pendingGets) - 1)
	}
	i := m.freeGets[last]
	m.freeGets = m.freeGets[:last]
	return i
}

// Get implements device.Memory: it asks for bytes.
func (m *packetMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	i := m.allocateGet()
	m.pendingGets[i] = pendingGet{b, done}
	h := head{kind: kindGetRequest, key: k, size: len(b), from: i}
	h.setOffset(off)
	m.engine.sendControl(int32(dst), &h)
}

// Put implements device.Memory: it sends the bytes.
func (m *packetMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	h := head{kind: kindPut, key: k, size: len(b)}
	h.setOffset(off)
	m.sendBytes(int32(dst), &h, b)
	m.finishAccess(&done)
}

// sendBytes makes a packet with bytes of memory and sends it.
func (m *packetMemory) sendBytes(dst int32, h *head, b []byte) {
	m.engine.spend(model.ProtoControlCost, 1)
	m.engine.sendHead(dst, h, b)
}

// answerGet sends the bytes that a rank asks for.
func (m *packetMemory) answerGet(p *device.Packet, h *head) {
	if b, ok := m.exposedMemory(p.Src, h); ok {
		m.sendBytes(int32(p.Src), &head{kind: kindGetData, size: h.size, to: h.from}, b)
	}
}

// placeData says where the data of a packet is to be, if it is known: bytes that were asked for, or
// that are put.
func (m *packetMemory) placeData(src int, words *device.Head, n int) []byte {
	var h head
	h.decode(words)
	switch h.kind {
	case kindGetData:
		if int(h.to) < len(m.pendingGets) && len(m.pendingGets[h.to].buffer) == n {
			return m.pendingGets[h.to].buffer
		}
	case kindPut:
		if b, ok := m.exposed.Access(h.key, h.offset(), h.size); ok && len(b) == n {
			return b
		}
	}
	return nil
}

// copyUnlessPlaced puts bytes where they are to be, unless the port has.
func (m *packetMemory) copyUnlessPlaced(to, data []byte) {
	if len(to) == 0 || len(data) == 0 || &to[0] != &data[0] {
		m.engine.copyPacketData(to, data)
	}
}

// receiveGetData takes in the bytes that were asked for.
func (m *packetMemory) receiveGetData(p *device.Packet, h *head) {
	a := &m.pendingGets[h.to]
	b, done := a.buffer, a.completionHead
	a.buffer = nil
	m.freeGets = append(m.freeGets, h.to)
	m.copyUnlessPlaced(b, p.Data)
	m.finishAccess(&done)
}

// finishAccess takes the step that follows an access.
func (m *packetMemory) finishAccess(done *device.Head) {
	var h head
	h.decode(done)
	m.engine.handleAccessEnd(&h)
}

// receivePut takes in the bytes that a rank puts.
func (m *packetMemory) receivePut(p *device.Packet, h *head) {
	if b, ok := m.exposedMemory(p.Src, h); ok {
		m.copyUnlessPlaced(b, p.Data)
	}
}

// exposedMemory returns the memory that a rank accesses. If it is not exposed, the rank is told.
func (m *packetMemory) exposedMemory(src int, h *head) ([]byte, bool) {
	b, ok := m.exposed.Access(h.key, h.offset(), h.size)
	if !ok {
		h.kind = kindAccessRefused
		m.engine.sendControl(int32(src), h)
	}
	return b, ok
}
