package paper

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/library/ccmpi"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// routinesBenchmark times successive calls of a routine: a barrier, the clock, the calls, the
// clock. It reports the mean over the ranks that take part.
var routinesBenchmark = benchmark{
	gives: map[string]int{"routine": 4, "routine_count": 5, "phases": 2},
	cells: func(_ *run, e *Experiment) int {
		return len(e.Programs) * len(or(e.Ranks.values, 0)) * len(or(e.Sizes.values, 0))
	},
	run: runRoutines,
}

// runRoutines gives routine(subject, routine, ranks, size), in microseconds a call, and the
// library's counters over all calls, routine_count(subject, counter, routine, ranks, size). For
// routines with the random pattern it also gives phases(subject, routine).
func runRoutines(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
	s := x.sites[e.Subject]
	on, err := s.scheduled(e.Scheduler)
	if err != nil {
		return err
	}
	parts := 0
	for _, name := range e.Programs {
		begin, ok := routines[name]
		if !ok {
			return fmt.Errorf("there is no routine %q", name)
		}
		if e.Scheduler != "" {
			name += "_" + map[string]string{phases.Greedy.Name: "greedy", phases.AllToAllBased.Name: "all"}[e.Scheduler]
		}
		for _, ranks := range or(e.Ranks.values, s.job.Ranks) {
			for _, size := range or(e.Sizes.values, 0) {
				var sum unit.Time
				var n, planned int
				var failed error
				reps := max(e.Reps, 1)
				counts, err := s.counted(ctx, seed+uint64(parts), on, ranks, func(c *mpi.Comm) {
					r := begin(c, size)
					if r.call == nil {
						r.call = func() {}
					}
					c.Barrier()
					since := c.Wtime()
					for range reps {
						r.call()
					}
					if took := c.Wtime() - since; !r.aside {
						sum += took / unit.Time(reps)
						n++
					}
					if r.end != nil {
						if err := r.end(); err != nil {
							failed = err
						}
					}
					planned = max(planned, r.phases)
				})
				if err == nil {
					err = failed
				}
				if err != nil {
					return fmt.Errorf("%s, %s of %d bytes on %d ranks: %w", s.Name, name, size, ranks, err)
				}
				of := []string{name, strconv.Itoa(ranks), strconv.Itoa(size)}
				x.measured[expr.Key("routine", append([]string{s.ID}, of...)...)] = micros(sum / unit.Time(n))
				for counter, n := range counts {
					x.measured[expr.Key("routine_count", append([]string{s.ID, counter}, of...)...)] = expr.Exactly(float64(n))
				}
				if planned > 0 {
					x.measured[expr.Key("phases", s.ID, name)] = expr.Exactly(float64(planned))
				}
				parts++
				done(parts)
			}
		}
	}
	return nil
}

// scheduled returns the platform with another scheduler in the subject's library; "" keeps its own.
func (s *site) scheduled(by string) (*platform.Platform, error) {
	on := *s.job.Platform
	if by == "" {
		return &on, nil
	}
	if !slices.ContainsFunc(phases.Schedulers, func(p *phases.Scheduler) bool { return p.Name == by }) || s.job.Library.Compiled == nil {
		return nil, fmt.Errorf("%s has no scheduler %q", s.Name, by)
	}
	on.Libraries = slices.Clone(on.Libraries)
	for i, l := range on.Libraries {
		if l.Name == s.job.Library.Name {
			other, compiled := *l, *l.Compiled
			compiled.Scheduler = by
			other.Compiled = &compiled
			on.Libraries[i] = &other
		}
	}
	return &on, nil
}

// routine is what a rank calls repeatedly.
type routine struct {
	call   func()       // nil: the rank does nothing
	end    func() error // after the clock is read: checks the result and cleans up; may be nil
	aside  bool         // the time of this rank does not count
	phases int          // of its schedule; 0: it has none
}

