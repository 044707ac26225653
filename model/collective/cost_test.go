package collective

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

func machineOf(l, send, recv, g unit.Time, big unit.PerByte) Machine {
	return Machine{Parameters: model.Parameters{L: l, SendO: model.Constant(send), RecvO: model.Constant(recv), Gap: g, BigGap: big}}
}

// Closed forms, derived by hand from the definitions of the algorithms for machines on which no interface is waited for:
// o_s ≥ g + (k−1) G.
func TestClosedForms(t *testing.T) {
	const send, recv, l = 3 * us, 2 * us, 7 * us
	m := machineOf(l, send, recv, us, unit.PerByte(us)/2000)
	for _, k := range []int{1, 100, 2001} {
		long := m.BigGap.Time(k - 1)
		way := send + long + l + recv
		for ranks := 2; ranks <= 64; ranks++ {
			rounds := unit.Time(bits.Len(uint(ranks - 1)))
			p := unit.Time(ranks)
			forms := map[*Algorithm]unit.Time{
				Named(Bcast, "linear"):          way + (p-2)*send,
				Named(Allgather, "ring"):        (p - 1) * way,
				Named(Alltoall, "pairwise"):     (p - 1) * way,
				Named(Scan, "linear"):           (p-1)*way + 0,
				Named(Barrier, "dissemination"): rounds * (send + l + recv),
			}
			if ranks&(ranks-1) == 0 {
				forms[Named(Bcast, "binomial")] = rounds * way
				forms[Named(Allreduce, "recursive-doubling")] = rounds * way
				forms[Named(Allreduce, "reduce-bcast")] = 2 * rounds * way
				forms[Named(Barrier, "binomial")] = 2 * rounds * (send + l + recv)
			}
			for a, want := range forms {
				if got := m.Cost(a, Job{Ranks: ranks, Bytes: k}).Last; got != want {
					t.Errorf("%v of %d bytes on %d ranks: %v, by its form %v", a, k, ranks, got, want)
				}
			}
		}
	}
}

// Where the gap is what counts, the root of a linear broadcast sends once in a gap, and that of a gather receives once in one.
func TestGap(t *testing.T) {
	m := machineOf(7*us, us, us, 5*us, 0)
	for ranks := 2; ranks <= 9; ranks++ {
		want := us + 7*us + unit.Time(ranks-2)*5*us + us
		for _, a := range []*Algorithm{Named(Bcast, "linear"), Named(Gather, "linear")} {
			if got := m.Cost(a, Job{Ranks: ranks, Bytes: 1}).Last; got != want {
				t.Errorf("%v on %d ranks: %v, not %v", a, ranks, got, want)
			}
		}
	}
}

// Work is charged for what is copied and combined.
func TestWork(t *testing.T) {
	m := machineOf(0, 0, 0, 0, 0)
	m.Copy, m.Fold = unit.PerByte(us), unit.PerByte(1000*us)
	if got, want := m.Cost(Named(Allreduce, "recursive-doubling"), Job{Ranks: 8, Bytes: 10}).Last, 10*us+3*10*1000*us; got != want {
		t.Errorf("%v, not %v", got, want)
	}
}

// Culler et al., LogP: Towards a Realistic Model of Parallel Computation (1993), figure 3: P = 8, L = 6, g = 4, o = 2; the last
// processor has the message at 24.
func TestOptimalOfLogP(t *testing.T) {
	m := machineOf(6*us, 2*us, 2*us, 4*us, 0)
	tree := m.Optimal(8, 1)
	var at []unit.Time
	for _, n := range tree.Nodes {
		at = append(at, n.At/us)
	}
	want := []unit.Time{0, 10, 14, 18, 20, 22, 24, 24}
	if tree.Last != 24*us || len(at) != len(want) {
		t.Fatalf("it ends at %v: %v", tree.Last, at)
	}
	for i := range want {
		if at[i] != want[i] {
			t.Errorf("%v, and the figure has %v", at, want)
			break
		}
	}
}

// No broadcast that sends whole messages is better than the optimal tree.
func TestOptimalIsBest(t *testing.T) {
	for _, m := range []Machine{
		machineOf(6*us, 2*us, 2*us, 4*us, 0), machineOf(us, 5*us, us, 2*us, 0), machineOf(50*us, us, us, us, unit.PerByte(us)/10), machineOf(0, us, 0, 9*us, 0),
	} {
		for ranks := 1; ranks <= 40; ranks++ {
			for _, k := range []int{1, 1000} {
				best := m.Optimal(ranks, k).Last
				for _, a := range []string{"linear", "binomial"} {
					if got := m.Cost(Named(Bcast, a), Job{Ranks: ranks, Bytes: k}).Last; got < best {
						t.Errorf("%s on %d ranks takes %v, the optimal tree %v", a, ranks, got, best)
					}
				}
			}
		}
	}
}

// The tree of the figure.
func ExampleTree() {
	m := Machine{Parameters: model.LogP{L: 6 * us, Overhead: 2 * us, Gap: 4 * us}.Parameters()}
	fmt.Print(m.Optimal(8, 1))
	// Output:
	// 0 at 0s
	// ├─ 1 at 10us
	// │  ├─ 4 at 20us
	// │  └─ 6 at 24us
	// ├─ 2 at 14us
	// │  └─ 7 at 24us
	// ├─ 3 at 18us
	// └─ 5 at 22us
}
