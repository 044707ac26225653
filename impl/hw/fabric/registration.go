package fabric

import (
	"slices"
	"sort"
	"unsafe"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
)

// registrationCache has the registered buffers of a rank, by address. No buffer contains another,
// so buffers are in the same order by start and by end.
//
// It keeps references to the buffers, so that their memory is not reused. The cost of a run thus
// does not depend on the garbage collector.
type registrationCache struct {
	buffers  []registeredBuffer
	bytes    int
	useCount int // uses of all buffers so far
}

type registeredBuffer struct {
	memory  []byte
	lastUse int
}

// NeedsRegistration and the methods below implement core.MemoryRegistrar.
func (n *network) NeedsRegistration() bool { return n.registrationCaches != nil }

// RegisterMemory charges the registration of a buffer unless a registered buffer contains it.
func (n *network) RegisterMemory(p *core.Port, b []byte) {
	if n.registrationCaches == nil || n.NIC.Staging != nil || len(b) == 0 || n.registrationCaches[int(p.ID)-n.FirstRank].useBuffer(b, n.NIC.Registration) {
		return
	}
	p.Charge(n.NIC.Registration.Time(len(b)))
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.register", model.SendActivity, len(b))
}

// RegisterData is RegisterMemory for the data of a packet, if the interface reads it from there.
// Datagrams are copied to other memory.
func (n *network) RegisterData(p *core.Port, b []byte) {
	if n.NIC.Datagrams == nil && !n.NIC.IsInline(n.Header+len(b)) {
		n.RegisterMemory(p, b)
	}
}

// useBuffer reports whether a registered buffer contains b. If not, it registers b, replacing
// buffers that b contains, and removes the least recently used buffers while there are too many.
func (c *registrationCache) useBuffer(b []byte, r *model.Registration) bool {
	c.useCount++
	at := sort.Search(len(c.buffers), func(i int) bool { return bufferAddress(c.buffers[i].memory) > bufferAddress(b) })
	if at > 0 {
		if x := &c.buffers[at-1]; isPartOf(b, x.memory) {
			x.lastUse = c.useCount
			return true
		}
	}
	if r.Entries == 0 || r.Bytes > 0 && len(b) > r.Bytes {
		return false
	}
	if at > 0 && bufferAddress(c.buffers[at-1].memory) == bufferAddress(b) {
		at-- // contained in b
	}
	for at < len(c.buffers) && isPartOf(c.buffers[at].memory, b) {
		c.removeBuffer(at)
	}
	c.buffers = slices.Insert(c.buffers, at, registeredBuffer{b, c.useCount})
	c.bytes += len(b)
	for len(c.buffers) > r.Entries || r.Bytes > 0 && c.bytes > r.Bytes {
		oldest := 0
		for i := range c.buffers {
			if c.buffers[i].lastUse < c.buffers[oldest].lastUse {
				oldest = i
			}
		}
		c.removeBuffer(oldest)
	}
	return false
}

func (c *registrationCache) removeBuffer(i int) {
	c.bytes -= len(c.buffers[i].memory)
	c.buffers = slices.Delete(c.buffers, i, i+1)
}

// bufferAddress returns the start address of a buffer.
func bufferAddress(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// isPartOf reports whether a nonempty buffer is within another.
func isPartOf(b, whole []byte) bool {
	from, start := bufferAddress(b), bufferAddress(whole)
	return from >= start && from-start+uintptr(len(b)) <= uintptr(len(whole))
}
