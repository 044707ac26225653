package pattern

import (
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

func end(t *testing.T, s *schedule.Schedule, d schedule.Dialect) unit.Time {
	t.Helper()
	p := schedule.DefaultParams
	p.EagerLimit = 1 << 40
	res, err := s.Simulate(schedule.Options{Params: p, Dialect: d})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Warnings) > 0 {
		t.Error(res.Warnings)
	}
	return res.LastFinish
}

// Every pattern and algorithm ends in every dialect, for any number of ranks, without messages of
// another size than their receives.
func TestPatternsEnd(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 6, 7, 8, 9, 16, 20, 32} {
		c := Config{Ranks: ranks, Size: 96, Rounds: 2, Compute: unit.Microsecond, Root: ranks / 2, Fold: 1000, Copy: 500}
		for _, p := range Patterns {
			s, err := Make(p.Name, c)
			if err != nil {
				t.Fatal(p.Name, err)
			}
			for d := schedule.LogGP; d <= schedule.LGS; d++ {
				if got := end(t, s, d); got == 0 {
					t.Errorf("%s with %d ranks in dialect %v ends at once", p.Name, ranks, d)
				}
			}
		}
		for _, a := range collective.Algorithms {
			c.Algorithm = a.Name
			s, err := Make(a.Operation.String(), c)
			if err != nil {
				if a.Serves(a.Operation.StandardJob(ranks, 96, nil)) {
					t.Error(a, err)
				}
				continue
			}
			for d := schedule.LogGP; d <= schedule.LGS; d++ {
				end(t, s, d)
			}
		}
	}
}

