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

// ExperimentResult is the result of an experiment.
type ExperimentResult struct {
	Series       []sample.Series // keys have mode, bytes, timer, launch and disturbed, and for collective operations the protocol
	LaunchCount  int
	WallStart    time.Time
	WallDuration time.Duration

	TasksWithoutSamples int                    // for lack of time
	TaskCount           int                    // number of all tasks
	AddedSizes          []int                  // around the eager limit
	PreciseMedianCount  int                    // number of medians whose interval over launches is within the precision
	MedianCount         int                    // number of all medians
	BatchOperations     []TimerBatchOperations // for timers with batches
	ClockOffsets        []ClockOffsetBounds    // offset of P2's clock from P1's, by launch
	LateStartCount      int                    // repetitions dropped because a rank was late for the agreed start
	AgreedStartAttempts int                    // repetitions with an agreed start, including late ones

	isSchedulerProcess bool // the scheduler ran in this process
}

// RunLaunches executes the launches of the experiment. It calls launch with the number of each
// launch; launch starts the ranks and calls MeasureLaunchInWorld, or MeasureLaunch with their
// worker. RunLaunches regularly calls progress, which may be nil, with the completed fraction, from
// 0 to 1.
func (s *Scheduler) RunLaunches(ctx context.Context, launch func(ctx context.Context, n int) error, progress func(part float64)) (*ExperimentResult, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	begin := s.now()
	s.result = ExperimentResult{WallStart: begin}
	for ; s.needsAnotherLaunch(s.now().Sub(begin)); s.result.LaunchCount++ {
		s.launchIndex, s.launchStart, s.launchTimeLimit = s.result.LaunchCount, s.now(), 0
		after := s.launchStart.Sub(begin)
		if s.TotalTimeLimit() > 0 {
			s.launchTimeLimit = max((s.TotalTimeLimit()-after)/time.Duration(max(1, s.LaunchesOrDefault()-s.launchIndex)), 1)
		}
		s.reportProgress = nil
		if progress != nil {
			from, to := float64(s.launchIndex)/float64(s.LaunchesOrDefault()), float64(s.launchIndex+1)/float64(s.LaunchesOrDefault())
			if all := s.TotalTimeLimit(); all > 0 {
				from, to = float64(after)/float64(all), float64(after+s.launchTimeLimit)/float64(all)
			}
			s.reportProgress = func(part float64) { progress(min(1, from+part*(to-from))) }
		}
		if err := launch(ctx, s.launchIndex); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if s.result.Series = s.Series(); s.result.isSchedulerProcess && len(s.result.Series) == 0 {
		return nil, fmt.Errorf("the budget of %v was over before anything was measured", s.TotalTimeLimit())
	}
	s.result.WallDuration = s.now().Sub(begin)
	s.result.PreciseMedianCount, s.result.MedianCount = s.countPreciseMedians(s.result.Series)
	s.result.TaskCount = len(s.tasks)
	for _, t := range s.tasks {
		if len(t.samplesByVisit) == 0 {
			s.result.TasksWithoutSamples++
		}
	}
	return &s.result, nil
}

// needsAnotherLaunch reports whether to start another launch, given the time of the previous ones.
// It returns false if the time budget is used up or, after the usual number of launches, if the
// remaining time is less than half a launch.
func (s *Scheduler) needsAnotherLaunch(took time.Duration) bool {
	n := s.result.LaunchCount
	switch {
	case n == 0:
		return true
	case n >= MaxLaunches || s.Launches > 0 && n >= s.Launches:
		return false
	case !s.result.isSchedulerProcess: // another process decides
		return true
	case s.TotalTimeLimit() > 0 && took+2*s.startupDuration >= s.TotalTimeLimit():
		return false
	case n < s.LaunchesOrDefault():
		return true
	case s.TotalTimeLimit() == 0 || s.TotalTimeLimit()-took < took/time.Duration(2*n):
		return false
	}
	series := s.Series()
	if set := (sample.Set{Series: series}); set.SampleCount() > sample.MaxRows/(n+1)*n {
		return false
	}
	known, medians := s.countPreciseMedians(series)
	return known < medians
}

// Series returns all samples so far, by launch, mode, length and timer.
func (s *Scheduler) Series() []sample.Series {
	tasks := slices.Clone(s.tasks)
	if len(s.Collectives) == 0 {
		slices.SortStableFunc(tasks, func(a, b *task) int {
			if a.Pair != b.Pair {
				return slices.Compare(a.Pair[:], b.Pair[:])
			}
			if a.ModeOrOperationIndex != b.ModeOrOperationIndex {
				return slices.Index(s.Modes, a.cell.Mode) - slices.Index(s.Modes, b.cell.Mode)
			}
			return a.Bytes - b.Bytes
		})
	}
	var all []sample.Series
	for _, t := range tasks {
		all = append(all, t.launchSeries(s.disturbanceDetector)...)
	}
	slices.SortStableFunc(all, func(a, b sample.Series) int { return a.Launch - b.Launch })
	return all
}

// MeasureLaunchInWorld measures one launch with the ranks of a world. Nothing else may run at the
// same time. If ranks are processes, each calls MeasureLaunchInWorld with the same experiment, and
// the process of P1 gets the samples. If all ranks or several pairs measure, the process of rank 0
// gets them.
func (s *Scheduler) MeasureLaunchInWorld(w mpi.World, o mpi.Options) error {
	before := debug.SetGCPercent(-1) // the results of a launch are bounded
	defer debug.SetGCPercent(before)
	return mpi.Run(w, o, s.runRank)
}

// runRank takes part in a launch as a rank of a communicator.
func (s *Scheduler) runRank(comm *mpi.Comm) error {
	if len(s.Collectives) > 0 {
		w := s.newCollectiveWorker(comm)
		if comm.Rank() != rootRank {
			w.followRootCommands()
			return nil
		}
		defer w.stopRanks()
		return s.MeasureLaunch(w)
	}
	if len(s.Pairs) > 0 {
		w := &allPairsWorker{Experiment: s.Experiment, comm: comm}
		if comm.Rank() != rootRank {
			w.followRootCommands()
			return nil
		}
		defer w.stopRanks()
		return s.MeasureLaunch(w)
	}
	x := s.newPairComms(comm)
	if x == nil {
		return nil
	}
	if s.MeasureClockOffset {
		if b := x.boundClockOffset(); x.isP1 {
			s.result.ClockOffsets = append(s.result.ClockOffsets, b)
		}
	}
	w := s.Plan.newPairWorker(x, s.ClockStep)
	if !x.isP1 {
		w.followP1Commands()
		return nil
	}
	defer w.stopPeer()
	return s.MeasureLaunch(w)
}
