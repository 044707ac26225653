package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/unit"
)

var options = schedule.Options{Params: schedule.Params{L: 1500 * unit.Nanosecond, Overhead: 300 * unit.Nanosecond, Gap: 400 * unit.Nanosecond, GapPerByte: 90, EagerLimit: 4096}}

// oneCollective is a workload whose ranks execute one operation.
func oneCollective(o collective.Operation, ranks int, bytes uint64) *Workload {
	p := NewProgram("test")
	p.AddOp(Op{Kind: Collective, Operation: o, Size: bytes, Stream: 1})
	w := &Workload{Groups: []Group{{Name: "world"}}}
	for r := range ranks {
		w.Groups[0].Ranks = append(w.Groups[0].Ranks, r)
		w.Ranks = append(w.Ranks, Rank{Program: p, Groups: []int{0}})
	}
	return w
}

func finish(t *testing.T, s *schedule.Schedule) unit.Time {
	t.Helper()
	res, err := s.Simulate(options)
	if err != nil {
		t.Fatal(err)
	}
	return res.LastFinish
}

// A workload of one collective operation takes the time of the pattern of the same algorithm.
func TestCollectiveTakesTheTimeOfItsPattern(t *testing.T) {
	for _, o := range collective.Operations() {
		for _, ranks := range []int{1, 2, 3, 8, 13} {
			for _, block := range []int{0, 8, 1 << 10, 1 << 16} {
				bytes := block
				if job := (Op{Operation: o, Size: 13 * 13}).Job(13); job.Bytes == 13 && o.HasBlocks() { // the input has a block for each rank
					bytes = block * ranks
				}
				x := Expansion{}
				w := oneCollective(o, ranks, uint64(bytes))
				s, err := w.Schedule(x)
				if err != nil {
					t.Fatal(err)
				}
				want, err := pattern.Make(o.String(), pattern.Config{Ranks: ranks, Size: block, Algorithm: x.AlgorithmName(o)})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := finish(t, s), finish(t, want); got != want {
					t.Errorf("%v of %d ranks, %d bytes: %v, want %v", o, ranks, block, got, want)
				}
			}
		}
	}
}

