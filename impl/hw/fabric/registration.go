package fabric

import (
	"slices"
	"sort"
	"unsafe"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
)

// registrationCache has the buffers of a rank that are registered, by their addresses. None is a
// part of another, so of those that begin before an address the last one ends last.
//
// It holds on to them: memory that it knows is not given to another buffer, so what a run costs
// does not depend on the garbage collector.
type registrationCache struct {
	buffers []registeredBuffer
	bytes   int
	uses    int // of all buffers so far
}

type registeredBuffer struct {
	memory  []byte
	lastUse int
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

// use reports whether b is a part of a registered buffer. If not, it is registered in place of its
// own parts, and those that were not used for the longest time leave while there are too many.
func (c *registrationCache) use(b []byte, r *model.Registration) bool {
	c.uses++
	at := sort.Search(len(c.buffers), func(i int) bool { return addressOf(c.buffers[i].memory) > addressOf(b) })
	if at > 0 {
		if x := &c.buffers[at-1]; isPartOf(b, x.memory) {
			x.lastUse = c.uses
			return true
		}
	}
	if r.Entries == 0 || r.Bytes > 0 && len(b) > r.Bytes {
		return false
	}
	if at > 0 && addressOf(c.buffers[at-1].memory) == addressOf(b) {
		at-- // a part of it
	}
	for at < len(c.buffers) && isPartOf(c.buffers[at].memory, b) {
		c.remove(at)
	}
	c.buffers = slices.Insert(c.buffers, at, registeredBuffer{b, c.uses})
	c.bytes += len(b)
	for len(c.buffers) > r.Entries || r.Bytes > 0 && c.bytes > r.Bytes {
		oldest := 0
		for i := range c.buffers {
			if c.buffers[i].lastUse < c.buffers[oldest].lastUse {
				oldest = i
			}
		}
		c.remove(oldest)
	}
	return false
}

func (c *registrationCache) remove(i int) {
	c.bytes -= len(c.buffers[i].memory)
	c.buffers = slices.Delete(c.buffers, i, i+1)
}

// addressOf returns where a buffer begins.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// isPartOf reports whether all bytes of a buffer, which has some, are in another.
func isPartOf(b, whole []byte) bool {
	from, start := addressOf(b), addressOf(whole)
	return from >= start && from-start+uintptr(len(b)) <= uintptr(len(whole))
}
