package job

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// LocalPlatforms lists the platforms that are not emulated: this machine with one of its
// transports.
var LocalPlatforms = []string{SharedMemoryPlatform, TCPPlatform}

// transport is how ranks on this machine communicate.
type transport struct {
	description string
	maxRanks    int // most
	newLibrary  func() *model.Library
	openWorld   func(j *Job, ctx context.Context) (device.World, error)
	facts       func() []host.Fact
}

// transports has the transport of each platform in LocalPlatforms.
var transports = map[string]transport{SharedMemoryPlatform: sharedMemoryTransport, TCPPlatform: tcpTransport}

// LocalOptions is how the ranks of a job on this machine run.
type LocalOptions struct {
	Platform string // one of LocalPlatforms; "": the first

	WaitPolicy string // spin or block; "": spin if each rank has its own processor
	PinsRanks  bool   // each rank to a processor of its own

	RankOutput *os.File // of the ranks that are started; nil: what they write to standard output is lost

	AllowsAnyLibrary bool // the library need not be MPI, as in NewForAnyLibrary

	Team *launch.Team // where ranks are, if they are on several machines; nil: on this one

	// RankCommand starts a further process of this program as a rank of the job; nil: the arguments
	// that this process was started with.
	RankCommand []string
}

// DefaultLocalRanks is how many ranks a job on this machine has if nothing else is said.
const DefaultLocalRanks = 2

// NewLocal sets up a job on this machine. Ranks 0 are the default.
func NewLocal(library string, ranks int, how LocalOptions) (*Job, error) {
	if ranks == 0 {
		ranks = DefaultLocalRanks
	}
	if how.Platform == "" {
		how.Platform = LocalPlatforms[0]
	}
	t, ok := transports[how.Platform]
	if !ok {
		return nil, fmt.Errorf("platform %q is not this machine; that is one of %s", how.Platform, strings.Join(LocalPlatforms, ", "))
	}
	about := "this machine: " + t.description
	if how.Team != nil {
		about = "several machines: ranks are processes that are connected by TCP"
	}
	resolution, _ := host.ClockStepAndCost()
	p := &platform.Platform{
		Machine: &model.Machine{
			Name:            how.Platform,
			Description:     about,
			Ranks:           model.RankLimits{Default: 2, Min: 1, Max: t.maxRanks},
			TimerResolution: resolution,
		},
		Libraries: append([]*model.Library{t.newLibrary(), {Name: "aclmpl", Description: "ACLMPL: a library of its own, beside MPI", Engine: model.AclmplEngine}}, mbcfLibraries()...),
	}
	if how.Platform == TCPPlatform {
		p.Libraries = append(p.Libraries, newTCPCompiledCommunicationLibrary())
	}
	open := New
	if how.AllowsAnyLibrary {
		open = NewForAnyLibrary
	}
	j, err := open(p, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	j.localOptions, j.isProcessOfRank = &how, launch.IsRank()
	if how.RankCommand != nil {
		launch.BeginCommand(how.RankCommand)
	}
	_, err = j.openProcesses(context.Background())
	return j, err
}

// openProcesses returns a world whose ranks are processes.
func (j *Job) openProcesses(ctx context.Context) (device.World, error) {
	return transports[j.localOptions.Platform].openWorld(j, ctx)
}

// newLoggpLibrary returns this program's library on real machines, where no software costs are
// charged. Messages up to a length are sent eagerly; the receiver fetches the data of longer ones.
func newLoggpLibrary(eager int, about string) *model.Library {
	l := &model.Library{Name: "loggp", Description: "this program's own library: " + about, Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 20}}
	for m := range model.NumModes {
		short := model.ProtocolRule{Mode: m, MaxBytes: eager, Protocol: "T"}
		if m == model.SynchronousMode {
			short.Protocol = "TA"
		}
		l.Proto.Rules = append(l.Proto.Rules, short, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "RTA"})
	}
	return l
}

// IsLocal reports whether the job runs on this machine.
func (j *Job) IsLocal() bool { return j.localOptions != nil }

