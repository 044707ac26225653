package aclmpl

import (
	"testing"

	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/model"
	closed "github.com/loggp/loggp/model/aclmpl"
	"github.com/loggp/loggp/model/unit"
)

// alone is a torus with a PE in each node, so that neighbours of up to eight share nothing.
func alone() (*model.Machine, *model.Library) {
	m, l := round()
	t := *m.Network.(*model.Torus)
	t.ProcessorsPerNode = 1
	t.WriteBuffer, t.Acknowledge = 48, 370*unit.Nanosecond
	m.Network = &t
	for i := range l.Engine.Costs {
		l.Software[i] = unit.Time(i+1) * 31 * unit.Nanosecond
	}
	return m, l
}

// took returns how long all PEs take from a common start until the last, or one, has ended.
func took(t *testing.T, ranks, of int, o Options, program func(*PE)) unit.Time {
	t.Helper()
	m, l := alone()
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: ranks})
	if err != nil {
		t.Fatal(err)
	}
	var d unit.Time
	if err := Run(w, o, func(e *PE) error {
		const begin = unit.Millisecond
		e.Compute(begin - e.Now())
		program(e)
		if now := e.Now() - begin; e.Rank() == of {
			d = now
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

// The closed forms are the emulation, to the picosecond, where nothing contends.
func TestClosedForms(t *testing.T) {
	m, l := alone()
	c, err := closed.New(m, l, m.PathBetweenRanks(2, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 8, 50, 99, 100, 101, 1000, 100000} {
		out, in := make([]byte, n), make([]byte, n)
		if got, want := took(t, 2, 1, Options{}, func(e *PE) {
			if e.Rank() == 0 {
				e.Send(1, out)
			} else {
				e.Receive(0, in)
			}
		}), c.Message(n); got != want {
			t.Errorf("a message of %d bytes takes %v, by the closed form %v", n, got, want)
		}
		if got, want := took(t, 2, 0, Options{}, func(e *PE) { e.SendReceive(1-e.Rank(), make([]byte, n), 1-e.Rank(), make([]byte, n)) }), c.Exchange(n); got != want {
			t.Errorf("an exchange of %d bytes takes %v, by the closed form %v", n, got, want)
		}
	}
	for _, ranks := range []int{2, 4, 8} {
		for _, n := range []int{8, 64, 1024, 4096} {
			reduce := func(o Options) unit.Time {
				return took(t, ranks, 0, o, func(e *PE) { Reduce(e, make([]float64, n), func(lower, higher, result []float64) {}) })
			}
			if got, want := reduce(Options{MinBinarySwapElements: 1 << 30}), c.Tree(ranks, n, 8); got != want {
				t.Errorf("a tree of %d elements among %d takes %v, by the closed form %v", n, ranks, got, want)
			}
			if got, want := reduce(Options{MinBinarySwapElements: 1}), c.Swap(ranks, n, 8); got != want {
				t.Errorf("binary swap of %d elements among %d takes %v, by the closed form %v", n, ranks, got, want)
			}
		}
	}
}

// From the predicted number of elements on, and not below, binary swap is faster in the emulation.
func TestCrossover(t *testing.T) {
	m, l := alone()
	c, err := closed.New(m, l, m.PathBetweenRanks(2, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{4, 8} {
		n, ok := c.Crossover(ranks, 8, 1<<16)
		if !ok || n <= ranks {
			t.Fatalf("%d PEs: crossover %d, %v", ranks, n, ok)
		}
		time := func(n, from int) unit.Time {
			return took(t, ranks, 0, Options{MinBinarySwapElements: from}, func(e *PE) { Reduce(e, make([]float64, n), func(lower, higher, result []float64) {}) })
		}
		if swap, tree := time(n, 1), time(n, 1<<30); swap >= tree {
			t.Errorf("%d PEs, %d elements: binary swap takes %v, the tree %v", ranks, n, swap, tree)
		}
		if swap, tree := time(n-ranks, 1), time(n-ranks, 1<<30); swap < tree {
			t.Errorf("%d PEs, %d elements: binary swap takes %v, the tree %v", ranks, n-ranks, swap, tree)
		}
		t.Logf("%d PEs: binary swap is faster from %d elements on", ranks, n)
	}
}
