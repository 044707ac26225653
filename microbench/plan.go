// Package microbench measures a message-passing library from the outside: with the four timers of
// Al-Tawil and Moritz, round trips, bursts, and the sender and delivery times of a protocol. It
// uses only communicators, so it cannot know the machine below.
//
// A Plan says what to measure; its cells, a mode and a length each, are independent of each other.
// Two ranks measure a cell, P1 and P2; the others take no part. A stage is the code that measures
// one or several timers of a cell. It runs in rounds, each behind a barrier with its root at P1 or
// at P2; a round gives a sample, the mean of a batch of operations. Sweep runs all cells of a plan
// on emulated machines.
//
// On real machines an Experiment repeats a plan in several launches. A task is a stage of a cell, a
// visit takes some samples of a task: a Scheduler decides what to visit next, and a Worker, the
// ranks of one launch, executes its Commands.
//
// The package measures and keeps samples. It fits nothing.
package microbench

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Plan says what to measure.
type Plan struct {
	Modes                 []string  // of sample.SendModeNames
	Sizes                 []int     // lengths of messages in bytes
	RoundTripSizes        []int     // further sizes at which only round trips are measured
	Timers                []string  // to measure, with the other timers of the same rounds; none: all timers of a mode
	ForcedProtocol        string    // that the job forces; its sender and delivery times are then measured too
	MeasuresDeliveryTimes bool      // measure sender and delivery times although the library chooses the protocol
	Reps                  int       // repetitions with each root of the barrier
	WarmupRounds          int       // rounds before the repetitions, not timed
	Delta                 unit.Time // wait of P1 before timer12; 0: twice the longest round of the warm-up, or half the shortest on a shared machine
	IsRealMachine         bool      // a real machine, on which other processes may delay a round for much longer than it takes
	HasCommonClock        bool      // all ranks read the same clock
	Pair                  [2]int    // the ranks of P1 and P2; if equal, as in the zero value: the first and the last rank
}

// LowLevelMode is the mode of low-level messages.
const LowLevelMode = sample.LowLevelMode

// EmulatedMachineSizes are the lengths of messages on emulated machines of the papers: 0 to 100,000
// bytes, with those at which the paper prints numbers.
var EmulatedMachineSizes = []int{0, 1, 4, 16, 64, 128, 256, 500, 700, 1000, 1400, 2000, 3000, 5000, 10000, 20000, 40000, 100000}

// maxDefaultSize is the largest default length on real machines, that of the OSU benchmarks.
const maxDefaultSize = 4 << 20

// DefaultSizes returns the default lengths of messages on an emulated machine, as its platform's
// file says: powers of two with 0, or EmulatedMachineSizes. Nil stands for any other machine, such
// as this one: powers of two to 4 MiB.
func DefaultSizes(m *model.Machine) []int {
	last := maxDefaultSize
	if m != nil {
		last = m.SizesUpTo
	}
	if last == 0 {
		return EmulatedMachineSizes
	}
	sizes := []int{0}
	for k := 1; k <= last; k *= 2 {
		sizes = append(sizes, k)
	}
	return sizes
}

// MessagesPerBurst is the number of messages in a burst.
const MessagesPerBurst = 32

// Cell is one mode and one length.
type Cell struct {
	Mode  string
	Bytes int
}

// Cells returns the cells of the plan in the order of its modes and sizes.
func (p *Plan) Cells() []Cell {
	var cells []Cell
	for _, m := range p.Modes {
		for _, k := range p.Sizes {
			cells = append(cells, Cell{m, k})
		}
	}
	return cells
}

// Check returns an error that says what is wrong with the plan.
func (p *Plan) Check() error {
	protocol := model.FindProtocol(p.ForcedProtocol)
	if p.ForcedProtocol != "" && protocol == nil {
		return fmt.Errorf("there is no protocol %q", p.ForcedProtocol)
	}
	for i, m := range p.Modes {
		if slices.Contains(p.Modes[:i], m) {
			return fmt.Errorf("mode %s is named twice", m)
		}
		if m == LowLevelMode {
			if p.ForcedProtocol != "" {
				return fmt.Errorf("low-level messages have no protocol: %s cannot be forced on them", p.ForcedProtocol)
			}
			continue
		}
		i := sample.ModeIndex(m)
		if i == len(sendModes) {
			return fmt.Errorf("no mode %q: there are %v", m, sample.ModeNames())
		}
		if protocol != nil && sendModes[i].OneSided {
			return fmt.Errorf("accesses to windows have no protocol: %s cannot be forced on %s", p.ForcedProtocol, m)
		}
		if protocol != nil && sendModes[i].Synchronous && !protocol.IsSynchronous() {
			return fmt.Errorf("protocol %s cannot serve %s: its receiver does not say that a receive was found", p.ForcedProtocol, m)
		}
	}
	if p.Reps < 1 || p.WarmupRounds < 0 || len(p.Modes) == 0 || len(p.Sizes) == 0 {
		return fmt.Errorf("a plan needs modes, sizes and at least one repetition")
	}
	return nil
}

