package fit

import (
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// Overlap is how much of the time of one way a send that does not block leaves to the program, at a size.
//
// A message is on its way for half a round trip of blocking calls. The processor is taken by the call that does not block,
//
//	free = rtt/2 − o_s(isend)
//
// which is a bound: what the library does later, in the call that waits, is not in it. Where trains with waits were measured, all that the processor does for a message is
// known, since a wait that is longer than the way hides whatever goes on by itself:
//
//	free = rtt/2 − [PRTT(n,d,s) − PRTT(1,0,s)]/(n−1) + d
//
// Hoefler et al., Low-Overhead LogGP Parameter Assessment (2007), §3, have the second term as o_s.
type Overlap struct {
	Subject int
	Bytes   int
	Way     Point  // rtt/2 of send, microseconds
	Blocks  *Point // o_s of send; nil where it was not measured
	Call    Point  // o_s of isend; or all that the processor does, if the bound is none
	Free    Point  // Way − Call; below zero where the call takes longer than the way of a blocking message
	Share   Point  // of Way, percent
	Bound   bool   // more cannot be free, less can: only the call was timed
}

// free returns the overlaps by subject and size, and from which size on half of the way is free.
func free(all []*party, o Options) ([]Overlap, []Crossover) {
	var out []Overlap
	var duels []duel
	for i, p := range all {
		send, isend := mode{&p.extraction, "send"}, mode{&p.extraction, "isend"}
		way, call, bound := send.timer(sample.RTT), isend.trainsOf("isend").send, false
		if call == nil {
			call, bound = isend.sendOverhead(), true
		}
		if way == nil || call == nil {
			continue
		}
		duels = append(duels, duel{Crossover{Quantity: OneWay, Mode: "send", Subject: i, Against: i}, way, call, 4}) // rtt/2 > 2·call
		for _, w := range way.cells {
			c := call.at(w.bytes)
			if c == nil || !(w.low > 0) {
				continue
			}
			x := Overlap{Subject: i, Bytes: w.bytes, Bound: bound, Call: c.point()}
			half := combination([]cell{w}, []float64{0.5}, o.Level)
			x.Way, x.Free, x.Share = half.point(), leaves(half, *c, o), shareLeft(half, *c, o)
			if b := send.sendOverhead().at(w.bytes); b != nil {
				q := b.point()
				x.Blocks = &q
			}
			out = append(out, x)
		}
	}
	return out, settle(duels, o)
}

// leaves returns way − call.
func leaves(way, call cell, o Options) Point {
	d := combination([]cell{way, call}, []float64{1, -1}, o.Level)
	return d.point()
}

// shareLeft returns 1 − call/way in percent. Its interval is as much wider than that of the replicates as that of the difference.
func shareLeft(way, call cell, o Options) Point {
	left := func(w, c float64) float64 { return 100 * (1 - c/w) }
	reps := make([]float64, 0, len(way.reps))
	for b, w := range way.reps {
		if w > 0 {
			reps = append(reps, left(w, call.reps[b]))
		}
	}
	slices.Sort(reps)
	value := left(way.value, call.value)
	low, high := value, value
	if len(reps) > 0 {
		low, high = interval(reps, value, o.Level)
	}
	slack := 100 * (way.slack + call.slack) / way.value
	return Point{Bytes: way.bytes, Value: rounded(value), Low: rounded(low - slack), High: rounded(min(high+slack, 100)), Samples: way.n + call.n}
}

func (c cell) point() Point {
	return Point{c.bytes, rounded(c.value), rounded(c.low), rounded(c.high), c.n}
}
