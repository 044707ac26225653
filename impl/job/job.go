// Package job turns the name of a platform into a job: its machine, emulated or this one, with one
// of its libraries and a number of ranks, on which programs run.
package job

import (
	"context"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/mbcf"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/engine/queue"
	"github.com/loggp/loggp/impl/engine/recorder"
	"github.com/loggp/loggp/impl/engine/start"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/ccmpi"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// Job is a platform with one of its libraries, set up for a number of ranks.
type Job struct {
	Platform  *platform.Platform
	Library   *model.Library
	Ranks     int
	Noise     float64           // relative standard deviation of every processor step
	CheckMode mpi.CheckMode     // of programs, see mpi.Options
	OnWarning func(mpi.Warning) // is told of warnings of the check; nil: no function

	ForcedRules []collective.Rule // rules that precede those of the library

	StoredSchedules []*phases.Schedule // of calls of MPI_Alltoallv, for a library with compiled communication; nil: computed in the run

	KernelStatistics *hw.KernelStatistics // receives the counters of a run on an emulated machine; nil: not counted

	Recorder *recorder.Recorder // writes down the schedule of the programs; nil: none does

	Spare   int                                               // of the ranks, those that have no program at first: see mpi.Options
	Started func(world, parent *mpi.Comm, start []byte) error // their program

	localOptions    *LocalOptions // nil: the machine is emulated
	isProcessOfRank bool          // this process was started as one of the ranks
}

// newEnginesByName has the implementation of each engine that a library may name.
var newEnginesByName = map[*model.Engine]struct {
	make     engine.NewJobEnginesFunc
	describe func(device.Head) (name, detail string) // the packets, for traces
}{
	model.ProtoEngine: {proto.New, proto.Describe},
	model.QueueEngine: {queue.New, queue.Describe},
	model.MBCFEngine:  {mbcf.New, mbcf.Describe},
	model.StartEngine: {start.New, start.Describe},
}

// NewEngines returns how to make the engine that a library names. The library names one of
// model.Engines.
func NewEngines(l *model.Library) engine.NewJobEnginesFunc {
	return newEnginesByName[l.CarriedBy()].make
}

// mbcfLibraries are the libraries of real machines whose senders write to receive buffers. They
// need no rules: whether a request is there decides.
func mbcfLibraries() []*model.Library {
	return []*model.Library{
		{Name: "sr", Engine: model.MBCFEngine, Description: "MPI/MBCF: receivers post requests, and senders write to their buffers"},
		{Name: "nsr", Engine: model.MBCFEngine, MBCF: model.MBCFSettings{Requests: -1}, Description: "MPI/MBCF without requests: every message goes by a FIFO"},
	}
}

// PlatformNoise in place of a noise level means the level of the platform.
const PlatformNoise = -1

// Open finds a platform by its name and sets up a job on it: on an emulated machine, or on this one
// if the name is one of LocalPlatforms. There each rank has a processor of its own, and there is no
// noise to choose.
func Open(name, library string, ranks int, noise float64) (*Job, error) {
	if slices.Contains(LocalPlatforms, name) {
		if noise > 0 {
			return nil, fmt.Errorf("noise of %s on %s: only emulated machines have a level of noise", unit.Percent(noise), name)
		}
		return NewLocal(library, ranks, LocalOptions{Platform: name, PinsRanks: true})
	}
	p, err := platform.Load(name)
	if err != nil {
		return nil, err
	}
	return New(p, library, ranks, noise)
}

// New sets up a job on a platform for programs of MPI. Ranks 0 and an empty library are the
// platform's defaults.
func New(p *platform.Platform, library string, ranks int, noise float64) (*Job, error) {
	j, err := NewForAnyLibrary(p, library, ranks, noise)
	if err == nil && !j.Library.CarriedBy().CarriesMPI() {
		return nil, fmt.Errorf("library %s of platform %s is not MPI: 'loggp run --library %[1]s patterns' times it", j.Library.Name, p.Machine.Name)
	}
	return j, err
}

// NewForAnyLibrary is New with any library. Only World and what does not concern messages is for
// jobs whose library is not MPI.
func NewForAnyLibrary(p *platform.Platform, library string, ranks int, noise float64) (*Job, error) {
	l, err := p.Library(library)
	if err != nil {
		return nil, err
	}
	if l.CarriedBy() == model.NCCLEngine {
		return nil, fmt.Errorf("library %s of platform %s executes no programs: 'loggp measure --collective all --library %[1]s' and 'loggp predict' time it", l.Name, p.Machine.Name)
	}
	j := &Job{Platform: p, Library: l, Ranks: ranks, Noise: noise}
	if ranks == 0 {
		j.Ranks = p.Machine.Ranks.Default
	}
	if noise < 0 {
		j.Noise = p.Machine.Noise.Relative
	}
	if r := p.Machine.Ranks; j.Ranks < r.Min || j.Ranks > r.Max {
		return nil, fmt.Errorf("platform %s has from %d to %d ranks, not %d", p.Machine.Name, r.Min, r.Max, j.Ranks)
	}
	if err := checkMemory(j.Ranks, host.AvailableMemory()); err != nil {
		return nil, fmt.Errorf("platform %s: %w", p.Machine.Name, err)
	}
	return j, nil
}

// World returns a new world for the job. On an emulated machine its randomness depends on the seed
// alone.
func (j *Job) World(ctx context.Context, seed uint64) (device.World, error) {
	if j.IsLocal() {
		return j.openProcesses(ctx)
	}
	return hw.New(j.hardwareConfig(ctx, seed))
}

func (j *Job) hardwareConfig(ctx context.Context, seed uint64) hw.Config {
	return hw.Config{Machine: j.Platform.Machine, Library: j.Library, Ranks: j.Ranks, Seed: seed, Noise: j.Noise, Context: ctx, Kernel: j.KernelStatistics}
}

// Values of maxEntries with which a recording has only totals.
const (
	TotalsOnly          = -1 // how long each processor and each part of the network did what
	ProcessorTotalsOnly = -2 // how long each processor did what
)

// RecordProgram runs a program on the job's ranks and returns its recording, which has at most
// maxEntries spans, calls and messages; 0: the default limit of activity.Log.
func (j *Job) RecordProgram(ctx context.Context, seed uint64, protocol string, maxEntries int, program func(*mpi.Comm) error) (*model.Timeline, error) {
	return j.recordRun(ctx, seed, protocol, maxEntries, func(w device.World, o mpi.Options) error { return mpi.Run(w, o, program) })
}

// RecordWithAnyLibrary is RecordProgram with any library: run starts the program, with these
// options if the library is MPI.
func (j *Job) RecordWithAnyLibrary(ctx context.Context, seed uint64, protocol string, maxEntries int, run func(device.World, mpi.Options) error) (*model.Timeline, error) {
	return j.recordRun(ctx, seed, protocol, maxEntries, run)
}

// finalizeFunction is the last function that a program calls.
var finalizeFunction = mpi.FunctionName(mpi.FinalizeCall)

func (j *Job) recordRun(ctx context.Context, seed uint64, protocol string, maxEntries int, run func(device.World, mpi.Options) error) (*model.Timeline, error) {
	log := &hw.ActivityLog{MaxEntries: maxEntries, ProcessorsOnly: maxEntries == ProcessorTotalsOnly}
	log.Describe = engine.DescribeWithAccesses(newEnginesByName[j.Library.CarriedBy()].describe)
	cfg := j.hardwareConfig(ctx, seed)
	cfg.Activity = log
	if j.Recorder != nil {
		j.Recorder.WorkTime = log.SoftwareTime
	}
	w, err := hw.New(cfg)
	if err != nil {
		return nil, err
	}
	o := j.MPIOptions(protocol)
	hasFinalized := make([]bool, j.Ranks)
	o.OnFunction = func(rank int, name string) {
		if name == finalizeFunction && hasFinalized[rank] {
			return // the library's own part of it
		}
		hasFinalized[rank] = name == finalizeFunction
		log.EnterCall(rank, name)
	}
	if err := run(w, o); err != nil {
		return nil, err
	}
	return log.Timeline(), nil
}

// MPIOptions returns the options to run programs: the protocols of the library's rules, or one
// protocol for all messages. Forced rules for collective operations precede those of the library.
func (j *Job) MPIOptions(protocol string) mpi.Options {
	o := mpi.Options{Engine: NewEngines(j.Library), Library: j.Library, Protocol: protocol, Check: j.CheckMode, OnWarning: j.OnWarning, SpareRanks: j.Spare, SpawnedProgram: j.Started}
	if j.ForcedRules != nil {
		o.Tuning = slices.Concat(j.ForcedRules, collective.RulesOfLibrary(j.Library))
	}
	if j.Library.Decisions != "" && !j.IsLocal() {
		o.Nodes = j.RanksByNode() // as libraries of today hear it from their launcher
	}
	if x := j.Library.Compiled; x != nil && j.Recorder == nil { // messages are recorded, and no multicasts
		o.NewCollectives = mustSucceed(ccmpi.New(ccmpi.Options{Compiled: *x, StoredSchedules: j.StoredSchedules}))
	}
	if j.Recorder != nil {
		o.Engine = j.Recorder.WrapEngines(o.Engine)
		o.OnCall = func(rank int, call string) {
			if j.Recorder.EnterCall(rank, call); call == mpi.FinalizeCall {
				j.Recorder.EndRank(rank)
			}
		}
	}
	return o
}

// mustSucceed returns what cannot fail for a library that was read.
func mustSucceed[T any](x T, err error) T {
	if err != nil {
		panic("job: " + err.Error())
	}
	return x
}

// ClockKind returns the kind of time: real or virtual.
func (j *Job) ClockKind() string {
	if j.IsLocal() {
		return "real"
	}
	return "virtual"
}

// PlaceOfPair returns whether two ranks are in one node (intra) or not (inter).
func (j *Job) PlaceOfPair(a, b int) string {
	return j.tierOfRanks(a, b).String()
}

// tierOfRanks returns the tier of two ranks. A real host is one node.
func (j *Job) tierOfRanks(a, b int) model.Tier {
	switch {
	case j.IsLocal() && j.localOptions.Team.SameHost(a, b):
		return model.IntraNode
	case j.IsLocal():
		return model.InterNode
	}
	return j.Platform.Machine.TierOfRanks(a, b)
}
