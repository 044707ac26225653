package phases

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/schedule"
)

// record is a record of calls of Alltoallv, each by some ranks in the order of their communicator.
// Ranks send to the next one first, or to the first one of the communicator.
func record(t *testing.T, ranks int, calls []Exchange, ranked bool) *schedule.Schedule {
	t.Helper()
	var b schedule.Builder
	for rank := range ranks {
		b.BeginRank()
		b.AddOp(schedule.Op{Kind: schedule.Send, Size: 5, Peer: uint32((rank + 1) % ranks), Tag: 9}) // of the program
		for _, x := range calls {
			n := len(x.Members)
			me := slices.Index(x.Members, rank)
			if me < 0 {
				continue
			}
			b.NameCall("Alltoallv", 2*n-1)
			for i := 1; i < n; i++ {
				b.AddOp(schedule.Op{Kind: schedule.Recv, Peer: uint32(x.Members[(me-i+n)%n])})
			}
			b.AddOp(schedule.Op{Kind: schedule.Calc, Size: 3})
			for i := range n {
				to, size := x.Members[(me+i)%n], 0
				if ranked {
					to = x.Members[i]
				}
				if to == rank {
					continue
				}
				for _, m := range x.Messages {
					if m.Src == rank && m.Dst == to {
						size = m.Bytes
					}
				}
				b.AddOp(schedule.Op{Kind: schedule.Send, Size: uint64(size), Peer: uint32(to)})
			}
		}
		b.AddOp(schedule.Op{Kind: schedule.Recv, Size: 5, Peer: uint32((rank - 1 + ranks) % ranks), Tag: 9})
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Exchanges of random communicators come out of the text of a record as they went in.
func TestRecorded(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		ranks := 2 + r.IntN(7)
		var calls []Exchange
		for range 1 + r.IntN(6) {
			x := Exchange{Members: r.Perm(ranks)[:2+r.IntN(ranks-1)]}
			for _, src := range slices.Sorted(slices.Values(x.Members)) {
				for _, dst := range slices.Sorted(slices.Values(x.Members)) {
					if src != dst && r.IntN(3) > 0 {
						x.Messages = append(x.Messages, Message{src, dst, 1 + r.IntN(1000)})
					}
				}
			}
			calls = append(calls, x)
		}
		var text strings.Builder
		if err := record(t, ranks, calls, seed%2 == 1).Write(&text); err != nil {
			t.Fatal(err)
		}
		s, err := schedule.Read(strings.NewReader(text.String()), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Recorded(s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for rank := range ranks { // each rank has its exchanges in the order of its calls
			var want []Exchange
			for _, x := range calls {
				if slices.Contains(x.Members, rank) {
					x.Members = rotateOrder(x.Members)
					want = append(want, x)
				}
			}
			its := slices.DeleteFunc(slices.Clone(got), func(x Exchange) bool { return !slices.Contains(x.Members, rank) })
			if len(its)+len(want) > 0 && !reflect.DeepEqual(its, want) {
				t.Fatalf("seed %d, rank %d:\n%v, want\n%v", seed, rank, its, want)
			}
		}
		var file strings.Builder
		var plans []*Schedule
		for _, x := range got {
			p, err := x.Plan(AllToAllBased, 500)
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p)
		}
		if err := WriteSchedules(&file, plans); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSchedules(strings.NewReader(file.String()), "x")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, file.String())
		}
		for i, p := range plans {
			p.Conflicts = p.Conflicts && again[i].Conflicts // a last phase may be without any
			if !reflect.DeepEqual(again[i], p) {
				t.Fatalf("seed %d: read\n%v, written\n%v", seed, again[i], p)
			}
		}
		patterns, err := ReadPattern(strings.NewReader(file.String()), "x", 0) // the same file without its phases
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range patterns {
			slices.SortFunc(x.Messages, func(a, b Message) int { return (a.Src-b.Src)*ranks + a.Dst - b.Dst })
			if !reflect.DeepEqual(x, got[i]) {
				t.Fatalf("seed %d: pattern %v, want %v", seed, x, got[i])
			}
		}
	}
}

func TestRecordedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"num_ranks 1\nrank 0 {\ncalc 1\n}\n": "the schedule has no call of MPI_Alltoallv",
		"num_ranks 2\nrank 0 {\n// Alltoallv: 2 operations\nsend 1b to 1\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\nrecv 1b from 0\n}\n": "rank 0, Alltoallv number 0: it sends twice to rank 1",
		"num_ranks 2\nrank 0 {\n// Alltoallv: 1 operations\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n":                               "rank 0 calls Alltoallv with ranks [0 1], and not all of these call it, too: the collective calls do not match",
	} {
		s, err := schedule.Read(strings.NewReader(text), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Recorded(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Orders of sends that no communicator has are an error.
func TestWrongOrders(t *testing.T) {
	for _, last := range [][]int{{0, 1, 2}, {2, 1, 0}} {
		got := cyclicOrder([]int{0, 1, 2, 3}, [][]int{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, last})
		if want := last[0] == 0; (got != nil) != want || want && !slices.Equal(got, []int{0, 1, 2, 3}) {
			t.Errorf("rank 3 sends to %v: the communicator is %v", last, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	const text = "# ranks: 5\nsource,destination,bytes\n0,1,10\n2,2,7\n3,0,0\n1,0,4\n"
	for ranks, want := range map[int]int{0: 5, 7: 7} {
		all, err := ReadPattern(strings.NewReader(text), "x", ranks)
		if err != nil || len(all) != 1 || len(all[0].Members) != want || !slices.Equal(all[0].Messages, []Message{{0, 1, 10}, {1, 0, 4}}) {
			t.Errorf("%v, %v", all, err)
		}
	}
	for text, want := range map[string]string{
		"source,destination,bytes\n":                               "x: no messages",
		"source,destination,bytes\n0,1,5\n0,1,6\n":                 "two messages from rank 0 to rank 1",
		"source,destination,bytes\n0,,5\n":                         "x:2:",
		"exchange,members,source,destination,bytes\n0,0-1,0,2,5\n": "its members are 0-1",
		"exchange,members,source,destination,bytes\n0,1-0,0,2,5\n": `members "1-0"`,
	} {
		if _, err := ReadPattern(strings.NewReader(text), "x", 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	const head = "exchange,members,phase,source,destination,bytes\n"
	for text, want := range map[string]string{
		head:                                    "x: no schedules",
		head + "1,0-1,0,0,1,5\n":                "x:2:1: ",
		head + "0,0-1,1,0,1,5\n":                "x:2:7: ",
		head + "0,0-1,0,0,2,5\n":                "a message from rank 0 to rank 2: it goes from one member to another, and they are 0-1",
		head + "0,0-1,0,0,1,5\n0,0-1,0,0,1,5\n": "a second message from rank 0 to rank 1 in phase 0",
		head + "0,0-2,0,0,1,5\n0,0-2,0,0,2,5\n0,0-2,1,1,2,5\n":  "twice in phase 0, which only the last phase",
		head + "0,0 0,0,0,1,5\n":                                "rank 0 stands twice",
		head + "0,-,0,0,1,5\n":                                  "they are ranks such as",
		"exchange,phase,source,destination,bytes\n0,0,0,1,5\n":  "members",
		head + "0,0-2,0,0,1,5\n0,0-2,0,0,2,5\n1,2 0,,,,\n# x\n": "x:5:",
	} {
		if _, err := ReadSchedules(strings.NewReader(text), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A schedule serves communicators that begin with another member, and none of other ranks.
func TestTurned(t *testing.T) {
	s := &Schedule{Ranks: 3, Members: []int{1, 4, 2}, Phases: [][]Message{{{0, 1, 5}, {2, 0, 7}}}}
	if got := s.Turned([]int{4, 2, 1}); !reflect.DeepEqual(got.Phases, [][]Message{{{2, 0, 5}, {1, 2, 7}}}) {
		t.Error(got)
	}
	if got := s.Turned([]int{1, 4, 2}); got != s {
		t.Error(got)
	}
	for _, other := range [][]int{{1, 2, 4}, {1, 4}, {1, 4, 3}, {}} {
		if got := s.Turned(other); got != nil {
			t.Errorf("%v: %v", other, got)
		}
	}
	if !s.Has(4) || s.Has(3) || !(&Schedule{Ranks: 3}).Has(2) || (&Schedule{Ranks: 3}).Has(3) {
		t.Error("members")
	}
}
