package devicetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

func withQueue(program func(*rank, device.Queues) error) func(*rank) error {
	return withCapability("queues", device.Port.Queues, program)
}

// enqueueUntilTaken appends an entry to a queue and starts again until it is taken.
func (p *rank) enqueueUntilTaken(q device.Queues, dst int, k device.Key, b []byte) error {
	flags := device.EnqueueFlags(0)
	for try := range 100000 {
		q.Enqueue(dst, k, b, flags, headWithTag(try))
		c, err := p.recvFrom(p.Rank())
		switch {
		case err != nil:
			return err
		case c.Head != headWithTag(try) || len(c.Data) > 0:
			return fmt.Errorf("rank %d: completion %v with %d bytes, want %v", p.Rank(), c.Head, len(c.Data), headWithTag(try))
		case !c.Refused:
			return nil
		}
		flags = device.RetryAfterRefusal
		p.Delay(unit.Microsecond) // others may make room
	}
	return fmt.Errorf("rank %d: an entry of %d bytes was refused for good", p.Rank(), len(b))
}

// Entries of several writers come unchanged and in the order of each, and each says whose it is.
// The writer may use its buffer again at once.
func checkQueueEntries(open func(int) device.World) error {
	const n, each = 4, 60
	length := func(limit, i int) int { return []int{0, 1, 8, limit, 33, limit / 2, 7}[i%7] }
	return runWithinLimit(open(n), withQueue(func(p *rank, q device.Queues) error {
		var k device.Key
		if p.Rank() == 0 {
			k = q.Create(4 * (q.MaxEntryBytes() + device.EntryOverhead))
			for r := 1; r < n; r++ {
				p.sendWord(r, uint64(k))
			}
			var next [n]int
			for got := 0; got < (n-1)*each; {
				e := q.First(k)
				if e == nil {
					continue
				}
				i := next[e.Src]
				if err := checkSameBytes(e.Data, randomBytes(length(q.MaxEntryBytes(), i), e.Src, i)); err != nil {
					return fmt.Errorf("entry %d of rank %d: %w", i, e.Src, err)
				}
				if again := q.First(k); again == nil || again.Src != e.Src || len(again.Data) != len(e.Data) {
					return fmt.Errorf("entry %d of rank %d did not stay until it was dropped", i, e.Src)
				}
				next[e.Src]++
				got++
				q.RemoveFirst(k)
			}
			if q.First(k) != nil {
				return fmt.Errorf("an entry is left")
			}
			return p.checkNoPacketLeft()
		}
		word, err := p.recvWord(0)
		if err != nil {
			return err
		}
		b := make([]byte, q.MaxEntryBytes())
		for i := range each {
			n := copy(b, randomBytes(length(q.MaxEntryBytes(), i), p.Rank(), i))
			if err := p.enqueueUntilTaken(q, 0, device.Key(word), b[:n]); err != nil {
				return err
			}
			clear(b)
		}
		return p.checkNoPacketLeft()
	}))
}

// A queue takes what fits and no more, and what was refused is refused until there is room: nothing
// of what is there is lost or written over.
func checkFullQueue(open func(int) device.World) error {
	const fit, refusals = 5, 30 // of a full queue, in a row
	return runWithinLimit(open(1), withQueue(func(p *rank, q device.Queues) error {
		size := q.MaxEntryBytes() / 2
		k := q.Create(fit * (size + device.EntryOverhead))
		fill := func(from, to int) error {
			for i := from; i < to; i++ {
				if err := p.enqueueUntilTaken(q, 0, k, randomBytes(size, i)); err != nil {
					return err
				}
			}
			for range refusals {
				q.Enqueue(0, k, randomBytes(size, -1), device.RetryAfterRefusal, headWithTag(1))
				if err := p.awaitCompletionOrRefusal(1, true); err != nil {
					return fmt.Errorf("the queue is full: %w", err)
				}
			}
			return nil
		}
		if err := fill(0, fit); err != nil {
			return err
		}
		for i := range 3 * fit {
			if err := checkSameBytes(q.First(k).Data, randomBytes(size, i)); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			q.RemoveFirst(k)
			if err := fill(fit+i, fit+i+1); err != nil {
				return err
			}
		}
		return nil
	}))
}

