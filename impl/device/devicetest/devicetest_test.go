package devicetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The suite is only worth something if it sees faults. Here a world that keeps the laws is broken
// in one way after another, and the laws have to notice.

// faulty is a port with some of its methods replaced.
type faulty struct {
	device.Port
	*breakage
	capabilities
	send    func(dst int, q *device.Packet)
	recv    func(block bool) *device.Packet
	tier    func(rank int) model.Tier
	node    func() string
	tick    func() unit.Time
	now     func() unit.Time
	delay   func(d unit.Time)
	copy    func(dst, src []byte) int
	memory  faultyMemory
	counter func(dst, r int, delta int64) int64
	swap    func(dst, r int, value int64) int64
	where   func(src int, head *device.Head, n int) []byte
	detail  func(detail []byte)
	notify  func(rank int, head device.Head)
	await   func(h device.PacketHandler) // nil: it cannot await packets

	isSerialized bool // it says that ranks run one at a time
}

type faultyMemory struct {
	device.Memory
	expose   func(b []byte) device.Key
	withdraw func(k device.Key)
	put, get transfer
}

type transfer func(dst int, k device.Key, off int, b []byte, done device.Head)

// breakage is what the faulty ports of a run share.
type breakage struct {
	run     int // counts the runs of the world
	room    []chan struct{}
	ended   []atomic.Bool
	details [][]byte // by rank
}

func (f *faulty) Send(dst int, q *device.Packet) { f.send(dst, q) }
func (f *faulty) Recv(block bool) *device.Packet { return f.recv(block) }
func (f *faulty) Tier(rank int) model.Tier       { return f.tier(rank) }
func (f *faulty) Node() string                   { return f.node() }
func (f *faulty) Tick() unit.Time                { return f.tick() }
func (f *faulty) Now() unit.Time                 { return f.now() }
func (f *faulty) Delay(d unit.Time)              { f.delay(d) }
func (f *faulty) Copy(dst, src []byte) int       { return f.copy(dst, src) }
func (f *faulty) Memory() device.Memory          { return &f.memory }
func (f *faulty) Counters() device.Counters      { return f }
func (f *faulty) RanksAreSerialized() bool       { return f.isSerialized }
func (f *faulty) SetErrorDetail(detail []byte)   { f.detail(detail) }
func (f *faulty) NotifyExit(rank int, head device.Head) {
	f.notify(rank, head)
}
func (f *faulty) CanAwaitPackets() bool               { return f.await != nil }
func (f *faulty) HasPacket() bool                     { return true } // Recv waits for one
func (f *faulty) AwaitPackets(h device.PacketHandler) { f.await(h) }
func (f *faulty) SetPlacement(where func(src int, head *device.Head, n int) []byte) {
	f.where = where
}

// placed puts the data of a packet where it is to go.
func (f *faulty) placed(q *device.Packet) *device.Packet {
	if q == nil || f.where == nil {
		return q
	}
	b := f.where(q.Src, &q.Head, len(q.Data))
	if b == nil {
		return q
	}
	copy(b, q.Data)
	return &device.Packet{Src: q.Src, Head: q.Head, Data: b}
}

func (f *faulty) FetchAndAddRegister(dst, r int, delta int64) int64   { return f.counter(dst, r, delta) }
func (f *faulty) FetchAndStoreRegister(dst, r int, value int64) int64 { return f.swap(dst, r, value) }

func (m *faultyMemory) Expose(b []byte) device.Key { return m.expose(b) }
func (m *faultyMemory) Withdraw(k device.Key)      { m.withdraw(k) }

func (m *faultyMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.put(dst, k, off, b, done)
}

func (m *faultyMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.get(dst, k, off, b, done)
}

// fault breaks a port, or what Run makes of the world's error.
type fault struct {
	name  string
	law   string // that must notice
	port  func(f *faulty)
	end   func(run int, err error) error
	hangs bool // it shows as a job that does not end
	stop  atomic.Bool
}

// live ends a rank whose job was given up: it would poll for ever.
func (b *fault) live() {
	if b.stop.Load() {
		panic("given up")
	}
}

