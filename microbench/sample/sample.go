// Package sample is the data set that measurements produce: series of times, and facts about the
// run.
//
// On disk it is CSV, one row a sample, under lines of facts that begin with #. Everything that
// follows (fit, comparison, report) starts from such a file, so that results can be kept, sent and
// fitted again.
package sample

import (
	"slices"

	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Key says what was measured.
type Key struct {
	Platform string
	Library  string
	Clock    string // virtual or real
	Place    string // inter or intra: are the two processors in different nodes; or the two ranks, where all pairs were measured: 0-7
	Mode     string // an MPI call: send ssend rsend bsend isend issend irsend ibsend; or message: the packets below them
	Protocol string // T TA RTA RAT PTAT where it was forced, auto where the library chose
	Timer    string
	Bytes    int
	Launch   int

	// Ranks is how many took part in a collective operation, in sets of several numbers of ranks.
	// 0: as many as RanksFact says.
	Ranks int

	// Disturbed says that a fixed piece of work took a rank's processor longer than usual right
	// before or after these samples: something else ran on its core, or its clock was lower.
	Disturbed bool
}

// Series is the repetitions of one measurement, in order. With a barrier whose root changes, the
// repetitions with the root at P1 come first, then as many with the root at P2; the fact "roots" is
// then 2, else 1.
type Series struct {
	Key
	Times []unit.Time
	File  int // which of several files that were read together it is from: those of Set.FactsByFile are its facts
}

// JoinSeries makes one series of all that have the same key and file, in the place of the first.
// Those with the barrier's root at P1 stay in the first half.
func JoinSeries(series []Series) []Series {
	type place struct {
		Key
		file int
	}
	var out []Series
	at := make(map[place]int, len(series))
	for _, s := range series {
		i, ok := at[place{s.Key, s.File}]
		if !ok {
			at[place{s.Key, s.File}] = len(out)
			out = append(out, s)
			continue
		}
		a, b := out[i].Times, s.Times
		out[i].Times = slices.Concat(a[:len(a)/2], b[:len(b)/2], a[len(a)/2:], b[len(b)/2:])
	}
	return out
}

// Fact is something known about the run, for people and for the functions of facts.go.
type Fact table.Fact

// Set is a data set.
type Set struct {
	Facts  []Fact
	Series []Series
}
