package collective

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

type namedMachine struct {
	name string
	Machine
}

// parameterSets are parameters of calls and of messages: of sends at once and by rendezvous, with
// and without the one-way time, of a processor that sends the bytes itself, and of two tiers.
func parameterSets() []namedMachine {
	const gbps12 = unit.PerByte(1000) / 12
	plain := machineOf(us, us/2, us/2, us/5, gbps12)
	stored := machineOf(us/10, 30*us, 15*us, 0, 8333)
	stored.SendOverhead, stored.SenderStoresBytes = model.Curve{{ValueAtFrom: 30 * us, PerByte: 8333}}, true
	calls := Machine{Parameters: model.Parameters{ // as fitted to an interface of 100 Gbit/s with RDMA
		SendOverhead: model.Curve{{From: 0, ValueAtFrom: 206_000, PerByte: 62}, {From: 16384, ValueAtFrom: 3_263_000, PerByte: 83.38}},
		RecvOverhead: model.Curve{{From: 0, ValueAtFrom: 286_000}, {From: 1, ValueAtFrom: 307_000, PerByte: 161.8}, {From: 8192, ValueAtFrom: 1_834_000, PerByte: 83.33}},
		OneWayCurve:  model.Curve{{From: 0, ValueAtFrom: 613_000, PerByte: 223.7}, {From: 16384, ValueAtFrom: 2_888_000, PerByte: 83.33}},
		Start:        model.Curve{{From: 0, ValueAtFrom: 206_000, PerByte: 62}, {From: 16384, ValueAtFrom: 246_000}},
		Posted:       model.Curve{{From: 0, ValueAtFrom: 336_000, PerByte: 161.6}, {From: 16384, ValueAtFrom: 2_567_000, PerByte: 83.33}},
		EagerLimit:   8192, GapPerByte: 83.33,
	}}
	unknown := calls
	unknown.EagerLimit = 0
	tiers := calls
	tiers.IntraNode = &model.Parameters{SendOverhead: model.ConstantCurve(us / 10), RecvOverhead: model.ConstantCurve(us / 10), L: us / 5, GapPerByte: 20}
	return []namedMachine{{"calls", calls}, {"plain", plain}, {"stored", stored}, {"calls without S", unknown}, {"two tiers", tiers}}
}

// randomMachine returns parameters that need not fit together.
func randomMachine(r *rand.Rand) Machine {
	t := func() unit.Time { return unit.Time(r.Int64N(int64(50 * us))) }
	curve := func() model.Curve {
		c := model.Curve{{ValueAtFrom: t(), PerByte: unit.PerByte(r.Float64() * 2000)}}
		return append(c, model.Piece{From: 1 + r.IntN(1<<20), ValueAtFrom: t(), PerByte: unit.PerByte(r.Float64() * 2000)})
	}
	maybe := func(c model.Curve) model.Curve {
		if r.IntN(2) == 0 {
			return nil
		}
		return c
	}
	m := Machine{Parameters: model.Parameters{
		L: t(), SendOverhead: curve(), RecvOverhead: curve(), Gap: t(), GapPerByte: unit.PerByte(r.Float64() * 2000),
		OneWayCurve: maybe(curve()), Start: maybe(curve()), Posted: maybe(curve()), SenderStoresBytes: r.IntN(4) == 0,
	}}
	if len(m.OneWayCurve) > 0 {
		m.EagerLimit = r.IntN(1 << 18)
	}
	if r.IntN(2) == 0 {
		near := randomMachine(r).Parameters
		m.IntraNode = &near
	}
	return m
}

// busiest returns how long the busiest interface of a job is occupied: g + (k−1) G for each message
// that a rank sends, and for each that it receives, but for the gap after the last. It reports
// whether the job has no more messages than a limit.
func busiest(m Machine, a *Algorithm, j Job, limit int) (unit.Time, bool) {
	out, in := make([]unit.Time, j.Ranks), make([]unit.Time, j.Ranks)
	gap := max(m.Gap, 0)
	for rank := range j.Ranks {
		for st := range a.Steps(j, rank) {
			if st.To == NoRank {
				continue
			}
			x := m.parameters(j.Nodes, rank, st.To)
			long := x.Gap + x.GapPerByte.Time(max(st.Send.Bytes-1, 0))
			out[rank] += long
			in[st.To] += long
			gap = max(gap, x.Gap)
			if limit--; limit < 0 {
				return 0, false
			}
		}
	}
	var most unit.Time
	for rank := range j.Ranks {
		most = max(most, out[rank]-gap, in[rank]-gap)
	}
	return most, true
}

// No operation ends before the messages of any rank have passed its interfaces, by any algorithm,
// among 2 to 4,096 ranks, of 1 B to 64 MiB, whatever the parameters are. LOGGP_SOAK takes many more
// jobs, and longer ones.
func TestNoJobEndsBeforeItsInterfaces(t *testing.T) {
	limit, draws := 5_000, 4
	if os.Getenv("LOGGP_SOAK") != "" {
		limit, draws = 4_000_000, 60
	}
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	known := parameterSets()
	for _, a := range extendedAlgorithms() {
		jobs, ranksServed, draws := 0, 0, draws
		if !slices.Contains(Algorithms, a) {
			draws = (draws + 1) / 2
		}
		for _, ranks := range []int{2, 3, 8, 61, 256, 1024, 4096} {
			names := make([]int, ranks)
			for rank := range names {
				names[rank] = rank / 4
			}
			nodes := NewNodes(names)
			if !a.Serves(a.Operation.StandardJob(ranks, 0, nodes)) {
				continue
			}
			ranksServed++
			for draw := range draws {
				m, name := randomMachine(r), fmt.Sprintf("random parameters, seed %d, draw %d", seed, draw)
				if i := r.IntN(2 * len(known)); i < len(known) {
					m, name = known[i].Machine, known[i].name
				}
				j := a.Operation.StandardJob(ranks, 1+r.IntN(1<<r.IntN(27)), nodes)
				floor, ok := busiest(m, a, j, limit)
				if !ok {
					continue
				}
				jobs++
				if got := m.Cost(a, j).LastEnd; got < floor {
					t.Errorf("%s: %v of %d bytes on %d ranks takes %v, and its busiest interface is occupied for %v", name, a, j.Bytes, ranks, got, floor)
				}
			}
		}
		if jobs < 2*draws || ranksServed < 3 {
			t.Errorf("%v was computed for %d jobs of %d numbers of ranks only", a, jobs, ranksServed)
		}
	}
}

// The root of a flat broadcast of 64 KiB to 64 ranks sends 63 messages through one interface of 12
// GB/s: 344 us. The emulated machine with these parameters takes 346.5 us.
func TestFlatBroadcastTakesTheRootsInterface(t *testing.T) {
	m := parameterSets()[0]
	for _, c := range []struct {
		name     string
		from, to float64 // us
	}{{"posted", 344, 350}, {"linear", 460, 475}} { // a blocking send waits for its receiver, too
		got := m.Cost(AlgorithmNamed(Bcast, c.name), Job{Ranks: 64, Bytes: 64 << 10}).LastEnd.Micros()
		if got < c.from || got > c.to {
			t.Errorf("%s takes %.1f us, not %v to %v us", c.name, got, c.from, c.to)
		}
	}
}
