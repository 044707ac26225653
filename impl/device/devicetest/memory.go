package devicetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// memoryRanges are parts of an exposed memory of 1 MiB: its ends, odd places, and all of it.
var memoryRanges = []struct{ off, n int }{
	{0, 1}, {1<<20 - 1, 1}, {1, 7}, {13, 64}, {100, 0}, {1 << 20, 0}, {777, 10001}, {1 << 19, 1 << 19}, {0, 1 << 20},
}

// A put writes the bytes that it was given at its offset, and nothing beside them. The peer, which
// only waits, sees them when it gets a packet that was sent after the completion.
func checkPut(open func(int) device.World) error {
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		if p.Rank() == 0 {
			b := randomBytes(1<<20, -1)
			want := slices.Clone(b)
			p.sendWord(1, uint64(m.Expose(b)))
			for i, x := range memoryRanges {
				if _, err := p.recvWord(1); err != nil {
					return err
				}
				copy(want[x.off:], randomBytes(x.n, i))
				if err := checkSameBytes(b, want); err != nil {
					return fmt.Errorf("after a put of %d bytes at %d: %w", x.n, x.off, err)
				}
				p.sendWord(1, 0)
			}
			return nil
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i, x := range memoryRanges {
			m.Put(0, device.Key(k), x.off, randomBytes(x.n, i), headWithTag(i))
			if err := p.awaitCompletion(i); err != nil {
				return err
			}
			p.sendWord(0, 0)
			if _, err := p.recvFrom(0); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Words that are put without a completion are taken at once, arrive in order with other puts, and
// end in silence. One that is refused says so.
func checkPutWithoutCompletion(open func(int) device.World) error {
	const rounds = 100
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		if p.Rank() == 0 {
			b := make([]byte, rounds*8*device.MaxWordsOfPutWithoutCompletion)
			p.sendWord(1, uint64(m.Expose(b)))
			if _, err := p.recvFrom(1); err != nil {
				return err
			}
			for i := range rounds {
				if err := checkSameBytes(b[i*8*device.MaxWordsOfPutWithoutCompletion:][:8*device.MaxWordsOfPutWithoutCompletion], randomBytes(8*device.MaxWordsOfPutWithoutCompletion, i)); err != nil {
					return fmt.Errorf("put %d without a completion: %w", i, err)
				}
			}
			return p.checkNoPacketLeft()
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		b := make([]byte, 8*device.MaxWordsOfPutWithoutCompletion)
		for i := range rounds {
			copy(b, randomBytes(len(b), i))
			m.Put(0, device.Key(k), i*len(b), b, device.NoCompletion)
			clear(b)
		}
		m.Put(0, device.Key(k), 0, randomBytes(len(b), 0), headWithTag(1))
		if err := p.awaitCompletion(1); err != nil {
			return err
		}
		m.Put(0, device.Key(k), rounds*len(b), b, device.NoCompletion)
		if q := p.recvNext(); q.Src != 1 || q.Head != device.NoCompletion || !q.Refused {
			return fmt.Errorf("a put outside of the memory: got %v of rank %d, refused %v", q.Head, q.Src, q.Refused)
		}
		p.sendWord(0, 0)
		return p.checkNoPacketLeft()
	}))
}

// A get reads the bytes that are there, all that were asked for and no more.
func checkGet(open func(int) device.World) error {
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		there := randomBytes(1<<20, 0)
		if p.Rank() == 0 {
			p.sendWord(1, uint64(m.Expose(there)))
			return p.checkNoPacketLeft()
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i, x := range memoryRanges {
			b := make([]byte, x.n+1)
			m.Get(0, device.Key(k), x.off, b[:x.n], headWithTag(i))
			if err := p.awaitCompletion(i); err != nil {
				return err
			}
			if err := checkSameBytes(b, append(there[x.off:x.off+x.n:x.off+x.n], 0)); err != nil {
				return fmt.Errorf("a get of %d bytes at %d: %w", x.n, x.off, err)
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// A protocol should not have to ask whether its peer is the rank itself.
func checkOwnMemory(open func(int) device.World) error {
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		there, b := make([]byte, 1000), make([]byte, 100)
		k := m.Expose(there)
		m.Put(p.Rank(), k, 300, randomBytes(100, 1), headWithTag(1))
		if err := p.awaitCompletion(1); err != nil {
			return err
		}
		if err := checkSameBytes(there[300:400], randomBytes(100, 1)); err != nil {
			return fmt.Errorf("put: %w", err)
		}
		m.Get(p.Rank(), k, 300, b, headWithTag(2))
		if err := p.awaitCompletion(2); err != nil {
			return err
		}
		if err := checkSameBytes(b, randomBytes(100, 1)); err != nil {
			return fmt.Errorf("get: %w", err)
		}
		return nil
	}))
}

// A message of no bytes goes the same way as any other: its buffer is exposed, accessed and
// withdrawn. Each exposure has a key of its own, even of the same bytes.
func checkEmptyMemory(open func(int) device.World) error {
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		if p.Rank() == 0 {
			keys := [3]device.Key{m.Expose(nil), m.Expose([]byte{}), m.Expose(nil)}
			if keys[0] == keys[1] || keys[0] == keys[2] || keys[1] == keys[2] {
				return fmt.Errorf("keys %d are not different", keys)
			}
			m.Withdraw(keys[2])
			p.Send(1, &device.Packet{Head: device.Head{uint64(keys[0]), uint64(keys[1])}})
			return p.checkNoPacketLeft()
		}
		q, err := p.recvFrom(0)
		if err != nil {
			return err
		}
		keys := q.Head // q is gone with the next packet
		for i, k := range keys[:2] {
			m.Put(0, device.Key(k), 0, nil, headWithTag(2*i))
			if err := p.awaitCompletion(2 * i); err != nil {
				return err
			}
			m.Get(0, device.Key(k), 0, nil, headWithTag(2*i+1))
			if err := p.awaitCompletion(2*i + 1); err != nil {
				return err
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// An engine has many transfers under way. Each ends once, with its own head and in any order, among
// packets of others.
func checkCompletions(open func(int) device.World) error {
	const transfers, size = 50, 1000
	return runWithinLimit(open(3), withMemory(func(p *rank, m device.Memory) error {
		switch p.Rank() {
		case 0:
			p.sendWord(1, uint64(m.Expose(make([]byte, transfers*size))))
		case 1:
			if err := runTransfers(p, m, transfers, size); err != nil {
				return err
			}
		case 2:
			for i := range transfers {
				p.Delay(unit.Microsecond)
				p.sendWord(1, uint64(i))
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// runTransfers makes transfers to and from rank 0 and takes their completions, among as many
// packets of rank 2.
func runTransfers(p *rank, m device.Memory, transfers, size int) error {
	x := numberedReceiver{rank: p}
	q, err := x.nextOfOtherRank()
	if err != nil {
		return err
	}
	k := device.Key(q.Head[0])
	for i := range transfers {
		b := make([]byte, size)
		if i%2 == 0 {
			m.Put(0, k, i*size, b, headWithTag(i))
		} else {
			m.Get(0, k, i*size, b, headWithTag(i))
		}
	}
	ended := make([]bool, transfers)
	for range transfers {
		q, err := x.nextOfOtherRank()
		if err != nil {
			return err
		}
		i := int(q.Head[0])
		if q.Src != 1 || i >= transfers || ended[i] || q.Head != headWithTag(i) || len(q.Data) != 0 {
			return fmt.Errorf("completion %v of rank %d with %d bytes", q.Head, q.Src, len(q.Data))
		}
		ended[i] = true
	}
	for x.others < uint64(transfers) {
		if _, err := p.recvFrom(2); err != nil {
			return err
		}
		x.others++
	}
	return nil
}

// numberedReceiver is a rank that receives packets and checks off those of rank 2, which are
// numbered.
type numberedReceiver struct {
	*rank
	others uint64 // packets of rank 2 so far
}

// nextOfOtherRank returns the next packet of another rank than 2.
func (x *numberedReceiver) nextOfOtherRank() (*device.Packet, error) {
	for {
		q := x.rank.recvNext()
		if q.Src != 2 {
			return q, nil
		}
		if q.Head[0] != x.others {
			return q, fmt.Errorf("packet %d of rank 2 came in place of %d", q.Head[0], x.others)
		}
		x.others++
	}
}

// A protocol puts the data and then says so, to the peer or to a third rank that passes it on. The
// bytes are there when the peer receives the packet.
func checkPutPrecedesSend(open func(int) device.World) error {
	const rounds = 30
	return runWithinLimit(open(3), withMemory(func(p *rank, m device.Memory) error {
		b := make([]byte, 50000)
		switch p.Rank() {
		case 0:
			p.sendWord(1, uint64(m.Expose(b)))
			for i := range rounds {
				sender := 1 + i%2
				if _, err := p.recvFrom(sender); err != nil {
					return err
				}
				if err := checkSameBytes(b, randomBytes(len(b), i)); err != nil {
					return fmt.Errorf("round %d, after a packet of rank %d: %w", i, sender, err)
				}
				p.sendWord(1, 0)
			}
		case 1:
			k, err := p.recvWord(0)
			if err != nil {
				return err
			}
			for i := range rounds {
				m.Put(0, device.Key(k), 0, randomBytes(len(b), i), headWithTag(i))
				if err := p.awaitCompletion(i); err != nil {
					return err
				}
				p.sendWord(2*(i%2), 0)
				if _, err := p.recvFrom(0); err != nil {
					return err
				}
			}
		case 2:
			for range rounds / 2 {
				if _, err := p.recvFrom(1); err != nil {
					return err
				}
				p.sendWord(0, 0)
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// Transfers go on while the peer computes: that is what remote memory is for. An emulation has to
// show it, and a real world in which the peer has to help has no remote memory.
func checkTransfersProgressAlone(open func(int) device.World) error {
	const busy, tries = 200 * unit.Millisecond, 5 // something else may have been in the way of a real world
	const enough = 0
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		b := make([]byte, 1000)
		if p.Rank() == 0 {
			k := m.Expose(b)
			for {
				p.sendWord(1, uint64(k))
				p.Delay(busy)
				if answer, err := p.recvWord(1); err != nil || answer == enough {
					return err
				}
			}
		}
		var took unit.Time
		for try := range uint64(tries) {
			k, err := p.recvWord(0)
			if err != nil {
				return err
			}
			start := p.Now()
			m.Put(0, device.Key(k), 0, b, headWithTag(1))
			if err := p.awaitCompletion(1); err != nil {
				return err
			}
			m.Get(0, device.Key(k), 0, b, headWithTag(2))
			if err := p.awaitCompletion(2); err != nil {
				return err
			}
			if took = p.Now() - start; took < busy/2 {
				p.sendWord(0, enough)
				return nil
			}
			p.sendWord(0, try+1)
		}
		return fmt.Errorf("a put and a get took %v while the peer was busy for %v", took, busy)
	}))
}

// Ranks write and read all over each other's memory, each on bytes of its own, with several
// transfers under way; a model in plain memory says what must be there.
func checkRandomTransfers(open func(int) device.World) error {
	const n, share, rounds = 3, 20000, 60 // rank r owns the r-th share of every memory
	for seed := range uint64(5) {
		err := runWithinLimit(open(n), withMemory(func(p *rank, m device.Memory) error {
			r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
			mine := make([]byte, n*share)
			var keys [n]device.Key
			k := m.Expose(mine)
			for dst := range n {
				p.sendWord(dst, uint64(k))
			}
			for range n {
				q := p.recvNext()
				keys[q.Src] = device.Key(q.Head[0])
			}
			p.barrier()
			var want [n][share]byte
			for i := range rounds {
				cut := r.IntN(share) // two segments that do not overlap, under way together
				dst, from, to := r.IntN(n), r.IntN(cut+1), cut+r.IntN(share-cut)
				new := randomBytes(cut-from, int(seed), p.Rank(), i)
				got := make([]byte, to-cut)
				m.Put(dst, keys[dst], p.Rank()*share+from, new, headWithTag(1))
				m.Get(dst, keys[dst], p.Rank()*share+cut, got, headWithTag(2))
				for range 2 {
					if _, err := p.recvFrom(p.Rank()); err != nil {
						return err
					}
				}
				copy(want[dst][from:], new)
				if err := checkSameBytes(got, want[dst][cut:to]); err != nil {
					return fmt.Errorf("rank %d: get of round %d: %w", p.Rank(), i, err)
				}
			}
			p.barrier()
			for dst := range n { // what must be in the share is what its owner finds
				p.Send(dst, &device.Packet{Data: want[dst][:]})
			}
			for range n {
				q := p.recvNext()
				if err := checkSameBytes(mine[q.Src*share:(q.Src+1)*share], q.Data); err != nil {
					return fmt.Errorf("rank %d: what rank %d put: %w", p.Rank(), q.Src, err)
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

// A flag behind the data, and data written twice: puts of one rank to another take effect in the
// order in which they were started, though a short put would be faster than the long one before it.
func checkPutOrder(open func(int) device.World) error {
	const rounds, size, small = 20, 100000, 64
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		if p.Rank() == 0 {
			b := make([]byte, size)
			p.sendWord(1, uint64(m.Expose(b)))
			for i := range rounds {
				at := i * (size - small) / rounds
				if _, err := p.recvFrom(1); err != nil {
					return err
				}
				want := randomBytes(size, i)
				copy(want[at:], randomBytes(small, i, 1))
				if err := checkSameBytes(b, want); err != nil {
					return fmt.Errorf("round %d, a short put at %d: %w", i, at, err)
				}
				p.sendWord(1, 0)
			}
			return p.checkNoPacketLeft()
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i := range rounds {
			m.Put(0, device.Key(k), 0, randomBytes(size, i), headWithTag(0))
			m.Put(0, device.Key(k), i*(size-small)/rounds, randomBytes(small, i, 1), headWithTag(1))
			for left, seen := 2, false; left > 0 || !seen; {
				q := p.recvNext()
				switch {
				case q.Src == 0:
					seen = true
				case q.Head == headWithTag(1): // then the long one is there, too, complete or not
					p.sendWord(0, 0)
					left--
				case q.Head == headWithTag(0):
					left--
				default:
					return fmt.Errorf("round %d: packet %v of rank %d", i, q.Head, q.Src)
				}
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// An access outside of what was exposed is refused: its completion says so, and it reads and writes
// nothing. It must never reach other memory, and it does not disturb the accesses beside it.
func checkAccessOutsideMemory(open func(int) device.World) error {
	const size = 100
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		if p.Rank() == 0 {
			whole := randomBytes(3*size, 1)
			p.sendWord(1, uint64(m.Expose(whole[size:2*size])))
			if _, err := p.recvFrom(1); err != nil {
				return err
			}
			want := randomBytes(3*size, 1)
			copy(want[size:], randomBytes(size/2, 3))
			return checkSameBytes(whole, want)
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i, x := range []struct{ off, n int }{
			{-1, 1}, {0, size + 1}, {size, 1}, {size - 1, 2}, {math.MaxInt, 1}, {math.MinInt, 1}, {math.MaxInt, size}, {-size, size},
		} {
			if err := checkTransfersRefused(p, m, device.Key(k), x.off, x.n); err != nil {
				return fmt.Errorf("%d bytes at %d of %d: %w", x.n, x.off, size, err)
			}
			m.Put(0, device.Key(k), 0, randomBytes(size/2, 3), headWithTag(i))
			if err := p.awaitCompletion(i); err != nil {
				return err
			}
		}
		p.sendWord(0, 0)
		return nil
	}))
}

// checkTransfersRefused checks that rank 0 refuses to have n bytes read and written.
func checkTransfersRefused(p *rank, m device.Memory, k device.Key, off, n int) error {
	b := randomBytes(n, 2)
	m.Put(0, k, off, b, headWithTag(1))
	if err := p.awaitCompletionOrRefusal(1, true); err != nil {
		return fmt.Errorf("put: %w", err)
	}
	m.Get(0, k, off, b, headWithTag(2))
	if err := p.awaitCompletionOrRefusal(2, true); err != nil {
		return fmt.Errorf("get: %w", err)
	}
	return checkSameBytes(b, randomBytes(n, 2))
}

// Memory that was withdrawn is the program's again, and a key that another has kept names nothing,
// not even what was exposed next.
func checkWithdrawnMemory(open func(int) device.World) error {
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		if p.Rank() == 0 {
			b := randomBytes(100, 1)
			k := m.Expose(b)
			m.Withdraw(k)
			m.Expose(b)
			p.sendWord(1, uint64(k))
			if _, err := p.recvFrom(1); err != nil {
				return err
			}
			return checkSameBytes(b, randomBytes(100, 1))
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		if err := checkTransfersRefused(p, m, device.Key(k), 0, 1); err != nil {
			return err
		}
		if err := checkTransfersRefused(p, m, device.Key(k), 0, 0); err != nil {
			return fmt.Errorf("no bytes: %w", err)
		}
		p.sendWord(0, 0)
		return nil
	}))
}
