package schedule

import (
	"fmt"
	"testing"
)

// BenchmarkLabels compares the table of labels with Go's map: the labels of one rank after the
// other, each entered once and looked up twice.
func BenchmarkLabels(b *testing.B) {
	text := make([]byte, 0, 1<<16)
	for _, n := range []int{16, 1024} {
		keys := make([]uint64, n)
		for i := range keys {
			copy8 := [8]byte{}
			copy(copy8[:], fmt.Sprintf("l%d", i))
			for j, c := range copy8 {
				keys[i] |= uint64(c) << (8 * j)
			}
		}
		b.Run(fmt.Sprintf("labels=%d/table", n), func(b *testing.B) {
			var l labelTable
			for b.Loop() {
				l.clear()
				for i, k := range keys {
					l.addLabel(text, 0, 5, k, uint32(i))
				}
				for _, k := range keys {
					l.opOf(text, 0, 5, k)
					l.opOf(text, 0, 5, k)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/label")
		})
		b.Run(fmt.Sprintf("labels=%d/map", n), func(b *testing.B) {
			l := make(map[uint64]uint32)
			var sink uint32
			for b.Loop() {
				clear(l)
				for i, k := range keys {
					if _, ok := l[k]; !ok {
						l[k] = uint32(i)
					}
				}
				for _, k := range keys {
					sink += l[k]
					sink += l[k]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/label")
		})
	}
}

// mapMatcher is a matcher without wildcards on Go's map, to compare the buckets of matcher with.
type mapMatcher struct {
	matcher
	queues map[[3]uint32]queueEnds // by rank, source and tag: messages or receives, never both
}

func (m *mapMatcher) match(key [3]uint32, op uint32, isMessage bool) (uint32, bool) {
	q, ok := m.queues[key]
	if ok && (m.ops[q.head-1].Kind == Send) != isMessage {
		first := q.head - 1
		if m.removeFromQueue(&q, 0, first); q.head == 0 {
			delete(m.queues, key)
		} else {
			m.queues[key] = q
		}
		return first, true
	}
	m.appendToQueue(&q, op)
	m.queues[key] = q
	return 0, false
}

// BenchmarkBuckets compares the buckets of matcher with Go's map: all messages of an exchange
// between all ranks, each rank's receives posted in another order than that in which messages come.
func BenchmarkBuckets(b *testing.B) {
	for _, ranks := range []int{16, 256} {
		s := build(b, ranks, func(b *Builder, r int) {
			for i := 1; i < ranks; i++ {
				b.AddOp(Op{Kind: Recv, Size: 8, Peer: uint32((r + ranks - i) % ranks)})
			}
			for i := ranks - 1; i > 0; i-- {
				b.AddOp(Op{Kind: Send, Size: 8, Peer: uint32((r + i) % ranks)})
			}
		})
		messages := ranks * (ranks - 1)
		link := make([]uint32, len(s.ops))
		b.Run(fmt.Sprintf("ranks=%d/buckets", ranks), func(b *testing.B) {
			var m matcher
			for b.Loop() {
				m.init(s, true, link)
				for i := range s.ops {
					if s.ops[i].Kind == Recv {
						m.matchReceive(uint32(i))
					} else {
						m.matchMessage(uint32(i))
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages), "ns/message")
		})
		b.Run(fmt.Sprintf("ranks=%d/map", ranks), func(b *testing.B) {
			m := mapMatcher{queues: make(map[[3]uint32]queueEnds)}
			for b.Loop() {
				m.init(s, true, link)
				clear(m.queues)
				for i := range s.ops {
					o := &s.ops[i]
					if o.Kind == Recv {
						m.match([3]uint32{o.rank, o.Peer, o.Tag}, uint32(i), false)
					} else {
						m.match([3]uint32{o.Peer, o.rank, o.Tag}, uint32(i), true)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages), "ns/message")
		})
	}
}
