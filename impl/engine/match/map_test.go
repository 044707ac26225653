package match

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// mapIndex is an index on Go's map, to compare the table of index with.
type mapIndex[T any] struct {
	firstEntries   map[Envelope]*Entry[T]
	entriesByClass [4]int
}

func (i *mapIndex[T]) firstMatch(x Envelope) *Entry[T] {
	var first *Entry[T]
	for c, n := range i.entriesByClass {
		if n == 0 {
			continue
		}
		if e := i.firstEntries[x.withWildcards(c)]; e != nil && (first == nil || e.serial < first.serial) {
			first = e
		}
	}
	return first
}

func (i *mapIndex[T]) add(e *Entry[T]) {
	i.entriesByClass[e.wildcardClass()]++
	first := i.firstEntries[e.Envelope]
	if first == nil {
		e.sameEnvelope = sameEnvelopeLinks[T]{e, e}
		i.firstEntries[e.Envelope] = e
		return
	}
	last := first.sameEnvelope.prev
	e.sameEnvelope = sameEnvelopeLinks[T]{last, first}
	last.sameEnvelope.next, first.sameEnvelope.prev = e, e
}

func (i *mapIndex[T]) remove(e *Entry[T]) {
	i.entriesByClass[e.wildcardClass()]--
	prev, next := e.sameEnvelope.prev, e.sameEnvelope.next
	prev.sameEnvelope.next, next.sameEnvelope.prev = next, prev
	switch {
	case next == e:
		delete(i.firstEntries, e.Envelope)
	case e.serial <= prev.serial:
		i.firstEntries[e.Envelope] = next
	}
}

// BenchmarkIndex compares the table of the index with Go's map: a message is looked up among n
// receives from different sources, its receive is removed and posted again.
func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{16, 256, 4096} {
		entries := make([]Entry[int], n)
		order := rand.New(rand.NewPCG(1, 1)).Perm(n)
		run := func(b *testing.B, firstMatch func(Envelope) *Entry[int], add, remove func(*Entry[int])) {
			for i := range entries {
				entries[i] = Entry[int]{Envelope: Envelope{1, int32(i), 7}, serial: uint64(i)}
				add(&entries[i])
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e := firstMatch(Envelope{1, int32(order[i%n]), 7})
				remove(e)
				e.serial = uint64(n + i)
				add(e)
			}
		}
		b.Run(fmt.Sprintf("receives=%d/table", n), func(b *testing.B) {
			x := &index[int]{buckets: make([]*Entry[int], minBuckets)}
			run(b, x.firstMatch, x.add, x.remove)
		})
		b.Run(fmt.Sprintf("receives=%d/map", n), func(b *testing.B) {
			x := &mapIndex[int]{firstEntries: make(map[Envelope]*Entry[int])}
			run(b, x.firstMatch, x.add, x.remove)
		})
	}
}
