package fabric

import (
	"unsafe"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
)

// registrationCache has the buffers of a rank that are registered, the last used first.
//
// It holds on to them: memory that it knows is not given to another buffer, so what a run costs
// does not depend on the garbage collector.
type registrationCache struct {
	buffers [][]byte
	bytes   int
}

// NeedsRegistration implements core.MemoryRegistrar, as do the others.
func (n *network) NeedsRegistration() bool { return n.registered != nil }

// RegisterMemory charges the registration of a buffer, unless it is a part of one that is
// registered.
func (n *network) RegisterMemory(p *core.Port, b []byte) {
	if n.registered == nil || len(b) == 0 || n.registered[int(p.ID)-n.FirstRank].use(b, n.NIC.Registration) {
		return
	}
	p.Charge(n.NIC.Registration.Time(len(b)))
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.register", model.SendActivity, len(b))
}

// RegisterData does so for the data of a packet that the interface reads from there. Datagrams are
// made in memory of their own.
func (n *network) RegisterData(p *core.Port, b []byte) {
	if n.NIC.Datagrams == nil && !n.NIC.IsInline(n.Header+len(b)) {
		n.RegisterMemory(p, b)
	}
}

// use moves the buffer of which b is a part to the front and reports whether there is one. If not,
// b becomes the first, and the last ones leave while there are too many.
func (c *registrationCache) use(b []byte, r *model.Registration) bool {
	for i, known := range c.buffers {
		if isPartOf(b, known) {
			copy(c.buffers[1:i+1], c.buffers[:i])
			c.buffers[0] = known
			return true
		}
	}
	if r.Entries == 0 || r.Bytes > 0 && len(b) > r.Bytes {
		return false
	}
	for len(c.buffers) == r.Entries || r.Bytes > 0 && c.bytes+len(b) > r.Bytes {
		last := len(c.buffers) - 1
		c.bytes -= len(c.buffers[last])
		c.buffers[last] = nil
		c.buffers = c.buffers[:last]
	}
	c.buffers = append(c.buffers, nil)
	copy(c.buffers[1:], c.buffers)
	c.buffers[0] = b
	c.bytes += len(b)
	return false
}

// isPartOf reports whether all bytes of a buffer, which has some, are in another.
func isPartOf(b, whole []byte) bool {
	from, start := uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	return from >= start && from-start+uintptr(len(b)) <= uintptr(len(whole))
}
