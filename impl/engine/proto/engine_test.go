package proto

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/model"
)

// TestEngine executes the laws of package engine, with each protocol and with several. Each of the
// first libraries, one that sends by all protocols among them, has a world of processes of its own.
func TestEngine(t *testing.T) {
	for i, l := range enginetest.ProtoLibraries() {
		worlds := enginetest.WorldsOfLibrary(i)
		if i < len(enginetest.ProcessWorlds) {
			worlds = append(worlds, enginetest.ProcessWorlds[i])
		}
		enginetest.Test(t, enginetest.Subject{Name: l.Name, NewJobEngines: New, Library: l.New, CheckNothingHeld: leftover, Worlds: worlds})
	}
}

// TestSockets executes them with libraries that use TCP in different ways, on switches that lose
// frames.
func TestSockets(t *testing.T) {
	if enginetest.RaceDetectorOn {
		t.Skip("emulated ranks take turns")
	}
	faults := func(m *model.Machine) {
		e := *m.Network.(*model.Ethernet)
		s := *e.Switches
		s.LossProbability, s.ReorderProbability = 0.01, 0.02
		e.Switches, m.Network = &s, &e
	}
	for _, l := range enginetest.LoadPlatform("cc-cluster").Libraries {
		if l.CarriedBy() != model.ProtoEngine {
			continue
		}
		enginetest.Test(t, enginetest.Subject{Name: l.Name, NewJobEngines: New, CheckNothingHeld: leftover,
			Library: func() *model.Library { l := *l; return &l },
			Worlds:  []enginetest.World{{Name: "cc-cluster", Open: enginetest.OpenEmulated("cc-cluster", faults, 0)}}})
	}
}

// leftover looks at what the engine of a rank that has ended still holds.
func leftover(x engine.Engine) error {
	e := x.(*Engine)
	if n, m := e.posted.Len(), e.unexpected.Len(); n != 0 || m != 0 {
		return fmt.Errorf("%d receives and %d messages wait", n, m)
	}
	m := e.packetMemory
	if m == nil {
		return nil
	}
	for key := range device.Key(100) {
		if _, exposed := m.exposed.Access(key, 0, 0); exposed {
			return fmt.Errorf("memory %d is exposed", key)
		}
	}
	if len(m.pendingGets) != len(m.freeGets) || len(m.pendingGets) > 15 {
		return fmt.Errorf("%d of %d places for gets are free", len(m.freeGets), len(m.pendingGets))
	}
	return nil
}
