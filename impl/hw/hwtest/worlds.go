// Package hwtest is the common set-up for tests of emulated networks: machines with round numbers
// for each kind of network, worlds that run a program on them, random transfers, and fair shares of
// flows through switches. The laws of each network are tested in its own package.
package hwtest

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// LoadPlatform returns a platform of the catalogue.
func LoadPlatform(t testing.TB, name string) *platform.Platform {
	t.Helper()
	p, err := platform.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Open returns an emulated world.
func Open(t testing.TB, c hw.Config) *hw.World {
	t.Helper()
	w, err := hw.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// OpenCatalogue returns a world with the machine of a catalogue platform and any number of ranks.
func OpenCatalogue(t testing.TB, name string, ranks int, noise float64) *hw.World {
	t.Helper()
	return OpenPlatform(t, LoadPlatform(t, name), ranks, noise)
}

// OpenPlatform returns a world with the machine of a platform and any number of ranks.
func OpenPlatform(t testing.TB, p *platform.Platform, ranks int, noise float64) *hw.World {
	t.Helper()
	return OpenPlatformWithSeed(t, p, ranks, noise, 1)
}

// OpenPlatformWithSeed is OpenPlatform with a seed for noise and faults.
func OpenPlatformWithSeed(t testing.TB, p *platform.Platform, ranks int, noise float64, seed uint64) *hw.World {
	t.Helper()
	m := *p.Machine
	m.Ranks.Min = 1
	return Open(t, hw.Config{Machine: &m, Library: p.Libraries[0], Ranks: ranks, Seed: seed, Noise: noise, Context: t.Context()})
}

// Run runs a program on a machine.
func Run(t testing.TB, m *model.Machine, ranks int, program func(p device.Port)) {
	t.Helper()
	w := Open(t, hw.Config{Machine: m, Ranks: ranks, Seed: 1})
	if err := w.Run(func(p device.Port) error { program(p); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TimelineOf runs a program on a machine and returns its timeline.
func TimelineOf(t *testing.T, m *model.Machine, ranks int, program func(p device.Port)) *model.Timeline {
	t.Helper()
	r := &hw.ActivityLog{}
	w := Open(t, hw.Config{Machine: m, Ranks: ranks, Seed: 1, Activity: r})
	if err := w.Run(func(p device.Port) error { program(p); return nil }); err != nil {
		t.Fatal(err)
	}
	return r.Timeline()
}
