package mpi_test

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// The result of a program must not depend on the machine or on how messages travel. These tests run
// in every world with the first library, and with every library in some worlds.

var places = enginetest.Worlds()

// load loads a platform of the catalogue.
var load = enginetest.LoadPlatform

// emulated returns the world of a catalogue platform, with the software costs of its first library.
func emulated(t testing.TB, name string, l *model.Library, ranks int, noise float64) device.World {
	t.Helper()
	return virtual(t, load(name), load(name).Machine, l, ranks, noise)
}

// on returns a function that creates a world of a catalogue platform, without noise.
func on(name string) func(testing.TB, *model.Library, int) device.World {
	return func(t testing.TB, l *model.Library, ranks int) device.World { return emulated(t, name, l, ranks, 0) }
}

// scattered returns the Convex with each rank in its own hypernode.
func scattered(ranks int) *model.Machine {
	m, h := *load("convex").Machine, *load("convex").Machine.Network.(*model.Hypernodes)
	h.Sizes = slices.Repeat([]int{1}, ranks)
	m.Network, m.Ranks.Max = &h, ranks
	return &m
}

// virtual returns the world of a machine, with the software costs of the first library of a
// platform.
func virtual(t testing.TB, p *platform.Platform, machine *model.Machine, l *model.Library, ranks int, noise float64) device.World {
	t.Helper()
	return build(t, config(p, machine, l, ranks, noise))
}

// config returns the emulation's configuration for such a world.
func config(p *platform.Platform, machine *model.Machine, l *model.Library, ranks int, noise float64) hw.Config {
	l.Software = p.Libraries[0].Software
	m := *machine
	m.Ranks.Min = 1
	return hw.Config{Machine: &m, Library: l, Ranks: ranks, Seed: 1, Noise: noise}
}

// build creates an emulated world.
func build(t testing.TB, c hw.Config) device.World {
	t.Helper()
	w, err := hw.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// packetsAlone is an engine that uses packets only, whatever other capabilities a port has.
var packetsAlone = model.QueueEngine

// carry returns the engine that a library names.
func carry(l *model.Library, protocol string) (engine.JobEngines, error) {
	return job.NewEngines(l)(l, protocol)
}

// tables are libraries of each engine, with their protocol rules.
var tables = func() []enginetest.Library {
	all := enginetest.ProtoLibraries()
	for _, e := range model.Engines {
		if e != model.ProtoEngine {
			all = append(all, enginetest.Library{Name: e.Name, New: func() *model.Library { return &model.Library{Name: e.Name, Engine: e} }})
		}
	}
	return all
}()

// everywhere runs a program in all worlds with the first library, and in those of
// enginetest.WorldsOfLibrary with the others. It passes each result to check.
func everywhere(t *testing.T, ranks int, program func(*mpi.Comm) error, check func(t *testing.T, err error)) {
	t.Helper()
	everywhereChecked(t, ranks, mpi.CheckOff, program, check)
}

// everywhereChecked is everywhere with a check mode.
func everywhereChecked(t *testing.T, ranks int, mode mpi.CheckMode, program func(*mpi.Comm) error, check func(t *testing.T, err error)) {
	t.Helper()
	for i, x := range tables {
		for _, p := range enginetest.WorldsOfLibrary(i) {
			t.Run(p.Name+"/"+x.Name, func(t *testing.T) {
				l := x.New()
				check(t, mpi.Run(p.Open(t, l, ranks), mpi.Options{Engine: carry, Library: l, Check: mode}, program))
			})
		}
	}
}

// holds fails the test if the program failed.
func holds(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// holdsEverywhere fails the test if the program fails in any world, including one of processes.
// Each library runs in one such world.
func holdsEverywhere(t *testing.T, ranks int, program func(*mpi.Comm) error) {
	t.Helper()
	everywhere(t, ranks, program, holds)
	if enginetest.RaceDetectorOn {
		return // the detector does not see between processes, and slows them down
	}
	for i, p := range enginetest.ProcessWorlds {
		for k, x := range tables {
			if testing.Short() && (i+k)%len(tables) > 0 || (i+k)%len(enginetest.ProcessWorlds) > 0 {
				continue
			}
			t.Run(p.Name+"/"+x.Name, func(t *testing.T) {
				l := x.New()
				holds(t, mpi.Run(p.Open(t, l, ranks), mpi.Options{Engine: carry, Library: l}, program))
			})
		}
	}
}

const us = unit.Microsecond

func lib() *model.Library {
	l := &model.Library{Name: "test", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 16, LongMessages: model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: true, BounceBufferBytes: 1024})}}
	for w := range l.Software {
		l.Software[w] = unit.Microsecond
	}
	l.Software[model.ProtoPackCost], l.Software[model.ProtoUnpackCost] = 1700, 500
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: 512, Protocol: "TA"}, model.ProtocolRule{Mode: m, MaxBytes: 16384, Protocol: "RAT"}, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "RTA"})
		if m != model.SynchronousMode {
			l.Proto.Rules[len(l.Proto.Rules)-3].Protocol = "T"
		}
	}
	return l
}

func machine() *model.Machine {
	return &model.Machine{
		Name: "torus", Ranks: model.RankLimits{Default: 4, Min: 1, Max: 2048}, TimerResolution: 1,
		Processor: model.Processor{Copy: model.Channel{Bandwidth: 170e6}},
		Network: &model.Torus{ProcessorsPerNode: 2, HopLatency: 13333, TurnLatency: 6667, Deliver: 100000, Link: 300e6, Chunk: 4096, Header: 40,
			Send: model.Channel{Start: 1200000, Bandwidth: 120e6}, Receive: 147000,
			Put: model.Channel{Start: 1500000, Bandwidth: 120e6}, Get: model.Channel{Start: 1500000, Bandwidth: 60e6},
			TransferEngine: model.Channel{Start: 1500000, Bandwidth: 120e6}, CounterTime: us},
	}
}

func t3d(t testing.TB, ranks int) (device.World, mpi.Options) {
	l := lib()
	w, err := hw.New(hw.Config{Machine: machine(), Library: l, Ranks: ranks, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return w, mpi.Options{Engine: carry, Library: l}
}

func synthetic(t testing.TB, ranks int) (device.World, mpi.Options) {
	return syntheticOf(t, ranks, 1e15)
}

// syntheticOf returns a LogGP machine with a copy rate and a time per reduction operation.
func syntheticOf(t testing.TB, ranks int, copying unit.Rate) (device.World, mpi.Options) {
	m := &model.Machine{Name: "loggp", Ranks: model.RankLimits{Default: 2, Min: 1, Max: 1 << 20}, TimerResolution: 1,
		Processor: model.Processor{Copy: model.Channel{Bandwidth: copying}, Operation: syntheticOperation},
		Network:   &model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 10000}}
	l := &model.Library{Name: "none", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 40}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "T"})
	}
	l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: ranks, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return w, mpi.Options{Engine: carry, Library: l}
}

const syntheticOperation = 800 * unit.Nanosecond
