package mpi

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/device"
)

// This file has accumulates of one 64-bit integer that the machine executes in the target's memory
// without its help: MPI_Fetch_and_op that adds or only reads, and MPI_Compare_and_swap. All others
// are messages. After a message with an accumulate to a target the origin sends further ones as
// messages, too, since accumulates of one origin are ordered.

const wordBytes = 8

// executeAtomically makes the machine execute an accumulate, and reports whether it has.
func (w *Window) executeAtomically(a *access, h *requestHeader) bool {
	if a.kind < accumulateRequest {
		return false
	}
	memory := device.Atomics(w.comm.engine.ServiceMemory())
	if memory == nil || !w.hasDirectAccess || w.flavor == DynamicWindow {
		return false
	}
	if t := w.targetOf(a.target); t.hasAccumulateMessages || !isWordAtomic(a, h) {
		t.hasAccumulateMessages = true
		return false
	}
	to, k := w.comm.jobRank(a.target), w.spanOf(a.target).memoryKey
	var operand [2 * wordBytes]byte
	if a.origin.Type != nil {
		a.origin.Pack(operand[:a.origin.Len()], 0)
	}
	first, second := binary.NativeEndian.Uint64(operand[:]), binary.NativeEndian.Uint64(operand[wordBytes:])
	var old uint64
	var refused bool
	if a.kind == compareRequest {
		old, refused = memory.CompareAndSwapWord(to, k, h.offset, first, second)
	} else {
		old, refused = memory.FetchAndAddWord(to, k, h.offset, first)
	}
	if refused {
		panic("mpi: the memory of a window is not exposed")
	}
	var result [wordBytes]byte
	binary.NativeEndian.PutUint64(result[:], old)
	a.result.Unpack(result[:], 0)
	return true
}

// isWordAtomic reports whether an access is an atomic operation on a 64-bit integer that RDMA
// interfaces execute: add, read, or compare and swap.
func isWordAtomic(a *access, h *requestHeader) bool {
	if h.size != wordBytes || h.offset%wordBytes != 0 || h.layoutBytes != 0 || a.result.Type == nil || a.targetType != Int64 && a.targetType != Uint64 {
		return false
	}
	return a.kind == compareRequest || a.kind == getAccumulateRequest && (a.op == NoOp || a.op == Sum && a.origin.Type != nil)
}
