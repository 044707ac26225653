//go:build !amd64

package shm

import "sync/atomic"

// release writes a word, behind all that was written before it.
func release(word *atomic.Uint64, v uint64) { word.Store(v) }

// claim asks for the lines of b, which begins one and is about to be written, where that is possible.
func claim([]byte) {}

// demote moves the lines of b to where other processors have them nearer, where that is possible.
func demote([]byte) {}
