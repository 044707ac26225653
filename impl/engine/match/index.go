package match

// index finds the earliest entry for an envelope. It is a hash table of the different queued
// envelopes, including those with wildcards. Each bucket chains the first entries of its envelopes,
// and each of these starts a ring of the entries with the same envelope.
//
// Note: with Go's map a look-up with removal and posting takes three times as long (BenchmarkIndex:
// 240 instead of 80 ns).
type index[T any] struct {
	buckets        []*Entry[T] // length is a power of two
	envelopes      int         // number of different envelopes
	entriesByClass [4]int      // number of entries by class
}

// sameEnvelopeLinks links entries with the same envelope in a ring.
type sameEnvelopeLinks[T any] struct{ prev, next *Entry[T] }

// The class of an envelope says which wildcards it has. A message can match entries of all four
// classes, each under one envelope. Most programs use one or two.
const (
	anySource = 1 << iota
	anyTag
)

func (x Envelope) wildcardClass() int {
	c := 0
	if x.Source == AnySourceOrTag {
		c |= anySource
	}
	if x.Tag == AnySourceOrTag {
		c |= anyTag
	}
	return c
}

// withWildcards returns x with the wildcards of class c.
func (x Envelope) withWildcards(c int) Envelope {
	if c&anySource != 0 {
		x.Source = AnySourceOrTag
	}
	if c&anyTag != 0 {
		x.Tag = AnySourceOrTag
	}
	return x
}

// minBuckets is twice the number of entries that are scanned without an index.
const minBuckets = 2 * maxScannedEntries

// firstMatch returns the earliest entry that matches x, which has no wildcards.
func (i *index[T]) firstMatch(x Envelope) *Entry[T] {
	var first *Entry[T]
	for c, n := range i.entriesByClass {
		if n == 0 {
			continue
		}
		if e := i.firstEqual(x.withWildcards(c)); e != nil && (first == nil || e.serial < first.serial) {
			first = e
		}
	}
	return first
}

// firstEqual returns the first entry whose envelope is x.
func (i *index[T]) firstEqual(x Envelope) *Entry[T] {
	e := *i.bucket(x)
	for e != nil && e.Envelope != x {
		e = e.nextInBucket
	}
	return e
}

// add appends e to the entries with its envelope.
func (i *index[T]) add(e *Entry[T]) {
	i.entriesByClass[e.wildcardClass()]++
	if first := i.firstEqual(e.Envelope); first != nil {
		last := first.sameEnvelope.prev
		e.sameEnvelope = sameEnvelopeLinks[T]{last, first}
		last.sameEnvelope.next, first.sameEnvelope.prev = e, e
		return
	}
	if i.envelopes == len(i.buckets) {
		i.grow()
	}
	i.envelopes++
	e.sameEnvelope = sameEnvelopeLinks[T]{e, e}
	i.insertIntoBucket(e)
}

// remove removes e, which must be in the index.
func (i *index[T]) remove(e *Entry[T]) {
	i.entriesByClass[e.wildcardClass()]--
	prev, next := e.sameEnvelope.prev, e.sameEnvelope.next
	prev.sameEnvelope.next, next.sameEnvelope.prev = next, prev
	if e.serial <= prev.serial { // e is the first, preceded by the last
		at := i.bucket(e.Envelope)
		for *at != e {
			at = &(*at).nextInBucket
		}
		if next == e {
			i.envelopes--
			*at = e.nextInBucket
		} else {
			*at, next.nextInBucket = next, e.nextInBucket
		}
	}
	e.sameEnvelope, e.nextInBucket = sameEnvelopeLinks[T]{}, nil
}

// insertIntoBucket puts the first entry of an envelope into its bucket.
func (i *index[T]) insertIntoBucket(e *Entry[T]) {
	at := i.bucket(e.Envelope)
	e.nextInBucket, *at = *at, e
}

// grow doubles the table. The table never shrinks, because a queue that was long once often becomes
// long again.
func (i *index[T]) grow() {
	old := i.buckets
	i.buckets = make([]*Entry[T], 2*len(old))
	for _, e := range old {
		for e != nil {
			next := e.nextInBucket
			i.insertIntoBucket(e)
			e = next
		}
	}
}

// bucket returns the start of the chain for x. Sources, tags and contexts are small and dense.
// Multiplication by odd constants (those of the golden ratio and of MurmurHash3) spreads them over
// the upper bits.
func (i *index[T]) bucket(x Envelope) **Entry[T] {
	h := (uint64(x.Context)<<32 | uint64(uint32(x.Source))) * 0x9E3779B97F4A7C15
	h = (h ^ h>>32 ^ uint64(uint32(x.Tag))) * 0xC2B2AE3D27D4EB4F
	h ^= h >> 32
	return &i.buckets[h&uint64(len(i.buckets)-1)]
}
