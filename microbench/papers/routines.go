package papers

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/impl/library/ccmpi"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
)

// routinesBenchmark times successive calls of a routine after a barrier. It reports the mean over
// the ranks that take part.
var routinesBenchmark = Benchmark{
	Numbers: map[string]int{"routine": 4, "routine_count": 5, "phases": 2},
	Parts: func(_ *Site, e *Experiment) int {
		return len(e.Programs) * len(orDefault(e.Ranks, 0)) * len(orDefault(e.Sizes, 0))
	},
	Run: runRoutines,
}

// RoutineName returns the name that the quantities of a routine have: with its scheduler, if the
// experiment names one.
func (e *Experiment) RoutineName(program string) string {
	if e.Scheduler == "" {
		return program
	}
	return program + "_" + map[string]string{phases.Greedy.Name: "greedy", phases.AllToAllBased.Name: "all"}[e.Scheduler]
}

// runRoutines measures routine(subject, routine, ranks, size) in microseconds per call, and the
// library's counters over all calls, routine_count(subject, counter, routine, ranks, size). For
// routines whose schedule is computed beforehand it also counts phases(subject, routine).
func runRoutines(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	on, err := s.platformWithScheduler(e.Scheduler)
	if err != nil {
		return err
	}
	parts := 0
	for _, name := range e.Programs {
		newRoutine, ok := routines[name]
		if !ok {
			return fmt.Errorf("there is no routine %q", name)
		}
		name = e.RoutineName(name)
		for _, ranks := range orDefault(e.Ranks, s.Job.Ranks) {
			for _, size := range orDefault(e.Sizes, 0) {
				var sum unit.Time
				var n, phaseCount int
				var failed error
				reps := max(e.Reps, 1)
				counts, err := s.sumEngineCounters(ctx, seed+uint64(parts), on, ranks, nil, func(c *mpi.Comm) {
					r := newRoutine(c, size)
					if r.call == nil {
						r.call = func() {}
					}
					c.Barrier()
					begin := c.Wtime()
					for range reps {
						r.call()
					}
					if took := c.Wtime() - begin; !r.untimed {
						sum += took / unit.Time(reps)
						n++
					}
					if r.check != nil {
						if err := r.check(); err != nil {
							failed = err
						}
					}
					phaseCount = max(phaseCount, r.phases)
				})
				if err == nil {
					err = failed
				}
				if err != nil {
					return fmt.Errorf("%s, %s of %d bytes on %d ranks: %w", s.Name, name, size, ranks, err)
				}
				of := []string{name, strconv.Itoa(ranks), strconv.Itoa(size)}
				out.Numbers[Key("routine", append([]string{s.ID}, of...)...)] = (sum / unit.Time(n)).Micros()
				for counter, n := range counts {
					out.Numbers[Key("routine_count", append([]string{s.ID, counter}, of...)...)] = float64(n)
				}
				if phaseCount > 0 {
					out.Numbers[Key("phases", s.ID, name)] = float64(phaseCount)
				}
				parts++
				done(parts)
			}
		}
	}
	return nil
}

// routine is what a rank calls repeatedly.
type routine struct {
	call    func()       // nil: the rank does nothing
	check   func() error // checks the result and cleans up, outside of the measured time; may be nil
	untimed bool         // the time of this rank does not count
	phases  int          // of a schedule that was computed beforehand; 0: none
}