// TimeRanks runs a program on the ranks of a real job, which begin at one time, and returns how
// long it took each. Its recorder, if there is one, has the schedules of all ranks then. Processes
// that were started as other ranks than 0 do not return from it.
func (j *Job) TimeRanks(ctx context.Context, protocol string, program func(*mpi.Comm) error) ([]unit.Time, error) {
	w, err := j.openProcesses(ctx)
	if err != nil {
		return nil, err
	}
	var times []unit.Time
	err = mpi.Run(w, j.MPIOptions(protocol), func(c *mpi.Comm) error {
		results := c.Dup()
		begin := waitForCommonStart(c)
		if j.Recorder != nil {
			j.Recorder.BeginRank(c.Rank())
		}
		err := program(c)
		took := c.Wtime() - begin
		if j.Recorder != nil {
			j.Recorder.EndRank(c.Rank())
		}
		if err != nil {
			return err
		}
		times = j.gatherTimes(results, took)
		return nil
	})
	return times, err
}

// waitForCommonStart delays each rank until one time on the clock that all share, and returns it.
func waitForCommonStart(c *mpi.Comm) unit.Time {
	c.Barrier()
	before := c.Wtime()
	c.Barrier()
	now := c.Wtime()
	latest := []int64{0}
	c.Allreduce(mpi.BufferOf([]int64{int64(now + 8*(now-before))}), mpi.BufferOf(latest), mpi.Max)
	begin := unit.Time(latest[0])
	c.Compute(max(0, begin-c.Wtime()))
	return begin
}

// gatherTimes brings to rank 0 how long the program took each rank, and what was recorded of it.
func (j *Job) gatherTimes(c *mpi.Comm, took unit.Time) []unit.Time {
	words := []int64{int64(took)}
	if j.Recorder != nil {
		words = append(words, j.Recorder.EncodeRank(c.Rank())...)
	}
	length := []int64{int64(len(words))}
	if c.Rank() != 0 {
		mpi.Send(c, mpi.BytesOf(length), 0, 0)
		mpi.Send(c, mpi.BytesOf(words), 0, 1)
		return nil
	}
	times := []unit.Time{took}
	for src := 1; src < c.Size(); src++ {
		mpi.Recv(c, mpi.BytesOf(length), src, 0)
		words = make([]int64, length[0])
		mpi.Recv(c, mpi.BytesOf(words), src, 1)
		times = append(times, unit.Time(words[0]))
		if j.Recorder != nil {
			j.Recorder.DecodeRank(src, words[1:])
		}
	}
	return times
}

// HostFacts returns facts on the hosts of a real job, its transport and this machine.
func (j *Job) HostFacts() []host.Fact {
	return slices.Concat(j.factsOfHosts(), transports[j.localOptions.Platform].facts(), host.Facts())
}

// WaitPolicy returns how the ranks of a real job wait: spin or block.
func (j *Job) WaitPolicy() string {
	if c := j.processLaunchConfig(context.Background()); c.IsBlocking(0) {
		return string(launch.Block)
	}
	return string(launch.Spin)
}

// processLaunchConfig returns the configuration of the job's processes.
func (j *Job) processLaunchConfig(ctx context.Context) launch.Config {
	return launch.Config{Ranks: j.Ranks, Wait: launch.Wait(j.localOptions.WaitPolicy), Pin: j.localOptions.PinsRanks, Args: j.localOptions.RankCommand, Context: ctx, Output: j.localOptions.RankOutput, Team: j.localOptions.Team}
}

// DescribePinning describes on which processor each rank of a real job runs.
func (j *Job) DescribePinning() string {
	if !j.localOptions.PinsRanks {
		return "off: the kernel moves ranks as it likes"
	}
	if j.localOptions.Team != nil {
		return "on each host processors in the order of their numbers, by rank"
	}
	places := make([]string, j.Ranks)
	for r := range places {
		places[r] = fmt.Sprint(host.RankProcessor(r))
	}
	return "processors " + strings.Join(places, " ")
}
