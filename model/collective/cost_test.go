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
	return Machine{Parameters: model.Parameters{L: l, SendOverhead: model.ConstantCurve(send), RecvOverhead: model.ConstantCurve(recv), Gap: g, GapPerByte: big}}
}

// Closed forms, derived by hand from the definitions of the algorithms for machines on which no
// interface is waited for: o_s ≥ g + (k−1) G.
func TestClosedForms(t *testing.T) {
	const send, recv, l = 3 * us, 2 * us, 7 * us
	m := machineOf(l, send, recv, us, unit.PerByte(us)/2000)
	for _, k := range []int{1, 100, 2001} {
		long := m.GapPerByte.Time(k - 1)
		way := send + long + l + recv
		for ranks := 2; ranks <= 64; ranks++ {
			rounds := unit.Time(bits.Len(uint(ranks - 1)))
			p := unit.Time(ranks)
			forms := map[*Algorithm]unit.Time{
				AlgorithmNamed(Bcast, "linear"):          way + (p-2)*send,
				AlgorithmNamed(Allgather, "ring"):        (p - 1) * way,
				AlgorithmNamed(Alltoall, "pairwise"):     (p - 1) * way,
				AlgorithmNamed(Scan, "linear"):           (p-1)*way + 0,
				AlgorithmNamed(Barrier, "dissemination"): rounds * (send + l + recv),
			}
			if ranks&(ranks-1) == 0 {
				forms[AlgorithmNamed(Bcast, "binomial")] = rounds * way
				forms[AlgorithmNamed(Allreduce, "recursive-doubling")] = rounds * way
				forms[AlgorithmNamed(Allreduce, "reduce-bcast")] = 2 * rounds * way
				forms[AlgorithmNamed(Barrier, "binomial")] = 2 * rounds * (send + l + recv)
			}
			for a, want := range forms {
				if got := m.Cost(a, Job{Ranks: ranks, Bytes: k}).LastEnd; got != want {
					t.Errorf("%v of %d bytes on %d ranks: %v, by its form %v", a, k, ranks, got, want)
				}
			}
		}
	}
}

// With one-way times of whole calls, a hop takes Way and not the sum of its parts, and a sender is
// busy for all of o_s. A receive that is posted before takes Posted, a send that does not block
// Start; and of two rendezvous that ranks exchange each proceeds during the other.
func TestWays(t *testing.T) {
	m := machineOf(0, 30*us, 15*us, 0, 0)
	m.OneWayCurve = model.Curve{{From: 0, ValueAtFrom: 22 * us}, {From: 1000, ValueAtFrom: 40 * us}}
	m.Start, m.Posted, m.EagerLimit = model.ConstantCurve(9*us), model.ConstantCurve(29*us), 999
	for ranks := 2; ranks <= 16; ranks *= 2 {
		p, rounds := unit.Time(ranks), unit.Time(bits.Len(uint(ranks-1)))
		for _, c := range []struct {
			operation Operation
			name      string
			bytes     int
			want      unit.Time
		}{
			{Bcast, "linear", 8, (p - 1) * 30 * us},
			{Bcast, "posted", 8, (p-2)*9*us + 22*us},
			{Scan, "linear", 8, (p-2)*22*us + 30*us},
			{Scan, "linear", 2000, (p - 1) * 40 * us},
			{Allreduce, "recursive-doubling", 8, rounds * (30 + 29) * us},
			{Allreduce, "recursive-doubling", 2000, rounds * 40 * us},
		} {
			got := m.Cost(AlgorithmNamed(c.operation, c.name), Job{Ranks: ranks, Bytes: c.bytes})
			if got.LastEnd != c.want || got.LongestMessage != c.bytes {
				t.Errorf("%v by %s of %d bytes on %d ranks: %v, by its form %v", c.operation, c.name, c.bytes, ranks, got.LastEnd, c.want)
			}
		}
	}
	if got := m.OptimalBroadcast(3, 8).LastTime; got != 22*us+min(22, 30)*us {
		t.Errorf("the optimal tree of three ranks ends at %v", got)
	}
}