// routines make routines for a rank, of so many bytes for each rank. Names are those of paper.yaml.
var routines = map[string]func(c *mpi.Comm, size int) routine{
	"bcast": func(c *mpi.Comm, size int) routine {
		b := mpi.Of(make([]byte, size))
		return routine{call: func() { c.Bcast(b, 0) }}
	},
	"scatter": func(c *mpi.Comm, size int) routine {
		all, mine := blocks(c, size)
		return routine{call: func() { c.Scatter(all, mine, 0) }}
	},
	"scatter_multicast": func(c *mpi.Comm, size int) routine {
		all, mine := blocks(c, size)
		return routine{call: func() { ccmpi.Scatter(c, all, mine, 0) }}
	},
	"scatterv": func(c *mpi.Comm, size int) routine {
		all, mine, counts, offsets := toFive(c, size)
		return routine{call: func() { c.Scatterv(all, counts, offsets, mine, 0) }}
	},
	"scatterv_static":  scattervBy(ccmpi.Static),
	"scatterv_dynamic": scattervBy(ccmpi.Dynamic),
	"scatterv_compiled": func(c *mpi.Comm, size int) routine {
		all, mine, counts, offsets := toFive(c, size)
		g := ccmpi.ScattervOpenGroup(c, counts, mpi.Byte, 0) // before the loop: it is network control
		return routine{call: func() { g.DataMovement(all, counts, offsets, mine) }, end: func() error { g.CloseGroup(); return nil }}
	},
	"allgather": func(c *mpi.Comm, size int) routine {
		all, mine := blocks(c, size)
		return routine{call: func() { c.Allgather(mine, all) }}
	},
	"allgather_multicast": allgatherBy(ccmpi.Multicast),
	"allgather_unicast":   allgatherBy(ccmpi.Unicast),
	"allgather_phased":    allgatherBy(ccmpi.Phased),
	"alltoall": func(c *mpi.Comm, size int) routine {
		from, _ := blocks(c, size)
		into, _ := blocks(c, size)
		return routine{call: func() { c.Alltoall(from, into) }}
	},
	"alltoallv_data":    exchange(allEqual, byData),
	"alltoallv_1":       exchange(allEqual, byLevel1),
	"alltoallv_2":       exchange(allEqual, byLevel2),
	"alltoallv_3":       exchange(allEqual, byLevel3),
	"random":            exchange(randomPattern, byMPI),
	"random_data":       exchange(randomPattern, byData),
	"random_1":          exchange(randomPattern, byLevel1),
	"random_2":          exchange(randomPattern, byLevel2),
	"random_3":          exchange(randomPattern, byLevel3),
	"sdsm_data":         sharedMemory(byData),
	"sdsm_1":            sharedMemory(byLevel1),
	"disjoint":          flows(func(i int) (src, dst int) { return 2 * i, 2*i + 1 }),
	"shared":            flows(func(i int) (src, dst int) { return i + 1, 0 }),
	"unicast":           beside(false),
	"unicast_disturbed": beside(true),
}

// blocks returns buffers for all ranks together, and for one.
func blocks(c *mpi.Comm, size int) (all, one mpi.Buffer) {
	all, one = mpi.Of(make([]byte, c.Size()*size)), mpi.Of(make([]byte, size))
	all.Count = size
	return all, one
}

// toFive is a scatter from rank 0 to the five ranks behind it. The others have parts without data.
func toFive(c *mpi.Comm, size int) (all, mine mpi.Buffer, counts, offsets []int) {
	const receivers = 5
	counts, offsets = make([]int, c.Size()), make([]int, c.Size())
	for i := 1; i <= receivers; i++ {
		counts[i], offsets[i] = size, (i-1)*size
	}
	return mpi.Of(make([]byte, receivers*size)), mpi.Of(make([]byte, counts[c.Rank()])), counts, offsets
}

func scattervBy(by ccmpi.Grouping) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		all, mine, counts, offsets := toFive(c, size)
		return routine{call: func() { ccmpi.Scatterv(c, by, all, counts, offsets, mine, 0) }}
	}
}

func allgatherBy(way ccmpi.Way) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		all, mine := blocks(c, size)
		return routine{call: func() { ccmpi.Allgather(c, way, mine, all) }}
	}
}

// allEqual is an exchange of all with all, of equal messages.
func allEqual(ranks, size int) [][]int {
	all := make([][]int, ranks)
	for i := range all {
		all[i] = slices.Repeat([]int{size}, ranks)
		all[i][i] = 0
	}
	return all
}

