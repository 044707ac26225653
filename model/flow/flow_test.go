package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// testMachine has nodes of some ranks and one interface of 1 ns a byte to the network for all of
// them.
func testMachine(ranks, perNode int) Machine {
	nodes := make([]int, ranks)
	for r := range nodes {
		nodes[r] = r / perNode
	}
	far := model.Parameters{L: 2 * unit.Microsecond, Gap: 100 * unit.Nanosecond, GapPerByte: unit.PerByte(unit.Nanosecond)}
	near := model.Parameters{L: 500 * unit.Nanosecond, Gap: 20 * unit.Nanosecond, GapPerByte: unit.PerByte(unit.Nanosecond) / 10}
	m := Machine{Machine: collective.Machine{Parameters: far, IntraNode: &near}, Nodes: collective.NewNodes(nodes)}
	m.SharedOccupations = func(into []model.Occupation, from, to, bytes int) []model.Occupation {
		if nodes[from] == nodes[to] {
			return into
		}
		t := unit.Time(bytes) * unit.Nanosecond
		return append(into, model.Occupation{Component: model.Component{Name: "out", Index: nodes[from]}, Time: t}, model.Occupation{Component: model.Component{Name: "in", Index: nodes[to]}, Time: t})
	}
	return m
}

// pairs is a workload in which rank 2i sends to rank 2i+1.
func pairs(sizes ...uint64) *workload.Workload {
	w := &workload.Workload{}
	for i, size := range sizes {
		send, recv := workload.NewProgram("s"), workload.NewProgram("r")
		send.AddOp(workload.Op{Kind: workload.Send, Size: size})
		recv.AddOp(workload.Op{Kind: workload.Recv, Size: size})
		w.Ranks = append(w.Ranks, workload.Rank{Program: send, Peers: []int{2*i + 1}}, workload.Rank{Program: recv, Peers: []int{2 * i}})
	}
	return w
}

