package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// oracle is the rule itself: entries in order, the first that matches.
type oracle []*Entry[int]

func (o oracle) match(x Envelope) *Entry[int] {
	for _, e := range o {
		if e.Context == x.Context &&
			(e.Source == x.Source || e.Source == AnySourceOrTag || x.Source == AnySourceOrTag) &&
			(e.Tag == x.Tag || e.Tag == AnySourceOrTag || x.Tag == AnySourceOrTag) {
			return e
		}
	}
	return nil
}

// program drives a queue and the oracle with what choose returns, a number below its argument, and
// fails where they differ.
type program struct {
	choose   func(n int) int
	contexts int
	sources  int
	tags     int
	patterns bool // entries are receives and what is looked for are messages, else the other way round
	both     bool // receives are looked for among receives
}

func (p program) envelope(wild bool) Envelope {
	x := Envelope{uint32(p.choose(p.contexts)), int32(p.choose(p.sources)), int32(p.choose(p.tags))}
	if wild && p.choose(4) == 0 {
		x.Source = AnySourceOrTag
	}
	if wild && p.choose(4) == 0 {
		x.Tag = AnySourceOrTag
	}
	return x
}

func (p program) run(t *testing.T, steps int) {
	t.Helper()
	var q Queue[int]
	var o oracle
	target := 0
	for i := range steps {
		if i%64 == 0 { // the length wanders between short and long, to and fro over the limit
			target = []int{0, maxScannedEntries, 100, 300}[p.choose(4)]
		}
		op := p.choose(4)
		if op == 3 {
			op = 0
			if len(o) > target {
				op = 2
			}
		}
		switch op {
		case 0:
			e := &Entry[int]{Envelope: p.envelope(p.patterns || p.both), Value: i}
			q.Add(e)
			o = append(o, e)
		case 1:
			x := p.envelope(!p.patterns || p.both)
			got, want := q.Match(x), o.match(x)
			if got != want {
				t.Fatalf("step %d: Match(%v) among %d = %v, want %v", i, x, len(o), got, want)
			}
			if got != nil {
				q.Remove(got)
				o = slices.DeleteFunc(o, func(e *Entry[int]) bool { return e == got })
			}
		case 2:
			if len(o) > 0 {
				at := p.choose(len(o))
				q.Remove(o[at])
				o = slices.Delete(o, at, at+1)
			}
		}
		if q.Len() != len(o) {
			t.Fatalf("step %d: Len() = %d, want %d", i, q.Len(), len(o))
		}
		if i%32 == 0 && !slices.Equal(slices.Collect(q.All()), o) {
			t.Fatalf("step %d: entries are not in order", i)
		}
	}
}

// Whatever the program, the queue finds what the rule says.
func TestOracle(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := program{
			choose:   r.IntN,
			contexts: 1 + r.IntN(3),
			sources:  1 + r.IntN(40),
			tags:     1 + r.IntN(40),
			patterns: r.IntN(2) == 0,
			both:     r.IntN(3) == 0,
		}
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) { p.run(t, 2000) })
	}
}

func FuzzOracle(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 0, 0, 0, 1, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		at := 0
		choose := func(n int) int {
			if at == len(data) {
				return 0
			}
			at++
			return int(data[at-1]) % n
		}
		p := program{choose: choose, contexts: 2, sources: 3, tags: 5, patterns: choose(2) == 0, both: choose(2) == 0}
		p.run(t, len(data))
	})
}

// lengths are those on both sides of the limit at which the index begins.
var lengths = []int{2, maxScannedEntries, maxScannedEntries + 1, 10 * maxScannedEntries}

// Two messages from one source that match one receive: the first is taken first. MPI 3.1, 3.5
// "Order".
func TestMessagesDoNotOvertake(t *testing.T) {
	for _, n := range lengths {
		var q Queue[int]
		for i := range n {
			q.Add(&Entry[int]{Envelope: Envelope{0, 1, 7}, Value: i})
		}
		for i, x := range slices.Repeat([]Envelope{{0, 1, 7}, {0, AnySourceOrTag, 7}, {0, 1, AnySourceOrTag}, {0, AnySourceOrTag, AnySourceOrTag}}, n)[:n] {
			e := q.Match(x)
			if e == nil || e.Value != i {
				t.Fatalf("of %d: %v took %v, want message %d", n, x, e, i)
			}
			q.Remove(e)
		}
	}
}

// Two receives that match one message: the one posted first gets it, whatever wildcards either has.
func TestReceivesDoNotOvertake(t *testing.T) {
	posted := []Envelope{{0, AnySourceOrTag, 7}, {0, 1, 7}, {0, AnySourceOrTag, AnySourceOrTag}, {0, 1, AnySourceOrTag}}
	for _, n := range lengths {
		for turn := range posted {
			var q Queue[int]
			for i := range n {
				q.Add(&Entry[int]{Envelope: posted[(i+turn)%len(posted)], Value: i})
			}
			for i := range n {
				e := q.Match(Envelope{0, 1, 7})
				if e == nil || e.Value != i {
					t.Fatalf("of %d: message %d went to %v", n, i, e)
				}
				q.Remove(e)
			}
		}
	}
}

// A message whose receive is not posted holds up no other, and contexts are worlds apart.
func TestOthersMayPass(t *testing.T) {
	for _, n := range lengths {
		var q Queue[int]
		for i := range n {
			q.Add(&Entry[int]{Envelope: Envelope{0, 1, 7}, Value: i})
		}
		q.Add(&Entry[int]{Envelope: Envelope{0, 1, 8}, Value: n})
		if e := q.Match(Envelope{0, AnySourceOrTag, 8}); e == nil || e.Value != n {
			t.Errorf("of %d: tag 8 is held up: %v", n, e)
		}
		if e := q.Match(Envelope{1, AnySourceOrTag, AnySourceOrTag}); e != nil {
			t.Errorf("of %d: context 1 got %v", n, e)
		}
		if e := q.Match(Envelope{1, 1, 7}); e != nil {
			t.Errorf("of %d: context 1 got %v", n, e)
		}
	}
}

