// Package hw emulates machines below the LogGP level: processors that spend time on what they do, interfaces that start
// transfers, wires that are busy, memories that are read and written from afar. Its worlds keep the promises of
// device.Port in virtual time.
//
// A port runs ahead of the kernel's clock by its debt: work that it has been charged and that nobody else can see. The debt is
// paid when the rank must see what others did. Whatever touches shared hardware is an event at its own time, so the order of
// things on a wire never depends on which rank ran first.
//
// A network is one file and a line of builder. It says what ranks see of it. Where that is the processor's own port, it says what a send, a receive,
// a remote access and a counter cost, and where they queue; else it has ports of its own.
package hw

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Config says what to emulate. The software is charged at the costs of Library; a nil library costs nothing.
type Config struct {
	Machine *model.Machine
	Library *model.Library
	Ranks   int
	Seed    uint64
	Noise   float64         // relative standard deviation of every processor step; 0: none
	Context context.Context // ends a run early; nil: never
	Record  *Recorder       // records runs; nil: runs are not observed

	// Ethernet is filled in with what is on the medium in a run, if the machine has one; nil: nobody counts.
	Ethernet *EthernetStatistics
}

// World is an emulated machine.
type World struct {
	cfg  Config
	soft [model.MaxCosts]unit.Time
}

// New returns the machine as a world. A number of ranks that the machine does not have is an error.
func New(cfg Config) (*World, error) {
	m := cfg.Machine
	if cfg.Ranks < m.Ranks.Min || cfg.Ranks > m.Ranks.Max {
		return nil, fmt.Errorf("platform %s: %d ranks: it has between %d and %d", m.Name, cfg.Ranks, m.Ranks.Min, m.Ranks.Max)
	}
	if cfg.Noise < 0 || cfg.Noise > maxNoise {
		return nil, fmt.Errorf("platform %s: noise of %v: it must be from 0 to %v, so that no step takes less than no time", m.Name, cfg.Noise, maxNoise)
	}
	if builder(m) == nil {
		return nil, fmt.Errorf("platform %s: no network that can be emulated", m.Name)
	}
	if cfg.Context == nil {
		cfg.Context = context.Background()
	}
	w := &World{cfg: cfg}
	if cfg.Library != nil {
		w.soft = cfg.Library.Software
	}
	return w, nil
}

// maxNoise is the largest deviation that leaves every step a positive time.
const maxNoise = 0.4

// job is one run of a world.
type job struct {
	World
	program func(device.Port) error
	kernel  sim.Kernel
	ports   []port
	net     network
	remote  bool    // processors can access each other's memory
	copying pace    // of a processor that copies
	free    *packet // packets to use again
	spare   *access // accesses likewise
	parting map[int32][]farewell
	probe   probe
}

// Run implements device.World.
func (w *World) Run(program func(device.Port) error) error {
	m := w.cfg.Machine
	j := &job{World: *w, program: program, ports: make([]port, w.cfg.Ranks), remote: m.Remote(), copying: pace{rate: m.Processor.Copy.Bandwidth}, probe: unobserved{}}
	if r := w.cfg.Record; r != nil {
		r.begin(j)
		j.probe = r
	}
	j.net = builder(m)(j)
	j.kernel.Reserve(len(j.ports))
	for i := range j.ports {
		p := &j.ports[i]
		p.job, p.rank, p.noise = j, int32(i), newNoise(w.cfg.Seed, i, w.cfg.Noise)
		p.end = j.net.open(p)
		p.proc = &p.life
		j.kernel.Start(p.proc, p)
	}
	defer j.kernel.Close()
	err := j.kernel.Run(w.cfg.Context)
	if errors.Is(err, sim.ErrStalled) {
		return j.deadlock()
	}
	return err
}

// Live is the life of a rank.
func (p *port) Live() {
	returned := false
	defer func() {
		switch v := recover(); {
		case returned:
		case v == nil:
			p.job.kernel.Fail(fmt.Errorf("rank %d ended its goroutine without returning: its program called runtime.Goexit, as t.FailNow does", p.rank))
		case sim.Unwinding(v):
			panic(v)
		default:
			p.job.kernel.Fail(&device.Failure{Rank: int(p.rank), Value: v, Stack: debug.Stack()})
		}
	}()
	if err := p.program(p.probe.view(p)); err != nil {
		p.job.kernel.Fail(err)
	}
	p.end.close()
	returned = true
}

func (j *job) deadlock() error {
	d := &device.Deadlock{Of: len(j.ports)}
	for i := range j.ports {
		if j.ports[i].waiting {
			d.Ranks = append(d.Ranks, i)
		}
	}
	return d
}
