package papers

import (
	"context"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
)

// Subject is what experiments are about: a library on a platform, between two processors.
type Subject struct {
	ID, Name, Platform, Library, Place string
	Mode                               string // a way of sending, for the benchmark of patterns, whose libraries need not be MPI; "": none
	Ranks                              int    // 0: as many as the platform has
}

// Site is where a subject can be measured: a job, and two of its ranks.
type Site struct {
	*Subject
	Job  *job.Job
	Pair [2]int
}

// shmemLibrary is the library of raw puts, which no platform file names.
const shmemLibrary = "shmem"

// Open sets up a job for a subject on a platform. Noise is the relative standard deviation of every
// processor step; below zero it is that of the platform.
func (s *Subject) Open(p *platform.Platform, noise float64) (*Site, error) {
	newJob := job.New
	if s.Mode != "" {
		newJob = job.NewForAnyLibrary
	}
	library := s.Library
	if library == shmemLibrary {
		library = ""
	}
	j, err := newJob(p, library, s.Ranks, noise)
	if err != nil {
		return nil, fmt.Errorf("reproduce on %s: %w", s.Platform, err)
	}
	pair, err := j.PairToMeasure(s.Place)
	return &Site{s, j, pair}, err
}

// Paths returns the path of messages from the first rank of the pair to the second, and that back.
func (s *Site) Paths() (there, back model.Path) {
	m, n := s.Job.Platform.Machine, s.Job.Ranks
	return m.PathBetweenRanks(n, s.Pair[0], s.Pair[1]), m.PathBetweenRanks(n, s.Pair[1], s.Pair[0])
}

// Facts returns those facts of the samples that a fit depends on.
func (s *Site) Facts() []sample.Fact {
	return []sample.Fact{{Key: sample.RootsFact, Value: "2"}, {Key: sample.ResolutionFact, Value: s.Job.Platform.Machine.TimerResolution.MicrosString()}}
}

// Label fills in the key of a series, except for its mode, size and timer. The protocol is "" if
// the library chooses.
func (s *Site) Label(x *sample.Series, protocol string) {
	x.Platform, x.Library, x.Place, x.Clock, x.Protocol = s.Platform, s.Library, s.Place, s.Job.ClockKind(), AutoProtocol
	if protocol != "" {
		x.Protocol = protocol
	}
}

// runProgram runs a program. It records packets if log is not nil.
func (s *Site) runProgram(ctx context.Context, protocol string, log *trace.Log, program func(c *mpi.Comm)) error {
	w, err := s.Job.World(ctx, 1)
	if err != nil {
		return err
	}
	world := mpi.World(w)
	if log != nil {
		world = trace.World(w, log)
	}
	return mpi.Run(world, s.Job.MPIOptions(protocol), func(c *mpi.Comm) error {
		program(c)
		return nil
	})
}

// sumEngineCounters runs a program on a platform, which is that of the subject except for a
// placement, and returns the sums of the counters of all engines. broadcast is called with the size
// of every broadcast; it may be nil.
func (s *Site) sumEngineCounters(ctx context.Context, seed uint64, on *platform.Platform, ranks int, broadcast func(bytes int), program func(c *mpi.Comm)) (map[string]int64, error) {
	j, err := job.New(on, s.Library, ranks, s.Job.Noise)
	if err != nil {
		return nil, err
	}
	w, err := j.World(ctx, seed)
	if err != nil {
		return nil, err
	}
	counts, options := map[string]int64{}, j.MPIOptions("")
	options.OnBroadcast = broadcast
	return counts, mpi.Run(w, options, func(c *mpi.Comm) error {
		program(c)
		for name, n := range c.Counts {
			counts[name] += n
		}
		return nil
	})
}

// placeRanks returns the platform of the subject with a placement of ranks on its nodes, such as
// 4+4, and the number of ranks.
func (s *Site) placeRanks(placement string) (*platform.Platform, int, error) {
	p, err := model.ParsePlacement(placement)
	if err != nil {
		return nil, 0, err
	}
	on := *s.Job.Platform
	on.Machine, err = on.Machine.WithPlacement(p)
	return &on, p.Ranks(), err
}

// pairPlatform returns the platform with two ranks in the subject's place.
func (s *Site) pairPlatform() (*platform.Platform, error) {
	if s.Job.Platform.Machine.Nodes == nil {
		return s.Job.Platform, nil
	}
	placement := "1+1"
	if s.Place == model.IntraNode.String() {
		placement = "2"
	}
	on, _, err := s.placeRanks(placement)
	return on, err
}

// platformWithScheduler returns the platform with another scheduler of phases in the subject's
// library; "" keeps that of the library.
func (s *Site) platformWithScheduler(name string) (*platform.Platform, error) {
	if name == "" {
		return s.Job.Platform, nil
	}
	if !slices.ContainsFunc(phases.Schedulers, func(p *phases.Scheduler) bool { return p.Name == name }) || s.Job.Library.Compiled == nil {
		return nil, fmt.Errorf("%s has no scheduler %q", s.Name, name)
	}
	return withLibrary(s.Job.Platform, s.Job.Library.Name, func(l *model.Library) {
		compiled := *l.Compiled
		compiled.Scheduler = name
		l.Compiled = &compiled
	}), nil
}

// withLibrary returns a copy of a platform with a change of one library.
func withLibrary(p *platform.Platform, name string, change func(l *model.Library)) *platform.Platform {
	changed := *p
	changed.Libraries = slices.Clone(p.Libraries)
	for i, l := range p.Libraries {
		if l.Name == name {
			library := *l
			change(&library)
			changed.Libraries[i] = &library
		}
	}
	return &changed
}

// orDefault returns the elements, or one default if there are none.
func orDefault[T any](elements []T, one T) []T {
	if len(elements) == 0 {
		return []T{one}
	}
	return elements
}
