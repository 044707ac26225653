package sample

import "fmt"

// SampleCountFact of collective operations have the operation as mode (bcast), the algorithm as
// protocol (binomial), and as bytes those of the whole data, or of a block where there is one for
// each rank. Rank 0 is the root. How many ranks there were is the fact RanksFact.

// StartFact is the fact that says how their repetitions began, and NoCommonStartPrefix how it
// begins where there was no start that ranks agreed on, before the reason.
const (
	StartFact           = "start"
	NoCommonStartPrefix = "behind barriers alone: "
	agreedStartFormat   = "agreed by the common clock, and behind barriers; %d of %d began too late"
)

// AgreedStartFact returns the fact StartFact where there was one: so many repetitions were to begin
// so, and of these a rank came too late to some, which were dropped.
func AgreedStartFact(late, of int) Fact {
	return Fact{StartFact, fmt.Sprintf(agreedStartFormat, late, of)}
}

// ParseLateStarts returns the numbers that AgreedStartFact has put into the fact, or false.
func (f Fact) ParseLateStarts() (late, of int, ok bool) {
	n, err := fmt.Sscanf(f.Value, agreedStartFormat, &late, &of)
	return late, of, f.Key == StartFact && n == 2 && err == nil
}