func (b *fault) open(ranks int) device.World {
	return &faultyWorld{World: loop.New(ranks), fault: b, ranks: ranks}
}

type faultyWorld struct {
	device.World
	*fault
	ranks, runs int
}

func (w *faultyWorld) Run(program func(device.Port) error) error {
	shared := &breakage{run: w.runs, ended: make([]atomic.Bool, w.ranks), details: make([][]byte, w.ranks)}
	for range w.ranks {
		shared.room = append(shared.room, make(chan struct{}, 100))
	}
	w.runs++
	err := w.World.Run(func(p device.Port) error {
		f := &faulty{Port: p, breakage: shared, capabilities: capabilitiesOf(p, w.live)}
		f.tier, f.node, f.tick = p.Tier, p.Node, p.Tick
		f.recv = func(block bool) *device.Packet { w.live(); return f.placed(p.Recv(block)) }
		f.send, f.now, f.copy, f.counter = p.Send, p.Now, p.Copy, p.Counters().FetchAndAddRegister
		f.delay = func(d unit.Time) { w.live(); p.Delay(d) }
		f.swap = p.Counters().FetchAndStoreRegister
		f.detail = func(detail []byte) { shared.details[p.Rank()] = detail }
		f.notify = p.NotifyExit
		m := p.Memory()
		f.memory = faultyMemory{m, m.Expose, m.Withdraw, m.Put, m.Get}
		if w.port != nil {
			w.port(f)
		}
		defer shared.ended[p.Rank()].Store(true)
		return program(f)
	})
	err = shared.withDetails(err)
	if w.end != nil {
		err = w.end(shared.run, err)
	}
	return err
}

// withDetails adds the details of ranks to an error.
func (b *breakage) withDetails(err error) error {
	var d *device.Deadlock
	switch {
	case errors.As(err, &d):
		d.RankDetails = make(map[int][]byte)
		for _, r := range d.Ranks {
			d.RankDetails[r] = b.details[r]
		}
		return err
	case err == nil:
		return nil
	}
	for r := range b.details {
		if b.details[r] != nil {
			return &afar{err, b.details[r]}
		}
	}
	return err
}

// afar is an error with the details of its rank.
type afar struct {
	error
	detail []byte
}

func (e *afar) ErrorDetail() []byte { return e.detail }
func (e *afar) Unwrap() error       { return e.error }

// nth returns a function that is true at every n-th call.
func nth(n int) func() bool {
	calls := 0
	return func() bool { calls++; return calls%n == 0 }
}