func finish(t *testing.T, w *workload.Workload, m Machine) *Result {
	t.Helper()
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	res, err := Simulate(w, workload.Expansion{}, m)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestMessageAloneTakesItsOneWayTime(t *testing.T) {
	m := testMachine(4, 1)
	for _, size := range []uint64{0, 1, 1000, 1 << 20} {
		if got, want := finish(t, pairs(size), m).Finish, m.MessageTime(m.Nodes, 0, 1, int(size)); got != want {
			t.Errorf("%d bytes: %v, want %v", size, got, want)
		}
	}
}

// Two messages of 1 MB leave one node by an interface of 1 B/ns: each gets half until both end, and
// a third one of another node is not slowed.
func TestMessagesShareAnInterface(t *testing.T) {
	m := testMachine(6, 1)
	m.SharedOccupations = func(into []model.Occupation, from, to, bytes int) []model.Occupation {
		if from < 4 {
			into = append(into, model.Occupation{Component: model.Component{Name: "out"}, Time: unit.Time(bytes) * unit.Nanosecond})
		}
		return into
	}
	res := finish(t, pairs(1_000_000, 1_000_000, 1_000_000), m)
	alone := m.MessageTime(m.Nodes, 0, 1, 1_000_000)
	if got := res.RankFinish[1].Micros(); math.Abs(got-2000) > 1 || res.RankFinish[1] != res.RankFinish[3] {
		t.Errorf("shared messages end after %g us, want 2000", got)
	}
	if res.RankFinish[5] != alone {
		t.Errorf("the third message takes %v, want %v", res.RankFinish[5], alone)
	}
}

// A short message on a shared interface ends after twice its time; the long one then goes at full
// speed: both have passed the interface when their bytes have.
func TestSharesGrowWhenOthersEnd(t *testing.T) {
	m := testMachine(4, 4)
	m.IntraNode.L, m.IntraNode.Gap = 0, 0
	m.SharedOccupations = func(into []model.Occupation, from, to, bytes int) []model.Occupation {
		return append(into, model.Occupation{Component: model.Component{Name: "bus"}, Time: m.MessageTime(m.Nodes, from, to, bytes)})
	}
	res := finish(t, pairs(100_001, 1_000_001), m)
	short, long := m.MessageTime(m.Nodes, 0, 1, 100_001), m.MessageTime(m.Nodes, 2, 3, 1_000_001)
	if math.Abs(float64(res.RankFinish[1]-2*short)) > 2 || math.Abs(float64(res.RankFinish[3]-(short+long))) > 2 {
		t.Errorf("they end after %v and %v, want %v and %v", res.RankFinish[1], res.RankFinish[3], 2*short, short+long)
	}
}

// A collective operation alone takes the cost of its algorithm.
func TestCollectiveAloneTakesItsCost(t *testing.T) {
	for _, o := range collective.Operations() {
		for _, ranks := range []int{2, 5, 8} {
			m := testMachine(ranks, 4)
			w := allRanks(ranks, workload.Op{Kind: workload.Collective, Operation: o, Size: uint64(ranks) * 4096})
			job := w.Ranks[0].Program.Ops()[0].Job(ranks)
			job.Nodes = m.Nodes
			a, err := workload.Expansion{}.Algorithm(o, job)
			if err != nil {
				t.Fatal(err)
			}
			if want, got := m.Cost(a, job).LastEnd, finish(t, w, m).Finish; got != want {
				t.Errorf("%v of %d ranks: %v, want %v", o, ranks, got, want)
			}
		}
	}
}

// allRanks is a workload in which a group of all ranks executes operations one after the other.
func allRanks(ranks int, ops ...workload.Op) *workload.Workload {
	p := workload.NewProgram("p")
	for _, o := range ops {
		o.Stream = 1
		p.AddOp(o)
	}
	w := &workload.Workload{Groups: []workload.Group{{Name: "world"}}}
	for r := range ranks {
		w.Groups[0].Ranks = append(w.Groups[0].Ranks, r)
		w.Ranks = append(w.Ranks, workload.Rank{Program: p, Groups: []int{0}})
	}
	return w
}

// The formula of a ring and the cost of its messages, one by one.
func TestRingHasTheTimeOfItsMessages(t *testing.T) {
	for _, o := range []collective.Operation{collective.Allreduce, collective.Allgather, collective.ReduceScatter} {
		for _, c := range []struct{ ranks, perNode int }{{2, 1}, {8, 8}, {8, 1}, {16, 4}, {32, 8}} {
			for _, bytes := range []uint64{64, 1 << 12, 1 << 20, 1 << 24} {
				m := testMachine(c.ranks, c.perNode)
				op := workload.Op{Kind: workload.Collective, Operation: o, Size: bytes}
				w := allRanks(c.ranks, op)
				job := op.Job(c.ranks)
				job.Nodes = m.Nodes
				a := collective.AlgorithmNamed(o, "ring")
				r, isRing := ringOf(a, job)
				if !isRing {
					t.Fatal(a)
				}
				d := newDemands(w, workload.Expansion{}, m)
				want, got := m.Cost(a, job).LastEnd, d.ringTime(r, w.Groups[0].Ranks, busyTimes{})
				if ratio := float64(got) / float64(want); ratio < 0.85 || ratio > 1.15 {
					t.Errorf("%v of %d ranks in nodes of %d, %d bytes: %v, want %v", o, c.ranks, c.perNode, bytes, got, want)
				}
			}
		}
	}
}

// Laws of max-min fairness on random activities: no part is used for more than all of the time, and
// an activity that is slower than alone has a part that is used up, on which none is faster.
func TestSharesAreMaxMinFair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		s := &fairSharing{}
		var activities []*activity
		for range 1 + random.IntN(30) {
			a := &activity{demand: &demand{timeAlone: unit.Time(1 + random.IntN(1e9))}}
			for part := range int32(12) {
				if random.IntN(4) == 0 {
					a.uses = append(a.uses, partUse{part, random.Float64()})
				}
			}
			s.addActivity(a)
			activities = append(activities, a)
		}
		for _, first := range activities {
			component, parts := s.connectedActivities([]*activity{first})
			s.fillRates(component, parts)
		}
		progress := func(a *activity) float64 { return a.fairRate * float64(a.timeAlone) }
		load, fastest := make([]float64, 12), make([]float64, 12)
		for _, a := range activities {
			for _, u := range a.uses {
				load[u.part] += u.occupiedShare * progress(a)
				fastest[u.part] = max(fastest[u.part], progress(a))
			}
		}
		for part, l := range load {
			if l > 1+1e-6 {
				t.Fatalf("round %d: part %d is used for %g of the time", round, part, l)
			}
		}
		for i, a := range activities {
			p := progress(a)
			if p > 1+1e-9 || p <= 0 {
				t.Fatalf("round %d: activity %d has progress %g", round, i, p)
			}
			isBound := p > 1-1e-9
			for _, u := range a.uses {
				isBound = isBound || load[u.part] > 1-1e-6 && fastest[u.part] < p+1e-6
			}
			if !isBound {
				t.Fatalf("round %d: activity %d has progress %g, and nothing holds it up", round, i, p)
			}
		}
	}
}

// Computing overlaps with communication on another stream, and a late member delays the others.
func TestStreamsOverlap(t *testing.T) {
	m := testMachine(2, 1)
	program := func(delay uint64) *workload.Program {
		p := workload.NewProgram("p")
		p.AddOp(workload.Op{Kind: workload.Compute, Size: delay, Stream: 1})
		p.AddOp(workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: 1 << 20, Stream: 2}, 0)
		p.AddOp(workload.Op{Kind: workload.Compute, Size: 100_000, Stream: 1})
		return p
	}
	w := &workload.Workload{Groups: []workload.Group{{Ranks: []int{0, 1}}}, Ranks: []workload.Rank{{Program: program(1000), Groups: []int{0}}, {Program: program(50_000), Groups: []int{0}}}}
	alone := finish(t, allRanks(2, workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: 1 << 20}), m).Finish
	res := finish(t, w, m)
	if want := 50*unit.Microsecond + alone; res.Finish != want {
		t.Errorf("%v, want %v", res.Finish, want)
	}
}

