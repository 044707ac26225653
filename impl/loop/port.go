package loop

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a rank. Its first fields are the rank's own; inbox, exposed and counters are open to others.
type port struct {
	*job
	rank  int
	held  *parcel     // which the rank may still read
	alarm *time.Timer // for Delay; nil before the first

	inbox    inbox
	exposed  exposed
	counters [device.Counters]atomic.Int64
}

func newPort(j *job, rank int) *port {
	p := &port{job: j, rank: rank}
	p.inbox.awake.L = &p.inbox.mu
	return p
}

func (p *port) Rank() int { return p.rank }
func (p *port) Size() int { return len(p.ports) }

// Tier implements device.Port: goroutines share memory.
func (p *port) Tier(int) model.Tier { return model.Intra }

// Node implements device.Port, and Tick does.
func (p *port) Node() string { return machine.Host() }

func (p *port) Tick() unit.Time {
	resolution, _ := machine.Timer()
	return resolution
}

func (p *port) Now() unit.Time { return unit.Time(time.Since(p.start)) * unit.Nanosecond }

func (p *port) Spend(model.CostKey, int) {}

// RealTime implements device.RealTime.
func (p *port) RealTime() {}

func (p *port) Copy(dst, src []byte) int { return copy(dst, src) }

// oversleep is how long a sleep may last beyond its end: the kernel's slack of 50 µs, and the way back to a processor.
const oversleep = 200 * time.Microsecond

func (p *port) Delay(d unit.Time) {
	p.leave()
	end := time.Now().Add(time.Duration((d + unit.Nanosecond - 1) / unit.Nanosecond))
	if t := time.Until(end) - oversleep; t > 0 {
		p.sleep(t)
	}
	for time.Now().Before(end) {
		runtime.Gosched()
	}
}

// sleep lasts about d.
func (p *port) sleep(d time.Duration) {
	if p.alarm == nil {
		p.alarm = time.NewTimer(d)
	} else {
		p.alarm.Reset(d)
	}
	select {
	case <-p.alarm.C:
	case <-p.stop:
		p.leave()
	}
}

func (p *port) Send(dst int, q *device.Packet) {
	p.leave()
	p.peer(dst).inbox.put(p.job, p.parcels.pack(p.rank, q))
}

// peer returns the port of another rank.
func (p *port) peer(r int) *port {
	if r < 0 || r >= len(p.ports) {
		panic(fmt.Sprintf("loop: no rank %d among %d", r, len(p.ports)))
	}
	return p.ports[r]
}

func (p *port) Recv(block bool) *device.Packet {
	p.leave()
	if p.held != nil {
		p.parcels.free(p.held)
		p.held = nil
	}
	q := p.inbox.take()
	if q == nil && block {
		q = p.inbox.wait(p.job)
	}
	if q == nil {
		p.leave()         // the inbox was closed
		runtime.Gosched() // who polls lets others run, which is what it polls for
		return nil
	}
	p.held = q
	return &q.Packet
}

// NotifyExit implements device.Port.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.leave()
	if q := p.peer(rank); q != p && !q.inbox.mourn(mourner{p.rank, head}) {
		q.farewell(mourner{p.rank, head})
	}
}

// end lets nobody send to the rank any more, and tells those who asked to hear of it.
func (p *port) end() {
	for _, m := range p.inbox.close() {
		p.farewell(m)
	}
}

// farewell tells a rank that this one has ended.
func (p *port) farewell(m mourner) {
	p.peer(m.rank).inbox.put(p.job, p.parcels.pack(p.rank, &device.Packet{Head: m.head}))
}

func (p *port) Memory() device.Memory   { return memory{p} }
func (p *port) Counter() device.Counter { return counter{p} }

type counter struct{ *port }

func (c counter) Add(dst, r int, delta int64) int64 {
	c.leave()
	return c.peer(dst).counters[r].Add(delta) - delta
}

func (c counter) Swap(dst, r int, value int64) int64 {
	c.leave()
	return c.peer(dst).counters[r].Swap(value)
}
