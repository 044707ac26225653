package microbench

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// Outcome is what an experiment brought.
type Outcome struct {
	Series   []sample.Series // keys have mode, bytes, timer, launch and disturbed; of collective operations protocol too
	Launches int
	Begun    time.Time
	Took     time.Duration

	Missing int     // tasks without samples, since there was no time for them,
	Tasks   int     // of so many
	Added   []int   // sizes
	Known   int     // medians that are known to the precision that was wanted, with what differs between launches,
	Medians int     // of so many
	Batches []Batch // of timers that had any
	Bounds  []Clock // of the offset of the pair's clocks, of each launch
	Late    int     // repetitions of collective operations that were dropped, as a rank came too late to an agreed start,
	Started int     // of so many

	drove bool // in this process
}

// Run goes through the launches of the experiment. launch starts the ranks of the launch of that
// number, and calls On, or Drive with their worker. After some time progress is called with what
// part is over, from 0 to 1; it may be nil.
//
// If ranks are processes that come to the same experiment, only the first has the outcome. The
// others go on to their launch: whether there is another one depends on what was measured.
func (s *Scheduler) Run(ctx context.Context, launch func(ctx context.Context, n int) error, progress func(part float64)) (*Outcome, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	begin := s.now()
	s.out = Outcome{Begun: begin}
	for ; s.another(s.now().Sub(begin)); s.out.Launches++ {
		s.launch, s.begun, s.share = s.out.Launches, s.now(), 0
		after := s.begun.Sub(begin)
		if s.Time() > 0 {
			s.share = max((s.Time()-after)/time.Duration(max(1, s.LeastLaunches()-s.launch)), 1)
		}
		s.progress = nil
		if progress != nil {
			from, to := float64(s.launch)/float64(s.LeastLaunches()), float64(s.launch+1)/float64(s.LeastLaunches())
			if all := s.Time(); all > 0 {
				from, to = float64(after)/float64(all), float64(after+s.share)/float64(all)
			}
			s.progress = func(part float64) { progress(min(1, from+part*(to-from))) }
		}
		if err := launch(ctx, s.launch); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if s.out.Series = s.Series(); s.out.drove && len(s.out.Series) == 0 {
		return nil, fmt.Errorf("the budget of %v was over before anything was measured", s.Time())
	}
	s.out.Took = s.now().Sub(begin)
	s.out.Known, s.out.Medians = s.judge(s.out.Series)
	s.out.Tasks = len(s.all)
	for _, t := range s.all {
		if len(t.visits) == 0 {
			s.out.Missing++
		}
	}
	return &s.out, nil
}

// another reports whether to start another launch, given how long the previous ones took. It does
// not if the time budget is used up or, beyond the usual number of launches, if the time left is
// less than half a launch.
func (s *Scheduler) another(took time.Duration) bool {
	n := s.out.Launches
	switch {
	case n == 0:
		return true
	case n >= MaxLaunches || s.Launches > 0 && n >= s.Launches:
		return false
	case !s.out.drove: // another process decides
		return true
	case s.Time() > 0 && took+2*s.start >= s.Time():
		return false
	case n < s.LeastLaunches():
		return true
	case s.Time() == 0 || s.Time()-took < took/time.Duration(2*n):
		return false
	}
	series := s.Series()
	if set := (sample.Set{Series: series}); set.Rows() > sample.MaxRows/(n+1)*n {
		return false
	}
	known, medians := s.judge(series)
	return known < medians
}

// Series returns all samples so far: by launch, mode, length and timer.
func (s *Scheduler) Series() []sample.Series {
	tasks := slices.Clone(s.all)
	if len(s.Collectives) == 0 {
		slices.SortStableFunc(tasks, func(a, b *task) int {
			if a.Pair != b.Pair {
				return slices.Compare(a.Pair[:], b.Pair[:])
			}
			if a.Mode != b.Mode {
				return slices.Index(s.Modes, a.cell.Mode) - slices.Index(s.Modes, b.cell.Mode)
			}
			return a.Bytes - b.Bytes
		})
	}
	var all []sample.Series
	for _, t := range tasks {
		all = append(all, t.series(s.health)...)
	}
	slices.SortStableFunc(all, func(a, b sample.Series) int { return a.Launch - b.Launch })
	return all
}

// On lets the ranks of a world measure a launch. Nothing else may run beside that.
//
// Ranks may be processes. Then each comes here with the same experiment, and samples are in the
// process of P1, or of rank 0, which started the others, where all ranks or several pairs measure.
func (s *Scheduler) On(w mpi.World, o mpi.Options) error {
	before := debug.SetGCPercent(-1) // what a launch brings is bounded
	defer debug.SetGCPercent(before)
	return mpi.Run(w, o, s.take)
}

// take takes part in a launch as one of the ranks of a communicator.
func (s *Scheduler) take(comm *mpi.Comm) error {
	if len(s.Collectives) > 0 {
		w := s.collectiveWorker(comm)
		if comm.Rank() != root {
			w.follow()
			return nil
		}
		defer w.end()
		return s.Drive(w)
	}
	if len(s.Pairs) > 0 {
		w := &pairsWorker{Experiment: s.Experiment, c: comm}
		if comm.Rank() != root {
			w.follow()
			return nil
		}
		defer w.end()
		return s.Drive(w)
	}
	x := s.pair(comm)
	if x == nil {
		return nil
	}
	if s.Clocks {
		if b := x.clock(); x.p1 {
			s.out.Bounds = append(s.out.Bounds, b)
		}
	}
	w := s.Plan.worker(x, s.Step)
	if !x.p1 {
		w.follow()
		return nil
	}
	defer w.end()
	return s.Drive(w)
}
