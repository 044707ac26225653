//go:build !amd64

package shm

import "sync/atomic"

// release stores a word after all stores before it.
func release(word *atomic.Uint64, v uint64) { word.Store(v) }

// claim prefetches the lines of b, where that is possible.
func claim([]byte) {}

// demote moves the lines of b to a cache that others share, where that is possible.
func demote([]byte) {}
