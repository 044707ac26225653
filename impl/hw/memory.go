package hw

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model/unit"
)

// region is memory that a rank has exposed. Its key is its index and, above 32 bits, how often the index was used.
type region struct {
	b     []byte
	use   uint32
	valid bool
}

// access is a remote read or write under way. Data moves when the last byte arrives.
type access struct {
	j        *job
	src, dst int32 // who asked, whose memory
	get      bool
	k        device.Key
	off      int
	b        []byte
	done     [device.Words]uint64
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

func (p *port) Expose(b []byte) device.Key {
	for i := range p.memory {
		if r := &p.memory[i]; !r.valid {
			*r = region{b, r.use + 1, true}
			return device.Key(r.use)<<32 | device.Key(i)
		}
	}
	p.memory = append(p.memory, region{b, 0, true})
	return device.Key(len(p.memory) - 1)
}

func (p *port) Withdraw(k device.Key) {
	r := p.region(k)
	if r == nil {
		panic(fmt.Sprintf("hw: withdraw of memory %#x that rank %d does not expose", k, p.rank))
	}
	*r = region{use: r.use}
}

// region returns what a key names, or nil.
func (p *port) region(k device.Key) *region {
	i := k & 0xffffffff
	if i >= device.Key(len(p.memory)) || !p.memory[i].valid || p.memory[i].use != uint32(k>>32) {
		return nil
	}
	return &p.memory[i]
}

func (p *port) Put(dst int, k device.Key, off int, b []byte, done [device.Words]uint64) {
	p.begin(dst, k, off, b, done, false)
}

func (p *port) Get(dst int, k device.Key, off int, b []byte, done [device.Words]uint64) {
	p.begin(dst, k, off, b, done, true)
}

func (p *port) begin(dst int, k device.Key, off int, b []byte, done [device.Words]uint64, get bool) {
	p.check(dst)
	r := p.ports[dst].region(k)
	if r == nil || off < 0 || off > len(r.b) || len(b) > len(r.b)-off {
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
	r := x.j.ports[x.dst].region(x.k)
	switch {
	case r == nil:
		x.j.kernel.Fail(fmt.Errorf("rank %d withdrew memory that rank %d was accessing", x.dst, x.src))
	case x.get:
		copy(x.b, r.b[x.off:])
	default:
		copy(r.b[x.off:], x.b)
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
