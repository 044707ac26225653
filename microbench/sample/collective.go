package sample

import "fmt"

// Samples of collective operations have the operation as mode (bcast), the algorithm as protocol
// (binomial), and as bytes those of the whole data, or of a block where there is one for each rank.
// Rank 0 is the root. How many ranks there were is the fact Ranks.

// Start is the fact that says how their repetitions began, and NoStart how it begins where there
// was no start that ranks agreed on, before the reason.
const (
	Start   = "start"
	NoStart = "behind barriers alone: "
	agreed  = "agreed by the common clock, and behind barriers; %d of %d began too late"
)

// Agreed returns the fact Start where there was one: so many repetitions were to begin so, and of
// these a rank came too late to some, which were dropped.
func Agreed(late, of int) Fact { return Fact{Start, fmt.Sprintf(agreed, late, of)} }

// Late returns the numbers that Agreed has put into the fact, or false.
func (f Fact) Late() (late, of int, ok bool) {
	n, err := fmt.Sscanf(f.Value, agreed, &late, &of)
	return late, of, f.Key == Start && n == 2 && err == nil
}
