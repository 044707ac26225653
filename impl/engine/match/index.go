package match

// index finds the earliest entry for an envelope. It is a hash table of the different envelopes
// that are queued, including those with wildcards: each bucket chains the first entries of its
// envelopes, and each of these begins the ring of the entries that have the same envelope.
//
// Note: on Go's map a look-up with removal and posting takes three times as long (BenchmarkIndex:
// 240 instead of 80 ns).
type index[T any] struct {
	buckets        []*Entry[T] // a power of two
	envelopes      int         // different envelopes
	entriesByClass [4]int      // entries of each class
}

// sameEnvelopeLinks links entries in a circle.
type sameEnvelopeLinks[T any] struct{ prev, next *Entry[T] }

// A class says which wildcards an envelope has. A message can match entries of all four, each under
// one envelope, and most programs use one or two.
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

// minBuckets is room for twice as many entries as are scanned without an index.
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

// add adds e as the last entry of its envelope.
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

// remove drops e, which is in the index.
func (i *index[T]) remove(e *Entry[T]) {
	i.entriesByClass[e.wildcardClass()]--
	prev, next := e.sameEnvelope.prev, e.sameEnvelope.next
	prev.sameEnvelope.next, next.sameEnvelope.prev = next, prev
	if e.serial <= prev.serial { // e is the first: the last comes before it
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

// grow doubles the table. It never shrinks, because a queue that was long once often becomes long
// again.
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

// bucket returns where the chain for x begins. Sources, tags and contexts are small and dense:
// multiplying by odd constants (the golden ratio's and MurmurHash3's) spreads them over the upper
// bits.
func (i *index[T]) bucket(x Envelope) **Entry[T] {
	h := (uint64(x.Context)<<32 | uint64(uint32(x.Source))) * 0x9E3779B97F4A7C15
	h = (h ^ h>>32 ^ uint64(uint32(x.Tag))) * 0xC2B2AE3D27D4EB4F
	h ^= h >> 32
	return &i.buckets[h&uint64(len(i.buckets)-1)]
}
