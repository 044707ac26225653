// Package hw emulates machines below the LogGP level: processors that spend time, interfaces that
// start transfers, wires that are busy, memories that are accessed remotely. New returns a World,
// which implements device.World in virtual time.
//
// A machine consists of networks: one between all ranks, or one within each node and one between
// nodes. Each kind of network is a package below this one, built on package core, and a row of the
// table networks.
package hw

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/activity"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/ethernet"
	"github.com/loggp/loggp/impl/hw/fabric"
	"github.com/loggp/loggp/impl/hw/fattree"
	"github.com/loggp/loggp/impl/hw/hypernodes"
	"github.com/loggp/loggp/impl/hw/loggp"
	"github.com/loggp/loggp/impl/hw/numa"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/impl/hw/torus"
	"github.com/loggp/loggp/model"
)

// networks are the kinds of networks that can be emulated, in the order of model.NetworkKinds.
var networks = []networkKind{
	networkOf(torus.New),
	networkOf(hypernodes.New),
	networkOf(ethernet.New),
	networkOf(loggp.New),
	networkOf(fattree.New),
	networkOf(fabric.New),
	networkOf(numa.New),
}

// networkKind is a kind of network: of reports whether a model.Network is of that kind, and build
// creates it for ranks of a job.
type networkKind struct {
	sample model.Network
	build  func(*core.Job, model.Network, core.AttachedRanks) core.Network
}

// networkOf returns the row of networks for a type.
func networkOf[N model.Network](build func(*core.Job, N, core.AttachedRanks) core.Network) networkKind {
	var of N
	return networkKind{of, func(j *core.Job, n model.Network, e core.AttachedRanks) core.Network { return build(j, n.(N), e) }}
}

// builderOf returns the function that builds a network, or nil.
func builderOf(n model.Network) func(*core.Job, model.Network, core.AttachedRanks) core.Network {
	for _, k := range networks {
		if n != nil && k.sample.Kind() == n.Kind() {
			return k.build
		}
	}
	return nil
}

// Config configures an emulated world. Software is charged at the costs of Library; nil: no costs.
type Config struct {
	Machine  *model.Machine
	Library  *model.Library
	Ranks    int
	Seed     uint64
	Noise    float64         // relative standard deviation of every processor step, at most 0.4; 0: none
	Context  context.Context // ends a run early when done; nil: never
	Activity *ActivityLog    // records the activities of runs; nil: not observed

	// Ethernet receives the counters of a run, if the machine has an Ethernet; nil: not counted.
	Ethernet *EthernetStatistics

	// Kernel receives the counters of the kernel when a run has ended; nil: not counted.
	Kernel *KernelStatistics
}

// ActivityLog, EthernetStatistics and KernelStatistics are types of fields of Config.
type (
	ActivityLog        = activity.Log
	EthernetStatistics = ethernet.Statistics
	KernelStatistics   = sim.Statistics
)

// World is an emulated machine.
type World struct{ cfg Config }

// New returns the machine as a world. It fails if the machine does not have the number of ranks.
func New(cfg Config) (*World, error) {
	m := cfg.Machine
	if cfg.Ranks < m.Ranks.Min || cfg.Ranks > m.Ranks.Max {
		return nil, fmt.Errorf("platform %s: %d ranks: it has between %d and %d", m.Name, cfg.Ranks, m.Ranks.Min, m.Ranks.Max)
	}
	if cfg.Noise < 0 || cfg.Noise > maxNoise {
		return nil, fmt.Errorf("platform %s: noise of %v: it must be from 0 to %v, so that no step takes less than no time", m.Name, cfg.Noise, maxNoise)
	}
	if builderOf(m.Network) == nil || m.Nodes != nil && builderOf(m.Nodes.Inside) == nil {
		return nil, fmt.Errorf("platform %s: no network that can be emulated", m.Name)
	}
	if cfg.Context == nil {
		cfg.Context = context.Background()
	}
	return &World{cfg}, nil
}

// maxNoise is the largest relative deviation with which every step takes a positive time.
const maxNoise = 0.4

// Run implements device.World.
func (w *World) Run(program func(device.Port) error) error {
	c := core.Config{Machine: w.cfg.Machine, Library: w.cfg.Library, Ranks: w.cfg.Ranks, Seed: w.cfg.Seed, Noise: w.cfg.Noise, Statistics: []any{w.cfg.Ethernet}}
	if w.cfg.Activity != nil {
		c.Probe = w.cfg.Activity
	}
	j := core.NewJob(c)
	attachRanks(j)
	err := j.Run(w.cfg.Context, program)
	if w.cfg.Kernel != nil {
		*w.cfg.Kernel = j.Kernel.Statistics()
	}
	return err
}

// attachRanks creates the networks of the machine and connects the ranks of a job.
func attachRanks(j *core.Job) {
	m := j.Machine
	far := builderOf(m.Network)(j, m.Network, core.AttachedRanks{RankCount: j.Ranks, InterfaceCount: m.CountEnds(j.Ranks), InterfaceOf: m.EndOfRank})
	if m.Nodes == nil {
		for i := range j.Ports {
			j.Ports[i].AttachNetworks(far, nil, 0, 0)
		}
		return
	}
	build := builderOf(m.Nodes.Inside)
	for first, end := 0, 0; first < j.Ranks; first = end {
		_, end = m.RanksOfNode(j.Ranks, first)
		n, first := end-first, first
		near := build(j, m.Nodes.Inside, core.AttachedRanks{FirstRank: first, RankCount: n, InterfaceCount: n, InterfaceOf: func(rank int) int { return rank - first }, NamePrefix: fmt.Sprintf("node %d ", m.NodeOfRank(first))})
		for i := range n {
			j.Ports[first+i].AttachNetworks(far, near, first, n)
		}
	}
}
