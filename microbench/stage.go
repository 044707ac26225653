package microbench

import (
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// stage is something that is measured of a cell.
type stage struct {
	serves  func(b *bench) bool        // whether the cell has it
	rounds  func(reps int) int         // with each root, of a plan with so many repetitions
	run     func(b *bench, rounds int) // by both ranks
	timers  []string
	batches bool // a round is a batch by itself; else a batch is so many rounds
}

// has says whether the stage has a timer.
func (s *stage) has(timer string) bool { return slices.Contains(s.timers, timer) }

// fewer is by how much less often than the paper's timers the others are repeated.
const fewer = 4

// stages are what a plan measures, in order.
var stages = []*stage{
	{always, repeated, pingPong, []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22}, false},
	{always, seldom, idleSend, []string{sample.Idle}, false},
	{answered, seldom, roundTrip, []string{sample.RTT}, true},
	{streams, rarely, train, []string{sample.Train}, false},
	{forced, repeated, oneTime, []string{sample.Sender, sample.OneWay}, false},
	{reaches, seldom, remote, []string{sample.Get, sample.Put}, false},
}

// campaigned are what a campaign measures.
var campaigned = slices.Concat(stages, []*stage{
	{isends, seldom, roundTrip, []string{sample.RTT}, true},
	{streams, rarely, roundTrain, []string{sample.PRTT(Carriages)}, false},
	{streams, rarely, slowTrain, []string{sample.PRTTWaiting(Carriages)}, false},
})

func repeated(reps int) int { return reps }
func seldom(reps int) int   { return max(1, reps/fewer) }
func rarely(reps int) int   { return max(min(reps, 10), reps/fewer/4) }

func always(*bench) bool     { return true }
func answered(b *bench) bool { return b.mode.blocking && !b.mode.ready }
func isends(b *bench) bool   { return b.mode.name == "isend" }
func forced(b *bench) bool   { return b.Protocol != "" }
func reaches(b *bench) bool  { return b.mode == &message && b.c.Messages().Remote() }

// streams says whether messages of the mode can follow each other: no send needs a receive that was posted before, or waits for it.
func streams(b *bench) bool {
	return b.mode == &message || b.mode.name == "send" || b.mode.name == "isend"
}