// A writer sends many entries without waiting for any. Those that are taken are the first: after
// one was refused, all are until the writer retries, though there is room again. So the receiver
// finds all entries of each writer, in order, once each.
func checkNoGapAfterRefusal(open func(int) device.World) error {
	const n, each, burst, size = 3, 200, 16, 40
	for seed := range uint64(3) {
		err := runWithinLimit(open(n), withQueue(func(p *rank, q device.Queues) error {
			r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
			if p.Rank() == 0 {
				k := q.Create(9 * (size + device.EntryOverhead))
				for w := 1; w < n; w++ {
					p.sendWord(w, uint64(k))
				}
				var next [n]int
				for got := 0; got < (n-1)*each; {
					for range r.IntN(12) {
						e := q.First(k)
						if e == nil {
							break
						}
						if err := checkSameBytes(e.Data, randomBytes(size, e.Src, next[e.Src])); err != nil {
							return fmt.Errorf("entry %d of rank %d: %w", next[e.Src], e.Src, err)
						}
						next[e.Src]++
						got++
						q.RemoveFirst(k)
					}
					p.Delay([]unit.Time{0, unit.Microsecond, 2 * unit.Microsecond, 100 * unit.Microsecond}[r.IntN(4)])
				}
				return p.checkNoPacketLeft()
			}
			k, err := p.recvWord(0)
			if err != nil {
				return err
			}
			flags := device.EnqueueFlags(0)
			for first := 0; first < each; {
				last := min(first+burst, each)
				for i := first; i < last; i++ {
					q.Enqueue(0, device.Key(k), randomBytes(size, p.Rank(), i), flags, headWithTag(i))
					flags = 0
				}
				refused, lowest := 0, last
				for i := first; i < last; i++ {
					c, err := p.recvFrom(p.Rank())
					if err != nil {
						return err
					}
					if c.Head != headWithTag(i) {
						return fmt.Errorf("rank %d: completion %v came in place of that of entry %d", p.Rank(), c.Head, i)
					}
					if c.Refused {
						refused++
						lowest = min(lowest, int(c.Head[0]))
					}
				}
				if refused != last-lowest {
					return fmt.Errorf("rank %d: entry %d was refused, and %d of the %d behind it", p.Rank(), lowest, refused-1, last-lowest-1)
				}
				if first = lowest; refused > 0 {
					flags = device.RetryAfterRefusal
					p.Delay(unit.Time(r.IntN(3)) * unit.Microsecond)
				}
			}
			return p.checkNoPacketLeft()
		}))
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

// A quiet entry says nothing if it is taken, and is refused as any other. The owner of the queue
// sees that it refuses.
func checkEntriesWithoutCompletion(open func(int) device.World) error {
	const many = 50
	return runWithinLimit(open(2), withQueue(func(p *rank, q device.Queues) error {
		if p.Rank() == 0 {
			k := q.Create(many * (8 + device.EntryOverhead) / 2)
			p.sendWord(1, uint64(k))
			if q.IsRefusing(k) {
				return fmt.Errorf("a new queue refuses")
			}
			if _, err := p.recvFrom(1); err != nil {
				return err
			}
			if !q.IsRefusing(k) {
				return fmt.Errorf("a queue that has refused entries does not refuse")
			}
			taken := uint64(0)
			for ; q.First(k) != nil; taken++ {
				q.RemoveFirst(k)
			}
			p.sendWord(1, taken)
			return p.checkNoPacketLeft()
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i := range many {
			q.Enqueue(0, device.Key(k), make([]byte, 8), device.CompleteOnlyIfRefused, headWithTag(i))
		}
		q.Enqueue(0, device.Key(k), make([]byte, 8), 0, headWithTag(many)) // the last says when all were tried
		refused := uint64(0)
		for last := false; !last; {
			c, err := p.recvFrom(1)
			if err != nil {
				return err
			}
			if last = c.Head == headWithTag(many); last && !c.Refused {
				return fmt.Errorf("the last of %d entries was taken after one had been refused", many)
			} else if !last && !c.Refused {
				return fmt.Errorf("a quiet entry that was taken sent a completion")
			} else if !last {
				refused++
			}
		}
		p.Delay(unit.Millisecond)
		for c := p.recvUnlessBarrier(false); c != nil; c = p.recvUnlessBarrier(false) {
			refused++
		}
		p.sendWord(0, 0)
		if taken, err := p.recvWord(0); err != nil || taken+refused != many {
			return fmt.Errorf("%d entries, %d taken and %d refused: %v", many, taken, refused, err)
		}
		return p.checkNoPacketLeft()
	}))
}

// A put that was started before an entry is there when the entry is.
func checkPutPrecedesEntry(open func(int) device.World) error {
	const rounds, size = 50, 30000
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		return withQueue(func(p *rank, q device.Queues) error {
			if p.Rank() == 0 {
				b := make([]byte, size)
				k := q.Create(10 * device.EntryOverhead)
				p.Send(1, &device.Packet{Head: device.Head{uint64(m.Expose(b)), uint64(k)}})
				for i := range rounds {
					for q.First(k) == nil {
					}
					q.RemoveFirst(k)
					if err := checkSameBytes(b, randomBytes(size, i)); err != nil {
						return fmt.Errorf("round %d: %w", i, err)
					}
					p.sendWord(1, 0)
				}
				return p.checkNoPacketLeft()
			}
			keys, err := p.recvFrom(0)
			if err != nil {
				return err
			}
			memory, queue := device.Key(keys.Head[0]), device.Key(keys.Head[1])
			for i := range rounds {
				m.Put(0, memory, 0, randomBytes(size, i), headWithTag(-1))
				flags := device.RetryAfterRefusal
				q.Enqueue(0, queue, nil, flags, headWithTag(-2))
				for left := 3; left > 0; left-- { // completions and the answer, in any order
					if c := p.recvNext(); c.Refused {
						q.Enqueue(0, queue, nil, flags, headWithTag(-2))
						left++
					}
				}
			}
			return p.checkNoPacketLeft()
		})(p)
	}))
}

