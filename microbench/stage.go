package microbench

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// mode is a kind of send with the receive that goes with it.
type mode struct {
	sample.Mode
	send  func(c *mpi.Comm, b []byte, dst, tag int)             // blocking
	start func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request // non-blocking
}

// modes are those of the table: MPI's eight sends and the low-level message.
var modes = func() []mode {
	sends := map[string]func(c *mpi.Comm, b []byte, dst, tag int){
		"send": mpi.Send[byte], "ssend": mpi.Ssend[byte], "rsend": mpi.Rsend[byte], "bsend": mpi.Bsend[byte],
		Message: func(c *mpi.Comm, b []byte, dst, _ int) { c.Messages().Send(b, dst) },
	}
	starts := map[string]func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request{
		"isend": mpi.Isend[byte], "issend": mpi.Issend[byte], "irsend": mpi.Irsend[byte], "ibsend": mpi.Ibsend[byte],
	}
	var list []mode
	for _, m := range sample.Modes {
		list = append(list, mode{m, sends[m.Name], starts[m.Name]})
	}
	return list
}()

// Modes returns the names of the eight sends.
func Modes() []string {
	return slices.DeleteFunc(sample.ModeNames(), func(name string) bool { return name == Message })
}

func find(name string) *mode {
	i := sample.ModeRank(name)
	if i == len(modes) {
		panic("microbench: no mode " + name)
	}
	return &modes[i]
}

// stage is something that is measured of a cell.
type stage struct {
	timers []string
	serves func(m *mode, p *Plan) bool // whether a mode has it
	rounds func(reps int) int          // with each root, of a plan with so many repetitions
	run    func(b *bench, rounds int)  // by both ranks of a pair

	inRound bool // the operations of a sample are one round; else each is a round
	span    int  // intervals between operations in a sample of one operation
	real    bool // is measured on real machines alone

	// Of collective operations, instead of run:
	round func(w *collectiveWorker, window unit.Time) unit.Time
	sum   func(ranks []unit.Time) []unit.Time // the samples of a round from the times of all ranks, in ascending order; nil: it does not count
}

// has says whether the stage has a timer.
func (s *stage) has(timer string) bool { return slices.Contains(s.timers, timer) }

// collective says whether the stage is of collective operations.
func (s *stage) collective() bool { return s.round != nil }

// fewer is by how much less often than the paper's timers the others are repeated.
const fewer = 4

// stages are all that there are, in the order of commands.
var stages []*stage

func init() { // the functions of collective operations name the table
	stages = []*stage{
		{timers: []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22}, serves: always, rounds: repeated, run: pingPong, span: 1},
		{timers: []string{sample.Idle}, serves: always, rounds: seldom, run: idleSend, span: 1},
		{timers: []string{sample.RTT}, serves: answered, rounds: seldom, run: roundTrip, inRound: true, span: 1},
		{timers: []string{sample.Train}, serves: streams, rounds: rarely, run: train, span: Burst - 1},
		{timers: []string{sample.Sender, sample.OneWay}, serves: timed, rounds: repeated, run: oneTime, span: 1},
		{timers: []string{sample.Get, sample.Put}, serves: remoteMemory, rounds: seldom, run: remote, span: 1},
		{timers: []string{sample.PRTT(Carriages)}, serves: streams, rounds: rarely, run: roundTrain, span: 1, real: true},
		{timers: []string{sample.PRTTWaiting(Carriages)}, serves: streams, rounds: rarely, run: slowTrain, span: 1, real: true},
		{timers: []string{sample.CollMin, sample.CollMedian, sample.CollMax}, round: behindBarrier, sum: spread, rounds: repeated},
		{timers: []string{sample.CollLast}, round: atOnce, sum: last, rounds: repeated},
	}
}

func repeated(reps int) int { return reps }
func seldom(reps int) int   { return max(1, reps/fewer) }
func rarely(reps int) int   { return max(min(reps, 10), reps/fewer/4) }

func always(*mode, *Plan) bool       { return true }
func answered(m *mode, p *Plan) bool { return m.Blocking && !m.Ready || p.Shared && m.Name == "isend" }

// timed says whether sender and delivery times are measured.
func timed(m *mode, p *Plan) bool {
	return p.Protocol != "" || p.Deliveries && m.Name != Message
}

// remoteMemory says whether low-level messages have remote memory access beside them, as far as the
// plan knows: a rank whose port has none skips the stage.
func remoteMemory(m *mode, _ *Plan) bool { return m.Name == Message }

// streams says whether messages of the mode can follow each other: no send needs a receive that was
// posted before, or waits for it.
func streams(m *mode, _ *Plan) bool {
	return m.Name == Message || m.Name == "send" || m.Name == "isend"
}

// stagesOf returns the numbers of the stages of a mode.
func (p *Plan) stagesOf(m *mode) []int {
	var all []int
	for i, s := range stages {
		if !s.collective() && s.serves(m, p) && (p.Shared || !s.real) && (p.Timers == nil || slices.ContainsFunc(p.Timers, s.has)) {
			all = append(all, i)
		}
	}
	return all
}

// stageOf returns the number of the stage that has a timer.
func stageOf(timer string) int {
	return slices.IndexFunc(stages, func(s *stage) bool { return s.has(timer) })
}
