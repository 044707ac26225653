package devicetest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// The optional capabilities of faulty ports. Each field is a method, which a fault may replace.

type faultyWatch struct {
	device.Watch
	wait func(seen uint64, deadline unit.Time) bool
	load func(k device.Key, off int) uint64
}

func (w *faultyWatch) WaitForEvent(seen uint64, deadline unit.Time) bool {
	return w.wait(seen, deadline)
}
func (w *faultyWatch) LoadWord(k device.Key, off int) uint64 { return w.load(k, off) }

type faultyQueue struct {
	device.Queues
	create  func(size int) device.Key
	destroy func(k device.Key)
	enqueue func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head)
	first   func(k device.Key) *device.Packet
}

func (q *faultyQueue) Create(size int) device.Key        { return q.create(size) }
func (q *faultyQueue) Destroy(k device.Key)              { q.destroy(k) }
func (q *faultyQueue) First(k device.Key) *device.Packet { return q.first(k) }
func (q *faultyQueue) Enqueue(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
	q.enqueue(dst, k, b, flags, done)
}

type faultySignal struct {
	device.Signal
	handle func(handler func(src int, head device.Head))
	raise  func(dst int, head device.Head)
	mask   func(on bool)
}

func (s *faultySignal) SetHandler(handler func(src int, head device.Head)) { s.handle(handler) }
func (s *faultySignal) RaiseAt(dst int, head device.Head)                  { s.raise(dst, head) }
func (s *faultySignal) Mask(on bool)                                       { s.mask(on) }

type faultyChannel struct {
	device.Channel
	send func(dst int, p device.Priority, b []byte) bool
	recv func(p device.Priority) *device.Packet
}

func (c *faultyChannel) Send(dst int, p device.Priority, b []byte) bool { return c.send(dst, p, b) }
func (c *faultyChannel) Recv(p device.Priority) *device.Packet          { return c.recv(p) }

type faultyDatagram struct {
	device.Datagram
	send      func(dst int, b []byte)
	recv      func(deadline unit.Time) *device.Packet
	join      func(group uint32) bool
	leave     func(group uint32)
	multicast func(group uint32, b []byte)
}

func (d *faultyDatagram) Send(dst int, b []byte)                 { d.send(dst, b) }
func (d *faultyDatagram) Recv(deadline unit.Time) *device.Packet { return d.recv(deadline) }
func (d *faultyDatagram) Join(group uint32) bool                 { return d.join(group) }
func (d *faultyDatagram) Leave(group uint32)                     { d.leave(group) }
func (d *faultyDatagram) Multicast(group uint32, b []byte)       { d.multicast(group, b) }

// faultyBarrier is a barrier with a fault.
type faultyBarrier struct {
	device.Barrier
	passed func() bool
}

func (b *faultyBarrier) IsBarrierReleased() bool { return b.passed() }

// faultyControl is a control network with a fault.
type faultyControl struct {
	device.Control
	broadcast func(root int, words []uint32)
	combine   func(op device.Combination, word uint32) uint32
}

func (c *faultyControl) Broadcast(root int, words []uint32) { c.broadcast(root, words) }
func (c *faultyControl) Combine(op device.Combination, word uint32) uint32 {
	return c.combine(op, word)
}

// capabilities is those of a faulty port.
type capabilities struct {
	watch    faultyWatch
	queue    faultyQueue
	signal   faultySignal
	channel  faultyChannel
	datagram faultyDatagram
	barrier  faultyBarrier
	control  faultyControl
}

func (f *faulty) Watch() device.Watch       { return &f.watch }
func (f *faulty) Queues() device.Queues     { return &f.queue }
func (f *faulty) Signal() device.Signal     { return &f.signal }
func (f *faulty) Channel() device.Channel   { return &f.channel }
func (f *faulty) Datagram() device.Datagram { return &f.datagram }
func (f *faulty) Barrier() device.Barrier   { return &f.barrier }
func (f *faulty) Control() device.Control   { return &f.control }

