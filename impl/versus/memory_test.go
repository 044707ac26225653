package versus

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/loggp/loggp/impl/real/host"
)

// pingPongThroughMemory is what the memory takes: a flag on a cache line, and the receiver's copy
// out of the sender's buffer, by two threads of this process.
func pingPongThroughMemory(_ context.Context, loads []load) (half []float64, err error) {
	for r := range 2 {
		if host.RankProcessor(r) < 0 {
			return nil, fmt.Errorf("no processor is known for thread %d", r)
		}
	}
	for _, l := range loads {
		there, back := newFlags(), newFlags()
		out, answer := l.buffer(), l.buffer()
		var both sync.WaitGroup
		both.Go(func() {
			pinToRank(1)
			in := l.buffer()
			for n := range uint64((l.blocks + 1) * l.trips) {
				there.await(n)
				copy(in, out)
				back.raise(n)
			}
		})
		both.Go(func() {
			pinToRank(0)
			in, n := l.buffer(), uint64(0)
			half = append(half, l.measure(func(trips int) {
				for range trips {
					there.raise(n)
					back.await(n)
					copy(in, answer)
					n++
				}
			}))
		})
		both.Wait()
	}
	return half, nil
}

// pinToRank keeps the calling goroutine, which is to end soon, on the processor of a rank.
func pinToRank(rank int) {
	runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
	if err := host.Pin(host.RankProcessor(rank)); err != nil {
		panic(err)
	}
}

// flags are lines of memory that are raised one after the other. Each is on a page of its own: how
// long a line takes depends on where it is.
type flags []paddedFlag

const pages, page, line = 64, 4096, 64

type paddedFlag struct {
	atomic.Uint64
	_ [page + line - 8]byte
}

func newFlags() flags {
	f := make(flags, pages)
	if at := uintptr(unsafe.Pointer(&f[0])); at%line != 0 {
		panic(fmt.Sprintf("flags are at %#x, not on lines of their own", at))
	}
	return f
}

// raise raises the flag of round n, and await waits for it.
func (f flags) raise(n uint64) { f[n%pages].Store(n + 1) }

func (f flags) await(n uint64) {
	for l := &f[n%pages]; l.Load() != n+1; {
		host.PauseProcessor()
	}
}
