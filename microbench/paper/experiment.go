package paper

import (
	"context"
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// Subject is what an experiment is about: a library on a platform, between two processors that are near or far.
type Subject struct{ Platform, Library, Place string }

// String is how texts name the subject: the paper has one library a platform, and two places on one of them.
func (s Subject) String() string {
	return map[Subject]string{t3d: "T3D", now: "NOW", nowMPICH: "NOW with mpich", convexInter: "Convex inter", convexIntra: "Convex intra"}[s]
}

// The subjects of the paper, and a second library on one of its platforms.
var (
	t3d         = Subject{"t3d", "chimp", "inter"}
	now         = Subject{"now", "chimp", "inter"}
	nowMPICH    = Subject{"now", "mpich", "inter"}
	convexInter = Subject{"convex", "mpich", "inter"}
	convexIntra = Subject{"convex", "mpich", "intra"}
)

var subjects = []Subject{t3d, now, nowMPICH, convexInter, convexIntra}

// Experiment is a plan of the micro-benchmark for a subject.
type Experiment struct {
	Subject
	Modes    []string
	Sizes    []int
	Protocol string // that is forced, "" for what the library's rules choose
	Reps     int    // with each root of the barrier
}

// The lengths of messages. Figures go from 1 to 100,000 bytes; the tables print overheads at 16, 100 and 10,000 bytes.
var (
	figureSizes   = []int{1, 4, 16, 32, 64, 100, 200, 350, 500, 700, 1000, 1400, 2000, 3000, 5000, 10000, 20000, 40000, 100000}
	messageSizes  = []int{0, 16, 1000, 10000, 100000}
	protocolSizes = []int{16, 1000, 3000, 10000, 40000, 100000}
	tableSizes    = []int{16, 10000}
)

// experiments are all that is run for the paper.
//
// The paper repeats everything 600 times or more. So does the T3D, whose messages cost least to emulate; on the others the number is
// such that medians are within a percent, most within a tenth of one: a frame of Ethernet, of which a long message has seventy, costs
// more to emulate than a message on the torus.
var experiments = []Experiment{
	{t3d, microbench.Modes(), figureSizes, "", 600},
	{t3d, []string{microbench.Message}, messageSizes, "", 600},
	{t3d, []string{"ssend"}, protocolSizes, "RTA", 200},
	{t3d, []string{"ssend"}, protocolSizes, "RAT", 200},
	{now, microbench.Modes(), figureSizes, "", 100},
	{nowMPICH, []string{"send", "ssend", "isend"}, tableSizes, "", 100},
	{convexInter, microbench.Modes(), figureSizes, "", 200},
	{convexIntra, microbench.Modes(), figureSizes, "", 200},
}

// protocol returns how data sets name the protocol.
func (e *Experiment) protocol() string {
	if e.Protocol == "" {
		return auto
	}
	return e.Protocol
}

// auto is the protocol that the library's rules choose.
const auto = "auto"

// cells returns how many cells there are to measure.
func (e *Experiment) cells() int { return len(e.Modes) * len(e.Sizes) }

// plan returns the experiment as the benchmark has it.
func (e *Experiment) plan(s *site) *microbench.Plan {
	return &microbench.Plan{Modes: e.Modes, Sizes: e.Sizes, Protocol: e.Protocol, Reps: e.Reps, Warmup: 10, Common: true, Pair: s.pair}
}

// key returns what a series of the experiment is about, beside its mode, size and timer.
func (e *Experiment) key(s *site) sample.Key {
	return sample.Key{Platform: e.Platform, Library: e.Library, Place: e.Place, Clock: s.job.Clock(), Protocol: e.protocol()}
}

// run measures. The seed is that of its first cell.
func (e *Experiment) run(ctx context.Context, s *site, seed uint64, done func(int)) ([]sample.Series, error) {
	open := func(ctx context.Context, cell int) (mpi.World, error) { return s.job.World(ctx, seed+uint64(cell)) }
	series, err := microbench.Sweep(ctx, e.plan(s), s.job.Options(e.Protocol), open, done)
	if err != nil {
		return nil, fmt.Errorf("measure %v on %s: %w", e.Modes, e.Platform, err)
	}
	for i := range series {
		k := e.key(s)
		k.Mode, k.Bytes, k.Timer = series[i].Mode, series[i].Bytes, series[i].Timer
		series[i].Key = k
	}
	return series, nil
}

// site is where a subject can be measured: a job, and two of its ranks.
type site struct {
	Subject
	job  *world.Job
	pair [2]int
}

// open sets up a job for a subject.
func (s Subject) open(noise float64) (*site, error) {
	j, err := world.Open(s.Platform, s.Library, 0, noise)
	if err != nil {
		return nil, err
	}
	pair, err := j.Pair(s.Place)
	return &site{s, j, pair}, err
}

// name is how texts name the platform: Convex.
func (s *site) name() string {
	name, _, _ := strings.Cut(s.Subject.String(), " ")
	return name
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
