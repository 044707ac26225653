package paper

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// benchmark is a kind of experiment, in a file of its own.
type benchmark struct {
	gives map[string]int                  // quantities, with the number of their arguments; -1: any
	texts map[string]int                  // and texts
	cells func(x *run, e *Experiment) int // how many parts an experiment has: each has a seed, and progress counts them
	run   func(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error
}

// benchmarks are those that paper.yaml may name. One that is run calls done with the number of
// parts that are over. What it gives it puts into the cells measured of the run, what a model says
// of the same into predicted, and texts into texts; or samples into series, for the fit of all
// samples of a subject. What could not be measured it leaves out.
var benchmarks = map[string]benchmark{
	"timers":    timersBenchmark,
	"pairs":     pairsBenchmark,
	"idle-peer": idlePeerBenchmark,
	"messages":  messagesBenchmark,
	"patterns":  patternsBenchmark,
	"aclmpl":    aclmplBenchmark,
	"access":    accessBenchmark,
	"posted":    postedBenchmark,
	"sequences": sequencesBenchmark,
	"npb":       npbBenchmark,
	"programs":  programsBenchmark,
	"routines":  routinesBenchmark,
	"planning":  planningBenchmark,
	"interface": interfaceBenchmark,
	"routes":    routesBenchmark,
	"ping-pong": pingPongBenchmark,
}

// ofTwo is a benchmark that measures two ranks of the subject's place at each size.
func ofTwo(gives map[string]int, measure func(ctx context.Context, x *run, e *Experiment, s *site, on *platform.Platform, bytes int, seed uint64) error) benchmark {
	return benchmark{
		gives: gives,
		cells: func(_ *run, e *Experiment) int { return len(e.Sizes.values) },
		run: func(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
			s := x.sites[e.Subject]
			on, err := s.two()
			if err != nil {
				return err
			}
			for i, bytes := range e.Sizes.values {
				if err := measure(ctx, x, e, s, on, bytes, seed+uint64(i)); err != nil {
					return err
				}
				done(i + 1)
			}
			return nil
		},
	}
}

// site is where a subject can be measured: a job, and two of its ranks.
type site struct {
	*Subject
	job  *job.Job
	pair [2]int
}

// open sets up a job for a subject, on the platform that load returns; nil is platform.Load.
func (s *Subject) open(load func(name string) (*platform.Platform, error), noise float64) (*site, error) {
	if load == nil {
		load = platform.Load
	}
	p, err := load(s.Platform)
	if err != nil {
		return nil, err
	}
	open := job.New
	if s.Mode != "" {
		open = job.NewAny
	}
	library := s.Library
	if library == shmem {
		library = ""
	}
	j, err := open(p, library, s.Ranks, noise)
	if err != nil {
		return nil, fmt.Errorf("reproduce on %s: %w", s.Platform, err)
	}
	pair, err := j.Pair(s.Place)
	return &site{s, j, pair}, err
}

// path is the way of the messages from the first of the pair to the other, and back.
func (s *site) path() (there, back model.Path) {
	m, n := s.job.Platform.Machine, s.job.Ranks
	return m.Path(n, s.pair[0], s.pair[1]), m.Path(n, s.pair[1], s.pair[0])
}

// facts are those of the samples that the fit acts upon.
func (s *site) facts() []sample.Fact {
	return []sample.Fact{{Key: sample.Roots, Value: "2"}, {Key: sample.Resolution, Value: s.job.Platform.Machine.Timer.MicrosString()}}
}

// label fills in what a series is of, beside its mode, size and timer.
func (s *site) label(x *sample.Series, protocol string) {
	x.Platform, x.Library, x.Place, x.Clock, x.Protocol = s.Platform, s.Library, s.Place, s.job.Clock(), auto
	if protocol != "" {
		x.Protocol = protocol
	}
}

func (e *Experiment) modes() []string {
	if e.Modes == nil {
		return microbench.Modes()
	}
	return e.Modes
}

// once runs a program, with a log of what goes over the network if there is one.
func (s *site) once(ctx context.Context, protocol string, log *trace.Log, program func(c *mpi.Comm)) error {
	w, err := s.job.World(ctx, 1)
	if err != nil {
		return err
	}
	world := mpi.World(w)
	if log != nil {
		world = trace.World(w, log)
	}
	return mpi.Run(world, s.job.Options(protocol), func(c *mpi.Comm) error {
		program(c)
		return nil
	})
}

// cells are quantities by their keys, such as o_s(t3d,isend,16). Times are microseconds.
type cells map[string]expr.Value

// key returns the key of what a timer shows. A protocol that was forced stands at the end.
func (s *site) key(name, mode, protocol string, bytes int) string {
	arguments := []string{s.ID, mode, strconv.Itoa(bytes)}
	if protocol != auto {
		arguments = append(arguments, protocol)
	}
	return expr.Key(name, arguments...)
}

// auto is the protocol that the library's rules choose.
const auto = "auto"

// env returns an environment in which expressions are evaluated.
func (p *Paper) env(c cells) *expr.Env {
	return &expr.Env{Define: p.define, Value: func(key string) (expr.Value, bool) {
		v, ok := c[key]
		return v, ok
	}}
}

// micros is a time that is known.
func micros(t unit.Time) expr.Value { return expr.Exactly(t.Micros()) }
