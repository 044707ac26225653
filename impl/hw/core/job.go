// Package core has what emulated networks share: the processors of a job with their clocks, the
// packets and remote accesses between them, and the probe that observes a run.
//
// A Job is one run of a machine. Each rank has a Port, its processor with the network interface,
// which implements device.Port. Port.Send passes a packet to a Network, which charges the processor
// and schedules events, the last of which puts the packet into the receiver's inbox. A Network does
// not know the rest of the machine. Optional interfaces, such as PolledNetwork, are capabilities of
// networks. SwitchedNetwork sends chunks through outputs of switches.
//
// A rank runs ahead of the kernel's clock: charged work that no other rank can observe only
// advances the processor's own clock (Port.Clock). The kernel's clock catches up
// (Port.ElapseCharges) when the rank must observe others. Each use of shared hardware is an event
// at its own time, so the order on a wire does not depend on which rank ran first. A waiting rank
// is parked in one of the process states. A rank that polls at no cost is throttled, so that time
// passes.
package core

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Config configures a job.
type Config struct {
	Machine *model.Machine
	Library *model.Library // nil: software costs nothing
	Ranks   int
	Seed    uint64
	Noise   float64 // relative standard deviation of every processor step
	Probe   Probe   // nil: the run is not observed

	// Statistics are pointers to counters. Each network fills in the counters of its type.
	Statistics []any
}

// Job is one run of an emulated machine.
type Job struct {
	Config
	Kernel sim.Kernel
	Ports  []Port // by rank

	program              func(device.Port) error
	softwareCosts        [model.MaxCosts]unit.Time
	hasRemoteMemory      bool       // processors can access each other's memory,
	hasCounters          bool       // and each other's counters,
	hasQueuesAndSignals  bool       // and each other's queues, and run handlers at each other
	hasWatch             bool       // ranks can wait for events
	copyRate             CachedRate // of a processor that copies
	fileSystem           sim.Server // the file system
	barrierRanksArrived  int        // ranks that wait at the hardware barrier
	barriersReleased     uint64     // number of releases of the barrier
	controlNetwork       controlNetworkState
	consecutiveIdlePolls int // unsuccessful polls of all ranks since any rank did something else
	freePackets          *Packet
	freeAccesses         *RemoteAccess
	freeEntries          *QueueEntry
	exitNoticeRequests   map[int32][]exitNoticeRequest
}

// NewJob returns a job whose ports have no networks.
func NewJob(cfg Config) *Job {
	m := cfg.Machine
	j := &Job{Config: cfg, Ports: make([]Port, cfg.Ranks), hasRemoteMemory: m.HasRemoteMemory(), hasWatch: m.HasRemoteMemory(), hasCounters: m.HasCounters(), copyRate: CachedRate{Rate: m.Processor.Copy.Bandwidth}}
	if cfg.Library != nil {
		j.softwareCosts = cfg.Library.Software
	}
	for i := range j.Ports {
		p := &j.Ports[i]
		p.Job, p.ID, p.noise = j, int32(i), NewNoise(cfg.Seed, i, cfg.Noise)
		p.currentProc = &p.programProc
	}
	if j.Probe == nil {
		j.Probe = NullProbe
	}
	j.Probe.BeginRun(j)
	return j
}

// Run runs the program on all ranks, as device.World says. The networks must be attached.
func (j *Job) Run(ctx context.Context, program func(device.Port) error) error {
	j.program = program
	j.Kernel.ReserveProcs(len(j.Ports))
	for i := range j.Ports {
		p := &j.Ports[i]
		j.Kernel.Start(p.currentProc, p)
	}
	defer j.Kernel.Close()
	err := j.Kernel.Run(ctx)
	switch {
	case errors.Is(err, sim.ErrTooLate):
		return j.lateClockError()
	case !errors.Is(err, sim.ErrStalled):
		return err
	}
	d := &device.Deadlock{TotalRanks: len(j.Ports)}
	for i := range j.Ports {
		if p := &j.Ports[i]; p.isWaiting() || p.lastPollFoundNothing && !p.hasProgramEnded {
			d.Ranks = append(d.Ranks, i)
		}
	}
	return d
}

// lateClockError returns the error for an event after the latest time. It names the rank with the
// latest clock. A clock that has overflowed is negative.
func (j *Job) lateClockError() error {
	latest := &j.Ports[0]
	for i := range j.Ports {
		if p := &j.Ports[i]; uint64(p.Clock) > uint64(latest.Clock) {
			latest = p
		}
	}
	return &device.ClockError{Rank: int(latest.ID), Latest: sim.Latest}
}

// RunBody implements sim.Body. It runs the program of the rank.
func (p *Port) RunBody() {
	returned := false
	defer func() {
		switch v := recover(); {
		case returned:
		case v == nil:
			p.Kernel.Fail(fmt.Errorf("rank %d ended its goroutine without returning: its program called runtime.Goexit, as t.FailNow does", p.ID))
		case sim.IsUnwind(v):
			panic(v)
		default:
			if f, ok := v.(*device.Failure); ok { // of AwaitPackets
				p.Kernel.Fail(f)
				return
			}
			p.Kernel.Fail(&device.Failure{Rank: int(p.ID), Value: v, Stack: debug.Stack()})
		}
	}()
	if err := p.program(p.Probe.WrapPort(p)); err != nil {
		p.Kernel.Fail(err)
	}
	p.finishProgram()
	returned = true
}
