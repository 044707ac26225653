package engine

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// The service accesses memory of other ranks by the machine, if that can, beside the messages of
// the engine. Completions come as packets, which engines hand to the rank.

// accessCompletionKind is the first byte of the head of the completion of an access. Engines have
// no packets of this kind.
const accessCompletionKind = 0xfe

// IsAccessCompletion reports whether a packet with this head is the completion of an access of the
// service, which Rank.EndAccess takes.
func IsAccessCompletion(w *device.Head) bool { return byte(w[0]) == accessCompletionKind }

// DescribeWithAccesses returns a function that names such packets for traces, and others as an
// engine's function does; nil: nothing does.
func DescribeWithAccesses(others func(device.Head) (name, detail string)) func(device.Head) (name, detail string) {
	if others == nil {
		return nil
	}
	return func(w device.Head) (name, detail string) {
		if IsAccessCompletion(&w) {
			return "access", fmt.Sprintf("%d bytes", w[2])
		}
		return others(w)
	}
}

// ServiceMemory returns the machine's memory access, or nil if the machine has none. It is for
// ranks with a service.
func (r *Rank) ServiceMemory() device.Memory { return r.service.memory }

// NewAccessOp returns an operation that is finished when all puts and gets that are added to it
// have ended. The rank makes no other call until all are added.
func (r *Rank) NewAccessOp() *Op {
	o := r.newServiceOp()
	o.Size = 0
	return o
}

// AddPut adds a put of b to offset off of memory that a rank exposes as k.
func (r *Rank) AddPut(o *Op, dst int, k device.Key, off int, b []byte) {
	o.Size += len(b)
	r.service.memory.Put(dst, k, off, b, accessCompletionHead(o, len(b)))
}

// AddGet adds a get from there to b.
func (r *Rank) AddGet(o *Op, dst int, k device.Key, off int, b []byte) {
	o.Size += len(b)
	r.service.memory.Get(dst, k, off, b, accessCompletionHead(o, len(b)))
}

func accessCompletionHead(o *Op, n int) device.Head {
	return device.Head{accessCompletionKind, uint64(o.id), uint64(n)}
}

// HandleAccessCompletion takes the completion of an access.
func (r *Rank) HandleAccessCompletion(p *device.Packet) {
	if p.Refused {
		panic(fmt.Sprintf("engine: rank %d: an access was refused: its memory is not exposed", r.port.Rank()))
	}
	o := r.ops[p.Head[1]]
	if o.Size -= int(p.Head[2]); o.Size == 0 {
		r.Complete(o)
	}
}
