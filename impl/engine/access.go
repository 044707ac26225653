package engine

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// The service accesses memory of other ranks by the machine, if it supports that, in addition to
// the engine's messages. Completions arrive as packets, which engines pass to the rank.

// accessCompletionKind is the first byte of the head of an access completion. Engines have no
// packets of this kind.
const accessCompletionKind = 0xfe

// IsAccessCompletion reports whether a packet with this head is the completion of an access of the
// service. Pass such packets to Rank.HandleAccessCompletion.
func IsAccessCompletion(w *device.Head) bool { return byte(w[0]) == accessCompletionKind }

// DescribeWithAccesses returns a function that names access completions for traces. It names other
// packets by others, if that is not nil.
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

// ServiceMemory returns the machine's remote memory access, or nil if it has none. The rank must
// have a service.
func (r *Rank) ServiceMemory() device.Memory { return r.service.memory }

// NewAccessOp returns an operation that is finished when all puts and gets added to it have ended.
// The rank must not make other calls before it has added all.
func (r *Rank) NewAccessOp() *Op {
	o := r.newServiceOp()
	o.Size = 0
	return o
}

// AddPut adds a put of b, at offset off of the memory that rank dst has exposed under key k.
func (r *Rank) AddPut(o *Op, dst int, k device.Key, off int, b []byte) {
	o.Size += len(b)
	r.service.memory.Put(dst, k, off, b, accessCompletionHead(o, len(b)))
}

// AddGet adds a get into b, from offset off of the memory that rank dst has exposed under key k.
func (r *Rank) AddGet(o *Op, dst int, k device.Key, off int, b []byte) {
	o.Size += len(b)
	r.service.memory.Get(dst, k, off, b, accessCompletionHead(o, len(b)))
}

func accessCompletionHead(o *Op, n int) device.Head {
	return device.Head{accessCompletionKind, uint64(o.id), uint64(n)}
}

// HandleAccessCompletion handles the completion of an access.
func (r *Rank) HandleAccessCompletion(p *device.Packet) {
	if p.Refused {
		panic(fmt.Sprintf("engine: rank %d: an access was refused: its memory is not exposed", r.port.Rank()))
	}
	o := r.ops[p.Head[1]]
	if o.Size -= int(p.Head[2]); o.Size == 0 {
		r.Complete(o)
	}
}
