package mbcf

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// interleaved is a world in which ranks take turns and transfers take effect at random times, but
// in the order of their pair of ranks. So one seed is one order of all that happens, and unusual
// orders are as frequent as others.
type interleaved struct {
	rnd   *rand.Rand
	ports []*turnPort
	ways  [][]func() // transfers under way, by pair of ranks
}

func newInterleaved(seed uint64, ranks int) *interleaved {
	return &interleaved{rnd: rand.New(rand.NewPCG(seed, 1)), ports: make([]*turnPort, ranks), ways: make([][]func(), ranks*ranks)}
}

// turnPort is a rank of it.
type turnPort struct {
	device.NoCapabilities
	w        *interleaved
	rank     int
	give     func() bool // the turn, back to the world; false: the job has ended
	next     func() (struct{}, bool)
	stop     func()
	ready    func() bool // what the rank waits for; nil: nothing
	ended    bool
	events   uint64
	inbox    []*device.Packet
	memory   device.Regions
	rings    []*turnRing
	handler  func(int, device.Head)
	masked   bool
	waiting  []func() // signals
	handling bool
	time     unit.Time
}

type turnRing struct {
	size, used int
	entries    []*device.Packet
	refusing   bool // of the only writer
}

// Run implements device.World.
func (w *interleaved) Run(program func(device.Port) error) (err error) {
	for i := range w.ports {
		p := &turnPort{w: w, rank: i}
		w.ports[i] = p
		p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
			p.give = func() bool { return yield(struct{}{}) }
			if e := program(p); e != nil && err == nil {
				err = e
			}
			p.ended = true
		})
	}
	defer func() {
		for _, p := range w.ports {
			func() { // a rank that is stopped where it waits panics
				defer func() { _ = recover() }()
				p.stop()
			}()
		}
	}()
	for err == nil {
		var may []func()
		for _, p := range w.ports {
			if !p.ended && (p.ready == nil || p.ready()) {
				may = append(may, func() { p.ready = nil; p.next() })
			}
		}
		for i, way := range w.ways {
			if len(way) > 0 {
				may = append(may, func() { w.ways[i] = way[1:]; way[0]() })
			}
		}
		if len(may) == 0 {
			break
		}
		may[w.rnd.IntN(len(may))]()
	}
	for i, p := range w.ports {
		if err == nil && !p.ended {
			err = fmt.Errorf("rank %d waits and nothing is under way", i)
		}
	}
	return err
}

type stopped struct{}

// wait gives the turn away until ready.
func (p *turnPort) wait(ready func() bool) {
	p.ready = ready
	if !p.give() {
		panic(stopped{})
	}
}

// pause sometimes gives the turn away.
func (p *turnPort) pause() {
	if !p.handling && p.w.rnd.IntN(3) == 0 {
		p.wait(nil)
	}
}

// later lets something take effect at another rank.
func (p *turnPort) later(dst int, what func(q *turnPort)) {
	way := &p.w.ways[p.rank*len(p.w.ports)+dst]
	*way = append(*way, func() { what(p.w.ports[dst]) })
	p.pause()
}

func (p *turnPort) take(q *device.Packet) { p.inbox = append(p.inbox, q); p.events++ }

func (p *turnPort) Rank() int                          { return p.rank }
func (p *turnPort) Size() int                          { return len(p.w.ports) }
func (p *turnPort) Tier(int) model.Tier                { return model.IntraNode }
func (p *turnPort) Node() string                       { return "one" }
func (p *turnPort) Now() unit.Time                     { p.time++; return p.time }
func (p *turnPort) Tick() unit.Time                    { return 1 }
func (p *turnPort) Spend(model.CostKey, int)           {}
func (p *turnPort) Delay(unit.Time)                    { p.pause() }
func (p *turnPort) Copy(dst, src []byte) int           { return copy(dst, src) }
func (p *turnPort) ChargeOperations(int)               {}
func (p *turnPort) NotifyExit(rank int, h device.Head) {}
func (p *turnPort) Memory() device.Memory              { return turnMemory{p} }
func (p *turnPort) Queues() device.Queues              { return turnQueue{p} }
func (p *turnPort) Watch() device.Watch                { return turnWatch{p} }
func (p *turnPort) Signal() device.Signal              { return turnSignal{p} }
func (p *turnPort) Send(dst int, q *device.Packet) {
	x := &device.Packet{Src: p.rank, Head: q.Head, Data: append([]byte(nil), q.Data...)}
	p.later(dst, func(to *turnPort) { to.take(x) })
}

