package loop_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model/unit"
)

// The mechanisms of message-passing systems that are to stand on the optional capabilities, each as
// small as can be, on worlds with faults: the capabilities have to suffice for them.

var nativeEndian = binary.NativeEndian

// runWithFaults runs a program on worlds with faults.
func runWithFaults(t *testing.T, ranks int, program func(p device.Port, r *rand.Rand) error) {
	t.Helper()
	for seed := range uint64(5) {
		w := loop.NewFaulty(ranks, loop.Faults{Seed: seed, Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, Refuse: 0.2, Delay: 0.3})
		err := w.Run(func(p device.Port) error { return program(p, rand.New(rand.NewPCG(seed, uint64(p.Rank())))) })
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// allgather exchanges words with all ranks. The rank's own come first, so that nothing else comes
// before.
func allgather(p device.Port, words device.Head) []device.Head {
	p.Send(p.Rank(), &device.Packet{Head: words})
	for r := range p.Size() {
		if r != p.Rank() {
			p.Send(r, &device.Packet{Head: words})
		}
	}
	all := make([]device.Head, p.Size())
	for range p.Size() {
		q := p.Recv(true)
		all[q.Src] = q.Head
	}
	return all
}

// TestRequestBlocksDespiteDelays is a synchronous protocol of puts alone: the receiver puts where
// it wants the data into a block at the sender that only it writes, and the sender puts the data
// and then a flag.
func TestRequestBlocksDespiteDelays(t *testing.T) {
	const rounds, most = 60, 3000
	const key, room, ready = 0, 8, 16 // words of a request
	runWithFaults(t, 2, func(p device.Port, r *rand.Rand) error {
		m, w := p.Memory(), p.Watch()
		requests, done, peer := make([]byte, 24), make([]byte, 16), 1-p.Rank()
		rk, dk := m.Expose(requests), m.Expose(done)
		theirs := allgather(p, device.Head{uint64(rk), uint64(dk)})[peer]
		theirRequests, theirDone := device.Key(theirs[0]), device.Key(theirs[1])
		put := func(k device.Key, bytes []byte) error {
			m.Put(peer, k, 0, bytes, device.Head{})
			if q := p.Recv(true); q.Refused {
				return fmt.Errorf("rank %d: a put was refused", p.Rank())
			}
			return nil
		}
		words := func(w ...uint64) (b []byte) {
			for _, x := range w {
				b = nativeEndian.AppendUint64(b, x)
			}
			return b
		}
		flag := uint64(0)
		for i := range uint64(rounds) {
			n := int(i*i) % most
			if (int(i)+p.Rank())%2 == 0 { // sends
				if device.WaitForWordChange(w, rk, ready, 0); w.LoadWord(rk, room) < uint64(n) {
					return fmt.Errorf("round %d: no room for %d bytes", i, n)
				}
				to := device.Key(w.LoadWord(rk, key))
				clear(requests) // before the completion: the next request may come right after it
				data := make([]byte, n)
				for j := range data {
					data[j] = byte(i)
				}
				if err := put(to, data); err != nil {
					return err
				}
				if err := put(theirDone, words(uint64(n), i+1)); err != nil {
					return err
				}
				continue
			}
			into := make([]byte, most)
			k := m.Expose(into)
			if err := put(theirRequests, words(uint64(k), most, 1)); err != nil {
				return err
			}
			flag = device.WaitForWordChange(w, dk, 8, flag)
			if got := w.LoadWord(dk, 0); got != uint64(n) {
				return fmt.Errorf("round %d: %d bytes, want %d", i, got, n)
			}
			m.Withdraw(k)
			for j, x := range into {
				if want := byte(i); j < n && x != want || j >= n && x != 0 {
					return fmt.Errorf("round %d: byte %d is %d", i, j, x)
				}
			}
		}
		return nil
	})
}

// TestSlotsDrawnFromCounter is an asynchronous protocol: senders draw slots of the receiver by its
// counter, and when the last slot is taken and all are done, the receiver empties them and resets
// the counter.
func TestSlotsDrawnFromCounter(t *testing.T) {
	const n, each, slots, slot = 4, 100, 5, 16 // a slot has a number and, behind it, the sender plus 1
	runWithFaults(t, n, func(p device.Port, r *rand.Rand) error {
		m, c, w := p.Memory(), p.Counters(), p.Watch()
		pool := make([]byte, slots*slot)
		k := m.Expose(pool)
		zero := device.Key(allgather(p, device.Head{uint64(k)})[0][0])
		if p.Rank() > 0 {
			for i := range uint64(each) {
				at := c.FetchAndAddRegister(0, 0, 1)
				for at >= slots {
					p.Delay(unit.Microsecond)
					at = c.FetchAndAddRegister(0, 0, 1)
				}
				b := nativeEndian.AppendUint64(nativeEndian.AppendUint64(nil, i), uint64(p.Rank()+1))
				m.Put(0, zero, int(at)*slot, b, device.Head{})
				p.Recv(true)
			}
			return nil
		}
		var next [n]uint64
		for range (n - 1) * each / slots {
			for s := range slots {
				from := device.WaitForWordChange(w, k, s*slot+8, 0) - 1
				if i := w.LoadWord(k, s*slot); i != next[from] {
					return fmt.Errorf("message %d of rank %d came in place of %d", i, from, next[from])
				}
				next[from]++
			}
			clear(pool)
			if taken := c.FetchAndStoreRegister(0, 0, 0); taken < slots {
				return fmt.Errorf("%d of %d slots were taken, and all were done", taken, slots)
			}
		}
		return nil
	})
}

// TestReliableMulticast sends to a group until all have acknowledged by datagrams.
func TestReliableMulticast(t *testing.T) {
	const n, many, group, timeout = 4, 40, 9, 300 * unit.Microsecond
	runWithFaults(t, n, func(p device.Port, r *rand.Rand) error {
		d := p.Datagram()
		d.Join(group)
		allgather(p, device.Head{})
		if p.Rank() == 0 {
			for i := range uint64(many) {
				var acked [n]bool
				for left := n - 1; left > 0; {
					d.Multicast(group, nativeEndian.AppendUint64(nil, i))
					for deadline := p.Now() + timeout; left > 0; {
						q := d.Recv(deadline)
						if q == nil {
							break
						}
						if nativeEndian.Uint64(q.Data) == i && !acked[q.Src] {
							acked[q.Src] = true
							left--
						}
					}
				}
			}
			for r := 1; r < n; r++ {
				p.Send(r, &device.Packet{})
			}
			return nil
		}
		next := uint64(0)
		for p.Recv(false) == nil { // the last acknowledgement may be lost
			q := d.Recv(p.Now() + timeout)
			if q == nil {
				continue
			}
			if i := nativeEndian.Uint64(q.Data); i == next {
				next++
			} else if i > next {
				return fmt.Errorf("rank %d: datagram %d came before %d", p.Rank(), i, next)
			}
			d.Send(0, q.Data)
		}
		if next != many {
			return fmt.Errorf("rank %d: %d of %d datagrams", p.Rank(), next, many)
		}
		return nil
	})
}

// TestCancelBySignal takes a message out of the list of a rank that computes.
func TestCancelBySignal(t *testing.T) {
	const rounds = 30
	runWithFaults(t, 2, func(p device.Port, r *rand.Rand) error {
		s := p.Signal()
		peer := 1 - p.Rank()
		waiting := map[uint64]bool{} // messages that no receive has taken
		s.SetHandler(func(src int, head device.Head) {
			found := uint64(0)
			if waiting[head[0]] {
				delete(waiting, head[0])
				found = 1
			}
			p.Send(src, &device.Packet{Head: device.Head{head[0], found}})
		})
		allgather(p, device.Head{})
		for i := range uint64(rounds) {
			if p.Rank() == 1 { // a message comes, and is received or cancelled
				p.Recv(true)
				s.Mask(true)
				waiting[i] = true
				s.Mask(false)
				p.Send(peer, &device.Packet{})
				p.Delay(unit.Time(r.IntN(100)) * unit.Microsecond)
				s.Mask(true)
				received := waiting[i]
				delete(waiting, i)
				s.Mask(false)
				head := device.Head{i}
				if received {
					head[1] = 1
				}
				p.Send(peer, &device.Packet{Head: head})
				continue
			}
			p.Send(peer, &device.Packet{})
			p.Recv(true) // it is there
			s.RaiseAt(peer, device.Head{i})
			sum := uint64(0)
			for range 2 {
				sum += p.Recv(true).Head[1]
			}
			if sum != 1 {
				return fmt.Errorf("message %d was received and cancelled %d times", i, sum)
			}
		}
		if p.Rank() == 0 {
			p.Send(peer, &device.Packet{})
		} else {
			p.Recv(true) // a rank that has ended handles no signals
		}
		return nil
	})
}
