package sample

import "slices"

// The facts that those who read a data set act upon. All others are for people.
const (
	Roots      = "roots"               // 2: the second half of every series has the barrier's root at P2; else 1
	Resolution = "timer_resolution_us" // the smallest difference that the timer shows
	ClockCost  = "timer_cost_us"       // what a reading of the clock costs
	ClockIs    = "timer_cost"          // TakenOut, where that is in no time
	OnePlace   = "one_place"           // of all pairs of ranks: intra or inter, where that is true of each of them
	Spoiled    = "spoiled"             // what was seen before the measurement that spoils it: check: what it found; check: ...
	Samples    = "samples"             // how many rows the file has: a file with fewer is cut off. Sets do not keep it
	File       = "file"                // heads the facts of one file among several that were read together

	ImportedAs = "imported_as" // the tool whose output it is, where it was not measured by this program

	PlatformFile = "platform_file" // what was given as --platform

	// On these, files with samples of the same platform, library and place must agree.
	PlatformSum = "platform_sum" // of the platform's file
	Ranks       = "ranks"        // of the job; two of them were measured
	Noise       = "noise"
	Pair        = "pair" // the ranks that were measured, P1 first: 0 7; or AllPairs
	Wait        = "wait" // how ranks of a real machine wait: spin or block
	Pin         = "pin"  // and the processors that they are kept on
)

// TakenOut is what the fact ClockIs says.
const TakenOut = "taken out"

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
		if f.Key == File || files == nil {
			files = append(files, nil)
		}
		last := len(files) - 1
		files[last] = append(files[last], f)
	}
	return files
}

// Rows returns how many samples the set holds.
func (s *Set) Rows() int {
	n := 0
	for i := range s.Series {
		n += len(s.Series[i].Times)
	}
	return n
}

// Imported says of each of the files that were read together whether another tool has measured what
// is in it.
func (s *Set) Imported() []bool {
	var out []bool
	for _, facts := range s.FactsByFile() {
		out = append(out, slices.ContainsFunc(facts, func(f Fact) bool { return f.Key == ImportedAs }))
	}
	return out
}