func (p *turnPort) Recv(block bool) *device.Packet {
	if block {
		p.wait(func() bool { return len(p.inbox) > 0 })
	} else if p.pause(); len(p.inbox) == 0 {
		return nil
	}
	q := p.inbox[0]
	p.inbox = p.inbox[1:]
	return q
}

type turnMemory struct{ *turnPort }

func (m turnMemory) Expose(b []byte) device.Key { return m.memory.Expose(b) }
func (m turnMemory) Withdraw(k device.Key)      { m.memory.Withdraw(k) }
func (m turnMemory) Get(int, device.Key, int, []byte, device.Head) {
	panic("no engine of this package gets")
}

func (m turnMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.later(dst, func(q *turnPort) {
		there, ok := q.memory.Access(k, off, len(b))
		copy(there, b)
		q.events++
		m.take(&device.Packet{Src: m.rank, Head: done, Refused: !ok})
	})
}

type turnWatch struct{ *turnPort }

func (w turnWatch) EventCount() uint64 { return w.events }
func (w turnWatch) WaitForEvent(seen uint64, _ unit.Time) bool {
	w.wait(func() bool { return w.events > seen })
	return true
}

func (w turnWatch) LoadWord(k device.Key, off int) uint64 {
	w.pause()
	b, ok := w.memory.Access(k, off, 8)
	if !ok {
		panic("load of what is not exposed")
	}
	return native.Uint64(b)
}

type turnQueue struct{ *turnPort }

func (turnQueue) MaxEntryBytes() int { return 200 }
func (q turnQueue) Create(size int) device.Key {
	q.rings = append(q.rings, &turnRing{size: size})
	return device.Key(len(q.rings) - 1)
}
func (q turnQueue) Destroy(device.Key) {}

func (q turnQueue) Enqueue(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
	x := &device.Packet{Src: q.rank, Data: append([]byte(nil), b...)}
	q.later(dst, func(to *turnPort) {
		r := to.rings[k]
		n := len(b) + device.EntryOverhead
		r.refusing = r.used+n > r.size || r.refusing && flags&device.RetryAfterRefusal == 0
		if !r.refusing {
			r.used += n
			r.entries = append(r.entries, x)
		}
		to.events++
		if r.refusing || flags&device.CompleteOnlyIfRefused == 0 {
			q.take(&device.Packet{Src: q.rank, Head: done, Refused: r.refusing})
		}
	})
}

func (q turnQueue) First(k device.Key) *device.Packet {
	q.pause()
	if r := q.rings[k]; len(r.entries) > 0 {
		return r.entries[0]
	}
	return nil
}

func (q turnQueue) IsRefusing(k device.Key) bool { return q.rings[k].refusing }

func (q turnQueue) RemoveFirst(k device.Key) {
	r := q.rings[k]
	r.used -= len(r.entries[0].Data) + device.EntryOverhead
	r.entries = r.entries[1:]
}

type turnSignal struct{ *turnPort }

func (s turnSignal) SetHandler(h func(int, device.Head)) { s.handler = h }
func (s turnSignal) RaiseAt(dst int, h device.Head) {
	s.later(dst, func(q *turnPort) {
		q.waiting = append(q.waiting, func() { q.handler(s.rank, h); q.events++ })
		q.signals()
	})
}

func (s turnSignal) Mask(on bool) { s.masked = on; s.signals() }

func (p *turnPort) signals() {
	for !p.masked && p.handler != nil && len(p.waiting) > 0 {
		next := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.handling = true
		next()
		p.handling = false
	}
}
