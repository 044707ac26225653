package papers

import (
	"maps"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
)

// Every routine moves its data by CC-MPI, and checks it.
func TestRoutinesMoveTheirData(t *testing.T) {
	x, s := NewResults(), openSite(t, Subject{ID: "cc", Platform: "cc-cluster", Library: "cc-mpi", Place: "inter"})
	for _, by := range []string{"", "greedy"} {
		measure(t, "routines", s, Experiment{Scheduler: by, Programs: slices.Sorted(maps.Keys(routines)), Ranks: []int{7}, Sizes: []int{3}, Reps: 2}, x)
	}
	of := func(key string) float64 { return x.Numbers[key] }
	if slow, fast := of("routine(cc,scatterv_dynamic,7,3)"), of("routine(cc,scatterv_compiled,7,3)"); !(slow > fast && fast > 0) {
		t.Errorf("dynamic groups take %v us a call, compiler-assisted ones %v", slow, fast)
	}
	if n := of("phases(cc,random_3)"); n != 6 {
		t.Errorf("7 ranks need %v phases", n)
	}
	if _, err := s.platformWithScheduler("best"); err == nil {
		t.Error("an unknown scheduler is accepted")
	}
}

// The random pattern of 16 ranks is 160, 20 and 60 messages.
func TestRandomPatternHasTheSizesOfTheThesis(t *testing.T) {
	counts := map[int]int{}
	for i, row := range randomSizes(16, 0) {
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

// The check of distributed shared memory finds data that was not moved.
func TestSharedMemoryChecksItsPages(t *testing.T) {
	x, s := NewResults(), openSite(t, Subject{ID: "cc", Platform: "cc-cluster", Library: "cc-mpi", Place: "inter"})
	lazy := func(c *mpi.Comm, _ [][]int, out, in program.BlocksByRank) (func(), int) { return func() {}, 0 }
	routines["lazy"] = sharedMemory(lazy)
	defer delete(routines, "lazy")
	e := &Experiment{Programs: []string{"lazy"}, Ranks: []int{4}, Sizes: []int{2}}
	if err := runRoutines(t.Context(), s, e, 1, x, func(int) {}); err == nil {
		t.Error("memory is consistent without messages")
	}
}

// A page that is written costs its fault, its copy and the search for changes.
func TestSharedMemoryChargesFaults(t *testing.T) {
	x, s := NewResults(), openSite(t, Subject{ID: "cc", Platform: "cc-cluster", Library: "cc-mpi", Place: "inter"})
	measure(t, "routines", s, Experiment{Programs: []string{"sdsm_data"}, Ranks: []int{1}, Sizes: []int{2}}, x)
	if got := x.Numbers["routine(cc,sdsm_data,1,2)"]; got < 300 || got > 310 {
		t.Errorf("two pages of a node alone take %v us", got)
	}
}

// The exchange that makes copies consistent is a barrier.
func TestSharedMemorySynchronizes(t *testing.T) {
	const late = 10 * unit.Millisecond
	s := openSite(t, Subject{ID: "cc", Platform: "cc-cluster", Library: "cc-mpi", Place: "inter", Ranks: 5})
	if err := s.runProgram(t.Context(), "", nil, func(c *mpi.Comm) {
		m := program.NewSharedMemory(c, sharedPageBytes, 1, func(pattern [][]int, out, in program.BlocksByRank) func() {
			call, _ := exchangeByDataRoutine(c, pattern, out, in)
			return call
		})
		if c.Rank() == 3 {
			c.Compute(late)
		}
		if m.Barrier(); c.Wtime() < late {
			t.Errorf("rank %d leaves after %v, before another one has come", c.Rank(), c.Wtime())
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// A message that shares its sender with another one of its phase is a conflict.
func TestCountConflicts(t *testing.T) {
	s := phases.AllToAll(4, 1)
	if n := countConflicts(s); n != 0 {
		t.Errorf("%d conflicts in phases of all with all", n)
	}
	s.Phases[0] = append(s.Phases[0], s.Phases[1][0])
	if n := countConflicts(s); n != 1 {
		t.Errorf("%d conflicts where there is one", n)
	}
}
