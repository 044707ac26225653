package hw

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// catalogued returns an entry of the catalogue.
func catalogued(t testing.TB, name string) *platform.Platform {
	t.Helper()
	p, err := platform.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// open returns the world of a catalogue entry's machine, of any number of ranks.
func open(t testing.TB, name string, ranks int, noise float64) *World {
	t.Helper()
	return openOn(t, catalogued(t, name), ranks, noise)
}

// openOn returns the world of a platform's machine, of any number of ranks.
func openOn(t testing.TB, p *platform.Platform, ranks int, noise float64) *World {
	t.Helper()
	m := *p.Machine
	m.Ranks.Min = 1
	w, err := New(Config{Machine: &m, Library: p.Libraries[0], Ranks: ranks, Seed: 1, Noise: noise, Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLaws(t *testing.T) {
	for _, name := range []string{"t3d", "cm5", "now", "loggp", "smp-torus", "smp-ethernet", "tree", "mbcf", "mbcf with losses", "udp", "udp on a hub", "udp with faults", "congestion with faults"} {
		var p *platform.Platform // once: to read it takes longer than most laws
		switch name {
		case "tree":
			m := treeOf(2, 60e6, 1, 2, 3, 1)
			m.Network.(*model.FatTree).Queue = 5
			p = &platform.Platform{Machine: m, Libraries: []*model.Library{nil}}
		case "mbcf":
			p = &platform.Platform{Machine: accessible(true, 100_000), Libraries: []*model.Library{{Engine: &model.Engine{Accesses: true}}}}
		case "mbcf with losses":
			p = &platform.Platform{Machine: accessible(false, 6000), Libraries: []*model.Library{{Engine: &model.Engine{Accesses: true}}}}
		case "udp", "udp on a hub", "udp with faults", "congestion with faults":
			p = &platform.Platform{Machine: withDatagrams(name), Libraries: []*model.Library{nil}}
		default:
			p = catalogued(t, name)
		}
		for _, noise := range []float64{0, 0.05} {
			t.Run(fmt.Sprintf("%s noise %v", name, noise), func(t *testing.T) {
				world := func(ranks int) device.World { return openOn(t, p, ranks, noise) }
				devicetest.TestWorld(t, world)
				devicetest.TestDeadlock(t, world)
				if noise == 0 && name != "now" && name != "smp-ethernet" && !strings.Contains(name, "udp") && !strings.Contains(name, "faults") { // workstations look by a system call
					devicetest.TestVirtualTime(t, world)
				}
			})
		}
	}
}

// A program may be a test that ends its goroutine, as testing.T.FailNow does. The job ends with an
// error that names the rank.
func TestGoexit(t *testing.T) {
	for _, name := range []string{"t3d", "now", "convex", "loggp", "smp-torus", "smp-ethernet"} {
		err := open(t, name, 2, 0).Run(func(p device.Port) error {
			if p.Rank() == 1 {
				p.Delay(unit.Microsecond)
				runtime.Goexit()
			}
			p.Recv(true)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1") {
			t.Errorf("%s: Run returned %v, want an error about rank 1", name, err)
		}
	}
}
