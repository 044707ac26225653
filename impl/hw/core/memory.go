package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Access is a remote read or write in progress. Data moves when the last byte arrives.
type Access struct {
	J        *Job
	Net      Network // that carries it
	Src, Dst int32   // the rank that asked, and the one whose memory it is
	Get      bool
	key      device.Key
	off      int
	Bytes    []byte // at the rank that asked
	Done     device.Head
	Quiet    bool // its rank does not wait for its end
	refused  bool
	words    [device.MaxWords * 8]byte // its bytes, if it is quiet
	taken    *Packet                   // that has them if they are more; or nil
	Wire     Wire
	next     *Access // in the list of those to use again
}

// Memory implements device.Port.
func (p *Port) Memory() device.Memory {
	if !p.remote {
		return nil
	}
	return p
}

// Counter implements device.Port.
func (p *Port) Counter() device.Counter {
	if !p.Job.counters {
		return nil
	}
	return p
}

// Expose implements device.Memory, as do the others.
func (p *Port) Expose(b []byte) device.Key {
	p.Settle()
	return p.memory.Expose(b)
}

// Withdraw implements device.Memory.
func (p *Port) Withdraw(k device.Key) {
	p.Settle()
	if !p.memory.Withdraw(k) {
		panic(fmt.Sprintf("hw: withdraw of memory %#x that rank %d does not expose", k, p.ID))
	}
}

// Put implements device.Memory.
func (p *Port) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	p.access(dst, k, off, b, done, false)
}

// Get implements device.Memory.
func (p *Port) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	p.access(dst, k, off, b, done, true)
}

// MostTaken implements device.Taker: systems copy what they send.
func (p *Port) MostTaken() int {
	if r, ok := p.far.(Remote); ok {
		return r.Limit()
	}
	return 8 * device.MaxWords
}

func (p *Port) access(dst int, k device.Key, off int, b []byte, done device.Head, get bool) {
	p.check(dst)
	p.Settle()
	x := p.spare
	if x == nil {
		x = new(Access)
	} else {
		p.spare = x.next
	}
	*x = Access{J: p.Job, Net: p.network(dst), Src: p.ID, Dst: int32(dst), Get: get, key: k, off: off, Bytes: b, Done: done}
	if !get && done == device.NoCompletion {
		x.Quiet = true
		switch most := p.MostTaken(); {
		case len(b) > most:
			panic(fmt.Sprintf("hw: put of %d bytes without a completion: %d at most", len(b), most))
		case len(b) > len(x.words):
			x.taken = p.newPacket(p.ID, p.ID, &done, b)
			x.Bytes = x.taken.Data
		default:
			x.Bytes = x.words[:copy(x.words[:], b)]
		}
	}
	x.Net.Start(p, x)
}

// Move carries the bytes over. An access to memory that is not exposed is refused when it gets
// there.
func (x *Access) Move() {
	p := &x.J.Ports[x.Dst]
	there, ok := p.memory.Reach(x.key, x.off, len(x.Bytes))
	switch {
	case !ok:
		x.refused = true
	case x.Get:
		copy(x.Bytes, there)
	default:
		copy(there, x.Bytes)
		p.events++
		p.concern()
	}
}

// Unawaited reports whether an access that has moved is over because no rank is to be notified of
// its completion.
func (x *Access) Unawaited() bool { return x.Quiet && !x.refused }

// Finish notifies the rank that started the access, which is then complete.
func (x *Access) Finish() {
	var pk *Packet
	if !x.Unawaited() {
		pk = x.J.newPacket(x.Src, x.Src, &x.Done, nil)
		pk.local, pk.Refused = true, x.refused
	}
	x.J.Probe.Finishes(x, pk)
	x.Bytes = nil
	if x.taken != nil {
		x.J.Release(x.taken)
		x.taken = nil
	}
	x.next, x.J.spare = x.J.spare, x
	if pk != nil {
		pk.Arrive()
	}
}

// Change is an update of a register: it is set to a value, or the value is added to it.
type Change struct {
	swap  bool
	value int64
}

// Add implements device.Counter.
func (p *Port) Add(dst, r int, delta int64) int64 { return p.register(dst, r, Change{value: delta}) }

// Swap implements device.Counter.
func (p *Port) Swap(dst, r int, value int64) int64 { return p.register(dst, r, Change{true, value}) }

func (p *Port) register(dst, r int, c Change) int64 {
	p.check(dst)
	p.Pay()
	return p.network(dst).Count(p, dst, r, c)
}

// Change changes a register of a rank at once and returns what was there.
func (p *Port) Change(dst, r int, c Change) int64 {
	q := &p.Ports[dst]
	old := q.counters[r]
	if q.counters[r] += c.value; c.swap {
		q.counters[r] = c.value
	}
	q.concern()
	return old
}