// An entry for a queue that is not there is refused: one that never was, one that was destroyed,
// though another was created since.
func checkMissingQueue(open func(int) device.World) error {
	return runWithinLimit(open(2), withQueue(func(p *rank, q device.Queues) error {
		if p.Rank() == 0 {
			gone := q.Create(1000)
			q.Destroy(gone)
			there := q.Create(1000)
			p.Send(1, &device.Packet{Head: device.Head{uint64(gone), uint64(there)}})
			if err := p.checkNoPacketLeft(); err != nil {
				return err
			}
			if q.First(there) != nil {
				return fmt.Errorf("an entry of another queue is there")
			}
			return nil
		}
		keys, err := p.recvFrom(0)
		if err != nil {
			return err
		}
		head := keys.Head
		for i, k := range []uint64{head[0], head[1] + 1, ^uint64(0)} {
			q.Enqueue(0, device.Key(k), nil, device.RetryAfterRefusal, headWithTag(i))
			if err := p.awaitCompletionOrRefusal(i, true); err != nil {
				return err
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// An entry is an event of its receiver.
func checkEntriesAreEvents(open func(int) device.World) error {
	const rounds = 200
	return runWithinLimit(open(2), withQueue(func(p *rank, q device.Queues) error {
		return withWatch(func(p *rank, w device.Watch) error {
			peer, k := 1-p.Rank(), q.Create(1000)
			p.sendWord(peer, uint64(k))
			theirs, err := p.recvWord(peer)
			if err != nil {
				return err
			}
			for i := range rounds {
				if (i+p.Rank())%2 == 0 {
					if err := p.enqueueUntilTaken(q, peer, device.Key(theirs), encodeWord(uint64(i))); err != nil {
						return err
					}
					continue
				}
				waitUntil(w, func() bool { return q.First(k) != nil })
				if err := checkSameBytes(q.First(k).Data, encodeWord(uint64(i))); err != nil {
					return err
				}
				q.RemoveFirst(k)
			}
			return p.checkNoPacketLeft()
		})(p)
	}))
}

// To exceed the limit of a capability is a mistake of the program: nothing may be cut in silence.
func checkSizeLimits(open func(int) device.World) error {
	any := false
	for what, send := range map[string]func(p *rank) (there bool){
		"entry": func(p *rank) bool {
			q := p.Queues()
			if q != nil {
				q.Enqueue(0, q.Create(1<<20), make([]byte, q.MaxEntryBytes()+1), 0, headWithTag(0))
			}
			return q != nil
		},
		"message": func(p *rank) bool {
			c := p.Channel()
			if c != nil {
				c.Send(0, device.HighPriority, make([]byte, c.MaxMessageBytes()+1))
			}
			return c != nil
		},
		"datagram": func(p *rank) bool {
			d := p.Datagram()
			if d != nil {
				d.Send(0, make([]byte, d.MaxDatagramBytes()+1))
			}
			return d != nil
		},
		"multicast": func(p *rank) bool {
			d := p.Datagram()
			if d != nil && d.MaxGroups() > 0 {
				d.Multicast(0, make([]byte, d.MaxDatagramBytes()+1))
			}
			return d != nil && d.MaxGroups() > 0
		},
	} {
		err := runWithinLimit(open(1), func(p *rank) error {
			if !send(p) {
				return nil
			}
			return fmt.Errorf("a %s of more than the limit was sent", what)
		})
		if err == nil {
			continue // there is none
		}
		any = true
		if err := checkFailure(err, 0, ""); err != nil {
			return err
		}
	}
	if !any {
		return fmt.Errorf(missingCapabilityPrefix + "limits")
	}
	return nil
}
