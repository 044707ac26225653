package sample

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// The facts that those who read a data set act upon. All others are for people.
const (
	RootsFact             = "roots"               // 2: the second half of every series has the barrier's root at P2; else 1
	ResolutionFact        = "timer_resolution_us" // the smallest difference that the timer shows
	ClockCostFact         = "timer_cost_us"       // what a reading of the clock costs
	ClockCostHandlingFact = "timer_cost"          // ClockCostSubtracted, where that is in no time
	OnePlaceFact          = "one_place"           // of all pairs of ranks: intra or inter, where that is true of each of them
	FailedChecksFact      = "spoiled"             // what was seen before the measurement that spoils it: check: what it found; check: ...
	SampleCountFact       = "samples"             // how many rows the file has: a file with fewer is cut off. Sets do not keep it
	FileFact              = "file"                // heads the facts of one file among several that were read together

	ImportedAsFact = "imported_as" // the tool whose output it is, where it was not measured by this program

	PlatformFileFact = "platform_file" // what was given as --platform

	// On these, files with samples of the same platform, library and place must agree.
	PlatformSumFact = "platform_sum" // of the platform's file
	RanksFact       = "ranks"        // of the job; two of them were measured
	NoiseFact       = "noise"
	PairFact        = "pair" // the ranks that were measured, P1 first: 0 7; or AllPairsValue
	WaitFact        = "wait" // how ranks of a real machine wait: spin or block
	PinFact         = "pin"  // and the processors that they are kept on
)

// NodesFact is the name of the fact on how many nodes collective operations of so many ranks were.
func NodesFact(ranks int) string { return fmt.Sprintf("nodes_of_%d_ranks", ranks) }

// UnforcedAlgorithm stands for the algorithm of a collective operation for which the library takes
// one without saying which.
const UnforcedAlgorithm = "vendor"

// ClockCostSubtracted is what the fact ClockCostHandlingFact says.
const ClockCostSubtracted = "taken out"

// Fact returns the value of the first fact of that name.
func (s *Set) Fact(key string) (string, bool) {
	for _, f := range s.Facts {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// FactsByFile returns the facts of each of the files that were read together, in their order; of a
// set that is one, all its facts.
func (s *Set) FactsByFile() [][]Fact {
	var files [][]Fact
	for _, f := range s.Facts {
		if f.Key == FileFact || files == nil {
			files = append(files, nil)
		}
		last := len(files) - 1
		files[last] = append(files[last], f)
	}
	return files
}

// SampleCount returns how many samples the set holds.
func (s *Set) SampleCount() int {
	n := 0
	for i := range s.Series {
		n += len(s.Series[i].Times)
	}
	return n
}

// ImportedFiles says of each of the files that were read together whether another tool has measured
// what is in it.
func (s *Set) ImportedFiles() []bool {
	var out []bool
	for _, facts := range s.FactsByFile() {
		out = append(out, slices.ContainsFunc(facts, func(f Fact) bool { return f.Key == ImportedAsFact }))
	}
	return out
}

// missedTime is what the check of interruptions says in FailedChecksFact.
var missedTime = regexp.MustCompile(`interruptions: .*?misses ([0-9.]+) % of the time`)

// MissedShare returns the share of time that other programs took of the worst processor right
// before a measurement, the largest of the set's files; 0 if the check found nothing.
func (s *Set) MissedShare() float64 {
	share := 0.0
	for _, f := range s.Facts {
		if f.Key != FailedChecksFact {
			continue
		}
		if m := missedTime.FindStringSubmatch(f.Value); m != nil {
			if percent, err := strconv.ParseFloat(m[1], 64); err == nil {
				share = max(share, min(percent/100, 1))
			}
		}
	}
	return share
}