// MeasureCells measures cells between the pair of ranks of c, which all ranks call. P1 gets the
// series, in the order in which they were measured; others get nil. The series' keys have their
// mode, bytes and timer set.
func (p *Plan) MeasureCells(c *mpi.Comm, cells []Cell) []sample.Series {
	pair := p.newPairComms(c)
	if pair == nil {
		return nil
	}
	var all []sample.Series
	for _, cell := range cells {
		b := pair.newBenchmark(p, cell)
		b.sendBuffer, b.receiveBuffer = mpi.NewSizeOnlyBytes(cell.Bytes), mpi.NewSizeOnlyBytes(cell.Bytes)
		b.attachBsendBuffer(make([]byte, b.bsendBufferSize()))
		for _, i := range p.stageIndices(b.mode) {
			pair.runStage(b, stages[i], stages[i].roundsForReps(p.Reps))
		}
		b.detachBsendBuffer()
		b.collectSamples()
		all = append(all, b.seriesOfAllTimers()...)
	}
	if !pair.isP1 {
		return nil
	}
	return all
}

// pairComms is the communicators with which one of two ranks measures.
type pairComms struct {
	commsByBarrierRoot [2]*mpi.Comm // both ranks: with P1 first, and with P2 first; the first rank is the root of barriers
	isP1               bool
}

// newPairComms returns the communicators of the plan's pair of ranks of c, or nil to all other
// ranks. All ranks of c call it.
func (p *Plan) newPairComms(c *mpi.Comm) *pairComms {
	p1, p2 := p.Pair[0], p.Pair[1]
	if p1 == p2 {
		p1, p2 = 0, c.Size()-1
	}
	return createPairComms(c, p1, p2, c.Create)
}

// createPairComms makes the communicators of a pair with create, a call of all ranks of c or of the
// two alone.
func createPairComms(c *mpi.Comm, p1, p2 int, create func(mpi.Group) *mpi.Comm) *pairComms {
	all := c.Group()
	roots := [2]*mpi.Comm{create(all.Include([]int{p1, p2})), create(all.Include([]int{p2, p1}))}
	if roots[0] == nil {
		return nil
	}
	return &pairComms{roots, roots[0].Rank() == 0}
}

// newBenchmark returns the benchmark of a cell on this rank, without buffers.
func (x *pairComms) newBenchmark(p *Plan, cell Cell) *pairBenchmark {
	c := x.commsByBarrierRoot[0]
	return &pairBenchmark{Plan: p, cell: cell, mode: findSendMode(cell.Mode), pairComm: c, peerRank: 1 - c.Rank(), isP1: x.isP1}
}

// runStage runs a stage with each root.
func (x *pairComms) runStage(b *pairBenchmark, s *stage, rounds int) {
	for i, r := range x.commsByBarrierRoot {
		b.barrierRootIndex, b.barrierComm = i, r
		s.runOnPair(b, rounds)
	}
}

// The default plan for each pair of ranks: enough to distinguish tiers and to fit the parameters of
// each, and short enough for thousands of pairs. The paper gives the overheads of its tiers at some
// of these sizes; there are more because a line fit needs three.
var (
	AllPairsModes = []string{"send", "ssend", "isend", "issend"}
	AllPairsSizes = []int{16, 100, 1000, 4000, 10000}
)

// AllPairsReps is the number of repetitions with each root of the barrier, and AllPairsLaunches
// that of launches on a real machine.
const (
	AllPairsReps     = 10
	AllPairsLaunches = 3
)

// SelectRankPairs returns all pairs of ranks, the lower rank first, in order. If there would be
// more than maxPairs, it draws fewer ranks at random and returns all pairs of those. It draws two
// neighbours at a time, so that some pairs are near each other on any machine.
func SelectRankPairs(ranks, maxPairs int, seed uint64) [][2]int {
	of := make([]int, ranks)
	for r := range of {
		of[r] = r
	}
	if ranks*(ranks-1)/2 > maxPairs {
		n := 2
		for (n+1)*n/2 <= maxPairs {
			n++
		}
		firsts := rand.New(rand.NewPCG(seed, 3)).Perm(ranks / 2)
		of = of[:0]
		for _, f := range firsts[:(n+1)/2] {
			of = append(of, 2*f, 2*f+1)
		}
		slices.Sort(of)
		of = of[:n]
	}
	var pairs [][2]int
	for i, a := range of {
		for _, b := range of[i+1:] {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	return pairs
}
