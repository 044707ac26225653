package shm

import "sync/atomic"

// storeRelease stores a word after all stores before it.
//
// Note: an atomic store of Go (XCHG) would wait until the processor owns the line, and all lines
// that were written before: as long as a message takes. x86 processors make stores visible in their
// order anyway.
//
//go:noescape
func storeRelease(word *atomic.Uint64, v uint64)

// prefetchForWrite prefetches the lines of b, which is aligned to a line and is about to be
// written.
//
// Note: stores prefetch lines, too, but only some ahead. 4 KiB that the other processor has read
// are written in a third less time with claim.
//
//go:noescape
func prefetchForWrite(b []byte)

// demoteLines moves the lines of b, which is aligned to a line and was written, from the
// processor's own cache to one that others share (CLDEMOTE), if the processor can do that.
//
//go:noescape
func demoteLines(b []byte)
