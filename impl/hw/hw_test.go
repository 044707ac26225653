package hw

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/model/platform"
)

// open returns the world of a catalogue entry's machine, of any number of ranks.
func open(t testing.TB, name string, ranks int, noise float64) *World {
	t.Helper()
	p, err := platform.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	m := *p.Machine
	m.Ranks.Min = 1
	w, err := New(Config{Machine: &m, Library: p.Libraries[0], Ranks: ranks, Seed: 1, Noise: noise, Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLaws(t *testing.T) {
	for _, name := range []string{"t3d", "now", "loggp"} {
		for _, noise := range []float64{0, 0.05} {
			t.Run(fmt.Sprintf("%s noise %v", name, noise), func(t *testing.T) {
				world := func(ranks int) device.World { return open(t, name, ranks, noise) }
				devicetest.TestWorld(t, world)
				devicetest.TestDeadlock(t, world)
			})
		}
	}
}
