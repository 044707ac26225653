package devicetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

func withDatagram(program func(*rank, device.Datagram) error) func(*rank) error {
	return withCapability("datagrams", device.Port.Datagram, program)
}

func withMulticast(program func(*rank, device.Datagram) error) func(*rank) error {
	return withDatagram(func(p *rank, d device.Datagram) error {
		if d.MaxGroups() == 0 {
			return fmt.Errorf(missingCapabilityPrefix + "multicast")
		}
		return program(p, d)
	})
}

// datagramResendTime is how long a rank waits for a datagram before it sends its own again.
const datagramResendTime = 200 * unit.Microsecond

// numberedDatagram returns a datagram: a number, and bytes that follow from it and from who sends
// it.
func numberedDatagram(limit, src, i int) []byte {
	n := []int{0, 1, limit - 8, 100}[i%4]
	return append(encodeWord(uint64(i)), randomBytes(n, src, i)...)
}

// numberOfDatagram returns the number of a datagram, if it is one of the sender's first many.
func numberOfDatagram(limit int, q *device.Packet, many int) (int, error) {
	for i := range many {
		if len(q.Data) >= 8 && checkSameBytes(q.Data[:8], encodeWord(uint64(i))) == nil {
			if err := checkSameBytes(q.Data, numberedDatagram(limit, q.Src, i)); err != nil {
				return 0, fmt.Errorf("datagram %d of rank %d: %w", i, q.Src, err)
			}
			return i, nil
		}
	}
	return 0, fmt.Errorf("a datagram of rank %d that it did not send, of %d bytes", q.Src, len(q.Data))
}

// Ranks that number their datagrams and send each until it is answered get all of them over,
// whatever is lost, doubled or late on the way, and see nothing that was not sent.
func checkDatagrams(open func(int) device.World) error {
	const n, many = 3, 60
	return runWithinLimit(open(n), withDatagram(func(p *rank, d device.Datagram) error {
		if p.Rank() == 0 { // answers with what it got
			for ended := 0; ended < n-1; {
				if q := d.Recv(p.Now() + datagramResendTime); q != nil {
					if _, err := numberOfDatagram(d.MaxDatagramBytes(), q, many); err != nil {
						return err
					}
					d.Send(q.Src, q.Data[:8])
				}
				if p.recvUnlessBarrier(false) != nil {
					ended++
				}
			}
			return nil
		}
		for i := range many {
			for answered, tries := false, 0; !answered; tries++ {
				if tries == 10000 {
					return fmt.Errorf("rank %d: datagram %d was sent %d times and not answered", p.Rank(), i, tries)
				}
				b := numberedDatagram(d.MaxDatagramBytes(), p.Rank(), i)
				d.Send(0, b)
				clear(b)
				for deadline := p.Now() + datagramResendTime; !answered; {
					q := d.Recv(deadline)
					if q == nil {
						break
					}
					answered = q.Src == 0 && checkSameBytes(q.Data, encodeWord(uint64(i))) == nil // or an answer to one before
				}
			}
		}
		p.sendWord(0, 0)
		return nil
	}))
}

// A receive waits until its deadline, no less and not for ever, and a datagram ends it.
func checkDatagramDeadlines(open func(int) device.World) error {
	return runWithinLimit(open(2), withDatagram(func(p *rank, d device.Datagram) error {
		if p.Rank() == 1 {
			for range 2 {
				if _, err := p.recvFrom(0); err != nil {
					return err
				}
				for p.recvUnlessBarrier(false) == nil {
					d.Send(0, encodeWord(1))
					p.Delay(100 * unit.Microsecond)
				}
			}
			return nil
		}
		for _, wait := range []unit.Time{-unit.Second, 0, unit.Microsecond, 300 * unit.Microsecond, 20 * unit.Millisecond} {
			deadline := p.Now() + wait
			if q := d.Recv(deadline); q != nil {
				return fmt.Errorf("a datagram of rank %d, which sent none", q.Src)
			}
			if now := p.Now(); now < deadline {
				return fmt.Errorf("a receive until %v ended at %v", deadline, now)
			}
		}
		for _, deadline := range []unit.Time{p.Now() + 3600*unit.Second, device.Forever} {
			p.sendWord(1, 0)
			q := d.Recv(deadline)
			if q == nil || q.Src != 1 || checkSameBytes(q.Data, encodeWord(1)) != nil {
				return fmt.Errorf("a receive until %v ended at %v with %v", deadline, p.Now(), q)
			}
			p.sendWord(1, 0)
		}
		return nil
	}))
}

