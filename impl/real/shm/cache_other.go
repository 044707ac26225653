//go:build !amd64

package shm

import "sync/atomic"

// storeRelease stores a word after all stores before it.
func storeRelease(word *atomic.Uint64, v uint64) { word.Store(v) }

// prefetchForWrite prefetches the lines of b, where that is possible.
func prefetchForWrite([]byte) {}

// demoteLines moves the lines of b to a cache that others share, where that is possible.
func demoteLines([]byte) {}
