package hw

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
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
	if _, ok := p.ports[dst].memory.Reach(k, off, len(b)); !ok {
		panic(fmt.Sprintf("hw: rank %d: remote access to %d bytes at %d of memory %#x of rank %d, which is not exposed", p.rank, len(b), off, k, dst))
	}
	x := p.spare
	if x == nil {
		x = new(access)
	} else {
		p.spare = x.next
	}
	*x = access{j: p.job, src: p.rank, dst: int32(dst), get: get, k: k, off: off, b: b, done: done}
	p.net.start(p, x)
}

// move carries the bytes over. Memory that was withdrawn meanwhile ends the job.
func (x *access) move() {
	there, ok := x.j.ports[x.dst].memory.Reach(x.k, x.off, len(x.b))
	switch {
	case !ok:
		x.j.kernel.Fail(fmt.Errorf("rank %d withdrew memory that rank %d was accessing", x.dst, x.src))
	case x.get:
		copy(x.b, there)
	default:
		copy(there, x.b)
	}
}

// finish tells the rank that asked. The access is over.
func (x *access) finish() {
	pk := x.j.newPacket(x.src, x.src, &x.done, nil)
	pk.local = true
	if x.j.record != nil {
		x.j.record.finishes(x, pk)
	}
	x.b = nil
	x.next, x.j.spare = x.j.spare, x
	pk.arrive()
}

// count adds to a register that serves one after the other for hold, a way there and a way back from here.
func (p *port) count(reg *sim.Server, there, hold, back unit.Time, dst, r int, delta int64) int64 {
	p.proc.Sleep(there)
	t := reg.Reserve(p.kernel.Now(), hold)
	if p.lane != nil {
		p.lane.counts(reg, t, hold)
	}
	c := &p.ports[dst].counters[r]
	old := *c
	*c += delta
	p.proc.Sleep(t - p.kernel.Now() + hold + back)
	p.catchUp()
	return old
}

func (p *port) Add(dst, r int, delta int64) int64 {
	p.check(dst)
	p.pay()
	return p.net.add(p, dst, r, delta)
}
