package loop

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/transport"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a rank. Its first fields are the rank's own; the others are open to all.
type port struct {
	*job
	transport.Base
	lentBuffer *buffer     // which the rank may still read
	delayTimer *time.Timer // for Delay; nil before the first

	inbox                              inbox
	exposed                            exposedMemory
	counters                           [device.CountersPerRank]atomic.Int64
	queues                             entryQueues
	signals                            signalState
	lanes                              [device.NumPriorities]lane
	datagrams                          datagramState
	ownArrivals                        uint64 // at the barrier
	broadcastsBegun, combinationsBegun int    // broadcasts and combinations of device.Control that the rank has begun
	delayed                            delayedOperations
	random                             faultRandom
}

func newPort(j *job, rank int) *port {
	p := &port{job: j, Base: transport.NewBase("loop", rank, len(j.ports), true, &j.failed, transport.PollIntervals{})}
	p.inbox.wakeCondition.L = &p.inbox.mu
	p.signals.handlerDone.L = &p.signals.mu
	for i := range p.lanes {
		p.lanes[i].refusedRanks = map[int]bool{}
	}
	p.random.generator = rand.New(rand.NewPCG(j.faults.Seed, uint64(rank)))
	return p
}

// Tier implements device.Port: goroutines share memory.
func (p *port) Tier(int) model.Tier { return model.IntraNode }

// maxSleepOverrun is how long a sleep may last beyond its end: the kernel's slack of 50 µs, and the
// way back to a processor.
const maxSleepOverrun = 200 * time.Microsecond

func (p *port) Delay(d unit.Time) {
	device.CheckDelay(d)
	p.ExitIfJobFailed()
	end := time.Now().Add(time.Duration(d.Nanoseconds()))
	if t := time.Until(end) - maxSleepOverrun; t > 0 {
		p.sleepFor(t)
	}
	for time.Now().Before(end) {
		runtime.Gosched()
	}
}

// sleepFor lasts about d.
func (p *port) sleepFor(d time.Duration) {
	if p.delayTimer == nil {
		p.delayTimer = time.NewTimer(d)
	} else {
		p.delayTimer.Reset(d)
	}
	select {
	case <-p.delayTimer.C:
	case <-p.stopped:
		p.ExitIfJobFailed()
	}
}

func (p *port) Send(dst int, q *device.Packet) {
	p.portOf(dst).inbox.enqueue(p.job, p.buffers.takeCopy(p.Rank(), &q.Head, q.Data))
}

// portOf returns the port of another rank. It ends the calling rank if the job has failed.
func (p *port) portOf(r int) *port {
	p.ExitIfJobFailed()
	p.CheckRank(r)
	return p.ports[r]
}

func (p *port) Recv(block bool) *device.Packet {
	p.ExitIfJobFailed()
	p.buffers.release(p.lentBuffer)
	if p.lentBuffer = p.inbox.dequeue(); p.lentBuffer == nil && block {
		p.lentBuffer = p.inbox.waitForPacket(p.job)
	}
	if p.lentBuffer == nil {
		p.ExitIfJobFailed() // the inbox was closed
		runtime.Gosched()   // a rank that polls lets others run, which is what it polls for
		return nil
	}
	return &p.lentBuffer.Packet
}

// NotifyExit implements device.Port.
func (p *port) NotifyExit(rank int, head device.Head) {
	note := exitNotice{p.Rank(), head}
	if q := p.portOf(rank); q != p && !q.inbox.addExitNotice(note) {
		q.sendExitNotice(note)
	}
}

// finish stops the rank from receiving, and sends the notices of its exit.
func (p *port) finish() {
	for _, note := range p.inbox.close() {
		p.sendExitNotice(note)
	}
	p.closeSignals()
	p.closeLanes()
}

// sendExitNotice sends a rank the notice that the program of this one has ended.
func (p *port) sendExitNotice(n exitNotice) {
	p.ports[n.rank].inbox.enqueue(p.job, p.buffers.takeCopy(p.Rank(), &n.head, nil))
}

// Memory implements device.Port, as do the others.
func (p *port) Memory() device.Memory     { return memory{p} }
func (p *port) Counters() device.Counters { return counter{p} }
func (p *port) Watch() device.Watch       { return watch{p} }
func (p *port) Queues() device.Queues     { return queue{p} }
func (p *port) Signal() device.Signal     { return signal{p} }
func (p *port) Channel() device.Channel   { return channel{p} }
func (p *port) Datagram() device.Datagram { return datagram{p} }
func (p *port) Barrier() device.Barrier   { return barrier{p} }
func (p *port) Control() device.Control   { return control{p} }