func TestRemoveOnTheWay(t *testing.T) {
	for _, n := range lengths {
		var q Queue[int]
		for i := range n {
			q.Add(&Entry[int]{Envelope: Envelope{0, int32(i), 0}})
		}
		for e := range q.All() {
			q.Remove(e)
		}
		if q.Len() != 0 || q.head != nil || q.tail != nil {
			t.Errorf("of %d: %d are left", n, q.Len())
		}
	}
}

func TestMistakesPanic(t *testing.T) {
	var q, other Queue[int]
	queued := &Entry[int]{}
	q.Add(queued)
	for _, c := range []struct {
		want string
		do   func()
	}{
		{"match: negative tag", func() { q.Match(Envelope{0, 0, -2}) }},
		{"match: negative tag", func() { q.Add(&Entry[int]{Envelope: Envelope{0, 0, -2}}) }},
		{"match: negative source", func() { q.Match(Envelope{0, -2, 0}) }},
		{"match: wildcard context", func() { any := int32(AnySourceOrTag); q.Match(Envelope{uint32(any), 0, 0}) }},
		{"match: entry is queued already", func() { q.Add(queued) }},
		{"match: entry is not in this queue", func() { other.Remove(queued) }},
		{"match: entry is not in this queue", func() { q.Remove(&Entry[int]{}) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			c.do()
		}()
	}
	if q.Len() != 1 || other.Len() != 0 {
		t.Errorf("a refused call changed a queue: %d, %d", q.Len(), other.Len())
	}
}

// A scale run has a pair of queues for each of a million ranks.
func TestQueueIsSmall(t *testing.T) {
	if s := unsafe.Sizeof(Queue[int]{}); s > 64 {
		t.Errorf("a queue takes %d bytes, want at most 64", s)
	}
}

// fill returns a queue of n entries; the last one has tag n-1.
func fill(n int) (*Queue[int], []Entry[int]) {
	q := new(Queue[int])
	es := make([]Entry[int], n)
	for i := range es {
		es[i] = Entry[int]{Envelope: Envelope{0, int32(i % 64), int32(i)}, Value: i}
		q.Add(&es[i])
	}
	return q, es
}

// A search takes constant time: chains are short for every pattern of sources and tags, and classes
// without entries are not searched. The longest chain of a random function would be 8
// or 9.
func TestSearchIsShort(t *testing.T) {
	const n = 100000
	for name, envelope := range map[string]func(i int) Envelope{
		"sources":  func(i int) Envelope { return Envelope{0, int32(i), 7} },
		"tags":     func(i int) Envelope { return Envelope{0, 3, int32(i)} },
		"both":     func(i int) Envelope { return Envelope{0, int32(i), int32(i)} },
		"mirrored": func(i int) Envelope { return Envelope{0, int32(i), int32(n - i)} },
		"square":   func(i int) Envelope { return Envelope{1, int32(i % 320), int32(i / 320)} },
		"contexts": func(i int) Envelope { return Envelope{uint32(i), 0, 0} },
		"aligned":  func(i int) Envelope { return Envelope{0, int32(i << 12), int32(i&7) << 20} },
		"wild":     func(i int) Envelope { return Envelope{0, AnySourceOrTag, int32(i)} },
	} {
		var q Queue[int]
		es := make([]Entry[int], n)
		for i := range es {
			es[i].Envelope = envelope(i)
			q.Add(&es[i])
		}
		if !q.isIndexed() {
			t.Fatalf("%s: no index", name)
		}
		longest := 0
		for _, e := range q.index.buckets {
			length := 0
			for ; e != nil; e = e.nextInBucket {
				length++
			}
			longest = max(longest, length)
		}
		if longest > 16 {
			t.Errorf("%s: a chain of %d envelopes", name, longest)
		}
		for i := range es {
			q.Remove(&es[i])
		}
		if q.index.entriesByClass != [4]int{} {
			t.Errorf("%s: classes %v of no entries", name, q.index.entriesByClass)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, n := range []int{1, 100, 10000} {
		q, es := fill(n)
		last := es[n-1].Envelope
		got := testing.AllocsPerRun(100, func() {
			e := q.Match(last)
			q.Remove(e)
			q.Add(e)
			q.Match(Envelope{0, AnySourceOrTag, 0})
		})
		if got != 0 {
			t.Errorf("depth %d: %v allocations per operation", n, got)
		}
	}
}

// A match is found, removed and added again at the end of a queue of the given depth.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 100, 100000} {
		b.Run(fmt.Sprint("depth", n), func(b *testing.B) {
			q, es := fill(n)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				e := q.Match(es[i].Envelope)
				q.Remove(e)
				q.Add(e)
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

// A message that no receive waits for, while receives of all four classes are posted.
func BenchmarkMiss(b *testing.B) {
	for _, n := range []int{8, 100, 100000} {
		b.Run(fmt.Sprint("depth", n), func(b *testing.B) {
			q, es := fill(n)
			for i, x := range []Envelope{{0, AnySourceOrTag, 1}, {0, 1, AnySourceOrTag}, {2, AnySourceOrTag, AnySourceOrTag}} {
				q.Remove(&es[i])
				es[i].Envelope = x
				q.Add(&es[i])
			}
			for b.Loop() {
				q.Match(Envelope{0, 5, 0})
			}
		})
	}
}
