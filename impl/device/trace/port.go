package trace

import (
	"slices"
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a port that notes what passes through it.
type port struct {
	device.Port
	engine     *model.Engine
	memory     memory
	nodeMemory memory
	counter    counter
	mutex      sync.Mutex // handlers of signals run beside the rank's program
	events     []Event
	started    []device.Head // remote accesses and reported sends that have not ended
}

// appendEvent adds an event that has just ended.
func (p *port) appendEvent(e Event) {
	e.Rank, e.To = p.Rank(), p.Now()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.events = append(p.events, e)
}

func (p *port) Spend(w model.CostKey, n int) {
	from := p.Now()
	p.Port.Spend(w, n)
	p.appendEvent(Event{Kind: Spend, From: from, Work: p.engine.Cost(w).Key, Amount: n})
}

func (p *port) Delay(d unit.Time) {
	from := p.Now()
	p.Port.Delay(d)
	p.appendEvent(Event{Kind: Delay, From: from})
}

func (p *port) Copy(dst, src []byte) int {
	from := p.Now()
	n := p.Port.Copy(dst, src)
	p.appendEvent(Event{Kind: Copy, From: from, Amount: n})
	return n
}

func (p *port) Send(dst int, q *device.Packet) {
	from := p.Now()
	p.Port.Send(dst, q)
	p.appendEvent(Event{Kind: Send, From: from, Peer: dst, Head: q.Head, Amount: len(q.Data)})
}

// RanksAreSerialized implements device.SerializedPort.
func (p *port) RanksAreSerialized() bool { return device.RanksAreSerialized(p.Port) }

// CompletesSends implements device.SendCompleter if the wrapped port does, as does
// SendWithCompletion.
func (p *port) CompletesSends(dst, n int) bool {
	r, ok := p.Port.(device.SendCompleter)
	return ok && r.CompletesSends(dst, n)
}

func (p *port) SendWithCompletion(dst int, q *device.Packet, done device.Head) {
	from := p.Now()
	p.start(done)
	p.Port.(device.SendCompleter).SendWithCompletion(dst, q, done)
	p.appendEvent(Event{Kind: Send, From: from, Peer: dst, Head: q.Head, Amount: len(q.Data)})
}

func (p *port) Recv(block bool) *device.Packet {
	from := p.Now()
	q := p.Port.Recv(block)
	if q != nil {
		p.appendEvent(Event{Kind: p.arrivalTime(q), From: from, Peer: q.Src, Head: q.Head, Amount: len(q.Data)})
	}
	return q
}

// AwaitPacket implements device.TimedWaiter.
func (p *port) AwaitPacket(deadline unit.Time) { device.AwaitPacket(p.Port, deadline) }

// arrivalTime tells the end of a remote access from a packet.
func (p *port) arrivalTime(q *device.Packet) Kind {
	if q.Src != p.Rank() || len(q.Data) > 0 {
		return Recv
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	i := slices.Index(p.started, q.Head)
	if i < 0 {
		return Recv
	}
	p.started = slices.Delete(p.started, i, i+1)
	return Done
}

// Memory implements device.Port.
func (p *port) Memory() device.Memory {
	if p.memory.Memory == nil {
		return nil
	}
	return &p.memory
}

// NodeMemory implements device.NodeMemoryPort.
func (p *port) NodeMemory() device.Memory {
	if p.nodeMemory.Memory == nil {
		return nil
	}
	return &p.nodeMemory
}

// Counters implements device.Port.
func (p *port) Counters() device.Counters {
	if p.counter.Counters == nil {
		return nil
	}
	return &p.counter
}

// memory is remote memory whose accesses are noted.
type memory struct {
	device.Memory
	*port
}

// MaxPutWithoutCompletion implements device.PutWithoutCompletionLimiter.
func (m *memory) MaxPutWithoutCompletion() int { return device.MaxPutWithoutCompletion(m.Memory) }

func (m *memory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	from := m.Now()
	if done != device.NoCompletion {
		m.start(done)
	}
	m.Memory.Put(dst, k, off, b, done)
	m.appendEvent(Event{Kind: Put, From: from, Peer: dst, Head: done, Amount: len(b)})
}

func (m *memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	from := m.Now()
	m.start(done)
	m.Memory.Get(dst, k, off, b, done)
	m.appendEvent(Event{Kind: Get, From: from, Peer: dst, Head: done, Amount: len(b)})
}

// HasAtomics implements device.AtomicMemory, as do the methods below.
func (m *memory) HasAtomics() bool { return device.Atomics(m.Memory) != nil }

// FetchAndAddWord implements device.AtomicMemory.
func (m *memory) FetchAndAddWord(dst int, k device.Key, off int, delta uint64) (uint64, bool) {
	from := m.Now()
	old, refused := device.Atomics(m.Memory).FetchAndAddWord(dst, k, off, delta)
	m.appendEvent(Event{Kind: FetchAndAdd, From: from, Peer: dst, Amount: int(delta)})
	return old, refused
}

// CompareAndSwapWord implements device.AtomicMemory.
func (m *memory) CompareAndSwapWord(dst int, k device.Key, off int, compare, value uint64) (uint64, bool) {
	from := m.Now()
	old, refused := device.Atomics(m.Memory).CompareAndSwapWord(dst, k, off, compare, value)
	m.appendEvent(Event{Kind: CompareAndSwap, From: from, Peer: dst, Amount: int(value)})
	return old, refused
}

// start keeps the head of an access that will end.
func (p *port) start(done device.Head) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.started = append(p.started, done)
}

// counter is a set of counters whose use is noted.
type counter struct {
	device.Counters
	*port
}

func (c *counter) FetchAndStoreRegister(dst, r int, value int64) int64 {
	from := c.Now()
	was := c.Counters.FetchAndStoreRegister(dst, r, value)
	c.appendEvent(Event{Kind: FetchAndStore, From: from, Peer: dst, Amount: int(value)})
	return was
}

func (c *counter) FetchAndAddRegister(dst, r int, delta int64) int64 {
	from := c.Now()
	was := c.Counters.FetchAndAddRegister(dst, r, delta)
	c.appendEvent(Event{Kind: FetchAndAdd, From: from, Peer: dst, Amount: int(delta)})
	return was
}