func TestComputingWithoutStreamIsInTurn(t *testing.T) {
	p := workload.NewProgram("p")
	for range 3 {
		p.AddOp(workload.Op{Kind: workload.Compute, Size: 10})
	}
	if got := finish(t, &workload.Workload{Ranks: []workload.Rank{{Program: p}}}, testMachine(1, 1)).Finish; got != 30*unit.Nanosecond {
		t.Errorf("%v, want 30 ns", got)
	}
}

// Two ranks that each receive before they send never end.
func TestOperationsThatNeverEnd(t *testing.T) {
	p := workload.NewProgram("p")
	recv := p.AddOp(workload.Op{Kind: workload.Recv, Size: 8})
	p.AddOp(workload.Op{Kind: workload.Send, Size: 8}, recv)
	w := &workload.Workload{Ranks: []workload.Rank{{Program: p, Peers: []int{1}}, {Program: p, Peers: []int{0}}}}
	_, err := Simulate(w, workload.Expansion{}, testMachine(2, 1))
	if err == nil || !strings.Contains(err.Error(), "4 operations never end, such as p: operation 0 of rank 0: recv") {
		t.Errorf("error %v", err)
	}
}

func TestTooManyMessages(t *testing.T) {
	w := allRanks(1100, workload.Op{Kind: workload.Collective, Operation: collective.Alltoall, Size: 1 << 20})
	_, err := Simulate(w, workload.Expansion{}, testMachine(1100, 1))
	if err == nil || !strings.Contains(err.Error(), "has more than 1048576 messages") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{64, 1024, 16384} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			w := allRanks(ranks, workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: 1 << 30})
			m := testMachine(ranks, 8)
			for b.Loop() {
				if _, err := Simulate(w, workload.Expansion{}, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Messages share the processors of their ranks: those of one sender, and those that a rank sends
// and receives. One alone takes its one-way time, however long processors work for it.
func TestMessagesShareProcessors(t *testing.T) {
	m := testMachine(4, 1)
	alone := m.MessageTime(m.Nodes, 0, 1, 1000)
	for _, c := range []struct{ sender, receiver float64 }{{0, 0}, {0.8, 0.1}, {0.3, 0.9}, {1.5, 1}} {
		m.ProcessorTimes = func(_, _, _ int) (sender, receiver unit.Time) {
			return unit.Time(c.sender * float64(alone)), unit.Time(c.receiver * float64(alone))
		}
		if got := finish(t, pairs(1000), m).Finish; got != alone {
			t.Errorf("%+v: a message alone takes %v, want %v", c, got, alone)
		}
		exchange := &workload.Workload{}
		for r := range 2 {
			p := workload.NewProgram("exchange")
			p.AddOp(workload.Op{Kind: workload.Send, Size: 1000})
			p.AddOp(workload.Op{Kind: workload.Recv, Size: 1000})
			exchange.Ranks = append(exchange.Ranks, workload.Rank{Program: p, Peers: []int{1 - r}})
		}
		want := max(1, min(c.sender, 1)+min(c.receiver, 1)) * float64(alone)
		if got := float64(finish(t, exchange, m).Finish); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%+v: an exchange takes %g times as long as a message, want %g", c, got/float64(alone), want/float64(alone))
		}
	}
}

// A send that does not wait for its receive ends when its call returns: those of a rank follow each
// other by o_s, whatever waits for them. A rendezvous ends with its message.
func TestEagerSendsEndWithTheirCalls(t *testing.T) {
	const overhead = 300 * unit.Nanosecond
	m := testMachine(4, 1)
	m.SendOverhead, m.EagerLimit = model.ConstantCurve(overhead), 1000
	for _, size := range []uint64{1000, 1001} {
		send := workload.NewProgram("s")
		var before []uint32
		for peer := range uint32(3) {
			before = []uint32{send.AddOp(workload.Op{Kind: workload.Send, Size: size, Peer: peer}, before...)}
		}
		recv := workload.NewProgram("r")
		recv.AddOp(workload.Op{Kind: workload.Recv, Size: size})
		w := &workload.Workload{Ranks: []workload.Rank{{Program: send, Peers: []int{1, 2, 3}}}}
		for range 3 {
			w.Ranks = append(w.Ranks, workload.Rank{Program: recv, Peers: []int{0}})
		}
		alone := m.MessageTime(m.Nodes, 0, 1, int(size))
		res := finish(t, w, m)
		want := 3 * alone // one after the other
		if size == 1000 {
			if want = 3 * overhead; res.RankFinish[0] != want {
				t.Errorf("%d bytes: the sender ends after %v, want %v", size, res.RankFinish[0], want)
			}
			want = max(2*overhead+alone, 3*m.InterfaceTime(m.Nodes, 0, 1, int(size)))
		}
		if got := res.Finish.Micros() / want.Micros(); got < 0.9 || got > 1.2 {
			t.Errorf("%d bytes: the last message arrives after %v, want %v", size, res.Finish, want)
		}
	}
}
