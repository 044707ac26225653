package devicetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/loggp/loggp/impl/device"
)

// rank is a port as programs use it: with barriers, whose packets do not get in the way of others.
type rank struct {
	device.Port
	marks int              // packets of barriers that came and were not asked for yet
	stash []*device.Packet // copies of other packets that came during a barrier
}

// recvUnlessBarrier is Recv without the packets of barriers.
func (p *rank) recvUnlessBarrier(block bool) *device.Packet {
	if len(p.stash) > 0 {
		q := p.stash[0]
		p.stash = p.stash[1:]
		return q
	}
	for {
		q := p.Recv(block)
		if q != nil && q.Head == barrierHead {
			p.marks++
			continue
		}
		if block && q == nil {
			panic("Recv(true) returned nil")
		}
		return q
	}
}

// recvNext waits for the next packet.
func (p *rank) recvNext() *device.Packet { return p.recvUnlessBarrier(true) }

// recvFrom waits for the next packet, which must be of rank src.
func (p *rank) recvFrom(src int) (*device.Packet, error) {
	q := p.recvNext()
	if q.Src != src {
		return q, fmt.Errorf("rank %d: got a packet of rank %d, want one of %d", p.Rank(), q.Src, src)
	}
	return q, nil
}

// recvWord is recv for packets with one word.
func (p *rank) recvWord(src int) (uint64, error) {
	q, err := p.recvFrom(src)
	return q.Head[0], err
}

// sendWord sends a packet with one word.
func (p *rank) sendWord(dst int, word uint64) {
	p.Send(dst, &device.Packet{Head: device.Head{word}})
}

// headWithTag returns a head that begins with n.
func headWithTag(n int) device.Head { return device.Head{uint64(n), 2, 3, 4, ^uint64(0)} }

// awaitCompletion waits for the completion of an access with tag n that was carried out.
func (p *rank) awaitCompletion(n int) error { return p.awaitCompletionOrRefusal(n, false) }

// awaitCompletionOrRefusal waits for the completion of an access with tag n that was carried out or
// refused.
func (p *rank) awaitCompletionOrRefusal(n int, refused bool) error {
	q, err := p.recvFrom(p.Rank())
	if err != nil {
		return err
	}
	if q.Head != headWithTag(n) || len(q.Data) != 0 || q.Refused != refused {
		return fmt.Errorf("rank %d: completion %v with %d bytes, refused: %v; want %v with none, refused: %v",
			p.Rank(), q.Head, len(q.Data), q.Refused, headWithTag(n), refused)
	}
	return nil
}

// barrierHead is the head of a barrier's packets.
var barrierHead = device.Head{0x62, 0x61, 0x72, 0x72, 0x69}

// barrier ends when all ranks have called it.
func (p *rank) barrier() {
	if p.Rank() != 0 {
		p.Send(0, &device.Packet{Head: barrierHead})
		p.awaitBarrierPackets(1)
		return
	}
	p.awaitBarrierPackets(p.Size() - 1)
	for dst := 1; dst < p.Size(); dst++ {
		p.Send(dst, &device.Packet{Head: barrierHead})
	}
}

// awaitBarrierPackets waits for n marks.
func (p *rank) awaitBarrierPackets(n int) {
	for p.marks < n {
		q := p.Recv(true)
		switch {
		case q == nil:
			panic("Recv(true) returned nil")
		case q.Head == barrierHead:
			p.marks++
		default:
			p.stash = append(p.stash, &device.Packet{Src: q.Src, Head: q.Head, Data: bytes.Clone(q.Data)})
		}
	}
	p.marks -= n
}

// checkNoPacketLeft passes a barrier, after which the rank may not have any more packets to
// receive. It ends a program.
func (p *rank) checkNoPacketLeft() error {
	p.barrier()
	if q := p.recvUnlessBarrier(false); q != nil {
		return fmt.Errorf("rank %d: one more packet of rank %d, %v with %d bytes", p.Rank(), q.Src, q.Head, len(q.Data))
	}
	return nil
}

// randomBytes returns n random bytes. The same numbers give the same bytes in every rank.
func randomBytes(n int, seed ...int) []byte {
	var key [32]byte
	for i, s := range seed {
		key[4*i], key[4*i+1], key[4*i+2] = byte(s), byte(s>>8), byte(s>>16)
	}
	b := make([]byte, n)
	rand.NewChaCha8(key).Read(b)
	return b
}

// checkSameBytes compares bytes.
func checkSameBytes(got, want []byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for got[at] == want[at] {
		at++
	}
	return fmt.Errorf("of %d bytes that at %d is %#02x, want %#02x", len(got), at, got[at], want[at])
}

// checkErrorContains checks for a text in a message. Errors of other processes come as text.
func checkErrorContains(message, text string) error {
	if !strings.Contains(message, text) {
		return fmt.Errorf("%q does not say %q", message, text)
	}
	return nil
}

// missingCapabilityPrefix is what laws of optional parts return where there is none.
const missingCapabilityPrefix = "this world has no "

func isMissingCapability(err error) bool {
	return err != nil && strings.Contains(err.Error(), missingCapabilityPrefix)
}

// withCapability returns a program that has an optional capability.
func withCapability[C comparable](what string, of func(device.Port) C, program func(*rank, C) error) func(*rank) error {
	return func(p *rank) error {
		var none C
		c := of(p.Port)
		if c == none {
			return errors.New(missingCapabilityPrefix + what)
		}
		return program(p, c)
	}
}

func withMemory(program func(*rank, device.Memory) error) func(*rank) error {
	return withCapability("remote memory", device.Port.Memory, program)
}

func withCounter(program func(*rank, device.Counters) error) func(*rank) error {
	return withCapability("counters", device.Port.Counters, program)
}

func withBarrier(program func(*rank, device.Barrier, device.Watch) error) func(*rank) error {
	return withCapability("barrier", device.Port.Barrier, func(p *rank, b device.Barrier) error {
		return withWatch(func(p *rank, w device.Watch) error { return program(p, b, w) })(p)
	})
}

func withWatch(program func(*rank, device.Watch) error) func(*rank) error {
	return withCapability("watch", device.Port.Watch, program)
}

// withMemoryAndWatch returns a program that has remote memory and waits for what is written there.
func withMemoryAndWatch(program func(*rank, device.Memory, device.Watch) error) func(*rank) error {
	return withMemory(func(p *rank, m device.Memory) error {
		return withWatch(func(p *rank, w device.Watch) error { return program(p, m, w) })(p)
	})
}

// waitUntil waits for events until done is true.
func waitUntil(w device.Watch, done func() bool) {
	for {
		seen := w.EventCount()
		if done() {
			return
		}
		w.WaitForEvent(seen, device.Forever)
	}
}
