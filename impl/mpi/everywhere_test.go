package mpi_test

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/proto"
	"github.com/loggp/loggp/impl/queue"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// What a program means must not depend on where it runs, or on how its messages travel. Tests of
// that run in every place, under every table.

var places = enginetest.Worlds()

// loaded are the entries of the catalogue that were read: to read one takes longer than most
// programs of these tests.
var loaded = map[string]*platform.Platform{}

func load(name string) *platform.Platform {
	if loaded[name] == nil {
		p, err := platform.Load(name)
		if err != nil {
			panic(err)
		}
		loaded[name] = p
	}
	return loaded[name]
}

// emulated returns the world of a catalogue entry's machine, with its first library's software
// costs.
func emulated(t testing.TB, name string, l *model.Library, ranks int, noise float64) device.World {
	t.Helper()
	return virtual(t, load(name), load(name).Machine, l, ranks, noise)
}

// on opens a place on a machine of the catalogue, without noise.
func on(name string) func(testing.TB, *model.Library, int) device.World {
	return func(t testing.TB, l *model.Library, ranks int) device.World { return emulated(t, name, l, ranks, 0) }
}

// scattered returns the Convex with each rank in a hypernode of its own.
func scattered(ranks int) *model.Machine {
	m, h := *load("convex").Machine, *load("convex").Machine.Network.(*model.Hypernodes)
	h.Sizes = slices.Repeat([]int{1}, ranks)
	m.Network, m.Ranks.Max = &h, ranks
	return &m
}

// virtual returns the world of a machine, with the software costs of the first library of a
// catalogue entry.
func virtual(t testing.TB, p *platform.Platform, machine *model.Machine, l *model.Library, ranks int, noise float64) device.World {
	t.Helper()
	return build(t, config(p, machine, l, ranks, noise))
}

// config says how that is emulated.
func config(p *platform.Platform, machine *model.Machine, l *model.Library, ranks int, noise float64) hw.Config {
	l.Software = p.Libraries[0].Software
	m := *machine
	m.Ranks.Min = 1
	return hw.Config{Machine: &m, Library: l, Ranks: ranks, Seed: 1, Noise: noise}
}

// build returns an emulated world.
func build(t testing.TB, c hw.Config) device.World {
	t.Helper()
	w, err := hw.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// engines are those that package mpi is tested on.
var engines = map[*model.Engine]engine.New{
	model.Proto: proto.New,
	model.Queue: queue.New,
}

// carry is the engine that a library names.
func carry(l *model.Library, protocol string) (engine.Maker, error) {
	return engines[l.CarriedBy()](l, protocol)
}

// tables are how messages travel: by libraries of each engine.
var tables = func() []enginetest.Library {
	all := enginetest.ProtoLibraries()
	for _, e := range model.Engines {
		if e != model.Proto {
			all = append(all, enginetest.Library{Name: e.Name, New: func() *model.Library { return &model.Library{Name: e.Name, Engine: e} }})
		}
	}
	return all
}()

// everywhere runs a program in all places under all tables, and hands what became of it to check.
func everywhere(t *testing.T, ranks int, program func(*mpi.Comm) error, check func(t *testing.T, err error)) {
	t.Helper()
	for _, p := range places {
		for _, x := range tables {
			t.Run(p.Name+"/"+x.Name, func(t *testing.T) {
				l := x.New()
				check(t, mpi.Run(p.Open(t, l, ranks), mpi.Options{Engine: carry, Library: l}, program))
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