// randomPattern has one message for each ordered pair of ranks: two thirds have 64 KiB, one twelfth
// 16 KiB and one quarter 100 B, in a random order that is the same in all runs (section 4.1 of the
// thesis has 160, 20 and 60 messages of 16 ranks).
func randomPattern(ranks, _ int) [][]int {
	pairs := ranks * (ranks - 1)
	var sizes []int
	for i := range pairs {
		switch {
		case 3*i < 2*pairs:
			sizes = append(sizes, 64<<10)
		case 4*i < 3*pairs:
			sizes = append(sizes, 16<<10)
		default:
			sizes = append(sizes, 100)
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(pairs, func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	all := allEqual(ranks, 0)
	for i := range all {
		for j := range all[i] {
			if i != j {
				all[i][j], sizes = sizes[0], sizes[1:]
			}
		}
	}
	return all
}

// exchange sends all[i][j] bytes from each rank i to each rank j, in a way, and checks the data
// received.
func exchange(pattern func(ranks, size int) [][]int, way way) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		all, me := pattern(c.Size(), size), c.Rank()
		out, in := program.NewBlocks(c.Size(), func(i int) int { return all[me][i] }), program.NewBlocks(c.Size(), func(i int) int { return all[i][me] })
		out.Each(func(i int, b []byte) { fill(b, me, i) })
		call, phases := way(c, all, out, in)
		return routine{call: call, phases: phases, end: func() (err error) {
			want := []byte(nil)
			in.Each(func(i int, b []byte) {
				want = slices.Grow(want[:0], len(b))[:len(b)]
				if fill(want, i, me); !bytes.Equal(b, want) {
					err = fmt.Errorf("rank %d has received other data than rank %d has sent", me, i)
				}
			})
			return err
		}}
	}
}

// fill makes data of a message from one rank to another.
func fill(b []byte, from, to int) {
	for k := range b {
		b[k] = byte(from + 3*to + k%251)
	}
}

// parts returns blocks as CC-MPI's calls take them.
func parts(b program.Blocks) ccmpi.Parts { return ccmpi.Of(mpi.Of(b.Bytes), b.Counts, b.Offsets) }

// way is how an exchange is carried out whose pattern all ranks know. It may compute a schedule
// that is not part of a call, and returns the number of its phases.
type way func(c *mpi.Comm, pattern [][]int, out, in program.Blocks) (call func(), phases int)

// byMPI is MPI_Alltoallv, and byData CC-MPI's data routine without control.
func byMPI(c *mpi.Comm, _ [][]int, out, in program.Blocks) (func(), int) {
	return func() {
		c.Alltoallv(mpi.Of(out.Bytes), out.Counts, out.Offsets, mpi.Of(in.Bytes), in.Counts, in.Offsets)
	}, 0
}

func byData(c *mpi.Comm, _ [][]int, out, in program.Blocks) (func(), int) {
	return func() { ccmpi.AlltoallvData(c, parts(out), parts(in)) }, 0
}

// byLevel1 gathers the pattern and computes the schedule in each call, byLevel2 computes the
// schedule in each call, and byLevel3 computes it beforehand.
func byLevel1(c *mpi.Comm, _ [][]int, out, in program.Blocks) (func(), int) {
	return func() { ccmpi.AlltoallvDataTrans2(c, ccmpi.AlltoallvControl1(c, parts(out)), parts(out), parts(in)) }, 0
}

func byLevel2(c *mpi.Comm, pattern [][]int, out, in program.Blocks) (func(), int) {
	return func() { ccmpi.AlltoallvDataTrans2(c, ccmpi.AlltoallvControl2(c, pattern), parts(out), parts(in)) }, 0
}

func byLevel3(c *mpi.Comm, pattern [][]int, out, in program.Blocks) (func(), int) {
	s := ccmpi.AlltoallvControl2(c, pattern)
	return func() { ccmpi.AlltoallvDataTrans2(c, s, parts(out), parts(in)) }, len(s.Phases)
}

// sharedMemory is an iteration of a program on software distributed shared memory: each node writes
// to so many pages, and a barrier makes all copies consistent.
func sharedMemory(way way) func(c *mpi.Comm, pages int) routine {
	return func(c *mpi.Comm, pages int) routine {
		m := program.NewSharedMemory(c, pages, func(pattern [][]int, out, in program.Blocks) func() {
			call, _ := way(c, pattern, out, in)
			return call
		})
		turn := 0
		value := func(p, turn int) byte { return byte(7*p + turn) }
		return routine{call: func() {
			turn++
			from, to := m.Mine()
			for p := from; p < to; p++ {
				b := m.Page(p)
				for k := range b {
					b[k] = value(p, turn)
				}
			}
			m.Barrier()
		}, end: func() error {
			for p := range m.Pages() {
				if b := m.Page(p); b[0] != value(p, turn) || b[len(b)-1] != value(p, turn) {
					return fmt.Errorf("page %d of rank %d is not consistent", p, c.Rank())
				}
			}
			return nil
		}}
	}
}

// flows sends from src(i) to dst(i), three times at once. What counts is when all has arrived.
func flows(ends func(i int) (src, dst int)) func(c *mpi.Comm, size int) routine {
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
		return routine{aside: len(from) == 0, call: func() {
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

// beside sends from rank 0 to rank 1, and lets the others multicast meanwhile, or not.
func beside(disturbed bool) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		others := c.Split(min(c.Rank()/2, 1), 0)
		b := make([]byte, size)
		x := routine{aside: c.Rank() != 1}
		switch {
		case c.Rank() == 0:
			x.call = func() { mpi.Send(c, b, 1, 0) }
		case c.Rank() == 1:
			x.call = func() { mpi.Recv(c, b, 0, 0) }
		case disturbed:
			x.call = func() { ccmpi.Bcast(others, mpi.Of(b), 0) }
		}
		return x
	}
}

// planningBenchmark counts properties of the schedules that both schedulers compute for random
// patterns, and how many groups can be open.
var planningBenchmark = benchmark{
	gives: map[string]int{"planning": 1},
	cells: func(*run, *Experiment) int { return 2 },
	run: func(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
		give := func(name string, n int) { x.measured[expr.Key("planning", name)] = expr.Exactly(float64(n)) }
		var conflicts, above, notAll, greedyAhead, phasesAhead int
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range max(e.Reps, 1) {
			ranks := 2 + r.IntN(11)
			var messages []phases.Message
			for src := range ranks {
				for dst := range ranks {
					if src != dst && r.IntN(3) > 0 {
						messages = append(messages, phases.Message{Src: src, Dst: dst, Bytes: 1 << r.IntN(20)})
					}
				}
			}
			var cost [2]unit.Time
			for k, by := range []*phases.Scheduler{phases.Greedy, phases.AllToAllBased} {
				s, err := by.Plan(ranks, messages, 0)
				if err != nil {
					return err
				}
				conflicts += twice(s)
				cost[k] = s.Time(func(bytes int) unit.Time { return unit.Time(bytes) * 90 * unit.Nanosecond }, unit.Millisecond)
				if by == phases.AllToAllBased {
					above = max(above, len(s.Phases)-(ranks-1))
				}
			}
			if cost[0] < cost[1] {
				greedyAhead++
			} else if cost[1] < cost[0] {
				phasesAhead++
			}
			if s, err := phases.AllToAllBased.Plan(ranks, phases.Messages(allEqual(ranks, 1+i)), 0); err != nil || len(s.Phases) != ranks-1 {
				notAll++
			}
		}
		give("conflicts", conflicts)
		give("above", above)
		give("not_all", notAll)
		give("greedy_ahead", greedyAhead)
		give("phases_ahead", phasesAhead)
		done(1)
		s := x.sites[e.Subject]
		opened := 0
		_, err := s.counted(ctx, seed, s.job.Platform, 4, func(c *mpi.Comm) {
			c.SetErrorHandler(mpi.ErrorsReturn)
			var all []*ccmpi.ScattervGroup
			for err := error(nil); err == nil && len(all) < 100; {
				err = c.Catch(func() { all = append(all, ccmpi.ScattervOpenGroup(c, []int{0, 1, 1, 1}, mpi.Byte, 0)) })
			}
			opened = len(all)
			for _, g := range all {
				g.CloseGroup()
			}
		})
		give("groups", opened+1) // and that of the communicator
		done(2)
		return err
	},
}

// twice returns how many messages of a schedule have an end that sends, or receives, another one in
// the same phase.
func twice(s *phases.Schedule) (n int) {
	for _, phase := range s.Phases {
		sends, receives := map[int]bool{}, map[int]bool{}
		for _, m := range phase {
			if sends[m.Src] || receives[m.Dst] {
				n++
			}
			sends[m.Src], receives[m.Dst] = true, true
		}
	}
	return n
}
