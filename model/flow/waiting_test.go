package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// Rank 1 computes 10 us and waits for a message of rank 0, which computes 50 us before; rank 0 then
// computes 100 us more, for which both combine data, and 5 us alone.
func TestWaitingIsNamedByItsCause(t *testing.T) {
	compute := func(p *workload.Program, us uint64) uint32 {
		return p.AddOp(workload.Op{Kind: workload.Compute, Size: us * 1000, Stream: 1})
	}
	first, second := workload.NewProgram("first"), workload.NewProgram("second")
	send := first.AddOp(workload.Op{Kind: workload.Send, Size: 8, Stream: 2}, compute(first, 50))
	late := compute(first, 100)
	first.AddOp(workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: 8, Stream: 3}, late, send)
	first.AddOp(workload.Op{Kind: workload.Compute, Size: 5000, Stream: 1}, 3)
	got := second.AddOp(workload.Op{Kind: workload.Recv, Size: 8, Stream: 2}, compute(second, 10))
	second.AddOp(workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: 8, Stream: 3}, got)
	w := &workload.Workload{Groups: []workload.Group{{Name: "data", Ranks: []int{0, 1}}}, Ranks: []workload.Rank{{Program: first, Groups: []int{0}, Peers: []int{1}}, {Program: second, Groups: []int{0}, Peers: []int{0}}}}
	times := finish(t, w, Machine{}).MeanTimes()
	want := map[string]float64{"a peer that sends late": 40, "a late member, allreduce of 2 ranks, data": 100, "the last rank to end": 5}
	if len(times.Waiting) != len(want) {
		t.Errorf("%+v", times.Waiting)
	}
	for _, p := range times.Waiting {
		if us := 2 * p.Time.Micros(); us < want[p.Name]-0.001 || us > want[p.Name]+0.001 {
			t.Errorf("%s: %g us, want %g", p.Name, us, want[p.Name])
		}
	}
}

// The parts of the time of ranks add up to the time of the last one, to the picosecond, and those
// of the critical path as well: of random programs on streams that share a machine.
func TestPartsAddUpToTheTime(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for round := range 60 {
		ranks := 2 + random.IntN(5)
		w := &workload.Workload{Groups: []workload.Group{{Name: "world"}}}
		peers := make([]int, ranks)
		for r := range ranks {
			w.Groups[0].Ranks, peers[r] = append(w.Groups[0].Ranks, r), r
		}
		steps := 3 + random.IntN(10)
		kinds := make([]int, steps)
		for i := range kinds {
			kinds[i] = random.IntN(3)
		}
		for r := range ranks {
			p := workload.NewProgram("random")
			var before []uint32
			for i, kind := range kinds {
				stream := uint8(1 + i%3)
				switch kind {
				case 0:
					before = []uint32{p.AddOp(workload.Op{Kind: workload.Compute, Size: random.Uint64N(40_000), Stream: stream}, before...)}
				case 1:
					p.AddOp(workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: 1 << 14, Stream: 5}, before...)
				default:
					p.AddOp(workload.Op{Kind: workload.Send, Size: 1 << 12, Peer: uint32((r + 1) % ranks), Stream: 6}, before...)
					before = []uint32{p.AddOp(workload.Op{Kind: workload.Recv, Size: 1 << 12, Peer: uint32((r + ranks - 1) % ranks), Stream: 7})}
				}
			}
			w.Ranks = append(w.Ranks, workload.Rank{Program: p, Groups: []int{0}, Peers: peers})
		}
		res := finish(t, w, testMachine(ranks, 2))
		times := res.MeanTimes()
		if got := times.Computing + times.ExposedCommunication() + times.WaitingTime(); got != res.Finish {
			t.Errorf("round %d: ranks take %v, want %v: %+v", round, got, res.Finish, times)
		}
		var path unit.Time
		for _, p := range res.CriticalPath() {
			path += p.Time
		}
		if path != res.Finish {
			t.Errorf("round %d: the critical path takes %v, want %v", round, path, res.Finish)
		}
		// Divisions lose a picosecond a part: what is far more was counted twice or not at all.
		var sum unit.Time
		exposed, waiting := partTimes{}, partTimes{}
		for rank := range res.sim.ranks {
			sum += res.addRankTimes(int32(rank), exposed, waiting)
		}
		if sum += sumParts(exposed.divideByRanks(1)) + sumParts(waiting.divideByRanks(1)); sum != unit.Time(ranks)*res.Finish {
			t.Errorf("round %d: all ranks take %v, want %d times %v", round, sum, ranks, res.Finish)
		}
	}
}
