package phases

import (
	"cmp"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// published reads the numbers in columns of a published table.
func published(t *testing.T, name string, columns ...string) [][]int {
	t.Helper()
	f, err := os.Open("../../testdata/published/cc-mpi/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]int
	for _, row := range rows[1:] {
		var numbers []int
		for _, c := range columns {
			n, err := strconv.Atoi(row[slices.Index(rows[0], c)])
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		all = append(all, numbers)
	}
	return all
}

// The phases of figure 3.2.
func TestAllToAll(t *testing.T) {
	s := AllToAll(6, 1)
	seen := 0
	for _, row := range published(t, "figure-3.2-all-to-all-phases.csv", "nodes", "phase", "source", "destination") {
		m := Message{row[2], row[3], 1}
		if row[0] != s.Ranks || !slices.Contains(s.Phases[row[1]], m) || Index(m, s.Ranks) != row[1] {
			t.Errorf("%v is not in phase %d", m, row[1])
		}
		seen++
	}
	if n := len(slices.Concat(s.Phases...)); n != seen || len(s.Phases) != 5 {
		t.Errorf("%d messages in %d phases, published are %d", n, len(s.Phases), seen)
	}
}

// The schedules of figure 3.3, and what they cost.
func TestWorkedExample(t *testing.T) {
	columns := []string{"order", "source", "destination", "size_bytes", "greedy_phase", "all_to_all_based_phase"}
	var all []Message
	want := [2][][]Message{make([][]Message, 3), make([][]Message, 2)}
	for _, row := range published(t, "figure-3.3-schedule-example.csv", columns...) {
		m := Message{row[1], row[2], row[3]}
		all = append(all, m)
		for i := range want {
			want[i][row[4+i]-1] = append(want[i][row[4+i]-1], m)
		}
	}
	costs := [2]unit.Time{1048576 + 10240 + 100 + 2*1e7, 2*1048576 + 1e7}
	for i, scheduler := range Schedulers {
		s, err := scheduler.Plan(6, all, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range slices.Concat(s.Phases, want[i]) {
			slices.SortFunc(p, func(a, b Message) int { return cmp.Or(a.Src-b.Src, a.Dst-b.Dst) })
		}
		if !reflect.DeepEqual(s.Phases, want[i]) {
			t.Errorf("%s:\n%v, published is\n%v", scheduler.Name, s.Phases, want[i])
		}
		if c := s.Time(func(k int) unit.Time { return unit.Time(k) }, 1e7); c != costs[i] {
			t.Errorf("%s costs %d instead of %d", scheduler.Name, c, costs[i])
		}
	}
}

// checked plans and checks: each message is there once, no rank sends or receives twice in a phase
// but the last of short messages, phases are tight, and what a rank gets does not depend on who
// plans.
func checked(t *testing.T, s *Scheduler, ranks int, all []Message, threshold int) *Schedule {
	t.Helper()
	given := slices.Clone(all)
	plan, err := s.Plan(ranks, all, threshold)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(all, given) {
		t.Fatal("the messages were changed")
	}
	order := func(a, b Message) int { return cmp.Or(a.Src-b.Src, a.Dst-b.Dst, a.Bytes-b.Bytes) }
	got := slices.SortedFunc(slices.Values(slices.Concat(plan.Phases...)), order)
	want := slices.DeleteFunc(slices.SortedFunc(slices.Values(all), order), func(m Message) bool { return m.Bytes == 0 })
	if !slices.Equal(got, want) {
		t.Fatalf("%s: planned are %v instead of %v", s.Name, got, want)
	}
	for i, phase := range plan.Phases {
		if plan.Conflicts && i == len(plan.Phases)-1 {
			for _, m := range phase {
				if m.Bytes >= threshold {
					t.Fatalf("%s: %v is in the phase of what is shorter than %d", s.Name, m, threshold)
				}
			}
			continue
		}
		sends, receives := map[int]bool{}, map[int]bool{}
		for _, m := range phase {
			if sends[m.Src] || receives[m.Dst] {
				t.Fatalf("%s: phase %d has a conflict at %v", s.Name, i, m)
			}
			sends[m.Src], receives[m.Dst] = true, true
		}
		for _, later := range plan.Phases[i+1:] {
			for _, m := range later {
				if !sends[m.Src] && !receives[m.Dst] {
					t.Fatalf("%s: %v fits into phase %d", s.Name, m, i)
				}
			}
		}
	}
	return plan
}

func TestRandomPatterns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		ranks := 2 + r.IntN(15)
		var all []Message
		for _, m := range slices.Concat(AllToAll(ranks, 1).Phases...) {
			if r.IntN(3) > 0 {
				m.Bytes = []int{0, 100, 100, 16384, 65536, r.IntN(1 << 20)}[r.IntN(6)]
				all = append(all, m)
			}
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, s := range Schedulers {
			threshold := []int{0, 0, 1000}[r.IntN(3)]
			if n := len(checked(t, s, ranks, all, threshold).Phases); s == AllToAllBased && n > ranks-1 && threshold == 0 {
				t.Fatalf("%d phases for %d ranks", n, ranks)
			}
		}
	}
}

// All-to-all based scheduling is optimal for an exchange between all; greedy is where the number of
// ranks is a power of two and messages come in the order of ranks.
func TestEqualSizes(t *testing.T) {
	greedy := map[int]int{4: 3, 5: 7, 6: 7, 7: 7, 8: 7, 9: 15, 16: 15, 32: 31}
	for ranks := 2; ranks <= 32; ranks++ {
		bytes := make([][]int, ranks)
		for i := range bytes {
			bytes[i] = slices.Repeat([]int{64}, ranks)
		}
		all := Messages(bytes)
		if n := len(checked(t, AllToAllBased, ranks, all, 0).Phases); n != ranks-1 {
			t.Errorf("%d phases for %d ranks", n, ranks)
		}
		if n := len(checked(t, Greedy, ranks, all, 0).Phases); greedy[ranks] > 0 && n != greedy[ranks] {
			t.Errorf("greedy: %d phases for %d ranks", n, ranks)
		}
	}
}

// The pattern of section 4.1: the thesis has 15 phases, and 17 of greedy.
func TestPatternOfSection41(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 200 {
		all := slices.Concat(AllToAll(16, 1).Phases...)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		i := 0
		for _, row := range published(t, "section-4.1-random-pattern.csv", "messages", "size_bytes") {
			for range row[0] {
				all[i].Bytes = row[1]
				i++
			}
		}
		if n := len(checked(t, AllToAllBased, 16, all, 0).Phases); n != 15 {
			t.Errorf("%d phases", n)
		}
		if n := len(checked(t, Greedy, 16, all, 0).Phases); n < 15 || n > 19 {
			t.Errorf("greedy: %d phases", n)
		}
	}
}

// Neither is always the better one.
func TestNeitherIsBest(t *testing.T) {
	time := func(s *Scheduler, all []Message) unit.Time {
		return checked(t, s, 6, all, 0).Time(func(k int) unit.Time { return unit.Time(k) }, 10)
	}
	example := []Message{{0, 1, 1 << 20}, {1, 3, 1 << 20}, {0, 2, 10240}, {2, 3, 100}, {1, 5, 100}, {2, 1, 100}}
	if g, a := time(Greedy, example), time(AllToAllBased, example); g >= a {
		t.Errorf("greedy takes %d, all-to-all based %d", g, a)
	}
	var equal []Message
	for src := range 6 {
		for dst := range 6 {
			if src != dst {
				equal = append(equal, Message{src, dst, 1000})
			}
		}
	}
	if g, a := time(Greedy, equal), time(AllToAllBased, equal); g <= a {
		t.Errorf("greedy takes %d, all-to-all based %d", g, a)
	}
}

func TestWrongMessages(t *testing.T) {
	for want, m := range map[string]Message{
		"message 0, from rank 0 to rank 4: there are 4 ranks":  {0, 4, 1},
		"message 0, from rank -1 to rank 1: there are 4 ranks": {-1, 1, 1},
		"message 0: rank 2 sends to itself":                    {2, 2, 1},
		"message 0, from rank 0 to rank 1, has -5 bytes":       {0, 1, -5},
	} {
		if _, err := Greedy.Plan(4, []Message{m}, 0); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v", m, err)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	all := slices.Concat(AllToAll(256, 1).Phases...)
	for _, s := range Schedulers {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				s.Plan(256, all, 0)
			}
		})
	}
}