// Two groups of two ranks and then all four combine data, beside messages with any order of tags.
func TestGroupsAndMessagesDoNotMix(t *testing.T) {
	p := NewProgram("test")
	p.AddOp(Op{Kind: Compute, Size: 5000, Stream: 1})
	p.AddOp(Op{Kind: Collective, Operation: collective.Allreduce, Size: 1 << 20, Peer: 0, Stream: 2})
	p.AddOp(Op{Kind: Collective, Operation: collective.Alltoall, Size: 1 << 20, Peer: 1, Stream: 3})
	p.AddOp(Op{Kind: Send, Size: 64, Peer: 0, Tag: MaxTag})
	last := p.AddOp(Op{Kind: Recv, Size: 64, Peer: 1, Tag: MaxTag})
	p.AddOp(Op{Kind: Collective, Operation: collective.Barrier, Peer: 1, Stream: 2}, last)
	w := &Workload{Groups: []Group{{"a", []int{0, 2}}, {"b", []int{3, 1}}, {"all", []int{0, 1, 2, 3}}}}
	for r := range 4 {
		w.Ranks = append(w.Ranks, Rank{p, []int{r % 2, 2}, []int{(r + 1) % 4, (r + 3) % 4}})
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := w.Schedule(Expansion{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckEnds(); err != nil {
		t.Error(err)
	}
	if got := finish(t, s); got <= 5*unit.Microsecond {
		t.Errorf("it ends after %v", got)
	}
	uses := fmt.Sprint(w.Collectives())
	if want := "[{barrier 4 1 1 0 0 0} {alltoall 4 1 1 1048576 1048576 1048576} {allreduce 2 2 2 1048576 1048576 2097152}]"; uses != want {
		t.Errorf("collectives %s, want %s", uses, want)
	}
	if calls := s.Calls(0); len(calls) != 3 || calls[0].Name != "allreduce" {
		t.Errorf("calls %v", calls)
	}
	if n, err := w.EstimateOps(Expansion{}); err != nil || n < s.CountOps()*2/3 {
		t.Errorf("estimate %d (%v) of %d operations", n, err, s.CountOps())
	}
}

func TestStreamsRunInOrder(t *testing.T) {
	p := NewProgram("test")
	for range 3 {
		p.AddOp(Op{Kind: Compute, Size: 10, Stream: 1})
		p.AddOp(Op{Kind: Compute, Size: 25, Stream: 2})
	}
	s, err := (&Workload{Ranks: []Rank{{Program: p}}}).Schedule(Expansion{})
	if err != nil {
		t.Fatal(err)
	}
	if got := finish(t, s); got != 75*unit.Nanosecond {
		t.Errorf("%v, want 75 ns", got)
	}
}

func TestCheck(t *testing.T) {
	all := []int{0, 1}
	program := func(ops ...Op) *Program {
		p := NewProgram("p")
		for _, o := range ops {
			p.AddOp(o)
		}
		return p
	}
	two := func(a, b *Program) *Workload {
		return &Workload{Ranks: []Rank{{a, []int{0}, all}, {b, []int{0}, all}}, Groups: []Group{{"g", all}}}
	}
	bcast := Op{Kind: Collective, Operation: collective.Bcast, Size: 8}
	rooted := bcast
	rooted.Root = 1
	for _, c := range []struct {
		w    *Workload
		want string
	}{
		{&Workload{}, "0 ranks: there must be 1 to"},
		{&Workload{Ranks: make([]Rank, 1), Groups: []Group{{"g", nil}}}, "group g (number 0): it has no ranks"},
		{&Workload{Ranks: make([]Rank, 1), Groups: []Group{{"g", []int{0, 0}}}}, "it has rank 0 twice"},
		{two(program(bcast), program(rooted)), "p: operation 0, rank 1: it is bcast of 8 bytes with root 1; collective operation 1 of group g is bcast of 8 bytes with root 0 in rank 0"},
		{two(program(Op{Kind: Compute, Size: MaxCompute + 1}), program()), "computing for"},
		{two(program(Op{Kind: Collective, Peer: 3}), program()), "it is of group 3: the rank has 1"},
		{two(program(Op{Kind: Send, Peer: 3}), program()), "it is with peer 3: the rank has 2"},
		{two(program(Op{Kind: Send, Tag: MaxTag + 1}), program()), "its tag is"},
		{two(program(Op{Kind: Send, Peer: 1, Size: 8}), program(Op{Kind: Recv, Peer: 0, Size: 4})), "4 bytes more are sent than received"},
		{two(program(Op{Kind: Send, Peer: 1, Size: 3}), program(Op{Kind: Recv, Peer: 0, Size: 8})), "5 bytes more are received than sent"},
		{two(program(Op{Kind: Send, Peer: 1, Size: MaxBytes + 1}), program()), "bytes: at most"},
	} {
		if err := c.w.withPrograms().Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// withPrograms gives ranks without a program an empty one.
func (w *Workload) withPrograms() *Workload {
	for i := range w.Ranks {
		if w.Ranks[i].Program == nil {
			w.Ranks[i].Program = NewProgram("empty")
		}
	}
	return w
}

func TestUnknownAlgorithm(t *testing.T) {
	for _, c := range []struct{ algorithm, want string }{{"nothing", `allreduce has no algorithm "nothing": there are`}, {"two-level", "two-level needs three ranks or more"}} {
		x := Expansion{Algorithms: map[collective.Operation]string{collective.Allreduce: c.algorithm}}
		w := oneCollective(collective.Allreduce, 4, 8)
		_, wrong := w.Schedule(x)
		_, estimate := w.EstimateOps(x)
		for _, err := range []error{wrong, estimate} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		}
	}
}

// A schedule becomes a workload and a schedule again, and takes the same time.
func TestScheduleThereAndBack(t *testing.T) {
	for _, name := range []string{"halo", "sweep3d", "tree", "incast", "pipeline", "allreduce"} {
		s, err := pattern.Make(name, pattern.Config{Ranks: 8, Size: 5000, Rounds: 3, Compute: 7 * unit.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		w, err := FromSchedule(s, name)
		if err != nil {
			t.Fatal(err)
		}
		back, err := w.Schedule(Expansion{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := finish(t, back), finish(t, s); got != want || back.CountOps() != s.CountOps() {
			t.Errorf("%s: %v and %d operations, want %v and %d", name, got, back.CountOps(), want, s.CountOps())
		}
	}
}

func TestSchedulesThatAreNoWorkload(t *testing.T) {
	for _, c := range []struct{ goal, want string }{
		{"rank 0 {\na: calc 5 cpu 1\n}", "ranks have up to 2 CPUs"},
		{"rank 0 {\na: recv 5b from 4294967295\nb: send 5b to 0\n}", "it receives from any source"},
		{"rank 0 {\na: send 5b to 0\nb: recv 5b from 0\nb irequires a\n}", "operation 1 waits for the start of another one"},
		{"rank 0 {\na: recv 5b from 0\n}", "rank 0 sends 0 messages with tag 0 to rank 0, which receives 1 of them"},
	} {
		s, err := schedule.Read(strings.NewReader("num_ranks 1\n"+c.goal+"\n"), "x.goal", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FromSchedule(s, "x.goal"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