// A multicast that is repeated reaches the members of its group and no other rank: not its sender,
// not members of other groups, and no former member.
func checkMulticast(open func(int) device.World) error {
	const n, many = 5, 40
	return runWithinLimit(open(n), withMulticast(func(p *rank, d device.Datagram) error {
		// Ranks 0 to 2 are in group 7 and 3 in group 8; 4 was in 7. Rank 0 sends.
		switch p.Rank() {
		case 0, 1, 2:
			d.Join(7)
			d.Join(7)
		case 3:
			d.Join(8)
		case 4:
			d.Join(7)
			d.Leave(7)
			d.Leave(7)
		}
		p.barrier()
		if p.Rank() == 0 {
			for i := range many {
				var has [n]bool
				for tries := 0; !has[1] || !has[2]; tries++ {
					if tries == 10000 {
						return fmt.Errorf("datagram %d was multicast %d times and did not reach all members", i, tries)
					}
					d.Multicast(7, numberedDatagram(d.MaxDatagramBytes(), 0, i))
					if q := d.Recv(p.Now() + datagramResendTime/4); q != nil {
						return fmt.Errorf("the sender got a datagram of rank %d", q.Src)
					}
					for q := p.recvUnlessBarrier(false); q != nil; q = p.recvUnlessBarrier(false) {
						if q.Head[0] == uint64(i) {
							has[q.Src] = true
						}
					}
				}
			}
			for r := 1; r < n; r++ {
				p.sendWord(r, 0)
			}
			return nil
		}
		for latest := -1; p.recvUnlessBarrier(false) == nil; {
			q := d.Recv(p.Now() + datagramResendTime)
			if q == nil {
				continue
			}
			if p.Rank() > 2 {
				return fmt.Errorf("rank %d, which is not in the group, got a datagram", p.Rank())
			}
			i, err := numberOfDatagram(d.MaxDatagramBytes(), q, many)
			if err != nil {
				return err
			}
			if q.Src != 0 {
				return fmt.Errorf("rank %d got a datagram of rank %d", p.Rank(), q.Src)
			}
			if i > latest {
				latest = i
				p.sendWord(0, uint64(i))
			}
		}
		return nil
	}))
}

// A rank is in so many groups at a time, and no more. One that it leaves makes room.
func checkGroupLimit(open func(int) device.World) error {
	return runWithinLimit(open(2), withMulticast(func(p *rank, d device.Datagram) error {
		n := uint32(d.MaxGroups())
		for g := range n {
			if !d.Join(1000*g + 1) {
				return fmt.Errorf("rank %d may not join group %d of %d", p.Rank(), g, n)
			}
		}
		if d.Join(5) {
			return fmt.Errorf("rank %d is in %d groups", p.Rank(), n+1)
		}
		if !d.Join(1) {
			return fmt.Errorf("rank %d may not join a group that it is in", p.Rank())
		}
		d.Leave(1)
		if !d.Join(5) {
			return fmt.Errorf("rank %d has left a group and may not join another", p.Rank())
		}
		if d.Join(1) {
			return fmt.Errorf("rank %d is in %d groups", p.Rank(), n+1)
		}
		return nil
	}))
}

// A datagram is an event of its receiver.
func checkDatagramsAreEvents(open func(int) device.World) error {
	const rounds = 50
	return runWithinLimit(open(2), withDatagram(func(p *rank, d device.Datagram) error {
		return withWatch(func(p *rank, w device.Watch) error {
			for i := range rounds {
				if (i+p.Rank())%2 == 0 {
					for p.recvUnlessBarrier(false) == nil { // until the other has it
						d.Send(1-p.Rank(), encodeWord(uint64(i)))
						w.WaitForEvent(w.EventCount(), p.Now()+datagramResendTime)
					}
					continue
				}
				var q *device.Packet
				waitUntil(w, func() bool {
					q = d.Recv(0)
					return q != nil && checkSameBytes(q.Data, encodeWord(uint64(i))) == nil // or late
				})
				p.sendWord(1-p.Rank(), 0)
			}
			return p.checkNoPacketLeft()
		})(p)
	}))
}