// A binomial broadcast is as long as its longest way, and an incast as its receiver's work.
func TestPatternTimes(t *testing.T) {
	p := schedule.DefaultParams
	s, err := Make("bcast", Config{Ranks: 1024, Size: 1, Algorithm: "binomial"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := end(t, s, schedule.LogGP), 10*(2*p.Overhead+p.L); got != want {
		t.Errorf("a broadcast takes %v, want %v", got, want)
	}
	// Each rank sends in the order of the file.
	if s, err = Make("bcast", Config{Ranks: 1024, Size: 4096, Algorithm: "binomial"}); err != nil {
		t.Fatal(err)
	}
	if got, want := end(t, s, schedule.LGS), 310_700*unit.Nanosecond; got != want {
		t.Errorf("a broadcast in dialect lgs takes %v, want %v", got, want)
	}
	// Computing and a way up, and again down; of two children the second costs one o more at either
	// end.
	way := 2*p.Overhead + p.L
	for ranks, want := range map[int]unit.Time{2: 2*unit.Microsecond + 2*way, 3: 2*unit.Microsecond + 2*way + 2*p.Overhead} {
		if s, err = Make("tree", Config{Ranks: ranks, Size: 1, Compute: unit.Microsecond, Root: 1}); err != nil {
			t.Fatal(err)
		}
		if got := end(t, s, schedule.LogGP); got != want {
			t.Errorf("a tree of %d takes %v, want %v", ranks, got, want)
		}
	}
	const senders, size = 8, 100_001
	if s, err = Make("incast", Config{Ranks: senders + 1, Size: size}); err != nil {
		t.Fatal(err)
	}
	flow := p.GapPerByte.Time(size - 1)
	if got, want := end(t, s, schedule.LogGP), 2*p.Overhead+p.L+senders*flow+(senders-1)*p.Gap; got != want {
		t.Errorf("an incast takes %v, want %v", got, want)
	}
	if got := end(t, s, schedule.LGS); got > 2*flow {
		t.Errorf("an incast in dialect lgs takes %v: it has no fan-in", got)
	}
}

// Schedules that follow each other take the sum of their times where all ranks end together, and
// those side by side the longest.
func TestCompose(t *testing.T) {
	a, err := Make("ring", Config{Ranks: 4, Size: 8, Compute: 5 * unit.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Make("dissemination", Config{Ranks: 4, Size: 8, Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	both, err := Append(a, b, a)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := end(t, both, schedule.LogGP), 2*end(t, a, schedule.LogGP)+end(t, b, schedule.LogGP); got != want {
		t.Errorf("one after the other: %v, want %v", got, want)
	}
	for rule, want := range map[string]struct{ ranks, peer int }{"consecutive": {12, 3}, "interleaved": {12, 9}, "random": {12, -1}, "0-3/7,6,5,4/10-13": {14, 3}} {
		places, err := Place(rule, 3, a, b, a)
		if err != nil {
			t.Fatal(err)
		}
		beside, err := Merge(places, a, b, a)
		if err != nil {
			t.Fatal(err)
		}
		if got, long := end(t, beside, schedule.LogGP), max(end(t, a, schedule.LogGP), end(t, b, schedule.LogGP)); got != long || beside.CountRanks() != want.ranks || beside.CountOps() != 2*a.CountOps()+b.CountOps() {
			t.Errorf("%s: %v, want %v, %d ranks", rule, got, long, beside.CountRanks())
		}
		if peer := int(beside.OpsOfRank(0)[1].Peer); want.peer >= 0 && peer != want.peer {
			t.Errorf("%s: rank 0 receives from %d", rule, peer)
		}
	}
	for _, rule := range []string{"x", "0-3/4-7", "0-3/4-7/8-x", "0-3/4-7/9-8", "0-3/4-7/-1-2", "0-3/4-7/7-10", "0-3/4-7/8-10"} {
		places, err := Place(rule, 0, a, b, a)
		if err == nil {
			_, err = Merge(places, a, b, a)
		}
		if err == nil {
			t.Errorf("placement %s is taken", rule)
		}
	}
	var build schedule.Builder
	for rank := range uint32(2) {
		build.BeginRank()
		build.AddOp(schedule.Op{Kind: schedule.Recv, Peer: 1 - rank})
		build.NameCall(schedule.SynchronousSendCall, 1)
		build.AddOp(schedule.Op{Kind: schedule.Send, Peer: 1 - rank})
	}
	named, err := build.Build()
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Append(named, named)
	if err != nil {
		t.Fatal(err)
	}
	if calls := twice.Calls(1); len(calls) != 2 || twice.OpsOfRank(1)[calls[1].First].Kind != schedule.Send {
		t.Errorf("one after the other, the calls are %v", calls)
	}
	if _, err := Append(a, both, func() *schedule.Schedule { s, _ := Make("ring", Config{Ranks: 5}); return s }()); err == nil {
		t.Error("schedules of 4 and 5 ranks follow each other")
	}
}

func TestMakeErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
	}{
		{"circle", Config{Ranks: 2}}, {"ring", Config{}}, {"ring", Config{Ranks: 2, Size: -1}}, {"ring", Config{Ranks: 2, Root: 2}},
		{"ring", Config{Ranks: 2, Algorithm: "x"}}, {"bcast", Config{Ranks: 2, Algorithm: "x"}}, {"ring", Config{Ranks: 2, Compute: 1}},
		{"ring", Config{Ranks: 2, Rounds: MaxRounds + 1}},
	} {
		if _, err := Make(c.name, c.config); err == nil {
			t.Errorf("%s of %+v is made", c.name, c.config)
		}
	}
}

// The cost of an algorithm by package collective is the time of its schedule. Where messages come
// before their receives it is less: a rank that waits takes them in there, and in a simulation they
// are taken in when they are received.
func TestAgainstCost(t *testing.T) {
	early := []string{"allgather gather-bcast", "allreduce recursive-doubling", "allreduce reduce-bcast", "allreduce scatter-allgather", "barrier binomial", "bcast scatter-allgather",
		"gather binomial", "reduce binomial", "reduce linear", "reduce-scatter reduce-then-scatter", "scan recursive-doubling"}
	p := schedule.DefaultParams
	p.EagerLimit = math.MaxUint64
	m := collective.Machine{Parameters: model.Parameters{L: p.L, SendOverhead: model.ConstantCurve(p.Overhead), RecvOverhead: model.ConstantCurve(p.Overhead), Gap: p.Gap, GapPerByte: p.GapPerByte}}
	for _, a := range collective.Algorithms {
		less := 0
		for ranks := 2; ranks <= 17; ranks++ {
			for _, size := range []int{1, 1000} {
				job := a.Operation.StandardJob(ranks, size, nil)
				if !a.Serves(job) {
					continue
				}
				s, err := Make(a.Operation.String(), Config{Ranks: ranks, Size: size, Algorithm: a.Name})
				if err != nil {
					t.Fatal(err)
				}
				res, err := s.Simulate(schedule.Options{Params: p})
				if err != nil {
					t.Fatal(err)
				}
				cost := m.Cost(a, job).LastEnd
				if cost < res.LastFinish {
					less++
				}
				if cost > res.LastFinish || cost < res.LastFinish && !slices.Contains(early, a.String()) {
					t.Errorf("%v of %d bytes by %d ranks costs %v, and its schedule takes %v", a, size, ranks, cost, res.LastFinish)
				}
			}
		}
		if less == 0 && slices.Contains(early, a.String()) {
			t.Errorf("%v costs what its schedule takes: take it off the list", a)
		}
	}
}
