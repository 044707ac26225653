package devicetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

func withChannel(program func(*rank, device.Channel) error) func(*rank) error {
	return withCapability("channels", device.Port.Channel, program)
}

// sendUntilTaken sends a message on the channel, as soon as there is room.
func (p *rank) sendUntilTaken(c device.Channel, dst int, pri device.Priority, b []byte) {
	for !c.Send(dst, pri, b) {
		p.Delay(unit.Microsecond)
	}
}

// Messages of a priority arrive once each, unchanged, and in the order of their sender, who may use
// the buffer again. A received message stays until the next receive of its priority.
func checkChannelOrder(open func(int) device.World) error {
	const n, each = 3, 100
	length := func(limit, i int) int { return []int{8, limit, 1, 0, limit / 2}[i%5] }
	return runWithinLimit(open(n), withChannel(func(p *rank, c device.Channel) error {
		if p.Rank() != 0 {
			b := make([]byte, c.MaxMessageBytes())
			for i := range each {
				for pri := range device.NumPriorities {
					n := copy(b, randomBytes(length(c.MaxMessageBytes(), i), p.Rank(), i, int(pri)))
					p.sendUntilTaken(c, 0, pri, b[:n])
					clear(b)
				}
			}
			return p.checkNoPacketLeft()
		}
		var next [device.NumPriorities][n]int
		var last [device.NumPriorities]*device.Packet
		check := func(pri device.Priority, i int) error {
			q := last[pri]
			if err := checkSameBytes(q.Data, randomBytes(length(c.MaxMessageBytes(), i), q.Src, i, int(pri))); err != nil {
				return fmt.Errorf("message %d of rank %d with priority %d: %w", i, q.Src, pri, err)
			}
			return nil
		}
		for range (n - 1) * each {
			for pri := range device.NumPriorities {
				last[pri] = c.Recv(pri)
				for last[pri] == nil {
					last[pri] = c.Recv(pri)
				}
				next[pri][last[pri].Src]++
				for x := range device.NumPriorities { // the other one is still there
					if last[x] != nil {
						if err := check(x, next[x][last[x].Src]-1); err != nil {
							return err
						}
					}
				}
			}
		}
		for pri := range device.NumPriorities {
			if c.Recv(pri) != nil {
				return fmt.Errorf("one more message with priority %d", pri)
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// Low messages that are not received fill their lane until there is no room. Nothing of that holds
// up a high message, from the same sender or another, and no low one is lost.
func checkChannelPriorities(open func(int) device.World) error {
	const most, refusals, rounds = 1 << 20, 50, 30
	return runWithinLimit(open(3), withChannel(func(p *rank, c device.Channel) error {
		if p.Rank() != 0 {
			sent, refused := uint64(0), 0
			for ; refused < refusals && sent < most; p.Delay(unit.Nanosecond) { // in a row: there is no room
				if c.Send(0, device.LowPriority, encodeWord(sent)) {
					sent++
					refused = 0
				} else {
					refused++
				}
			}
			if sent == most {
				return fmt.Errorf("there is room for %d messages", sent)
			}
			for i := range rounds {
				p.sendUntilTaken(c, 0, device.HighPriority, encodeWord(uint64(i)))
				if answer, err := p.recvWord(0); err != nil || answer != uint64(i) {
					return fmt.Errorf("rank %d: answer %d to %d: %w", p.Rank(), answer, i, err)
				}
			}
			p.sendWord(0, sent)
			return p.checkNoPacketLeft()
		}
		for range 2 * rounds {
			q := c.Recv(device.HighPriority)
			for q == nil {
				q = c.Recv(device.HighPriority)
			}
			p.Send(q.Src, &device.Packet{Head: device.Head{uint64(q.Data[0])}})
		}
		var left, next [3]uint64
		for range 2 {
			q := p.recvNext()
			left[q.Src] = q.Head[0]
		}
		for left[1]+left[2] > 0 {
			q := c.Recv(device.LowPriority)
			if q == nil {
				continue
			}
			if err := checkSameBytes(q.Data, encodeWord(next[q.Src])); err != nil {
				return fmt.Errorf("low message %d of rank %d: %w", next[q.Src], q.Src, err)
			}
			next[q.Src]++
			left[q.Src]--
		}
		return p.checkNoPacketLeft()
	}))
}

// Messages to a rank that has ended are dropped, those that have found no room before among them.
func checkChannelSendAfterExit(open func(int) device.World) error {
	return runWithinLimit(open(2), withChannel(func(p *rank, c device.Channel) error {
		if p.Rank() == 1 {
			p.Delay(unit.Millisecond) // the lane is full
			return nil
		}
		for range 1000 {
			p.sendUntilTaken(c, 1, device.LowPriority, make([]byte, c.MaxMessageBytes()))
		}
		return nil
	}))
}

// A message is an event of its receiver, and room is one of the sender that had none.
func checkChannelEvents(open func(int) device.World) error {
	const many = 500
	return runWithinLimit(open(2), withChannel(func(p *rank, c device.Channel) error {
		return withWatch(func(p *rank, w device.Watch) error {
			for i := range uint64(many) {
				pri := device.Priority(i / 100 % 2)
				if p.Rank() == 1 {
					waitUntil(w, func() bool { return c.Send(0, pri, encodeWord(i)) })
					continue
				}
				if i%64 == 0 {
					p.Delay(100 * unit.Microsecond) // the lane fills
				}
				var q *device.Packet
				waitUntil(w, func() bool { q = c.Recv(pri); return q != nil })
				if err := checkSameBytes(q.Data, encodeWord(i)); err != nil {
					return fmt.Errorf("message %d: %w", i, err)
				}
			}
			return p.checkNoPacketLeft()
		})(p)
	}))
}
