package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// packetMemory is remote memory by packets, for machines without remote memory. A get is a request
// that the other engine answers with the data when it makes progress. A put is a packet with the
// data. The put is complete for the writer when the packet has been sent, because later packets
// arrive after it.
//
// It differs from device.Memory in three ways. The other rank must make calls. The step after an
// access is executed directly and not by a packet; for a put this happens before Put returns. And a
// refused access is reported by a separate packet.
type packetMemory struct {
	engine      *Engine
	exposed     device.Regions
	pendingGets []pendingGet // by the number in the request
	freeGets    []uint32     // unused indices of pendingGets
}

// pendingGet is a get whose data has not arrived.
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

// allocateGet returns an unused index of pendingGets.
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

// Get implements device.Memory. It sends a request.
func (m *packetMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	i := m.allocateGet()
	m.pendingGets[i] = pendingGet{b, done}
	h := head{kind: kindGetRequest, key: k, size: len(b), from: i}
	h.setOffset(off)
	m.engine.sendControl(int32(dst), &h)
}

// Put implements device.Memory. It sends the data.
func (m *packetMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	h := head{kind: kindPut, key: k, size: len(b)}
	h.setOffset(off)
	m.sendBytes(int32(dst), &h, b)
	m.finishAccess(&done)
}

// sendBytes sends a packet with bytes of memory.
func (m *packetMemory) sendBytes(dst int32, h *head, b []byte) {
	m.engine.spend(model.ProtoControlCost, 1)
	m.engine.sendHead(dst, h, b)
}

// answerGet sends the bytes that a rank has requested.
func (m *packetMemory) answerGet(p *device.Packet, h *head) {
	if b, ok := m.exposedMemory(p.Src, h); ok {
		m.sendBytes(int32(p.Src), &head{kind: kindGetData, size: h.size, to: h.from}, b)
	}
}

// placeData returns the destination of a packet's data, if it is known: for requested bytes, and
// for puts.
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

// copyUnlessPlaced copies data to its destination, unless the port has already done so.
func (m *packetMemory) copyUnlessPlaced(to, data []byte) {
	if len(to) == 0 || len(data) == 0 || &to[0] != &data[0] {
		m.engine.copyPacketData(to, data)
	}
}

// receiveGetData handles requested bytes.
func (m *packetMemory) receiveGetData(p *device.Packet, h *head) {
	a := &m.pendingGets[h.to]
	b, done := a.buffer, a.completionHead
	a.buffer = nil
	m.freeGets = append(m.freeGets, h.to)
	m.copyUnlessPlaced(b, p.Data)
	m.finishAccess(&done)
}

// finishAccess executes the step that follows an access.
func (m *packetMemory) finishAccess(done *device.Head) {
	var h head
	h.decode(done)
	m.engine.handleAccessEnd(&h)
}

// receivePut handles the bytes of a put.
func (m *packetMemory) receivePut(p *device.Packet, h *head) {
	if b, ok := m.exposedMemory(p.Src, h); ok {
		m.copyUnlessPlaced(b, p.Data)
	}
}

// exposedMemory returns the memory that a rank accesses. If it is not exposed, the rank is
// notified.
func (m *packetMemory) exposedMemory(src int, h *head) ([]byte, bool) {
	b, ok := m.exposed.Access(h.key, h.offset(), h.size)
	if !ok {
		h.kind = kindAccessRefused
		m.engine.sendControl(int32(src), h)
	}
	return b, ok
}
