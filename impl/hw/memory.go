package hw

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// access is a remote read or write under way. Data moves when the last byte arrives.
type access struct {
	j        *job
	src, dst int32 // who asked, whose memory
	get      bool
	k        device.Key
	off      int
	b        []byte
	done     device.Head
	refused  bool
	wire     wire
	next     *access // in the list of those to use again
}

// Memory implements device.Port.
func (p *port) Memory() device.Memory {
	if !p.remote {
		return nil
	}
	return p
}

// Counter implements device.Port.
func (p *port) Counter() device.Counter {
	if !p.remote {
		return nil
	}
	return p
}

func (p *port) Expose(b []byte) device.Key { return p.memory.Expose(b) }

func (p *port) Withdraw(k device.Key) {
	if !p.memory.Withdraw(k) {
		panic(fmt.Sprintf("hw: withdraw of memory %#x that rank %d does not expose", k, p.rank))
	}
}

func (p *port) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	p.begin(dst, k, off, b, done, false)
}

func (p *port) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	p.begin(dst, k, off, b, done, true)
}

func (p *port) begin(dst int, k device.Key, off int, b []byte, done device.Head, get bool) {
	p.check(dst)
	x := p.spare
	if x == nil {
		x = new(access)
	} else {
		p.spare = x.next
	}
	*x = access{j: p.job, src: p.rank, dst: int32(dst), get: get, k: k, off: off, b: b, done: done}
	p.net.start(p, x)
}

// move carries the bytes over. An access to memory that is not exposed is refused when it gets there.
func (x *access) move() {
	there, ok := x.j.ports[x.dst].memory.Reach(x.k, x.off, len(x.b))
	switch {
	case !ok:
		x.refused = true
	case x.get:
		copy(x.b, there)
	default:
		copy(there, x.b)
	}
}

// finish tells the rank that asked. The access is over.
func (x *access) finish() {
	pk := x.j.newPacket(x.src, x.src, &x.done, nil)
	pk.local, pk.Refused = true, x.refused
	x.j.probe.finishes(x, pk)
	x.b = nil
	x.next, x.j.spare = x.j.spare, x
	pk.arrive()
}

// count changes a register that serves one after the other for hold, a way there and a way back from here.
func (p *port) count(reg *sim.Server, there, hold, back unit.Time, dst, r int, c change) int64 {
	p.proc.Sleep(there)
	t := reg.Reserve(p.kernel.Now(), hold)
	p.probe.takes(reg, "counter", model.Carrying, t, hold, 0)
	old := c.make(&p.ports[dst].counters[r])
	p.proc.Sleep(t - p.kernel.Now() + hold + back)
	p.catchUp()
	return old
}

// change is what becomes of a register: it gets a value, or the value is added.
type change struct {
	swap  bool
	value int64
}

// make changes the register and returns what was there.
func (c change) make(reg *int64) int64 {
	old := *reg
	if *reg += c.value; c.swap {
		*reg = c.value
	}
	return old
}

func (p *port) Add(dst, r int, delta int64) int64  { return p.change(dst, r, change{value: delta}) }
func (p *port) Swap(dst, r int, value int64) int64 { return p.change(dst, r, change{true, value}) }

func (p *port) change(dst, r int, c change) int64 {
	p.check(dst)
	p.pay()
	return p.net.count(p, dst, r, c)
}
