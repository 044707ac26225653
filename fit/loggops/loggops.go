// Package loggops finds the LogGOPS parameters of a machine from the times of schedules that it
// ran.
//
// Probes returns the schedules, and Fit the parameters for their times. A machine only has to run
// schedules, so emulated machines and real transports are fitted alike, by the operations of the
// simulation: send, receive, compute. LogGOPS has one o for both sides, one G for all sizes and no
// nodes; other properties of a machine are not represented, and loggp compare shows the difference.
package loggops

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// pauseTime is the time for which ranks compute between messages to keep them apart, and the delay
// of receives that show whether a send waits for them.
const pauseTime = 10 * unit.Millisecond

const (
	pingPongRounds   = 50 // of a ping-pong of at most 256 KiB
	longRounds       = 5  // of a longer one
	singleRounds     = 5  // sends and receives by themselves
	trainMessages    = 50 // messages one behind the other
	longMessageBytes = 4096
	shortestLong     = 64 << 10 // length from which messages determine G
)

// pingPongSizes are the sizes of ping-pongs, and of sends that may wait for their receive.
var pingPongSizes = []int{1, 64, 256, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}

// roundsOf returns the rounds of the ping-pong with messages of a size.
func roundsOf(bytes int) int {
	if bytes > 256<<10 {
		return longRounds
	}
	return pingPongRounds
}

// Probes returns the schedules that a machine with a number of ranks has to run for Fit. Only the
// first and the last rank communicate.
func Probes(ranks int) []*schedule.Schedule {
	var all []*schedule.Schedule
	for _, k := range pingPongSizes {
		all = append(all, newProbe(ranks, roundsOf(k), step{send: k, recv: k}, step{recv: k, send: k, first: true}))
	}
	for _, k := range []int{1, longMessageBytes} {
		all = append(all,
			newProbe(ranks, singleRounds, step{calc: pauseTime, send: k}, step{recv: k}),
			newProbe(ranks, singleRounds, step{calc: pauseTime, recv: k}, step{send: k, after: pauseTime}))
	}
	all = append(all, newProbe(ranks, trainMessages, step{send: 1}, step{recv: 1}))
	for _, k := range pingPongSizes {
		for _, late := range []unit.Time{0, pauseTime} {
			all = append(all, newProbe(ranks, 1, step{send: k}, step{calc: late, recv: k}))
		}
	}
	return all
}

// step is one round of a rank: it computes, sends and receives, and computes. Zero fields are
// omitted.
type step struct {
	calc, after unit.Time
	send, recv  int
	first       bool // receive before sending
}

// newProbe returns a schedule in which the first and the last rank repeat their steps.
func newProbe(ranks, times int, a, b step) *schedule.Schedule {
	var s schedule.Builder
	for rank := range ranks {
		s.BeginRank()
		x, peer := a, ranks-1
		switch rank {
		case 0:
		case ranks - 1:
			x, peer = b, 0
		default:
			continue
		}
		previous := -1
		add := func(o schedule.Op, yes bool) {
			if !yes {
				return
			}
			n := s.AddOp(o)
			if previous >= 0 {
				s.AddDependency(n, previous, false)
			}
			previous = n
		}
		send, recv := schedule.Op{Kind: schedule.Send, Size: uint64(x.send), Peer: uint32(peer)}, schedule.Op{Kind: schedule.Recv, Size: uint64(x.recv), Peer: uint32(peer)}
		for range times {
			add(schedule.Op{Kind: schedule.Calc, Size: uint64(x.calc / unit.Nanosecond)}, x.calc > 0)
			add(recv, x.recv > 0 && x.first)
			add(send, x.send > 0)
			add(recv, x.recv > 0 && !x.first)
			add(schedule.Op{Kind: schedule.Calc, Size: uint64(x.after / unit.Nanosecond)}, x.after > 0)
		}
	}
	made, err := s.Build()
	if err != nil {
		panic(err)
	}
	return made
}

// Fit returns the parameters of a machine that ran the schedules of Probes in the given times, by
// rank:
//
//   - A ping-pong takes 2 (2 o + L + k G) per round, or the time of a rendezvous.
//   - A send between computations takes o + k O, as does the receive of an arrived message. If both
//     together take longer than a message, because they partly overlap with its flight, o is half
//     of the message's time, and L is 0.
//   - In a train, messages follow each other every max(g, o).
//   - A send of more than S bytes waits for a late receive.
//   - G minimizes the squared relative errors of ping-pongs from 64 KiB on.
func Fit(times [][]unit.Time) (schedule.Params, error) {
	ranks := 0
	if len(times) > 0 {
		ranks = len(times[0])
	}
	if ranks < 2 || len(times) != len(Probes(2)) {
		return schedule.Params{}, fmt.Errorf("LogGOPS parameters: %d schedules of %d ranks were run, and %d of at least 2 are needed", len(times), ranks, len(Probes(2)))
	}
	next := func() (first, last float64) {
		t := times[0]
		times = times[1:]
		return float64(t[0]), float64(t[ranks-1])
	}
	way := make([]float64, len(pingPongSizes))
	for i, k := range pingPongSizes {
		a, b := next()
		way[i] = max(a, b) / float64(2*roundsOf(k))
	}
	var sends, recvs [2]float64
	for i := range sends {
		a, _ := next()
		sends[i] = max(0, a/singleRounds-float64(pauseTime))
		a, _ = next()
		recvs[i] = max(0, a/singleRounds-float64(pauseTime))
	}
	_, end := next()
	p := schedule.Params{EagerLimit: math.MaxUint64}
	o := (sends[0] + recvs[0]) / 2
	o = min(o, way[0]/2)
	l := way[0] - 2*o
	g := max(0, (end-way[0])/(trainMessages-1))
	for i := range pingPongSizes {
		prompt, _ := next()
		late, _ := next()
		if late-prompt > float64(pauseTime)/2 && p.EagerLimit == math.MaxUint64 {
			p.EagerLimit = 0
			if i > 0 {
				p.EagerLimit = uint64(pingPongSizes[i-1])
			}
		}
	}
	big := fitGapPerByte(way, p.EagerLimit)
	perByte := min(big, max(0, (sends[1]-sends[0]+recvs[1]-recvs[0])/2/(longMessageBytes-1)))
	p.Overhead, p.L, p.Gap = unit.Time(math.Round(o)), unit.Time(math.Round(l)), unit.Time(math.Round(g))
	p.GapPerByte, p.OverheadPerByte = unit.PerByte(roundToPicosecond(big)), unit.PerByte(roundToPicosecond(perByte))
	return p, nil
}

// fitGapPerByte fits G, which is of long messages, to the times of one way from 64 KiB on: the
// slope of the line with the least squares of relative errors. What a rendezvous costs is not that
// of the model on most machines, so the line may begin anywhere, and lengths on both sides of the
// eager limit are not on one line.
func fitGapPerByte(way []float64, eagerLimit uint64) float64 {
	for _, aboveLimit := range []bool{true, false} {
		var x, y, weights []float64
		for i, k := range pingPongSizes {
			if k >= shortestLong && (uint64(k) > eagerLimit) == aboveLimit {
				x, y, weights = append(x, float64(k)), append(y, way[i]), append(weights, 1/(way[i]*way[i]))
			}
		}
		if len(x) > 1 {
			_, slope := stat.LinearRegression(x, y, weights, false)
			return max(0, slope)
		}
	}
	panic("loggops: fewer than three lengths from 64 KiB on")
}

// roundToPicosecond rounds a number of picoseconds to six digits.
func roundToPicosecond(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		panic(err)
	}
	return y
}
