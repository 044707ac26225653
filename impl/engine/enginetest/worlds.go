package enginetest

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// World is a kind of machine on which ranks run.
type World struct {
	Name     string
	MaxRanks func() int // the largest number of ranks; nil: any number
	Open     func(t testing.TB, l *model.Library, ranks int) device.World

	// RanksAreProcesses says that ranks are processes without shared memory. They start slowly, so
	// only correct programs are run, and few random ones.
	RanksAreProcesses bool

	// LosesFrames says that the world may refuse data although there is space, and report
	// completion late. Chance then decides when messages leave, so only random programs are run.
	LosesFrames bool
}

// CanHold reports whether the world supports a number of ranks.
func (w World) CanHold(ranks int) bool { return w.MaxRanks == nil || ranks <= w.MaxRanks() }

// Worlds returns impl/real/loop and machines of the catalogue, without noise. Worlds "by messages"
// have no remote memory. Under the race detector it returns only impl/real/loop: emulated ranks run
// one at a time, so they cannot race.
//
// It reads no platform: each rank that is a process lists the worlds, and reading takes longer than
// most programs.
func Worlds() []World {
	goroutines := func(_ testing.TB, _ *model.Library, ranks int) device.World { return loop.New(ranks) }
	worlds := []World{{Name: "loop", Open: goroutines}, {Name: "loop by messages", Open: openWithoutMemory(goroutines)}}
	if RaceDetectorOn {
		return worlds
	}
	for _, name := range []string{"t3d", "convex", "now", "loggp"} {
		worlds = append(worlds, World{Name: name, MaxRanks: func() int { return LoadPlatform(name).Machine.Ranks.Max }, Open: OpenEmulated(name, nil, 0)})
	}
	return append(worlds,
		World{Name: "convex, far", MaxRanks: func() int { return 16 }, Open: OpenEmulated("convex", func(m *model.Machine) { // hypernodes with one and with two ranks
			h := *m.Network.(*model.Hypernodes)
			h.Sizes = []int{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1}
			m.Network = &h
		}, 0)},
		World{Name: "now, nodes with memory", MaxRanks: func() int { return LoadPlatform("now").Machine.Ranks.Max }, Open: OpenEmulated("now", func(m *model.Machine) { // only within nodes
			m.Nodes = &model.Nodes{Ranks: 3, Interfaces: 1, Inside: hwtest.NUMA().Network}
		}, 0)},
		World{Name: "t3d by messages", Open: openWithoutMemory(OpenEmulated("t3d", nil, 0))},
		World{Name: "t3d with noise", Open: OpenEmulated("t3d", nil, 0.1)})
}

// OpenEmulated returns a function that opens a machine of the catalogue, changed by change if it is
// not nil, with some noise. The library gets the software costs of the machine's first library with
// the same engine, or 1 us per call and 1 ns per byte.
func OpenEmulated(name string, change func(*model.Machine), noise float64) func(testing.TB, *model.Library, int) device.World {
	return func(t testing.TB, l *model.Library, ranks int) device.World {
		t.Helper()
		p := LoadPlatform(name)
		setSoftwareCosts(l, p.Libraries)
		m := *p.Machine
		if change != nil {
			change(&m)
		}
		return hwtest.OpenPlatform(t, &platform.Platform{Machine: &m, Libraries: []*model.Library{l}}, ranks, noise)
	}
}

func setSoftwareCosts(l *model.Library, known []*model.Library) {
	for _, k := range known {
		if k.CarriedBy() == l.CarriedBy() {
			l.Software = k.Software
			return
		}
	}
	for i, c := range l.CarriedBy().Costs {
		if l.Software[i] = microsecond; c.PerByte {
			l.Software[i] = microsecond / 1000
		}
	}
}

// WorldsOfLibrary returns the worlds for library i of several: all for the first one; for others
// impl/real/loop with and without remote memory, and two more selected by i. With more than 1000
// random programs it returns all for each.
func WorldsOfLibrary(i int) []World {
	worlds := Worlds()
	if i == 0 || *randomProgramCount > 1000 || RaceDetectorOn {
		return worlds
	}
	rest := worlds[2:]
	return append(worlds[:2:2], rest[2*i%len(rest)], rest[(2*i+1)%len(rest)])
}

// loadedPlatforms caches platforms, because reading one takes longer than most programs.
var loadedPlatforms = map[string]*platform.Platform{}

// LoadPlatform returns a platform of the catalogue. It reads each only once.
func LoadPlatform(name string) *platform.Platform {
	if loadedPlatforms[name] == nil {
		p, err := platform.Load(name)
		if err != nil {
			panic(err)
		}
		loadedPlatforms[name] = p
	}
	return loadedPlatforms[name]
}

// openWithoutMemory returns a function that opens a world without its remote memory.
func openWithoutMemory(open func(testing.TB, *model.Library, int) device.World) func(testing.TB, *model.Library, int) device.World {
	return func(t testing.TB, l *model.Library, ranks int) device.World {
		return HideRemoteMemory(open(t, l, ranks))
	}
}

// HideRemoteMemory returns a world whose ports hide their remote memory.
func HideRemoteMemory(w device.World) device.World { return worldWithoutMemory{w} }

type worldWithoutMemory struct{ device.World }

func (w worldWithoutMemory) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(portWithoutMemory{p}) })
}

type portWithoutMemory struct{ device.Port }

func (portWithoutMemory) Memory() device.Memory { return nil }
