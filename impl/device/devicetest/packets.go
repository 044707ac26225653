package devicetest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// A program counts on there being as many ranks as it was started with, numbered from zero, each
// running once.
func checkEveryRankRunsOnce(open func(int) device.World) error {
	for _, n := range []int{1, 2, 3, 8} {
		err := runWithinLimit(open(n), func(p *rank) error {
			if p.Size() != n || p.Rank() < 0 || p.Rank() >= n {
				return fmt.Errorf("rank %d of %d, want one of %d", p.Rank(), p.Size(), n)
			}
			if p.Rank() != 0 {
				p.sendWord(0, uint64(p.Rank()))
				return nil
			}
			seen := make([]bool, n)
			for range n - 1 {
				q := p.recvNext()
				if q.Src <= 0 || q.Src >= n || seen[q.Src] || q.Head[0] != uint64(q.Src) {
					return fmt.Errorf("rank %d reported as %d, seen before: %v", q.Src, q.Head[0], seen)
				}
				seen[q.Src] = true
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d ranks: %w", n, err)
		}
	}
	return nil
}

// MPI's messages do not overtake each other, and protocols count packets. Long packets must not be
// overtaken by short ones that take another path, nor those that were left for later by those that
// were taken at once.
func checkPacketOrder(open func(int) device.World) error {
	const n, rounds = 4, 100
	sizes := []int{0, 8, 200, 5000, 0, 70000}
	return runWithinLimit(open(n), func(p *rank) error {
		var next [n]int
		got := 0
		take := func(block bool) error {
			q := p.recvUnlessBarrier(block)
			if q == nil {
				return nil
			}
			i := next[q.Src]
			if want := sizes[i%len(sizes)]; q.Head[0] != uint64(i) || len(q.Data) != want {
				return fmt.Errorf("rank %d: packet %d of rank %d with %d bytes came in place of %d with %d",
					p.Rank(), q.Head[0], q.Src, len(q.Data), i, want)
			}
			next[q.Src]++
			got++
			return nil
		}
		for i := range rounds {
			for dst := range n {
				p.Send(dst, &device.Packet{Head: device.Head{uint64(i)}, Data: make([]byte, sizes[i%len(sizes)])})
			}
			for range i % 7 { // some are taken at once, others are left to heap up
				if err := take(false); err != nil {
					return err
				}
			}
		}
		for got < n*rounds {
			if err := take(true); err != nil {
				return err
			}
		}
		return p.checkNoPacketLeft()
	})
}

// The sender may use its buffer and its packet again as soon as Send returns, because the port has
// taken the head and the bytes, all of them and as they were.
func checkDataUnchanged(open func(int) device.World) error {
	const n = 3
	sizes := []int{0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 1500, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20}
	for r := rand.New(rand.NewPCG(1, 1)); len(sizes) < 30; {
		sizes = append(sizes, r.IntN(1<<20))
	}
	return runWithinLimit(open(n), func(p *rank) error {
		right, left := (p.Rank()+1)%n, (p.Rank()+n-1)%n
		buffer := make([]byte, 1<<20)
		var out device.Packet
		for i, size := range sizes {
			out = device.Packet{Head: headWithTag(i), Data: buffer[:size]}
			copy(out.Data, randomBytes(size, p.Rank(), i))
			p.Send(right, &out)
			clear(out.Data)
			out.Head, out.Data = headWithTag(-1), nil
			q, err := p.recvFrom(left)
			if err != nil {
				return err
			}
			if q.Head != headWithTag(i) {
				return fmt.Errorf("rank %d: packet %d came with head %v", p.Rank(), i, q.Head)
			}
			if err := checkSameBytes(q.Data, randomBytes(size, left, i)); err != nil {
				return fmt.Errorf("rank %d: packet %d: %w", p.Rank(), i, err)
			}
		}
		return p.checkNoPacketLeft()
	})
}

// The head is for the users of the ports alone, every bit of it. The source is the
// world's: no rank can pose as another.
func checkHeadAndSource(open func(int) device.World) error {
	heads := []device.Head{{}, {^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
	for bit := range 64 * device.HeadWords {
		var h device.Head
		h[bit/64] = 1 << (bit % 64)
		heads = append(heads, h)
	}
	return runWithinLimit(open(3), func(p *rank) error {
		if p.Rank() != 0 {
			for _, h := range heads {
				p.Send(0, &device.Packet{Src: 0, Head: h, Data: make([]byte, p.Rank())})
			}
			return nil
		}
		var next [3]int
		for range 2 * len(heads) {
			q := p.recvNext()
			if q.Src < 1 || q.Src > 2 || len(q.Data) != q.Src {
				return fmt.Errorf("a packet of rank %d came as one of rank %d", len(q.Data), q.Src)
			}
			if want := heads[next[q.Src]]; q.Head != want {
				return fmt.Errorf("head %#x, want %#x", q.Head, want)
			}
			next[q.Src]++
		}
		return nil
	})
}

// Collectives send to all ranks, themselves among them, before they receive.
func checkSendToSelf(open func(int) device.World) error {
	sizes := []int{0, 1, 100, 10000, 1 << 20}
	for _, n := range []int{1, 2} {
		err := runWithinLimit(open(n), func(p *rank) error {
			for i, size := range sizes {
				b := randomBytes(size, i)
				p.Send(p.Rank(), &device.Packet{Head: device.Head{uint64(i)}, Data: b})
				clear(b)
			}
			for i, size := range sizes {
				q, err := p.recvFrom(p.Rank())
				if err != nil {
					return err
				}
				if q.Head[0] != uint64(i) {
					return fmt.Errorf("packet %d came in place of %d", q.Head[0], i)
				}
				if err := checkSameBytes(q.Data, randomBytes(size, i)); err != nil {
					return fmt.Errorf("packet %d: %w", i, err)
				}
			}
			return p.checkNoPacketLeft()
		})
		if err != nil {
			return fmt.Errorf("%d ranks: %w", n, err)
		}
	}
	return nil
}

// A receiver looks at a packet and its data where they lie and copies the data once, to where the
// user wants it. Until it receives again nothing may be put there, neither what arrives nor what
// the rank itself sends.
func checkReceivedDataStays(open func(int) device.World) error {
	const packets = 20
	for _, size := range []int{1, 64, 3000, 100000} {
		err := runWithinLimit(open(2), func(p *rank) error {
			if p.Rank() == 1 {
				for i := range packets {
					p.Send(0, &device.Packet{Head: headWithTag(i), Data: randomBytes(size, i, 1)})
				}
				for range packets {
					if _, err := p.recvFrom(0); err != nil {
						return err
					}
				}
				return nil
			}
			var next [2]int
			for range 2 * packets { // those of rank 1, and for each one to itself
				q := p.recvNext()
				src, i := q.Src, next[q.Src]
				next[src]++
				if src == 1 {
					p.Send(0, &device.Packet{Head: headWithTag(i), Data: randomBytes(size, i, 0)})
					p.Send(1, &device.Packet{Data: randomBytes(size, i, 2)})
				}
				p.Delay(50 * unit.Microsecond)
				if q.Src != src || q.Head != headWithTag(i) {
					return fmt.Errorf("packet %d of rank %d became one of rank %d with head %v", i, src, q.Src, q.Head)
				}
				if err := checkSameBytes(q.Data, randomBytes(size, i, src)); err != nil {
					return fmt.Errorf("packet %d of rank %d: %w", i, src, err)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

// A rank may pass on what it has received without a copy of its own, to others and to itself.
func checkForwarding(open func(int) device.World) error {
	const n, rounds = 3, 10
	return runWithinLimit(open(n), func(p *rank) error {
		right, left := (p.Rank()+1)%n, (p.Rank()+n-1)%n
		for i := range rounds {
			want := randomBytes(i*i*500, i)
			if p.Rank() == 0 {
				p.Send(right, &device.Packet{Data: want})
			}
			for _, hop := range []struct{ from, to int }{{left, p.Rank()}, {p.Rank(), right}} {
				q, err := p.recvFrom(hop.from)
				if err != nil {
					return err
				}
				if err := checkSameBytes(q.Data, want); err != nil {
					return fmt.Errorf("rank %d: round %d: %w", p.Rank(), i, err)
				}
				if p.Rank() == 0 && hop.to == right { // once around
					break
				}
				p.Send(hop.to, q)
			}
		}
		return p.checkNoPacketLeft()
	})
}

// Programs test for completion in a loop. A look must not wait, or the program could not do
// anything else; and the loop must see what comes, so time must pass in it even if polling costs
// nothing.
func checkPolling(open func(int) device.World) error {
	const rounds = 20
	return runWithinLimit(open(2), func(p *rank) error {
		for i := range uint64(rounds) {
			if p.Rank() == 1 {
				word, err := p.recvWord(0)
				if err != nil {
					return err
				}
				p.Delay(unit.Time(i) * unit.Microsecond)
				p.sendWord(0, word)
				continue
			}
			if q := p.Recv(false); q != nil {
				return fmt.Errorf("round %d: Recv(false) returned a packet of rank %d which sent none", i, q.Src)
			}
			p.sendWord(1, i)
			q := p.Recv(false)
			for q == nil {
				q = p.Recv(false)
			}
			if q.Src != 1 || q.Head[0] != i {
				return fmt.Errorf("round %d: polling saw packet %d of rank %d", i, q.Head[0], q.Src)
			}
		}
		return nil
	})
}

// Recv(true) waits for as long as it takes, and always returns a packet.
func checkBlockingRecv(open func(int) device.World) error {
	return runWithinLimit(open(2), func(p *rank) error {
		for i, d := range []unit.Time{0, unit.Microsecond, 100 * unit.Microsecond, 5 * unit.Millisecond} {
			if p.Rank() == 1 {
				if _, err := p.recvFrom(0); err != nil {
					return err
				}
				p.Delay(d)
				p.sendWord(0, uint64(i))
				continue
			}
			p.sendWord(1, 0)
			if word, err := p.recvWord(1); err != nil || word != uint64(i) {
				return fmt.Errorf("round %d: Recv(true) returned packet %d: %v", i, word, err)
			}
		}
		return nil
	})
}

// echo is a device.PacketHandler that answers packets until it has answered enough.
type echo struct {
	device.PacketWaiter
	answersLeft int
	err         error
}

// HandlePackets implements device.PacketHandler. It waits in Recv for every third packet.
func (e *echo) HandlePackets() (done bool) {
	for e.answersLeft > 0 && (e.HasPacket() || e.answersLeft%3 == 0) {
		q := e.Recv(true)
		if want := uint64(e.answersLeft); q.Head[0] != want {
			e.err = fmt.Errorf("packet %d came instead of %d", q.Head[0], want)
		}
		e.Send(q.Src, &device.Packet{Head: q.Head})
		e.answersLeft--
	}
	return e.answersLeft == 0
}

// fail is a device.PacketHandler that panics at the first packet.
type fail struct{ device.PacketWaiter }

var errOfHandler = errors.New("a packet has arrived")

func (f fail) HandlePackets() (done bool) {
	if f.HasPacket() {
		panic(errOfHandler)
	}
	return false
}

// checkPacketHandling checks that handlers get all packets in order, also if they wait by
// themselves, and that a panic of one is a panic of its rank.
func checkPacketHandling(open func(int) device.World) error {
	const rounds = 10
	return runWithinLimit(open(2), func(p *rank) (err error) {
		if p.Rank() == 1 {
			for i := uint64(rounds); i > 0; i-- {
				p.sendWord(0, i)
				p.Delay(unit.Time(i%2) * unit.Microsecond)
				if word, err := p.recvWord(0); err != nil || word != i {
					return fmt.Errorf("answer %d to packet %d: %v", word, i, err)
				}
			}
			p.sendWord(0, 0)
			return nil
		}
		w := device.PacketWaiterOf(p.Port)
		if w == nil {
			for range rounds {
				word, err := p.recvWord(1)
				if err != nil {
					return err
				}
				p.sendWord(1, word)
			}
			_, err = p.recvWord(1)
			return err
		}
		e := &echo{PacketWaiter: w, answersLeft: rounds}
		if w.AwaitPackets(e); e.err != nil {
			return e.err
		}
		defer func() {
			if v := recover(); v != any(errOfHandler) {
				err = fmt.Errorf("a panic of a handler is %v in its rank", v)
			}
		}()
		w.AwaitPackets(fail{w})
		return errors.New("AwaitPackets returned after a panic of the handler")
	})
}

// A gather sends everything to one rank. Nothing may be lost however many come at once and however
// late they are taken.
func checkManyToOne(open func(int) device.World) error {
	const n, packets = 8, 200
	return runWithinLimit(open(n), func(p *rank) error {
		if p.Rank() != 0 {
			for i := range packets {
				p.Send(0, &device.Packet{Head: device.Head{uint64(i)}, Data: randomBytes(i, p.Rank())})
			}
			return p.checkNoPacketLeft()
		}
		p.Delay(unit.Millisecond)
		var next [n]int
		for range packets * (n - 1) {
			q := p.recvNext()
			i := next[q.Src]
			next[q.Src]++
			if q.Head[0] != uint64(i) {
				return fmt.Errorf("packet %d of rank %d came in place of %d", q.Head[0], q.Src, i)
			}
			if err := checkSameBytes(q.Data, randomBytes(i, q.Src)); err != nil {
				return fmt.Errorf("packet %d of rank %d: %w", i, q.Src, err)
			}
		}
		return p.checkNoPacketLeft()
	})
}

// Everyone sends to everyone before anyone receives, as eager messages of an exchange do. A Send
// may wait while the way is full, but a rank that waits in a Send takes in what comes to it, or
// such a program would deadlock at a size that depends on the machine.
func checkAllToAllBeforeReceive(open func(int) device.World) error {
	const n, packets = 4, 64
	sizes := []int{0, 100, 5000, 70000}
	return runWithinLimit(open(n), func(p *rank) error {
		for i := range packets {
			for dst := range n {
				p.Send(dst, &device.Packet{Head: device.Head{uint64(i)}, Data: make([]byte, sizes[i%len(sizes)])})
			}
		}
		var next [n]int
		for range n * packets {
			q := p.recvNext()
			i := next[q.Src]
			next[q.Src]++
			if want := sizes[i%len(sizes)]; q.Head[0] != uint64(i) || len(q.Data) != want {
				return fmt.Errorf("rank %d: packet %d of rank %d with %d bytes came in place of %d with %d",
					p.Rank(), q.Head[0], q.Src, len(q.Data), i, want)
			}
		}
		return p.checkNoPacketLeft()
	})
}

// The last acknowledgement of a protocol may find that its receiver has ended. It is dropped, and
// its sender goes on.
func checkSendAfterExit(open func(int) device.World) error {
	const packets = 200
	return runWithinLimit(open(3), func(p *rank) error {
		switch p.Rank() {
		case 0: // receives nothing
			return nil
		case 1: // leaves the second half
			for range packets / 2 {
				if _, err := p.recvFrom(2); err != nil {
					return err
				}
			}
			return nil
		}
		p.Delay(unit.Millisecond)
		for range packets {
			p.Send(0, &device.Packet{Data: make([]byte, 5000)})
			p.Send(1, &device.Packet{Data: make([]byte, 5000)})
		}
		return nil
	})
}