var faults = []*fault{
	{name: "a rank takes itself for another", law: "every rank runs once", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) { r := *q; r.Head[0] &^= 2; f.Port.Send(dst, &r) }
	}},
	{name: "a rank is far from itself", law: "near and far", port: func(f *faulty) {
		f.tier = func(int) model.Tier { return model.InterNode }
	}},
	{name: "near one way only", law: "near and far", port: func(f *faulty) {
		f.tier = func(rank int) model.Tier {
			if rank > f.Rank() {
				return model.InterNode
			}
			return model.IntraNode
		}
	}},
	{name: "a tier that is none", law: "near and far", port: func(f *faulty) {
		f.tier = func(rank int) model.Tier {
			if rank != f.Rank() {
				return model.NumTiers
			}
			return model.IntraNode
		}
	}},
	{name: "ranks move apart", law: "near and far", port: func(f *faulty) {
		asked := 0
		f.tier = func(rank int) model.Tier {
			if asked++; asked > 50 && rank != f.Rank() {
				return model.InterNode
			}
			return model.IntraNode
		}
	}},
	{name: "a node without a name", law: "names of nodes", port: func(f *faulty) {
		f.node = func() string { return "" }
	}},
	{name: "a node whose name changes", law: "names of nodes", port: func(f *faulty) {
		asked := 0
		f.node = func() string { asked++; return strconv.Itoa(asked) }
	}},
	{name: "near ranks on different nodes", law: "names of nodes", port: func(f *faulty) {
		f.node = func() string { return strconv.Itoa(f.Rank()) }
	}},
	{name: "ticks longer than the clock's", law: "step of the clock", port: func(f *faulty) {
		f.tick = func() unit.Time { return unit.Second }
	}},
	{name: "no ticks", law: "step of the clock", port: func(f *faulty) {
		f.tick = func() unit.Time { return 0 }
	}},
	{name: "short packets overtake long ones", law: "order of a pair", port: func(f *faulty) {
		var kept func()
		flush := func() {
			if kept != nil {
				kept()
				kept = nil
			}
		}
		f.send = func(dst int, q *device.Packet) {
			if len(q.Data) == 70000 {
				flush()
				r := *q
				kept = func() { f.Port.Send(dst, &r) }
				return
			}
			f.Port.Send(dst, q)
		}
		f.recv = func(block bool) *device.Packet { flush(); return f.Port.Recv(block) }
	}},
	{name: "a packet is lost", law: "order of a pair", port: func(f *faulty) {
		lose := nth(150)
		f.send = func(dst int, q *device.Packet) {
			if !lose() {
				f.Port.Send(dst, q)
			}
		}
	}},
	{name: "a packet comes twice", law: "order of a pair", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) {
			f.Port.Send(dst, q)
			if q.Head[0] == 99 { // the last
				f.Port.Send(dst, q)
			}
		}
	}},
	{name: "data is taken after Send", law: "bytes arrive as they were", port: func(f *faulty) {
		kept := func() {}
		f.send = func(dst int, q *device.Packet) { kept(); r := *q; kept = func() { f.Port.Send(dst, &r) } }
		f.recv = func(block bool) *device.Packet { kept(); kept = func() {}; return f.Port.Recv(block) }
	}},
	{name: "the head is taken after Send", law: "bytes arrive as they were", port: func(f *faulty) {
		kept := func() {}
		f.send = func(dst int, q *device.Packet) {
			kept()
			b := slices.Clone(q.Data)
			kept = func() { f.Port.Send(dst, &device.Packet{Head: q.Head, Data: b}) }
		}
		f.recv = func(block bool) *device.Packet { kept(); kept = func() {}; return f.Port.Recv(block) }
	}},
	{name: "65,536 is the most", law: "bytes arrive as they were", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) {
			f.Port.Send(dst, &device.Packet{Head: q.Head, Data: q.Data[:min(len(q.Data), 1<<16)]})
		}
	}},
	{name: "a bit falls over", law: "bytes arrive as they were", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) {
			r := *q
			if len(r.Data) == 4097 {
				r.Data = slices.Clone(r.Data)
				r.Data[4096] ^= 0x40
			}
			f.Port.Send(dst, &r)
		}
	}},
	{name: "a bit of the head is used", law: "head and source", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) { r := *q; r.Head[4] &^= 1 << 63; f.Port.Send(dst, &r) }
	}},
	{name: "senders name themselves", law: "head and source", port: func(f *faulty) {
		f.recv = func(block bool) *device.Packet { r := *f.Port.Recv(block); r.Src = 0; return &r }
	}},
	{name: "nothing goes to itself", law: "to itself", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) {
			if dst != f.Rank() {
				f.Port.Send(dst, q)
			}
		}
	}},
	{name: "a send uses the received data's memory", law: "data stays until the next receive", port: func(f *faulty) {
		var last []byte
		f.recv = func(block bool) *device.Packet { q := f.Port.Recv(block); last = q.Data; return q }
		f.send = func(dst int, q *device.Packet) { f.Port.Send(dst, q); clear(last) }
	}},
	{name: "a send uses the received packet", law: "data stays until the next receive", port: func(f *faulty) {
		last := new(device.Packet)
		f.recv = func(block bool) *device.Packet { last = f.Port.Recv(block); return last }
		f.send = func(dst int, q *device.Packet) { f.Port.Send(dst, q); last.Head = q.Head }
	}},
	{name: "a send releases the received data first", law: "received data can be sent on", port: func(f *faulty) {
		var last []byte
		f.recv = func(block bool) *device.Packet { q := f.Port.Recv(block); last = q.Data; return q }
		f.send = func(dst int, q *device.Packet) { clear(last); f.Port.Send(dst, q) }
	}},
	{name: "polling waits", law: "polling", port: func(f *faulty) {
		f.recv = func(bool) *device.Packet { return f.Port.Recv(true) }
	}},
	{name: "polling sees what is not there", law: "polling", port: func(f *faulty) {
		f.recv = func(block bool) *device.Packet {
			if q := f.Port.Recv(block); q != nil {
				return q
			}
			return new(device.Packet)
		}
	}},
	{name: "polling sees nothing", law: "polling", hangs: true, port: func(f *faulty) {
		f.recv = func(block bool) *device.Packet {
			if block {
				return f.Port.Recv(true)
			}
			time.Sleep(time.Millisecond)
			return nil
		}
	}},
	{name: "a panic of a packet handler is lost", law: "handling packets while waiting", port: func(f *faulty) {
		f.await = func(h device.PacketHandler) {
			defer func() { _ = recover() }()
			for !h.HandlePackets() {
			}
		}
	}},
	{name: "waiting gives up", law: "waiting", port: func(f *faulty) {
		f.recv = func(block bool) *device.Packet {
			for range 100 {
				if q := f.Port.Recv(false); q != nil {
					return q
				}
			}
			return nil
		}
	}},
	{name: "an inbox overflows", law: "many to one", port: func(f *faulty) {
		sent := 0
		f.send = func(dst int, q *device.Packet) {
			if sent++; sent <= 150 {
				f.Port.Send(dst, q)
			}
		}
	}},
	{name: "a full network takes nothing in", law: "flood", hangs: true, port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) { f.room[dst] <- struct{}{}; f.Port.Send(dst, q) }
		f.recv = func(block bool) *device.Packet {
			q := f.Port.Recv(block)
			if q != nil {
				<-f.room[f.Rank()]
			}
			return q
		}
	}},
	{name: "sending to an ended rank fails", law: "after an exit", port: func(f *faulty) {
		f.send = func(dst int, q *device.Packet) {
			if f.ended[dst].Load() {
				panic("broken pipe")
			}
			f.Port.Send(dst, q)
		}
	}},
	{name: "data is not where it is said to be", law: "places of data", port: func(f *faulty) {
		f.recv = func(block bool) *device.Packet {
			q := f.Port.Recv(block)
			if q != nil && f.where != nil {
				if b := f.where(q.Src, &q.Head, len(q.Data)); b != nil {
					return &device.Packet{Src: q.Src, Head: q.Head, Data: b}
				}
			}
			return q
		}
	}},
	{name: "a place is asked for data of another length", law: "places of data", port: func(f *faulty) {
		f.recv = func(block bool) *device.Packet {
			q := f.Port.Recv(block)
			if q != nil && f.where != nil {
				f.where(q.Src, &q.Head, len(q.Data)+1)
			}
			return q
		}
	}},
	{name: "the clock goes back", law: "clock", port: func(f *faulty) {
		back := nth(100)
		f.now = func() unit.Time {
			if back() {
				return f.Port.Now() - unit.Second
			}
			return f.Port.Now()
		}
	}},
	{name: "the clock stands", law: "waiting by the clock", port: func(f *faulty) {
		f.now = func() unit.Time { return unit.Second }
	}},
	{name: "delays are short", law: "delay", port: func(f *faulty) {
		f.delay = func(d unit.Time) { f.Port.Delay(d / 10) }
	}},
	{name: "copies are charged and not made", law: "work", port: func(f *faulty) {
		f.copy = func(dst, src []byte) int { return min(len(dst), len(src)) }
	}},
	{name: "Copy returns the wrong length", law: "work", port: func(f *faulty) {
		f.copy = func(dst, src []byte) int { copy(dst, src); return len(src) }
	}},
	{name: "errors are lost", law: "error", end: func(int, error) error { return nil }},
	{name: "another error wins", law: "first error", end: func(int, error) error { return errors.New("another") }},
	{name: "a panic is any error", law: "panic", end: func(_ int, err error) error {
		if err != nil {
			return fmt.Errorf("a rank failed: %v", err)
		}
		return nil
	}},
	{name: "a panic is of another rank", law: "panic", end: func(_ int, err error) error {
		if f := (&device.Failure{}); errors.As(err, &f) {
			f.Rank++
		}
		return err
	}},
	{name: "a panic loses its stack", law: "panic", end: func(_ int, err error) error {
		if f := (&device.Failure{}); errors.As(err, &f) {
			f.Stack = nil
		}
		return err
	}},
	{name: "a delay cannot be stopped", law: "stopping", hangs: true, port: func(f *faulty) {
		f.delay = func(d unit.Time) { time.Sleep(time.Duration(d / unit.Nanosecond)) }
	}},
	{name: "packets stay over", law: "run again", port: func(f *faulty) {
		stale := f.run > 2
		f.recv = func(block bool) *device.Packet {
			if stale {
				stale = false
				return &device.Packet{Data: make([]byte, 1000)}
			}
			return f.Port.Recv(block)
		}
	}},
	{name: "a failure breaks the world", law: "run again", end: func(run int, err error) error {
		if run > 2 {
			return errDeliberate
		}
		return err
	}},
	{name: "concurrent ranks run one at a time", law: "one rank at a time", port: func(f *faulty) {
		f.isSerialized = true
	}},
	{name: "puts lose their last byte", law: "put", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			f.memory.Memory.Put(dst, k, off, b[:max(len(b), 1)-1], done)
		}
	}},
	{name: "puts are rounded up to words", law: "put", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if n := (len(b) + 7) &^ 7; off+n <= 1<<20 {
				b = append(slices.Clone(b), make([]byte, n-len(b))...)
			}
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "gets read beyond", law: "get", port: func(f *faulty) {
		f.memory.get = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if off+len(b) < 1<<20 {
				b = b[:len(b)+1]
			}
			f.memory.Memory.Get(dst, k, off, b, done)
		}
	}},
	{name: "gets begin at a word", law: "get", port: func(f *faulty) {
		f.memory.get = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			f.memory.Memory.Get(dst, k, off&^7, b, done)
		}
	}},
	{name: "own memory is not remote", law: "own memory", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if dst != f.Rank() {
				f.memory.Memory.Put(dst, k, off, b, done)
			}
		}
	}},
	{name: "no memory has no key", law: "empty memory", port: func(f *faulty) {
		f.memory.expose = func(b []byte) device.Key {
			if len(b) == 0 {
				return 0
			}
			return f.memory.Memory.Expose(b)
		}
	}},
	{name: "no bytes do not complete", law: "empty memory", port: func(f *faulty) {
		f.memory.get = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if len(b) > 0 {
				f.memory.Memory.Get(dst, k, off, b, done)
			}
		}
	}},
	{name: "completions are cut to four words", law: "completions", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			done[4] = 0
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "a completion comes for another", law: "completions", port: func(f *faulty) {
		f.memory.get = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			done[0] |= 2
			f.memory.Memory.Get(dst, k, off, b, done)
		}
	}},
	{name: "a put completes before it is done", law: "put, then send", port: func(f *faulty) {
		var late []byte // of the put before
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			now := late
			late = slices.Clone(b)
			f.memory.Memory.Put(dst, k, off, now, done)
		}
	}},
	{name: "the peer has to help", law: "transfers without help", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			f.Port.Delay(150 * unit.Millisecond)
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "the fiftieth put goes astray", law: "random transfers", port: func(f *faulty) {
		astray := nth(50)
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if astray() && len(b) > 0 {
				b = b[1:]
			}
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "a short put overtakes a long one", law: "order of puts", port: func(f *faulty) {
		long := func() {}
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if len(b) > 1000 {
				long = func() { f.memory.Memory.Put(dst, k, off, b, done) }
				return
			}
			f.memory.Memory.Put(dst, k, off, b, done)
			long()
		}
	}},
	{name: "bounds are not checked", law: "outside of memory", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			f.memory.Memory.Put(dst, k, 0, nil, done)
		}
	}},
	{name: "lengths overflow", law: "outside of memory", port: func(f *faulty) {
		f.memory.get = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if off+len(b) < 0 {
				off = 0
			}
			f.memory.Memory.Get(dst, k, off, b, done)
		}
	}},
	{name: "a refused get fills the buffer", law: "outside of memory", port: func(f *faulty) {
		f.memory.get = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if off < 0 {
				clear(b)
			}
			f.memory.Memory.Get(dst, k, off, b, done)
		}
	}},
	{name: "a refused put writes what fits", law: "outside of memory", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if off == 99 {
				f.memory.Memory.Put(dst, k, off, b[:1], device.Head{})
				f.Port.Recv(true)
			}
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "accesses after a refusal are refused", law: "outside of memory", port: func(f *faulty) {
		refuse := false
		f.recv = func(block bool) *device.Packet {
			q := f.Port.Recv(block)
			if q != nil && q.Refused {
				refuse = true
			}
			if q != nil && refuse {
				r := *q
				r.Refused = true
				return &r
			}
			return q
		}
	}},
	{name: "a refusal panics", law: "outside of memory", port: func(f *faulty) {
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if off < 0 {
				panic("not exposed")
			}
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "no bytes are never refused", law: "withdrawn memory", port: func(f *faulty) {
		var own device.Key
		f.memory.put = func(dst int, k device.Key, off int, b []byte, done device.Head) {
			if own == 0 {
				own = f.memory.Memory.Expose(nil)
			}
			if len(b) == 0 {
				dst, k, off = f.Rank(), own, 0
			}
			f.memory.Memory.Put(dst, k, off, b, done)
		}
	}},
	{name: "memory is never withdrawn", law: "withdrawn memory", port: func(f *faulty) {
		f.memory.withdraw = func(device.Key) {}
	}},
	{name: "keys are used again", law: "withdrawn memory", port: func(f *faulty) {
		var key device.Key
		f.memory.withdraw = func(k device.Key) { key = k }
		f.memory.expose = func(b []byte) device.Key {
			if key != 0 {
				return key
			}
			return f.memory.Memory.Expose(b)
		}
	}},
	{name: "counters read, then write", law: "counters are atomic", port: func(f *faulty) {
		f.counter = func(dst, r int, delta int64) int64 {
			was := f.Port.Counters().FetchAndAddRegister(dst, r, 0)
			f.Port.Delay(unit.Microsecond)
			f.Port.Counters().FetchAndAddRegister(dst, r, delta)
			return was
		}
	}},
	{name: "counters return the new value", law: "counters are atomic", port: func(f *faulty) {
		f.counter = func(dst, r int, delta int64) int64 {
			return f.Port.Counters().FetchAndAddRegister(dst, r, delta) + delta
		}
	}},
	{name: "there is one register", law: "counters are separate", port: func(f *faulty) {
		f.counter = func(dst, _ int, delta int64) int64 { return f.Port.Counters().FetchAndAddRegister(dst, 0, delta) }
	}},
	{name: "counters only count up", law: "counters are separate", port: func(f *faulty) {
		f.counter = func(dst, r int, delta int64) int64 {
			return f.Port.Counters().FetchAndAddRegister(dst, r, max(delta, 0))
		}
	}},
	{name: "counters have 32 bits", law: "counters are separate", port: func(f *faulty) {
		f.counter = func(dst, r int, delta int64) int64 {
			return int64(int32(f.Port.Counters().FetchAndAddRegister(dst, r, delta)))
		}
	}},
	{name: "counters go on", law: "counters begin at zero", port: func(f *faulty) {
		f.counter = func(dst, r int, delta int64) int64 {
			return f.Port.Counters().FetchAndAddRegister(dst, r, delta) + 5*int64(f.run)
		}
	}},
	{name: "swaps read, then write", law: "swap of counters", port: func(f *faulty) {
		f.swap = func(dst, r int, value int64) int64 {
			was := f.Port.Counters().FetchAndAddRegister(dst, r, 0)
			f.Port.Delay(10 * unit.Microsecond)
			f.Port.Counters().FetchAndStoreRegister(dst, r, value)
			return was
		}
	}},
	{name: "swaps add", law: "swap of counters", port: func(f *faulty) {
		f.swap = func(dst, r int, value int64) int64 { return f.Port.Counters().FetchAndAddRegister(dst, r, value) }
	}},
	{name: "exits are told before they come", law: "exits", port: func(f *faulty) {
		var told []*device.Packet
		f.notify = func(rank int, head device.Head) {
			if rank != f.Rank() {
				told = append(told, &device.Packet{Src: rank, Head: head})
			}
		}
		f.recv = func(block bool) *device.Packet {
			if len(told) == 0 {
				return f.Port.Recv(block)
			}
			q := told[0]
			told = told[1:]
			return q
		}
	}},
	{name: "a rank is told of its own exit", law: "exits", port: func(f *faulty) {
		f.notify = func(rank int, head device.Head) {
			f.Port.NotifyExit(rank, head)
			if rank == f.Rank() {
				f.Port.Send(rank, &device.Packet{Head: head})
			}
		}
	}},
	{name: "all exits have one head", law: "exits", port: func(f *faulty) {
		f.notify = func(rank int, head device.Head) { f.Port.NotifyExit(rank, headWithTag(-2)) }
	}},
	{name: "asking too late gives no packet", law: "exits again", port: func(f *faulty) {
		f.notify = func(rank int, head device.Head) {
			if !f.ended[rank].Load() {
				f.Port.NotifyExit(rank, head)
			}
		}
	}},
	{name: "asking again gives no packet", law: "exits again", port: func(f *faulty) {
		var asked [8]bool
		f.notify = func(rank int, head device.Head) {
			if !asked[rank] {
				f.Port.NotifyExit(rank, head)
			}
			asked[rank] = true
		}
	}},
	{name: "waiting for an exit is no waiting", law: "waiting for exits", end: func(_ int, err error) error {
		if _, ok := err.(*device.Deadlock); ok {
			return nil
		}
		return err
	}},
	{name: "a deadlock is no error", law: "all wait", end: func(int, error) error { return nil }},
	{name: "a deadlock is of all", law: "those that wait", end: func(_ int, err error) error {
		if d := (&device.Deadlock{}); errors.As(err, &d) {
			d.Ranks = nil
			for r := range d.TotalRanks {
				d.Ranks = append(d.Ranks, r)
			}
		}
		return err
	}},
	{name: "details of stopped ranks are lost", law: "error details", end: func(_ int, err error) error {
		if d := (&device.Deadlock{}); errors.As(err, &d) {
			d.RankDetails = nil
		}
		return err
	}},
	{name: "details are another rank's", law: "error details", port: func(f *faulty) {
		f.detail = func(detail []byte) { f.details[(f.Rank()+1)%f.Size()] = detail }
	}},
	{name: "details of a rank that fails are lost", law: "error details", end: func(_ int, err error) error {
		if a := (&afar{}); errors.As(err, &a) {
			return a.error
		}
		return err
	}},
	{name: "a deadlock where there is none", law: "no false deadlock", end: func(run int, err error) error {
		if run == 7 {
			return &device.Deadlock{Ranks: []int{0, 1, 2}, TotalRanks: 4}
		}
		return err
	}},
}

func TestFaultsAreSeen(t *testing.T) {
	all := slices.Concat(laws, deadlockLaws)
	seen := make(map[string]bool)
	defer func(was time.Duration) { jobTimeLimit = was }(jobTimeLimit)
	for _, f := range slices.Concat(faults, capabilityFaults) {
		t.Run(f.name, func(t *testing.T) {
			defer f.stop.Store(true)
			jobTimeLimit = 20 * time.Second
			if f.hangs {
				jobTimeLimit = 300 * time.Millisecond
			}
			i := slices.IndexFunc(all, func(l law) bool { return l.name == f.law })
			if i < 0 {
				t.Fatalf("no law %q", f.law)
			}
			err := all[i].check(f.open)
			if err == nil {
				t.Fatalf("%q does not see it", f.law)
			}
			t.Log(err)
			seen[f.law] = true
		})
	}
	for _, l := range all {
		if !seen[l.name] {
			t.Errorf("no fault is seen by %q", l.name)
		}
	}
}

// The faults are seen for what they are, not for how they are made: without one the same world
// keeps the laws.
func TestNoFault(t *testing.T) {
	TestWorld(t, new(fault).open)
	TestDeadlock(t, new(fault).open)
}
