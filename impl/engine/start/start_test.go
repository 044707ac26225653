package start

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// libraries have different crossovers, blocks and pinned memory. A law takes it that 300 bytes
// which are buffered have left after a round of messages, which may not be so of transfers that
// come one by one.
var libraries = []model.Library{
	{Name: "as published", Start: model.StartSettings{ShortBytes: [model.NumTiers]int{model.InterNode: 1024, model.IntraNode: 4096}}},
	{Name: "all short", Start: model.StartSettings{ShortBytes: [model.NumTiers]int{1 << 30, 1 << 30}}},
	{Name: "little pinned memory", Start: model.StartSettings{ShortBytes: [model.NumTiers]int{300, 16}, BlockBytes: 1000, PinnedBytes: 3000}},
}

// TestEngine executes the laws of package engine.
func TestEngine(t *testing.T) {
	for i, l := range libraries {
		enginetest.Test(t, enginetest.Subject{
			Name:          l.Name,
			NewJobEngines: New,
			Library: func() *model.Library {
				l := l
				l.Engine = model.StartEngine
				return &l
			},
			Worlds:           append(enginetest.WorldsOfLibrary(i), worlds(i)...),
			CheckNothingHeld: leftover,
		})
	}
}

// smps opens SMPs of so many processors each, with the interfaces of the platform start-x.
func smps(processors int, noise float64) func(testing.TB, *model.Library, int) device.World {
	return func(t testing.TB, l *model.Library, ranks int) device.World {
		t.Helper()
		p := enginetest.LoadPlatform("start-x")
		l.Software = p.Libraries[0].Software
		m, nodes := *p.Machine, *p.Machine.Nodes
		inside, tree := *nodes.Inside.(*model.Hypernodes), *m.Network.(*model.FatTree)
		inside.Sizes, nodes.Ranks, nodes.Inside = []int{processors}, processors, &inside
		tree.UpLinks = []int{4, 4}
		m.Nodes, m.Network, m.Ranks.Max = &nodes, &tree, processors*tree.Capacity()
		return hwtest.OpenPlatform(t, &platform.Platform{Machine: &m, Libraries: []*model.Library{l}}, ranks, noise)
	}
}

// worlds are SMPs of one processor and of several, so that most messages of a law's few ranks pass
// between SMPs, some, or few.
func worlds(i int) []enginetest.World {
	if enginetest.RaceDetectorOn {
		return nil
	}
	all := []enginetest.World{
		{Name: "SMPs of 1", Open: smps(1, 0)}, {Name: "SMPs of 2", Open: smps(2, 0)}, {Name: "SMPs of 8", Open: smps(8, 0)}, {Name: "SMPs of 2 with noise", Open: smps(2, 0.1)},
	}
	if i > 0 {
		return all[:2]
	}
	return all
}

func leftover(x engine.Engine) error {
	e := x.(*Engine)
	if e.inbox.Posted.Len() != 0 || e.inbox.Unexpected.Len() != 0 {
		return fmt.Errorf("%d receives and %d messages are in the queues", e.inbox.Posted.Len(), e.inbox.Unexpected.Len())
	}
	if c := e.channel; c != (rdmaChannel{}) {
		return fmt.Errorf("transfers are under way: %+v", c)
	}
	if e.pinnedMemory.free != e.sizes.pinnedBytes {
		return fmt.Errorf("%d bytes of pinned memory are in use", e.sizes.pinnedBytes-e.pinnedMemory.free)
	}
	return nil
}
