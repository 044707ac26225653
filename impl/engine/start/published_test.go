package start

import (
	"math"
	"testing"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// counting is a maker whose engines can be asked for their counters when a job has ended.
type counting struct {
	jobEngines
	engines *[]*Engine
}

func (c counting) Engines(n int) func(i int) engine.Engine {
	all := c.jobEngines.Engines(n)
	return func(i int) engine.Engine {
		e := all(i)
		*c.engines = append(*c.engines, e.(*Engine))
		return e
	}
}

// round lets each rank of a placement in turn broadcast so many bytes by a library of the platform
// start-x, and returns how long that takes and what the ranks have counted.
func round(t *testing.T, library string, p model.Placement, bytes int) (took unit.Time, counts [numCounts]int64) {
	t.Helper()
	counts = job(t, library, p, func(c *mpi.Comm) {
		b := make([]byte, bytes)
		for root := range c.Size() {
			mpi.Bcast(c, b, root)
		}
		took = max(took, c.Wtime())
	})
	return took, counts
}

// job runs a program and returns what its ranks have counted.
func job(t *testing.T, library string, p model.Placement, program func(c *mpi.Comm)) (counts [numCounts]int64) {
	t.Helper()
	x := enginetest.LoadPlatform("start-x")
	l, err := x.Library(library)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.Machine.WithPlacement(p)
	if err != nil {
		t.Fatal(err)
	}
	w := hwtest.Open(t, hw.Config{Machine: m, Library: l, Ranks: p.Ranks(), Seed: 1})
	var all []*Engine
	create := func(l *model.Library, protocol string) (engine.JobEngines, error) {
		made, err := New(l, protocol)
		if err != nil {
			return nil, err
		}
		return counting{made.(jobEngines), &all}, nil
	}
	if err := mpi.Run(w, mpi.Options{Engine: create, Library: l}, func(c *mpi.Comm) error {
		program(c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for i, n := range e.counts {
			counts[i] += n
		}
	}
	return counts
}

// oneWay returns half of a round trip of messages of so many bytes, the mean of 100.
func oneWay(t *testing.T, p model.Placement, bytes, times int) (half unit.Time) {
	t.Helper()
	job(t, "mpi-start", p, func(c *mpi.Comm) {
		b := make([]byte, bytes)
		c.Barrier()
		begin := c.Wtime()
		for range times {
			if c.Rank() == 0 {
				mpi.Send(c, b, 1, 0)
			}
			mpi.Recv(c, b, 1-c.Rank(), 0)
			if c.Rank() == 1 {
				mpi.Send(c, b, 0, 0)
			}
		}
		if c.Rank() == 0 {
			half = (c.Wtime() - begin) / unit.Time(2*times)
		}
	})
	return half
}

// Latency inside an SMP, to which software costs are fitted, the latency between SMPs and
// bandwidths inside and between, to which none are, are those that are published: Husbands and Hoe
// 1998, abstract and section 5.
func TestPingPong(t *testing.T) {
	inside, between := model.Placement{2}, model.Placement{1, 1}
	if got := oneWay(t, inside, 0, 100).Micros(); math.Abs(got/18-1) > 0.02 {
		t.Errorf("latency inside an SMP: %.2f us, published 18", got)
	}
	if got := oneWay(t, between, 0, 100).Micros(); math.Abs(got/32-1) > 0.05 {
		t.Errorf("latency between SMPs: %.2f us, published 32", got)
	}
	if near, far := oneWay(t, inside, 8, 100), oneWay(t, between, 8, 100); near >= far {
		t.Errorf("latency inside an SMP is %v, between two %v", near, far)
	}
	const bytes = 4_000_000
	rate := func(p model.Placement) float64 { return bytes / oneWay(t, p, bytes, 2).Micros() }
	near, far := rate(inside), rate(between)
	if near < 150 || near < 2*far {
		t.Errorf("bandwidth inside an SMP: %.1f MB/s, published over 150 and more than twice that between", near)
	}
	const rdma, copies = 60.0, 167.0
	if math.Abs(far/56-1) > 0.1 || far < 0.9*rdma || far < 1/(1/rdma+2/copies) {
		t.Errorf("bandwidth between SMPs: %.1f MB/s, published 56, nearly that of RDMA, and more than copies before and behind it would leave", far)
	}
}

// A broadcast in two stages crosses the network once for each other SMP, and each byte of it does.
// MPICH's tree crosses it more often on several processors an SMP.
func TestBroadcastCrossesOnce(t *testing.T) {
	const bytes = 50_000
	for _, p := range []model.Placement{{1, 1}, {2, 2}, {4, 4}, {3, 2, 3}, {8, 8, 8}} {
		want := int64(p.Ranks() * (len(p) - 1)) // of a round
		_, got := round(t, "mpi-start", p, bytes)
		if got[rdmaTransfers] != want || got[bytesCopiedIn] != want*bytes || got[bytesCopiedOut] != want*bytes {
			t.Errorf("%v: a round has %d transfers of %d bytes in all, want %d of %d each", p, got[rdmaTransfers], got[bytesCopiedIn], want, bytes)
		}
		_, original := round(t, "mpi-start-original", p, bytes)
		if p.Ranks() > len(p) && original[rdmaTransfers] <= want {
			t.Errorf("%v: a round by one tree has %d transfers, by two stages %d", p, original[rdmaTransfers], want)
		}
	}
}

// The ratios of the times of two stages and of one tree are near those that are published: Husbands
// and Hoe 1998, table 3.
func TestBroadcastRatios(t *testing.T) {
	for _, c := range []struct {
		p                   model.Placement
		optimized, original float64 // s
	}{
		{model.Placement{1, 1}, 0.148, 0.147}, {model.Placement{2, 2}, 0.466, 0.781}, {model.Placement{4, 4}, 1.158, 2.420}, {model.Placement{8, 8}, 3.591, 6.934},
	} {
		a, _ := round(t, "mpi-start", c.p, 1_000_000)
		b, _ := round(t, "mpi-start-original", c.p, 1_000_000)
		got, want := a.Micros()/b.Micros(), c.optimized/c.original
		t.Logf("%v: %.3f, published %.3f", c.p, got, want)
		if math.Abs(got/want-1) > 0.15 {
			t.Errorf("%v: two stages take %.3f of one tree, published is %.3f", c.p, got, want)
		}
	}
}
