// Package papers has the benchmarks of published papers that no other measurement needs: each
// answers the question of one table or figure. Package microbench measures any library by its
// public interface. These benchmarks may also use lower levels, such as packets, counters and the
// interface between nodes, because papers print such numbers.
//
// A Benchmark measures a Subject, a library on a platform between two processors, and adds to
// Results: numbers and texts by name and arguments, such as round_trip(near,8), recordings, and
// samples of timers. It does not evaluate them: package paper of cmd/loggp selects the benchmarks,
// fits parameters to the samples, and checks the claims of the papers.
package papers

import (
	"context"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// Benchmark is a kind of experiment.
type Benchmark struct {
	Numbers map[string]int // names of the measured numbers with their numbers of arguments; -1: any
	Texts   map[string]int // the same for texts

	// Parts returns the number of parts of an experiment. Each part has its own seed, and progress
	// counts parts.
	Parts func(s *Site, e *Experiment) int

	// Run measures a subject and calls done with the number of completed parts. It omits what
	// cannot be measured.
	Run func(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(parts int)) error
}

// Benchmarks has all benchmarks by their names in paper.yaml.
var Benchmarks = map[string]Benchmark{
	"timers":    timersBenchmark,
	"pairs":     pairsBenchmark,
	"idle-peer": idlePeerBenchmark,
	"messages":  messagesBenchmark,
	"patterns":  patternsBenchmark,
	"aclmpl":    aclmplBenchmark,
	"access":    remoteAccessBenchmark,
	"posted":    postedReceivesBenchmark,
	"sequences": sequencesBenchmark,
	"npb":       npbBenchmark,
	"programs":  programsBenchmark,
	"routines":  routinesBenchmark,
	"planning":  planningBenchmark,
	"interface": nodeInterfaceBenchmark,
	"routes":    routesBenchmark,
	"ping-pong": pingPongBenchmark,
}

// Experiment describes what a benchmark measures. Which fields are used depends on the benchmark.
type Experiment struct {
	Subject  string   // its ID
	Modes    []string // empty: all
	Sizes    []int    `yaml:"-"` // message sizes in bytes, or problem sizes
	Protocol string   // forced protocol; "": as the library chooses
	Patterns []string // communication patterns
	Ranks    []int    `yaml:"-"` // numbers of ranks; empty: that of the subject
	Reps     int      // with each root of the barrier

	Programs   []string // programs that ship with loggp, or routines
	Scheduler  string   // of routines; "": that of the library
	Placements []string // of ranks on nodes, such as 4+4

	Class      string             // class of NAS benchmarks
	OneProcess map[string]float64 `yaml:"one_process"` // seconds of each benchmark on one processor, by name
	Operation  map[string]string  // or the time of an operation of each

	Timers []string `yaml:"-"` // timers to measure, with those of the same rounds; empty: all
	Warmup int      `yaml:"-"` // untimed rounds of timers; 0: 10
}

// ModeNames returns the modes that are measured.
func (e *Experiment) ModeNames() []string {
	if e.Modes == nil {
		return microbench.SendModeNames()
	}
	return e.Modes
}

// Results has the results of benchmarks, by Key. Times are in microseconds.
type Results struct {
	Numbers    map[string]float64
	Texts      map[string]string
	Recordings map[string]*model.Timeline // of short programs, by program and subject
	Series     map[string][]sample.Series // of timers, by subject
	PairSeries map[string][]sample.Series // of low-level messages between all pairs of ranks, by subject
}

// NewResults returns empty results.
func NewResults() *Results {
	return &Results{map[string]float64{}, map[string]string{}, map[string]*model.Timeline{}, map[string][]sample.Series{}, map[string][]sample.Series{}}
}

// Key returns the key of a number or a text, in the form of claims: round_trip(near,8). The first
// argument is the ID of the subject.
func Key(name string, arguments ...string) string {
	return name + "(" + strings.Join(arguments, ",") + ")"
}

// TimerKey returns the key of a timer's value. A forced protocol is the last argument.
func TimerKey(name, subject, mode, protocol string, bytes int) string {
	arguments := []string{subject, mode, strconv.Itoa(bytes)}
	if protocol != AutoProtocol {
		arguments = append(arguments, protocol)
	}
	return Key(name, arguments...)
}

// AutoProtocol, in samples, says that the library chose the protocol.
const AutoProtocol = "auto"

// pairBenchmark returns a benchmark that measures two ranks at the subject's place at each size.
func pairBenchmark(numbers map[string]int, measure func(ctx context.Context, s *Site, e *Experiment, pair *platform.Platform, bytes int, seed uint64, out *Results) error) Benchmark {
	return Benchmark{
		Numbers: numbers,
		Parts:   func(_ *Site, e *Experiment) int { return len(e.Sizes) },
		Run: func(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(parts int)) error {
			pair, err := s.pairPlatform()
			if err != nil {
				return err
			}
			for i, bytes := range e.Sizes {
				if err := measure(ctx, s, e, pair, bytes, seed+uint64(i), out); err != nil {
					return err
				}
				done(i + 1)
			}
			return nil
		},
	}
}
