package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// Here are the platforms that are not emulated: this machine, in one way or another.
var Here = []string{Shm, TCP}

// transport is how the ranks of this machine reach each other.
type transport struct {
	about   string
	ranks   int // most
	library func() *model.Library
	open    func(j *Job, ctx context.Context) (device.World, error)
	facts   func() []machine.Fact
}

// transports are by the names of their platforms.
var transports = map[string]transport{Shm: sharedMemory, TCP: connections}

// Placement says how the ranks of a job on this machine run.
type Placement struct {
	Platform string // one of Here; "": the first

	Wait string // spin or block; "": spin where there are as many processors as ranks
	Pin  bool   // each rank to a processor of its own

	Team *launch.Team // where ranks are, if they are on several machines; nil: on this one

	// Command is what makes another process of this program come to the job's runs; nil: the
	// arguments that this one was started with.
	Command []string
}

// NewHere sets up a job on this machine. Ranks 0 are two.
func NewHere(library string, ranks int, how Placement) (*Job, error) {
	if ranks == 0 {
		ranks = 2
	}
	if how.Platform == "" {
		how.Platform = Here[0]
	}
	t, ok := transports[how.Platform]
	if !ok {
		return nil, fmt.Errorf("platform %q is not this machine; that is one of %s", how.Platform, strings.Join(Here, ", "))
	}
	resolution, _ := machine.Clock()
	p := &platform.Platform{
		Machine: &model.Machine{
			Name:        how.Platform,
			Description: how.about(t),
			Ranks:       model.Ranks{Default: 2, Min: 1, Max: t.ranks},
			Timer:       resolution,
		},
		Libraries: []*model.Library{t.library()},
	}
	j, err := New(p, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	j.here, j.started = &how, launch.IsRank()
	if how.Command != nil {
		launch.Begin(how.Command)
	}
	_, err = j.processes(context.Background())
	return j, err
}

// about describes the machine.
func (how *Placement) about(t transport) string {
	if how.Team == nil {
		return "this machine: " + t.about
	}
	return "several machines: ranks are processes that are connected by TCP"
}

// processes returns a world of processes.
func (j *Job) processes(ctx context.Context) (device.World, error) {
	return transports[j.here.Platform].open(j, ctx)
}

// own returns this program's library as it is on real machines, where software takes the time that
// it takes: messages to a length go at once, and of longer ones the receiver fetches the data.
func own(eager int, about string) *model.Library {
	l := &model.Library{Name: "loggp", Description: "this program's own library: " + about, Fallback: "RTA", Window: 1 << 20}
	for m := range model.NumModes {
		short := model.Rule{Mode: m, UpTo: eager, Protocol: "T"}
		if m == model.Synchronous {
			short.Protocol = "TA"
		}
		l.Rules = append(l.Rules, short, model.Rule{Mode: m, UpTo: -1, Protocol: "RTA"})
	}
	return l
}

// Real reports whether the job runs on this machine.
func (j *Job) Real() bool { return j.here != nil }

// Facts returns what is known about the hosts of a real job, its transport and this machine.
func (j *Job) Facts() []machine.Fact {
	return slices.Concat(j.hosts(), transports[j.here.Platform].facts(), machine.Facts())
}

// Wait says how the ranks of a real job wait: spin or block.
func (j *Job) Wait() string {
	return string(launch.Wait(j.here.Wait).Waits(j.here.Team, 0, j.Ranks))
}

// Line returns how long a cache line takes from the processor of one rank to that of another, in
// nanoseconds, or 0 where it cannot be told: it can of ranks that are pinned to two processors, in
// the process that starts them. While they run there it tells nothing.
func (j *Job) Line(ctx context.Context, a, b int) float64 {
	from, to := machine.RankProcessor(a), machine.RankProcessor(b)
	if j.started || !j.here.Pin || !j.here.Team.SameHost(a, b) || from < 0 || to < 0 || from == to {
		return 0
	}
	l, _ := machine.CacheLines(ctx, from, to)
	return l.Median
}

// Pins says on which processor each rank of a real job runs.
func (j *Job) Pins() string {
	if !j.here.Pin {
		return "off: the kernel moves ranks as it likes"
	}
	if j.here.Team != nil {
		return "on each host processors in the order of their numbers, by rank"
	}
	places := make([]string, j.Ranks)
	for r := range places {
		places[r] = fmt.Sprint(machine.RankProcessor(r))
	}
	return "processors " + strings.Join(places, " ")
}
