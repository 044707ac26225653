package papers

import (
	"context"
	"math/rand/v2"

	"github.com/loggp/loggp/impl/library/ccmpi"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
)

// planningBenchmark counts properties of the schedules that both schedulers compute for random
// patterns, and the groups that can be open at the same time: planning(property).
var planningBenchmark = Benchmark{
	Numbers: map[string]int{"planning": 1},
	Parts:   func(*Site, *Experiment) int { return 2 },
	Run: func(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
		set := func(property string, n int) { out.Numbers[Key("planning", property)] = float64(n) }
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
				conflicts += countConflicts(s)
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
			if s, err := phases.AllToAllBased.Plan(ranks, phases.Messages(equalSizes(ranks, 1+i)), 0); err != nil || len(s.Phases) != ranks-1 {
				notAll++
			}
		}
		set("conflicts", conflicts)
		set("above", above)
		set("not_all", notAll)
		set("greedy_ahead", greedyAhead)
		set("phases_ahead", phasesAhead)
		done(1)
		opened := 0
		_, err := s.sumEngineCounters(ctx, seed, s.Job.Platform, 4, nil, func(c *mpi.Comm) {
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
		set("groups", opened+1) // with that of the communicator
		done(2)
		return err
	},
}

// countConflicts returns how many messages of a schedule share their sender or their receiver with
// an earlier message of the same phase.
func countConflicts(s *phases.Schedule) (n int) {
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
