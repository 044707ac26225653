// Package hw emulates machines below the LogGP level: processors that spend time on what they do, interfaces that start
// transfers, wires that are busy, memories that are read and written from afar. Its worlds keep the promises of
// device.Port in virtual time.
//
// A port runs ahead of the kernel's clock by its debt: work that it has been charged and that nobody else can see. The debt is
// paid when the rank must see what others did. Whatever touches shared hardware is an event at its own time, so the order of
// things on a wire never depends on which rank ran first.
//
// A network is one file: what a send, a receive, a remote access and a counter cost, and where they queue.
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
	Record  *Recorder       // writes runs down; nil: nobody does
}

// World is an emulated machine.
type World struct {
	cfg      Config
	soft     [model.NumWork]unit.Time
	ethernet EthernetStatistics // of the last run
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
	kernel  sim.Kernel
	ports   []port
	net     network
	lan     *lan    // in place of net: workstations
	copying pace    // of a processor that copies
	free    *packet // packets to use again
	spare   *access // accesses likewise
	record  *Recorder
}

// builder returns what builds the network of a machine for a job. Where there is none it returns nil.
func builder(m *model.Machine) func(*job) {
	switch {
	case m.Torus != nil:
		return func(j *job) { j.net = newTorus(j) }
	case m.Hypernodes != nil:
		return func(j *job) { j.net = newHypernodes(j) }
	case m.LogGP != nil:
		return func(j *job) { j.net = newLogGP(j) }
	case m.Ethernet != nil:
		return func(j *job) { j.lan = newLAN(j) }
	}
	return nil
}

// network is what differs between kinds of machine. What packets and accesses do on their way are events, whose times it
// chooses; the other methods are called while the port's rank runs.
type network interface {
	send(p *port, pk *packet)    // charges the sender and schedules the packet's first move
	receive(p *port, pk *packet) // charges the taking of a packet off the network
	start(p *port, x *access)    // charges the start of a remote access and schedules its first move
	add(p *port, dst, r int, delta int64) int64

	movePacket(pk *packet) // moves a packet on; it ends with arrive, or with the event of it
	moveAccess(x *access)  // moves a remote access on; it ends with move and finish
}

// wire is where a packet or an access is on its way. What it means is the network's.
type wire struct {
	step int8
	pos  int
	at   unit.Time
	late unit.Time // how long the network had held up the sender before
	long unit.Time // how long all of it takes at the rate of its source
}

// Act is the event of a packet on its way.
func (pk *packet) Act(uint64) { pk.j.net.movePacket(pk) }

// Act is the event of an access.
func (x *access) Act(uint64) { x.j.net.moveAccess(x) }

// Run implements device.World.
func (w *World) Run(program func(device.Port) error) error {
	j := &job{World: *w, ports: make([]port, w.cfg.Ranks), copying: pace{rate: w.cfg.Machine.Processor.Copy.Bandwidth}, record: w.cfg.Record}
	if j.record != nil {
		j.record.begin(j)
	}
	builder(w.cfg.Machine)(j)
	for i := range j.ports {
		p := &j.ports[i]
		p.job, p.rank, p.noise = j, int32(i), newNoise(w.cfg.Seed, i, w.cfg.Noise)
		p.proc = j.kernel.Go(func(*sim.Proc) { p.run(program) })
	}
	defer j.kernel.Close()
	err := j.kernel.Run(w.cfg.Context)
	if j.lan != nil {
		w.ethernet = j.lan.count
	}
	if errors.Is(err, sim.ErrStalled) {
		return j.deadlock()
	}
	return err
}

// run is the life of a rank.
func (p *port) run(program func(device.Port) error) {
	defer func() {
		if v := recover(); v != nil {
			if sim.Unwinding(v) {
				panic(v)
			}
			p.job.kernel.Fail(&device.Failure{Rank: int(p.rank), Value: v, Stack: debug.Stack()})
		}
	}()
	if err := program(p.view()); err != nil {
		p.job.kernel.Fail(err)
	}
	p.pay()
	if p.lan != nil {
		p.lan.hosts[p.rank].end()
	}
}

// view returns the port as its program sees it.
func (p *port) view() device.Port {
	var view device.Port = p
	if p.lan != nil {
		view = &p.lan.hosts[p.rank]
	}
	if p.lane != nil {
		view = watched{view, p}
	}
	return view
}

// Ethernet returns what was on the medium in the last run; on a machine without an Ethernet, nothing.
func (w *World) Ethernet() EthernetStatistics { return w.ethernet }

func (j *job) deadlock() error {
	d := &device.Deadlock{Of: len(j.ports)}
	for i := range j.ports {
		if j.ports[i].waiting {
			d.Ranks = append(d.Ranks, i)
		}
	}
	return d
}
