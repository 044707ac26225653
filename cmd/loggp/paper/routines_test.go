package paper

import (
	"maps"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/phases"
)

// Every routine moves what it says by CC-MPI, and a test of its own data would fail otherwise.
func TestRoutines(t *testing.T) {
	x := &run{sites: map[string]*site{}, measured: cells{}}
	s, err := (&Subject{ID: "cc", Platform: "cc-cluster", Library: "cc-mpi", Place: "inter"}).open(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	x.sites["cc"] = s
	for _, by := range []string{"", "greedy"} {
		e := &Experiment{Subject: "cc", Scheduler: by, Programs: slices.Sorted(maps.Keys(routines)), Ranks: sizes{values: []int{7}}, Sizes: sizes{values: []int{3}}, Reps: 2}
		if err := runRoutines(t.Context(), x, e, 1, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	of := func(key string) float64 { return x.measured[key].V }
	if slow, fast := of("routine(cc,scatterv_dynamic,7,3)"), of("routine(cc,scatterv_compiled,7,3)"); !(slow > fast && fast > 0) {
		t.Errorf("dynamic groups take %v us a call, compiler-assisted ones %v", slow, fast)
	}
	if n := of("phases(cc,random_3)"); n != 6 {
		t.Errorf("7 ranks need %v phases", n)
	}
	if _, err := s.scheduled("best"); err == nil {
		t.Error("there is a scheduler that is none")
	}
}

// The random pattern of 16 ranks is 160, 20 and 60 messages.
func TestRandomPattern(t *testing.T) {
	counts := map[int]int{}
	for i, row := range randomPattern(16, 0) {
		for j, n := range row {
			if counts[n]++; (i == j) != (n == 0) {
				t.Errorf("rank %d sends %d bytes to %d", i, n, j)
			}
		}
	}
	if want := map[int]int{0: 16, 64 << 10: 160, 16 << 10: 20, 100: 60}; !maps.Equal(counts, want) {
		t.Errorf("%v", counts)
	}
}

// What distributed shared memory does not move is found.
func TestSharedMemoryIsChecked(t *testing.T) {
	x := &run{sites: map[string]*site{}, measured: cells{}}
	s, err := (&Subject{ID: "cc", Platform: "cc-cluster", Library: "cc-mpi", Place: "inter"}).open(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	x.sites["cc"] = s
	lazy := func(c *mpi.Comm, _ [][]int, out, in program.Blocks) (func(), int) { return func() {}, 0 }
	routines["lazy"] = sharedMemory(lazy)
	defer delete(routines, "lazy")
	e := &Experiment{Subject: "cc", Programs: []string{"lazy"}, Ranks: sizes{values: []int{4}}, Sizes: sizes{values: []int{2}}}
	if err := runRoutines(t.Context(), x, e, 1, func(int) {}); err == nil {
		t.Error("memory is consistent without messages")
	}
}

// Phases without conflicts are told from others.
func TestTwice(t *testing.T) {
	s := phases.AllToAll(4, 1)
	if n := twice(s); n != 0 {
		t.Errorf("%d conflicts in phases of all with all", n)
	}
	s.Phases[0] = append(s.Phases[0], s.Phases[1][0])
	if n := twice(s); n != 1 {
		t.Errorf("%d conflicts where there is one", n)
	}
}