func capabilitiesOf(p device.Port, live func()) capabilities {
	w, q, s, c, d, b, k := p.Watch(), p.Queues(), p.Signal(), p.Channel(), p.Datagram(), p.Barrier(), p.Control()
	return capabilities{
		watch:    faultyWatch{w, w.WaitForEvent, w.LoadWord},
		queue:    faultyQueue{q, q.Create, q.Destroy, q.Enqueue, q.First},
		signal:   faultySignal{s, s.SetHandler, s.RaiseAt, s.Mask},
		channel:  faultyChannel{c, c.Send, func(p device.Priority) *device.Packet { live(); return c.Recv(p) }},
		datagram: faultyDatagram{d, d.Send, d.Recv, d.Join, d.Leave, d.Multicast},
		barrier:  faultyBarrier{b, b.IsBarrierReleased},
		control:  faultyControl{k, k.Broadcast, k.Combine},
	}
}

// forgetful returns a fault of Wait: events between the look and the wait are forgotten.
func forgetful(law string) *fault {
	return &fault{name: "a wake-up is lost, for " + law, law: law, hangs: true, port: func(f *faulty) {
		f.watch.wait = func(_ uint64, deadline unit.Time) bool {
			f.Port.Delay(100 * unit.Microsecond)
			return f.Port.Watch().WaitForEvent(f.Port.Watch().EventCount(), deadline)
		}
	}}
}

// swallow makes the port drop the completions with no head, of what a fault has started.
func (f *faulty) swallow() {
	f.recv = func(block bool) *device.Packet {
		for {
			q := f.Port.Recv(block)
			if q == nil || q.Src != f.Rank() || q.Head != (device.Head{}) {
				return q
			}
		}
	}
}

// stalePut makes the port put the bytes of the put before, where late says so, as if those of this
// one came later. The words at the end are the new ones.
func (f *faulty) stalePut(late func(off int) bool) {
	var before []byte
	f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
		if late(off) {
			now := append(make([]byte, 0, len(b)), b...)
			copy(now[:len(b)-8], before)
			before, b = b, now
		}
		f.memory.Memory.Put(dst, k, off, b, done)
	}
}

func always(int) bool { return true }

