package mbcf

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
)

// libraries are SR and NSR with FIFOs of several lengths.
var libraries = []model.Library{
	{Name: "sr"},
	{Name: "nsr", MBCF: model.MBCFSettings{Requests: -1}},
	{Name: "sr, short FIFOs", MBCF: model.MBCFSettings{Requests: 1, FIFOBytes: 2500}},
}

// faulty is impl/real/loop whose queues refuse and whose accesses take effect late.
func faulty(_ testing.TB, _ *model.Library, ranks int) device.World {
	return loop.NewFaulty(ranks, loop.Faults{Seed: 1, Refuse: 0.05, Delay: 0.05})
}

// worlds are those that engines without queues and signals need not be tested on. Under the race
// detector there are no emulated ones, as enginetest.Worlds has none.
func worlds() []enginetest.World {
	all := []enginetest.World{
		{Name: "loop with faults", Open: faulty, LosesFrames: true},
		{Name: "mbcf-hub", Open: enginetest.OpenEmulated("mbcf-hub", anyRanks, 0.05)},
		{Name: "mbcf-switch, with losses", Open: enginetest.OpenEmulated("mbcf-switch", func(m *model.Machine) {
			anyRanks(m)
			e := *m.Network.(*model.Ethernet)
			s := *e.Switches
			s.LinkBufferBytes, e.Switches, m.Network = 4000, &s, &e
		}, 0)},
	}
	if enginetest.RaceDetectorOn {
		return all[:1]
	}
	return all
}

// anyRanks lets a machine have as many workstations as a test wants.
func anyRanks(m *model.Machine) { m.Ranks.Max = 1 << 20 }

// TestEngine executes the laws of package engine.
func TestEngine(t *testing.T) {
	for i, l := range libraries {
		enginetest.Test(t, enginetest.Subject{
			Name:          l.Name,
			NewJobEngines: New,
			Library: func() *model.Library {
				l := l
				l.Engine = model.MBCFEngine
				return &l
			},
			Worlds:           append(enginetest.WorldsOfLibrary(i), worlds()...),
			CheckNothingHeld: leftover,
		})
	}
}

// TestCounts sends first and receives first: the message goes by the FIFO and by remote write.
func TestCounts(t *testing.T) {
	want := []map[string]int64{
		{"bytes by FIFO": 100, "bytes by remote write": 200}, // those without data go by one or the other
		{"requests posted": 2, "temporary buffers used": 1},
	}
	err := loop.New(2).Run(func(p device.Port) error {
		m, err := New(&model.Library{}, "")
		if err != nil {
			return err
		}
		r := new(engine.Rank)
		r.Setup(p, m.Engines(1)(0), &engine.Config{})
		if r.Port().Rank() == 0 {
			r.Send(model.StandardMode, make([]byte, 100), 0, 1, 0, 1)
			r.Recv(nil, 0, 1, 0, 2) // the message is there, and a request
			r.Send(model.StandardMode, nil, 0, 1, 0, 3)
			r.Recv(nil, 0, 1, 0, 4) // the next request is there
			r.Send(model.StandardMode, make([]byte, 200), 0, 1, 0, 5)
		} else {
			r.Probe(0, 0, 1, true)
			empty := r.Irecv(nil, 0, 0, 0, 3)
			r.Send(model.StandardMode, nil, 0, 0, 0, 2)
			r.Wait(empty)
			r.Release(empty)
			r.Recv(make([]byte, 100), 0, 0, 0, 1)
			o := r.Irecv(make([]byte, 200), 0, 0, 0, 5)
			r.Send(model.StandardMode, nil, 0, 0, 0, 4)
			r.Wait(o)
			r.Release(o)
		}
		got := map[string]int64{}
		for name, n := range r.Counts {
			if n > 0 {
				got[name] = n
			}
		}
		for name, n := range want[p.Rank()] {
			if got[name] != n {
				return fmt.Errorf("rank %d: %s: %d, want %d", p.Rank(), name, got[name], n)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRest receives a message whose header and data are in the FIFO when the engine has last looked
// at other FIFOs only. The receive takes the header, and no event tells of the data.
func TestRest(t *testing.T) {
	err := loop.New(3).Run(func(p device.Port) error {
		m, err := New(&model.Library{}, "")
		if err != nil {
			return err
		}
		r := new(engine.Rank)
		e := m.Engines(1)(0)
		r.Setup(p, e, &engine.Config{})
		switch p.Rank() {
		case 0:
			r.Send(model.StandardMode, make([]byte, 100), 0, 1, 0, 1)
			r.Send(model.StandardMode, nil, 0, 2, 0, 1)
		case 1:
			other := r.Irecv(nil, 0, 2, 0, 2) // no message from rank 0 is looked for
			r.Recv(nil, 0, 2, 0, 1)           // all of the message from rank 0 is there
			for e.Progress(false) {
			}
			r.Recv(make([]byte, 100), 0, 0, 0, 1)
			r.Send(model.StandardMode, nil, 0, 2, 0, 1)
			r.Wait(other)
			r.Release(other)
		case 2:
			r.Recv(nil, 0, 0, 0, 1)
			r.Send(model.StandardMode, nil, 0, 1, 0, 1)
			r.Recv(nil, 0, 1, 0, 1)
			r.Send(model.StandardMode, nil, 0, 1, 0, 2)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func leftover(x engine.Engine) error {
	e := x.(*Engine)
	if e.posted.Len() != 0 || e.unexpected.Len() != 0 || e.anySourceReceives.head != nil {
		return fmt.Errorf("%d receives and %d messages are in the queues", e.posted.Len(), e.unexpected.Len())
	}
	for _, p := range e.peerList {
		if p.pendingReceives.head != nil || p.partialMessage != nil || len(p.blockedSends)+len(p.enteringMessages) > 0 || p.openCompletions != 0 || p.isPutUnderWay {
			return fmt.Errorf("something is under way with rank %d", p.rank)
		}
	}
	return nil
}