// Where the gap is what counts, the root of a linear broadcast sends once in a gap, and that of a
// gather receives once in one.
func TestGap(t *testing.T) {
	m := machineOf(7*us, us, us, 5*us, 0)
	for ranks := 2; ranks <= 9; ranks++ {
		want := us + 7*us + unit.Time(ranks-2)*5*us + us
		for _, a := range []*Algorithm{AlgorithmNamed(Bcast, "linear"), AlgorithmNamed(Gather, "linear")} {
			if got := m.Cost(a, Job{Ranks: ranks, Bytes: 1}).LastEnd; got != want {
				t.Errorf("%v on %d ranks: %v, not %v", a, ranks, got, want)
			}
		}
	}
}

// Closed forms of two-level algorithms on 4 nodes of 4 ranks, one after another or in turn: as for
// TestClosedForms, with two rounds on each level. Steps of a level take what messages of its tier
// do.
func TestTwoLevels(t *testing.T) {
	m := machineOf(70*us, 30*us, 20*us, us, unit.PerByte(us)/100)
	near := machineOf(7*us, 3*us, 2*us, us, unit.PerByte(us)/2000).Parameters
	m.IntraNode = &near
	way := func(x model.Parameters, k int) unit.Time {
		return x.SendOverhead.Time(k) + x.L + x.GapPerByte.Time(max(k-1, 0)) + x.RecvOverhead.Time(k)
	}
	for _, node := range []func(rank int) int{func(r int) int { return r / 4 }, func(r int) int { return r % 4 }} {
		names := make([]int, 16)
		for r := range names {
			names[r] = node(r)
		}
		for _, k := range []int{1, 101} {
			out, in := 2*way(m.Parameters, k), 2*way(near, k)
			for a, want := range map[*Algorithm]unit.Time{
				AlgorithmNamed(Bcast, "two-level"):     out + in,
				AlgorithmNamed(Reduce, "two-level"):    in + out,
				AlgorithmNamed(Allreduce, "two-level"): in + out + in,
				AlgorithmNamed(Barrier, "two-level"):   2*way(near, 0) + 2*way(m.Parameters, 0) + 2*way(near, 0),
			} {
				if got := m.Cost(a, Job{Ranks: 16, Bytes: k, Nodes: NewNodes(names)}).LastEnd; got != want {
					t.Errorf("%v of %d bytes: %v, by its form %v", a, k, got, want)
				}
			}
		}
	}
}

// A message within the node overtakes one from outside that left before it: while that is on its
// way no interface is busy.
func TestOvertaking(t *testing.T) {
	m := machineOf(100*us, us, 2*us, 5*us, 0)
	near := machineOf(10*us, 4*us, 3*us, 5*us, 0).Parameters
	m.IntraNode = &near
	c := m.Cost(AlgorithmNamed(Gather, "linear"), Job{Ranks: 3, Bytes: 1, Nodes: NewNodes([]int{0, 1, 0})})
	if want := us + 100*us + 2*us; c.LastEnd != want {
		t.Errorf("%v, not %v", c.LastEnd, want)
	}
}

// Work is charged for what is copied and combined.
func TestWork(t *testing.T) {
	m := machineOf(0, 0, 0, 0, 0)
	m.Copying, m.Combining = model.Curve{{PerByte: unit.PerByte(us)}}, unit.PerByte(1000*us)
	if got, want := m.Cost(AlgorithmNamed(Allreduce, "recursive-doubling"), Job{Ranks: 8, Bytes: 10}).LastEnd, 10*us+3*10*1000*us; got != want {
		t.Errorf("%v, not %v", got, want)
	}
}

// Culler et al., LogP: Towards a Realistic Model of Parallel Computation (1993), figure 3: P = 8, L
// = 6, g = 4, o = 2; the last processor has the message at 24.
func TestOptimalOfLogP(t *testing.T) {
	m := machineOf(6*us, 2*us, 2*us, 4*us, 0)
	tree := m.OptimalBroadcast(8, 1)
	var at []unit.Time
	for _, n := range tree.Nodes {
		at = append(at, n.ReceiveTime/us)
	}
	want := []unit.Time{0, 10, 14, 18, 20, 22, 24, 24}
	if tree.LastTime != 24*us || len(at) != len(want) {
		t.Fatalf("it ends at %v: %v", tree.LastTime, at)
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
				best := m.OptimalBroadcast(ranks, k).LastTime
				for _, a := range []string{"linear", "binomial"} {
					if got := m.Cost(AlgorithmNamed(Bcast, a), Job{Ranks: ranks, Bytes: k}).LastEnd; got < best {
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
	fmt.Print(m.OptimalBroadcast(8, 1))
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
