package shm

import "sync/atomic"

// release writes a word, behind all that was written before it.
//
// Note: that is less than an atomic store, for which Go waits until the line belongs to the processor, and with it all lines that were written before:
// as long as a message takes. Processors of this kind make stores seen in their order.
//
//go:noescape
func release(word *atomic.Uint64, v uint64)

// claim asks for the lines of b, which begins one and is about to be written, all at once.
//
// Note: stores ask for lines, too, but only some ahead: 4 KiB that the other processor has read take a third less with it.
//
//go:noescape
func claim(b []byte)

// demote moves the lines of b, which begins one and was written, from the processor's own cache to where others have it as near, if the processor
// knows how; else it does nothing.
//
//go:noescape
func demote(b []byte)
