package mpi_test

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/mpi"
)

// BenchmarkMessage is one message of 8 bytes through the whole library on an emulated torus: send, match, receive. Each pair
// of ranks plays ping-pong, all at once.
func BenchmarkMessage(b *testing.B) {
	for _, ranks := range []int{2, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			b.ReportAllocs()
			w, o := t3d(b, ranks)
			rounds := b.N/ranks + 1
			err := mpi.Run(w, o, func(c *mpi.Comm) error {
				buf := make([]byte, 8)
				peer := (c.Rank() + c.Size()/2) % c.Size()
				if c.Rank() == 0 {
					b.ResetTimer()
				}
				for range rounds {
					if c.Rank() < peer {
						c.Send(buf, peer, 0)
						c.Recv(buf, peer, 0)
					} else {
						c.Recv(buf, peer, 0)
						c.Send(buf, peer, 0)
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*ranks), "ns/msg")
		})
	}
}

// BenchmarkBarrier is one barrier of a job that is started and ended for it.
func BenchmarkBarrier(b *testing.B) {
	for _, ranks := range []int{1024, 1 << 20} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			for range b.N {
				w, o := synthetic(b, ranks)
				if err := mpi.Run(w, o, func(c *mpi.Comm) error { c.Barrier(); return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