// routines are the constructors of routines, by the names that paper.yaml has for them. Size is in
// bytes for each rank.
var routines = map[string]func(c *mpi.Comm, size int) routine{
	"bcast": func(c *mpi.Comm, size int) routine {
		b := mpi.BufferOf(make([]byte, size))
		return routine{call: func() { c.Bcast(b, 0) }}
	},
	"scatter": func(c *mpi.Comm, size int) routine {
		all, mine := newBuffers(c, size)
		return routine{call: func() { c.Scatter(all, mine, 0) }}
	},
	"scatter_multicast": func(c *mpi.Comm, size int) routine {
		all, mine := newBuffers(c, size)
		return routine{call: func() { ccmpi.Scatter(c, all, mine, 0) }}
	},
	"scatterv": func(c *mpi.Comm, size int) routine {
		all, mine, counts, offsets := scatterToFive(c, size)
		return routine{call: func() { c.Scatterv(all, counts, offsets, mine, 0) }}
	},
	"scatterv_static":  scattervIn(ccmpi.StaticGroup),
	"scatterv_dynamic": scattervIn(ccmpi.DynamicGroup),
	"scatterv_compiled": func(c *mpi.Comm, size int) routine {
		all, mine, counts, offsets := scatterToFive(c, size)
		g := ccmpi.ScattervOpenGroup(c, counts, mpi.Byte, 0) // network control, before the loop
		return routine{call: func() { g.DataMovement(all, counts, offsets, mine) }, check: func() error { g.CloseGroup(); return nil }}
	},
	"allgather": func(c *mpi.Comm, size int) routine {
		all, mine := newBuffers(c, size)
		return routine{call: func() { c.Allgather(mine, all) }}
	},
	"allgather_multicast": timeAllgatherBy(ccmpi.MulticastAllgather),
	"allgather_unicast":   timeAllgatherBy(ccmpi.UnicastAllgather),
	"allgather_phased":    timeAllgatherBy(ccmpi.PhasedAllgather),
	"alltoall": func(c *mpi.Comm, size int) routine {
		from, _ := newBuffers(c, size)
		into, _ := newBuffers(c, size)
		return routine{call: func() { c.Alltoall(from, into) }}
	},
	"alltoallv_data":    alltoallv(equalSizes, exchangeByDataRoutine),
	"alltoallv_1":       alltoallv(equalSizes, exchangeByLevel1),
	"alltoallv_2":       alltoallv(equalSizes, exchangeByLevel2),
	"alltoallv_3":       alltoallv(equalSizes, exchangeByLevel3),
	"random":            alltoallv(randomSizes, exchangeByMPI),
	"random_data":       alltoallv(randomSizes, exchangeByDataRoutine),
	"random_1":          alltoallv(randomSizes, exchangeByLevel1),
	"random_2":          alltoallv(randomSizes, exchangeByLevel2),
	"random_3":          alltoallv(randomSizes, exchangeByLevel3),
	"sdsm_data":         sharedMemory(exchangeByDataRoutine),
	"sdsm_1":            sharedMemory(exchangeByLevel1),
	"disjoint":          threeFlows(func(i int) (src, dst int) { return 2 * i, 2*i + 1 }),
	"shared":            threeFlows(func(i int) (src, dst int) { return i + 1, 0 }),
	"unicast":           unicast(false),
	"unicast_disturbed": unicast(true),
}

// newBuffers returns a buffer with the blocks of all ranks, and one with a single block.
func newBuffers(c *mpi.Comm, size int) (all, one mpi.Buffer) {
	all, one = mpi.BufferOf(make([]byte, c.Size()*size)), mpi.BufferOf(make([]byte, size))
	all.Count = size
	return all, one
}

// scatterToFive returns the arguments of a scatter from rank 0 to ranks 1 to 5. The parts of other
// ranks are empty.
func scatterToFive(c *mpi.Comm, size int) (all, mine mpi.Buffer, counts, offsets []int) {
	const receivers = 5
	counts, offsets = make([]int, c.Size()), make([]int, c.Size())
	for i := 1; i <= receivers; i++ {
		counts[i], offsets[i] = size, (i-1)*size
	}
	return mpi.BufferOf(make([]byte, receivers*size)), mpi.BufferOf(make([]byte, counts[c.Rank()])), counts, offsets
}

func scattervIn(grouping ccmpi.GroupManagement) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		all, mine, counts, offsets := scatterToFive(c, size)
		return routine{call: func() { ccmpi.Scatterv(c, grouping, all, counts, offsets, mine, 0) }}
	}
}

func timeAllgatherBy(by ccmpi.AllgatherMethod) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		all, mine := newBuffers(c, size)
		return routine{call: func() { ccmpi.Allgather(c, by, mine, all) }}
	}
}

// threeFlows sends from src(i) to dst(i) in three flows at once. Receivers are timed, until all
// messages have arrived.
func threeFlows(ends func(i int) (src, dst int)) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		b := make([]byte, size)
		to := -1
		var from []int
		var into [][]byte
		for i := range 3 {
			src, dst := ends(i)
			if dst == c.Rank() {
				from, into = append(from, src), append(into, make([]byte, size))
			}
			if src == c.Rank() {
				to = dst
			}
		}
		return routine{untimed: len(from) == 0, call: func() {
			var all []mpi.Request
			for i, src := range from {
				all = append(all, mpi.Irecv(c, into[i], src, 0))
			}
			if to >= 0 {
				mpi.Send(c, b, to, 0)
			}
			mpi.WaitAll(all, nil)
		}}
	}
}

// unicast sends from rank 0 to rank 1. If it is disturbed, the other ranks multicast meanwhile.
func unicast(disturbed bool) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		others := c.Split(min(c.Rank()/2, 1), 0)
		b := make([]byte, size)
		r := routine{untimed: c.Rank() != 1}
		switch {
		case c.Rank() == 0:
			r.call = func() { mpi.Send(c, b, 1, 0) }
		case c.Rank() == 1:
			r.call = func() { mpi.Recv(c, b, 0, 0) }
		case disturbed:
			r.call = func() { ccmpi.Bcast(others, mpi.BufferOf(b), 0) }
		}
		return r
	}
}
