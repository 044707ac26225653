package host

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/loggp/loggp/model/unit"
)

// Inspection holds everything that was read, tried and measured on a computer before a job of Ranks
// ranks.
type Inspection struct {
	OperatingSystem string // runtime.GOOS
	Files           Files
	Ranks           int   // of the job that is to be measured
	Processors      []int // on which the program may run
	IsRoot          bool  // the user is root
	PID             int   // this process
	Getenv          func(name string) string
	ProgramPath     func(name string) string // path of a program, or ""

	// Results of attempts: the error, or nil.
	PinErr          error // of pinning a thread to each rank's processor
	SharedMemoryErr error // of allocating shared memory
	ProcessCopyErr  error // of copying between processes

	// Measurements.
	FreeDevShm                  int64 // bytes that /dev/shm has for this user; -1: unknown
	ClockStep, ClockReadingCost unit.Time
	ClockOffset                 OffsetBounds // between the first two ranks' processors
	ClockOffsetErr              error        // why it was not measured
	CacheLines                  []CacheLineTimes
	CacheLinesErr               error // why they were not measured
	Interruptions               []Interruptions
	InterruptionsErr            error
	Paces                       []Pace // of the ranks' processors
	PacesErr                    error
	Usage                       [2]processorUsage // of the processors, before and after
}

// rankProcessors returns the processors of the ranks, or fewer if there are fewer processors.
func (p *Inspection) rankProcessors() []int { return p.Processors[:min(p.Ranks, len(p.Processors))] }

// InspectOptions say what to inspect, and for how long.
type InspectOptions struct {
	Ranks         int           // of the job that is to be measured
	WatchDuration time.Duration // total time to watch for interruptions
}

// Values of InspectOptions.WatchDuration.
const (
	ThoroughWatch = 1200 * time.Millisecond
	QuickWatch    = 200 * time.Millisecond
	shortWatch    = 25 * time.Millisecond
)

// testedSharedMemory is how much shared memory is tried for: more than a job of a few ranks needs.
const testedSharedMemory = 16 << 20

// Inspect examines this computer for a little longer than InspectOptions.WatchDuration. It fails
// when the context is done.
func Inspect(ctx context.Context, e InspectOptions) (*Inspection, error) {
	p := inspectInstantly(e.Ranks)
	p.FreeDevShm = -1
	if n, err := FreeSpace("/dev/shm"); err == nil {
		p.FreeDevShm = n
	}
	p.Usage[0] = readProcessorUsage(p.Files)
	p.measureRankPair(ctx)
	p.watchProcessors(ctx, p.Processors, e.WatchDuration)
	p.Paces, p.PacesErr = MeasurePaces(ctx, p.rankProcessors(), e.WatchDuration/watchToPaceRatio)
	p.measureRankPair(ctx)
	p.Usage[1] = readProcessorUsage(p.Files)
	return p, context.Cause(ctx)
}

// inspectInstantly returns the part of an inspection that takes no time.
func inspectInstantly(ranks int) *Inspection {
	p := &Inspection{
		OperatingSystem: runtime.GOOS, Files: SystemFiles(), Ranks: ranks, Processors: Processors(), IsRoot: os.Geteuid() == 0, PID: os.Getpid(),
		Getenv: os.Getenv, ProgramPath: findProgram, ProcessCopyErr: TryProcessCopy(),
	}
	if f, err := NewSharedMemory(testedSharedMemory); err != nil {
		p.SharedMemoryErr = err
	} else {
		f.Close()
	}
	p.ClockStep, p.ClockReadingCost = ClockStepAndCost()
	p.PinErr = TryPinning(p.rankProcessors())
	return p
}

// findProgram returns the path of a program, with all links resolved.
func findProgram(name string) string {
	where, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(where); err == nil {
		return real
	}
	return where
}

// measureRankPair measures cache line times and the clock offset between the first two ranks.
func (p *Inspection) measureRankPair(ctx context.Context) {
	if len(p.rankProcessors()) < 2 {
		return
	}
	a, b := p.Processors[0], p.Processors[1]
	l, err := MeasureCacheLines(ctx, a, b)
	if err != nil {
		p.CacheLinesErr = err
		return
	}
	p.CacheLines = append(p.CacheLines, l)
	p.ClockOffset, p.ClockOffsetErr = MeasureClockOffset(ctx, a, b)
}

// watchToPaceRatio is the ratio of the time to watch for interruptions to the time to measure
// paces.
const watchToPaceRatio = 4

// minWatchDuration is the shortest time for which a processor is watched.
const minWatchDuration = 10 * time.Millisecond

// watchProcessors watches processors for interruptions, as many at the same time as there are
// ranks, and as many groups of them as the duration allows.
func (p *Inspection) watchProcessors(ctx context.Context, processors []int, d time.Duration) {
	group := max(1, min(p.Ranks, len(processors), runtime.GOMAXPROCS(0)))
	groups := (len(processors) + group - 1) / group
	if most := int(d / minWatchDuration); groups > most {
		groups = max(most, 1)
	}
	for n := range groups {
		of := processors[n*group : min((n+1)*group, len(processors))]
		seen, err := WatchInterruptions(ctx, of, d/time.Duration(groups))
		if err != nil {
			p.InterruptionsErr = err
			return
		}
		p.Interruptions = append(p.Interruptions, seen...)
	}
}
