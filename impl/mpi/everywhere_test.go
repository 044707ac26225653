package mpi_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// What a program means must not depend on where it runs, or on how its messages travel. Tests of that run in every place,
// under every table.

// A place is where ranks run.
type place struct {
	name string
	open func(t testing.TB, l *model.Library, ranks int) device.World
}

var places = func() []place {
	all := []place{
		{"t3d", on("t3d")},
		{"convex", on("convex")},
		{"now", on("now")},
		{"loggp", on("loggp")},
		{"t3d by messages", func(t testing.TB, l *model.Library, ranks int) device.World {
			return apart{emulated(t, "t3d", l, ranks, 0)}
		}},
		{"loop", func(_ testing.TB, _ *model.Library, ranks int) device.World { return loop.New(ranks) }},
		{"loop by messages", func(_ testing.TB, _ *model.Library, ranks int) device.World { return apart{loop.New(ranks)} }},
	}
	if racing {
		return all[5:] // those of impl/loop
	}
	return all
}()

// apart is a world without its remote memory: engines access each other's by messages.
type apart struct{ device.World }

func (w apart) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(apartPort{p}) })
}

type apartPort struct{ device.Port }

func (apartPort) Memory() device.Memory { return nil }

// loaded are the entries of the catalogue that were read: to read one takes longer than most programs of these tests.
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

// emulated returns the world of a catalogue entry's machine, with its first library's software costs.
func emulated(t testing.TB, name string, l *model.Library, ranks int, noise float64) device.World {
	t.Helper()
	return virtual(t, load(name), load(name).Machine, l, ranks, noise)
}

// on opens a place on a machine of the catalogue, without noise.
func on(name string) func(testing.TB, *model.Library, int) device.World {
	return func(t testing.TB, l *model.Library, ranks int) device.World { return emulated(t, name, l, ranks, 0) }
}

// far is the Convex with each rank in a hypernode of its own.
func far(t testing.TB, l *model.Library, ranks int) device.World {
	return virtual(t, load("convex"), scattered(ranks), l, ranks, 0)
}

// scattered returns its machine.
func scattered(ranks int) *model.Machine {
	m, h := *load("convex").Machine, *load("convex").Machine.Network.(*model.Hypernodes)
	h.Sizes = slices.Repeat([]int{1}, ranks)
	m.Network, m.Ranks.Max = &h, ranks
	return &m
}

// virtual returns the world of a machine, with the software costs of the first library of a catalogue entry.
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

// A table is how messages travel. Its window is small, so that messages run out of it.
type table struct {
	name    string
	library func() *model.Library
}

const window = 4096

var tables = []table{
	{"default", byDefault},
	{"T", func() *model.Library { return by("T") }},
	{"TA", func() *model.Library { return by("TA") }},
	{"RTA", func() *model.Library { return by("RTA") }},
	{"RAT", func() *model.Library { return by("RAT") }},
	{"PTAT", func() *model.Library { return by("PTAT") }},
	{"mixed", mixed},
	{"queue", func() *model.Library { return &model.Library{Name: "queue", Engine: model.Queue} }},
}

// byDefault returns the library of the T3D.
func byDefault() *model.Library {
	l := *load("t3d").Libraries[0]
	return &l
}

// by returns a library of one protocol, but for synchronous messages that it cannot send.
func by(protocol string) *model.Library {
	l := &model.Library{Name: "by " + protocol, Fallback: "RTA", Window: window, First: 300}
	for m := range model.NumModes {
		l.Rules = append(l.Rules, model.Rule{Mode: m, UpTo: -1, Protocol: protocol})
	}
	if protocol == "T" {
		l.Rules[model.Synchronous].Protocol = "TA"
	}
	return l
}

// mixed returns a library in which neighbouring sizes go different ways.
func mixed() *model.Library {
	l := &model.Library{Name: "mixed", Fallback: "RAT", Window: window, First: 700, Long: model.EveryTier(model.Long{Stage: true, Bounce: 300})}
	for m := range model.NumModes {
		for _, r := range []model.Rule{{UpTo: 7, Protocol: "TA"}, {UpTo: 64, Protocol: "T"}, {UpTo: 200, Protocol: "RTA"}, {UpTo: 500, Protocol: "TA"},
			{UpTo: 1000, Protocol: "PTAT"}, {UpTo: 1500, Protocol: "RAT"}, {UpTo: 3000, Protocol: "T"}, {UpTo: -1, Protocol: "RTA"}} {
			if r.Mode = m; m == model.Synchronous && r.Protocol == "T" {
				r.Protocol = "RAT"
			}
			l.Rules = append(l.Rules, r)
		}
	}
	return l
}

// everywhere runs a program in all places under all tables, and hands what became of it to check.
func everywhere(t *testing.T, ranks int, program func(*mpi.Comm) error, check func(t *testing.T, err error)) {
	t.Helper()
	for _, p := range places {
		for _, x := range tables {
			t.Run(p.name+"/"+x.name, func(t *testing.T) {
				l := x.library()
				check(t, mpi.Run(p.open(t, l, ranks), mpi.Options{Engine: carry, Library: l}, program))
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

// text returns n bytes that no other seed gives.
func text(n, seed int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// equal compares what was received with the text of a seed.
func equal(what string, got mpi.Status, b []byte, want mpi.Status, seed int) error {
	if got != want {
		return fmt.Errorf("%s: status %+v, want %+v", what, got, want)
	}
	if !bytes.Equal(b[:want.Bytes], text(want.Bytes, seed)) {
		return fmt.Errorf("%s: %d bytes that are not those of message %d", what, want.Bytes, seed)
	}
	return nil
}

// recv receives and compares.
func recv(c *mpi.Comm, src, tag int, want mpi.Status, seed int) error {
	b := make([]byte, want.Bytes)
	return equal(fmt.Sprintf("rank %d, Recv(%d, %d)", c.Rank(), src, tag), mpi.Recv(c, b, src, tag), b, want, seed)
}
