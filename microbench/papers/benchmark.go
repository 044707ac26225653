// Package papers has the benchmarks of published papers that no other measurement needs: each
// answers the question of one table or figure. Package microbench measures any library by its
// public interface; these benchmarks may look below it, at packets, counters and the interface
// between nodes, because papers print such numbers too.
//
// A benchmark measures a Subject, which is a library on a platform between two processors, and adds
// what it finds to Results: numbers and texts by name and arguments, such as round_trip(near,8),
// recordings, and samples of timers. It evaluates nothing: package paper of cmd/loggp chooses the
// benchmarks, fits parameters to the samples, and judges the claims of the papers.
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
	Numbers map[string]int // names of the numbers that it measures, with the number of their arguments; -1: any
	Texts   map[string]int // the same of texts

	// Parts returns how many parts an experiment has. Each has a seed of its own, and progress
	// counts them.
	Parts func(s *Site, e *Experiment) int

	// Run measures a subject and calls done with the number of parts that have ended. It leaves out
	// what cannot be measured.
	Run func(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(parts int)) error
}

// Benchmarks are all benchmarks by the names that paper.yaml has for them.
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

// Experiment is what a benchmark does. Which fields it uses depends on the benchmark.
type Experiment struct {
	Subject  string   // its ID
	Modes    []string // none: all
	Sizes    []int    `yaml:"-"` // of messages, in bytes, or of problems
	Protocol string   // that is forced; "": as the library's rules choose
	Patterns []string // of communication
	Ranks    []int    `yaml:"-"` // numbers of ranks; none: that of the subject
	Reps     int      // with each root of the barrier

	Programs   []string // that ship with loggp, or routines
	Scheduler  string   // of routines; "": that of the library
	Placements []string // of ranks on nodes, such as 4+4

	Class      string             // of NAS benchmarks
	OneProcess map[string]float64 `yaml:"one_process"` // seconds that each takes on one processor, by its name
	Operation  map[string]string  // or the time of an operation of each

	Timers []string `yaml:"-"` // that are measured, with those of the same rounds; none: all
	Warmup int      `yaml:"-"` // rounds of timers that are not timed; 0: 10
}

// ModeNames returns the modes that are measured.
func (e *Experiment) ModeNames() []string {
	if e.Modes == nil {
		return microbench.SendModeNames()
	}
	return e.Modes
}

// Results are what benchmarks have found. Keys are those of Key. Times are in microseconds.
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

// Key returns the key of a number or a text, as claims write it: round_trip(near,8). The first
// argument is the ID of the subject.
func Key(name string, arguments ...string) string {
	return name + "(" + strings.Join(arguments, ",") + ")"
}

// TimerKey returns the key of the value of a timer. A protocol that was forced is the last
// argument.
func TimerKey(name, subject, mode, protocol string, bytes int) string {
	arguments := []string{subject, mode, strconv.Itoa(bytes)}
	if protocol != AutoProtocol {
		arguments = append(arguments, protocol)
	}
	return Key(name, arguments...)
}

// AutoProtocol stands in samples for the protocol that the library's rules choose.
const AutoProtocol = "auto"

// pairBenchmark is a benchmark that measures two ranks of the subject's place at each size.
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
