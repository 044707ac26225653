package loop

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a rank. Its first fields are the rank's own; the others are open to all.
type port struct {
	*job
	rank  int
	held  *buffer     // which the rank may still read
	alarm *time.Timer // for Delay; nil before the first

	inbox               inbox
	exposed             exposed
	counters            [device.Counters]atomic.Int64
	rings               rings
	handlers            handlers
	lanes               [device.NumPriorities]lane
	datagrams           datagrams
	arrivals            uint64 // at the barrier
	heard, combinations int    // of device.Control: broadcasts and combinations that the rank has begun
	transfers           transfers
	dice                dice
}

func newPort(j *job, rank int) *port {
	p := &port{job: j, rank: rank}
	p.inbox.awake.L = &p.inbox.mu
	p.handlers.idle.L = &p.handlers.mu
	for i := range p.lanes {
		p.lanes[i].refused = map[int]bool{}
	}
	p.dice.rnd = rand.New(rand.NewPCG(j.faults.Seed, uint64(rank)))
	return p
}

func (p *port) Rank() int { return p.rank }
func (p *port) Size() int { return len(p.ports) }

// Tier implements device.Port: goroutines share memory.
func (p *port) Tier(int) model.Tier { return model.Intra }

// Node implements device.Port, and Tick does.
func (p *port) Node() string { return host.Name() }

func (p *port) Tick() unit.Time {
	resolution, _ := host.ClockStepAndCost()
	return resolution
}

func (p *port) Now() unit.Time { return unit.Time(time.Since(p.start)) * unit.Nanosecond }

func (p *port) Spend(model.CostKey, int) {}

// RealTime implements device.RealTime.
func (p *port) RealTime() {}

func (p *port) Copy(dst, src []byte) int { return copy(dst, src) }
func (p *port) Operate(int)              {}

// oversleep is how long a sleep may last beyond its end: the kernel's slack of 50 µs, and the way
// back to a processor.
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
	p.reach(dst).inbox.put(p.job, p.buffers.pack(p.rank, &q.Head, q.Data))
}

// reach returns the port of another rank. It ends the calling rank if the job has failed.
func (p *port) reach(r int) *port {
	p.leave()
	if r < 0 || r >= len(p.ports) {
		panic(fmt.Sprintf("loop: no rank %d among %d", r, len(p.ports)))
	}
	return p.ports[r]
}

func (p *port) Recv(block bool) *device.Packet {
	p.leave()
	p.buffers.free(p.held)
	if p.held = p.inbox.take(); p.held == nil && block {
		p.held = p.inbox.wait(p.job)
	}
	if p.held == nil {
		p.leave()         // the inbox was closed
		runtime.Gosched() // a rank that polls lets others run, which is what it polls for
		return nil
	}
	return &p.held.Packet
}

// NotifyExit implements device.Port.
func (p *port) NotifyExit(rank int, head device.Head) {
	note := exitNote{p.rank, head}
	if q := p.reach(rank); q != p && !q.inbox.notify(note) {
		q.sendExit(note)
	}
}

// end lets the rank receive nothing any more, and tells those who asked to hear of it.
func (p *port) end() {
	for _, note := range p.inbox.close() {
		p.sendExit(note)
	}
	p.closeSignals()
	p.closeLanes()
}

// sendExit tells a rank that the program of this one has ended.
func (p *port) sendExit(n exitNote) {
	p.ports[n.rank].inbox.put(p.job, p.buffers.pack(p.rank, &n.head, nil))
}

// Memory implements device.Port, as do the others.
func (p *port) Memory() device.Memory     { return memory{p} }
func (p *port) Counter() device.Counter   { return counter{p} }
func (p *port) Watch() device.Watch       { return watch{p} }
func (p *port) Queue() device.Queue       { return queue{p} }
func (p *port) Signal() device.Signal     { return signal{p} }
func (p *port) Channel() device.Channel   { return channel{p} }
func (p *port) Datagram() device.Datagram { return datagram{p} }
func (p *port) Barrier() device.Barrier   { return barrier{p} }
func (p *port) Control() device.Control   { return control{p} }