var capabilityFaults = []*fault{
	forgetful("flags in memory"),
	forgetful("packets are events"),
	forgetful("entries are events"),
	forgetful("signals are events"),
	forgetful("messages are events"),
	{name: "a flag is written before its data", law: "flags behind data", port: func(f *faulty) {
		f.stalePut(func(off int) bool { return off > 0 })
	}},
	{name: "a flag is written before earlier data", law: "flags behind data", port: func(f *faulty) {
		f.stalePut(func(off int) bool { return off == 0 })
	}},
	{name: "words are written by halves", law: "whole words", port: func(f *faulty) {
		f.swallow()
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			f.memory.Memory.Put(dst, k, off, b[:4], device.Head{})
			f.Port.Delay(unit.Microsecond)
			f.memory.Memory.Put(dst, k, off+4, b[4:], done)
		}
	}},
	{name: "a put without a completion has one", law: "put without a completion", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if done == device.NoCompletion {
				done = device.Head{1}
			}
			f.memory.Memory.Put(dst, k, off, append([]byte{}, b...), done)
		}
	}},
	{name: "words that are put belong to the rank", law: "put without a completion", port: func(f *faulty) {
		var before func()
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if before != nil {
				before()
			}
			before = nil
			if done == device.NoCompletion {
				before = func() { f.memory.Memory.Put(dst, k, off, b, done) }
				return
			}
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "a barrier that is open", law: "barrier", port: func(f *faulty) {
		f.barrier.passed = func() bool { return true }
	}},
	{name: "a barrier that one rank passes early", law: "barrier", port: func(f *faulty) {
		f.barrier.passed = func() bool { return f.Rank() == 2 || f.barrier.Barrier.IsBarrierReleased() }
	}},
	{name: "a broadcast gets the words of the one before", law: "broadcasts of a control network", port: func(f *faulty) {
		var before []uint32
		f.control.broadcast = func(root int, words []uint32) {
			f.control.Control.Broadcast(root, words)
			now := append([]uint32(nil), words...)
			if f.Rank() == 3 {
				copy(words, before)
			}
			before = now
		}
	}},
	{name: "a combination leaves out a rank", law: "combinations of a control network", port: func(f *faulty) {
		f.control.combine = func(op device.Combination, word uint32) uint32 {
			if f.Rank() == 4 {
				word = 0
			}
			return f.control.Control.Combine(op, word)
		}
	}},
	{name: "a wait ends before its deadline", law: "deadlines", port: func(f *faulty) {
		f.watch.wait = func(seen uint64, deadline unit.Time) bool {
			return f.Port.Watch().WaitForEvent(seen, min(deadline, f.Port.Now()+100*unit.Microsecond))
		}
	}},
	{name: "a wait has no deadline", law: "deadlines", port: func(f *faulty) {
		f.watch.wait = func(seen uint64, _ unit.Time) bool { return f.Port.Watch().WaitForEvent(seen, device.Forever) }
	}},
	{name: "a wait sees an event at its deadline", law: "deadlines", port: func(f *faulty) {
		f.watch.wait = func(seen uint64, deadline unit.Time) bool { f.Port.Watch().WaitForEvent(seen, deadline); return true }
	}},
	{name: "any word can be read", law: "load of what is not exposed", port: func(f *faulty) {
		f.watch.load = func(k device.Key, off int) (word uint64) {
			defer func() { _ = recover() }()
			return f.Port.Watch().LoadWord(k, off)
		}
	}},

	{name: "entries lose their last byte", law: "entries of queues", port: func(f *faulty) {
		f.queue.enqueue = func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
			f.queue.Queues.Enqueue(dst, k, b[:max(len(b), 1)-1], flags, done)
		}
	}},
	{name: "entries have no sender", law: "entries of queues", port: func(f *faulty) {
		f.queue.first = func(k device.Key) *device.Packet {
			q := f.queue.Queues.First(k)
			if q == nil {
				return nil
			}
			return &device.Packet{Data: q.Data}
		}
	}},
	{name: "a look takes the entry", law: "entries of queues", port: func(f *faulty) {
		seen := map[device.Key]int{}
		f.queue.first = func(k device.Key) *device.Packet {
			if seen[k]++; seen[k]%2 == 0 {
				return nil
			}
			return f.queue.Queues.First(k)
		}
	}},
	{name: "a queue takes more than it has room for", law: "full queues", port: func(f *faulty) {
		f.queue.create = func(size int) device.Key { return f.queue.Queues.Create(size + 100000) }
	}},
	{name: "a queue without overhead", law: "full queues", port: func(f *faulty) {
		f.queue.create = func(size int) device.Key { return f.queue.Queues.Create(size - device.EntryOverhead) }
	}},
	{name: "a refusal is for good", law: "full queues", port: func(f *faulty) {
		f.queue.enqueue = func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
			f.queue.Queues.Enqueue(dst, k, b, flags&^device.RetryAfterRefusal, done)
		}
	}},
	{name: "entries slip in behind a refused one", law: "queues without gaps", port: func(f *faulty) {
		f.queue.enqueue = func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
			f.Port.Delay(10 * unit.Microsecond) // there may be room again
			f.queue.Queues.Enqueue(dst, k, b, flags|device.RetryAfterRefusal, done)
		}
	}},
	{name: "completions of entries come in another order", law: "queues without gaps", port: func(f *faulty) {
		var kept *device.Packet
		f.recv = func(block bool) *device.Packet {
			if q := kept; q != nil {
				kept = nil
				return q
			}
			q := f.Port.Recv(block)
			if q == nil || q.Src != f.Rank() || q.Head[0] != 3 {
				return q
			}
			x := *q
			if next := f.Port.Recv(false); next != nil {
				kept = &x
				return next
			}
			return &x
		}
	}},
	{name: "quiet entries are not", law: "quiet entries", port: func(f *faulty) {
		f.queue.enqueue = func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
			f.queue.Queues.Enqueue(dst, k, b, flags&^device.CompleteOnlyIfRefused, done)
		}
	}},
	{name: "quiet entries are refused in silence", law: "quiet entries", port: func(f *faulty) {
		f.swallow()
		f.queue.enqueue = func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
			if flags&device.CompleteOnlyIfRefused != 0 {
				done = device.Head{}
			}
			f.queue.Queues.Enqueue(dst, k, b, flags, done)
		}
	}},
	{name: "an entry overtakes a put", law: "put, then enqueue", port: func(f *faulty) { f.stalePut(always) }},
	{name: "queues are never destroyed", law: "no such queue", port: func(f *faulty) {
		f.queue.destroy = func(device.Key) {}
	}},
	{name: "keys of queues are used again", law: "no such queue", port: func(f *faulty) {
		var gone []device.Key
		f.queue.destroy = func(k device.Key) { gone = append(gone, k) }
		f.queue.create = func(size int) device.Key {
			if len(gone) > 0 {
				return gone[0]
			}
			return f.queue.Queues.Create(size)
		}
	}},
	{name: "long entries are cut", law: "limits", port: func(f *faulty) {
		f.queue.enqueue = func(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
			f.queue.Queues.Enqueue(dst, k, b[:min(len(b), f.queue.MaxEntryBytes())], flags, done)
		}
	}},
	{name: "long multicasts are cut", law: "limits", port: func(f *faulty) {
		f.datagram.multicast = func(group uint32, b []byte) {
			f.datagram.Datagram.Multicast(group, b[:min(len(b), f.datagram.MaxDatagramBytes())])
		}
	}},

	{name: "a handler waits for a call of its rank", law: "signals without help", port: func(f *faulty) {
		f.signal.raise = func(dst int, head device.Head) {
			f.Port.Delay(150 * unit.Millisecond)
			f.signal.Signal.RaiseAt(dst, head)
		}
	}},
	{name: "a signal is lost", law: "order of signals", hangs: true, port: func(f *faulty) {
		lose := nth(150)
		f.signal.raise = func(dst int, head device.Head) {
			if !lose() {
				f.signal.Signal.RaiseAt(dst, head)
			}
		}
	}},
	{name: "a signal comes twice", law: "order of signals", port: func(f *faulty) {
		twice := nth(150)
		f.signal.raise = func(dst int, head device.Head) {
			if f.signal.Signal.RaiseAt(dst, head); twice() {
				f.signal.Signal.RaiseAt(dst, head)
			}
		}
	}},
	{name: "masked signals run", law: "masked signals", port: func(f *faulty) {
		f.delay = func(d unit.Time) { f.signal.Signal.Mask(false); f.signal.Signal.Mask(true) }
	}},
	{name: "masked signals are lost", law: "masked signals", port: func(f *faulty) {
		masked := false
		f.signal.mask = func(on bool) { masked = on; f.signal.Signal.Mask(on) }
		f.signal.raise = func(dst int, head device.Head) {
			if !masked {
				f.signal.Signal.RaiseAt(dst, head)
			}
		}
	}},
	{name: "a handler may not send", law: "calls of handlers", port: func(f *faulty) {
		var inside atomic.Bool
		f.signal.handle = func(handler func(src int, head device.Head)) {
			f.signal.Signal.SetHandler(func(src int, head device.Head) {
				inside.Store(true)
				defer inside.Store(false)
				handler(src, head)
			})
		}
		f.send = func(dst int, q *device.Packet) {
			if inside.Load() {
				panic("a handler sends")
			}
			f.Port.Send(dst, q)
		}
	}},
	{name: "a signal overtakes a put", law: "put, then signal", port: func(f *faulty) { f.stalePut(always) }},
	{name: "panics of handlers are swallowed", law: "ends of handlers", port: func(f *faulty) {
		f.signal.handle = func(handler func(src int, head device.Head)) {
			f.signal.Signal.SetHandler(func(src int, head device.Head) {
				defer func() { _ = recover() }()
				handler(src, head)
			})
		}
	}},
	{name: "a signal to the ended panics", law: "ends of handlers", port: func(f *faulty) {
		f.signal.raise = func(dst int, head device.Head) {
			if f.ended[dst].Load() {
				panic("no such process")
			}
			f.signal.Signal.RaiseAt(dst, head)
		}
	}},

	{name: "a message is lost", law: "order of a channel", hangs: true, port: func(f *faulty) {
		lose := nth(90)
		f.channel.send = func(dst int, p device.Priority, b []byte) bool {
			return lose() || f.channel.Channel.Send(dst, p, b)
		}
	}},
	{name: "a message comes twice", law: "order of a channel", port: func(f *faulty) {
		twice := nth(90)
		f.channel.send = func(dst int, p device.Priority, b []byte) bool {
			if twice() {
				f.channel.Channel.Send(dst, p, b)
			}
			return f.channel.Channel.Send(dst, p, b)
		}
	}},
	{name: "a message is read after Send", law: "order of a channel", port: func(f *faulty) {
		late := func() {}
		f.channel.send = func(dst int, p device.Priority, b []byte) bool {
			late()
			late = func() {
				for !f.channel.Channel.Send(dst, p, b) {
					f.Port.Delay(unit.Microsecond)
				}
			}
			return true
		}
	}},
	{name: "a receive uses the other lane's memory", law: "order of a channel", port: func(f *faulty) {
		var last [device.NumPriorities]*device.Packet
		f.channel.recv = func(p device.Priority) *device.Packet {
			last[p] = f.channel.Channel.Recv(p)
			if other := last[1-p]; other != nil && last[p] != nil {
				clear(other.Data)
			}
			return last[p]
		}
	}},
	{name: "lanes share their room", law: "priorities", hangs: true, port: func(f *faulty) {
		full := false
		f.channel.send = func(dst int, p device.Priority, b []byte) bool {
			if p == device.LowPriority {
				full = !f.channel.Channel.Send(dst, p, b)
				return !full
			}
			return !full && f.channel.Channel.Send(dst, p, b)
		}
	}},
	{name: "what has no room is dropped", law: "priorities", port: func(f *faulty) {
		dropped := 0
		f.channel.send = func(dst int, p device.Priority, b []byte) bool {
			if f.channel.Channel.Send(dst, p, b) {
				return true
			}
			dropped++
			return dropped == 10
		}
	}, hangs: true},

	{name: "an ended rank has no room", law: "messages after an exit", hangs: true, port: func(f *faulty) {
		f.channel.send = func(dst int, p device.Priority, b []byte) bool {
			return !f.ended[dst].Load() && f.channel.Channel.Send(dst, p, b)
		}
	}},
	{name: "a datagram is changed", law: "datagrams", port: func(f *faulty) {
		change := nth(20)
		f.datagram.send = func(dst int, b []byte) {
			if change() && len(b) > 8 {
				b[8] ^= 1
			}
			f.datagram.Datagram.Send(dst, b)
		}
	}},
	{name: "a datagram is another's", law: "datagrams", port: func(f *faulty) {
		f.datagram.recv = func(deadline unit.Time) *device.Packet {
			q := f.datagram.Datagram.Recv(deadline)
			if q != nil && q.Src > 0 {
				q = &device.Packet{Src: 3 - q.Src, Data: q.Data}
			}
			return q
		}
	}},
	{name: "all datagrams are lost", law: "datagrams", hangs: true, port: func(f *faulty) {
		f.datagram.send = func(int, []byte) {}
	}},
	{name: "a receive ends before its deadline", law: "deadlines of datagrams", port: func(f *faulty) {
		f.datagram.recv = func(unit.Time) *device.Packet { return f.datagram.Datagram.Recv(0) }
	}},
	{name: "a receive has no deadline", law: "deadlines of datagrams", port: func(f *faulty) {
		f.datagram.recv = func(unit.Time) *device.Packet { return f.datagram.Datagram.Recv(device.Forever) }
	}},
	{name: "a datagram does not end a receive", law: "deadlines of datagrams", hangs: true, port: func(f *faulty) {
		f.datagram.recv = func(deadline unit.Time) *device.Packet {
			for f.Port.Now() < deadline {
				time.Sleep(time.Millisecond)
			}
			return f.datagram.Datagram.Recv(0)
		}
	}},
	{name: "a multicast is a broadcast", law: "multicast", port: func(f *faulty) {
		f.datagram.multicast = func(_ uint32, b []byte) {
			for dst := range f.Size() {
				if dst != f.Rank() {
					f.datagram.Datagram.Send(dst, b)
				}
			}
		}
	}},
	{name: "a multicast reaches its sender", law: "multicast", port: func(f *faulty) {
		f.datagram.multicast = func(group uint32, b []byte) {
			f.datagram.Datagram.Multicast(group, b)
			f.datagram.Datagram.Send(f.Rank(), b)
		}
	}},
	{name: "a multicast reaches one member", law: "multicast", hangs: true, port: func(f *faulty) {
		f.datagram.multicast = func(_ uint32, b []byte) { f.datagram.Datagram.Send(1, b) }
	}},
	{name: "a rank never leaves a group", law: "multicast", port: func(f *faulty) {
		f.datagram.leave = func(uint32) {}
	}},
	{name: "a rank is in any number of groups", law: "groups", port: func(f *faulty) {
		f.datagram.join = func(group uint32) bool { f.datagram.Datagram.Join(group); return true }
	}},
	{name: "leaving a group makes no room", law: "groups", port: func(f *faulty) {
		f.datagram.leave = func(uint32) {}
	}},
	{name: "a datagram is no event", law: "datagrams are events", hangs: true, port: func(f *faulty) {
		f.watch.wait = func(_ uint64, deadline unit.Time) bool { time.Sleep(time.Hour); return false }
	}},

	{name: "a wait cannot be stopped", law: "stopping", hangs: true, port: func(f *faulty) {
		f.watch.wait = func(_ uint64, deadline unit.Time) bool {
			time.Sleep(time.Duration((deadline - f.Port.Now()) / unit.Nanosecond))
			return false
		}
	}},
	{name: "a wait for events is none", law: "waiting for events", end: func(int, error) error { return nil }},
	{name: "a masked signal wakes", law: "waiting for signals", port: func(f *faulty) {
		f.signal.mask = func(bool) {}
	}},
}

// tickless gives ports a clock that packets, puts and delays move by fixed times: virtual time in
// which looking is free.
func tickless(f *faulty) {
	var now unit.Time
	f.now = func() unit.Time { return now }
	f.delay = func(d unit.Time) { now += d }
	recv := f.recv
	f.recv = func(block bool) *device.Packet {
		q := recv(block)
		if q != nil {
			now += unit.Microsecond
		}
		return q
	}
}

// Polling that costs a tick or sees late is no polling for virtual time.
func TestVirtualTimeFaults(t *testing.T) {
	TestVirtualTime(t, (&fault{port: tickless}).open)
	for _, l := range virtualTimeLaws {
		err := l.check((&fault{port: func(f *faulty) {
			tickless(f)
			recv, load, now := f.recv, f.watch.load, f.now
			var late unit.Time
			f.recv = func(block bool) *device.Packet {
				q := recv(block)
				if q == nil {
					late += unit.Nanosecond
				}
				return q
			}
			f.watch.load = func(k device.Key, off int) uint64 { late += unit.Nanosecond; return load(k, off) }
			f.now = func() unit.Time { return now() + late }
		}}).open)
		if err == nil {
			t.Errorf("%q does not see that looking takes time", l.name)
		}
		t.Log(err)
	}
}
