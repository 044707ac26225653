package sample

// Samples of collective operations have the operation as mode (bcast), the algorithm as protocol (binomial), and as bytes those of the whole data, or of a
// block where there is one for each rank. Rank 0 is the root. How many ranks there were is the fact Ranks.

// The timers of collective operations. The first three are of one repetition, which begins behind a barrier: each rank times its own call.
const (
	CollMin    = "coll_min"    // the quickest rank's call
	CollMedian = "coll_median" // the median of all ranks
	CollMax    = "coll_max"    // the slowest rank's call
	CollLast   = "coll_last"   // from a start that ranks agreed on, by a clock that they have in common, until the last rank's call ended
)

// Start is the fact that says how their repetitions began, and NoStart how it begins where there was no start that ranks agreed on, before the reason.
const (
	Start   = "start"
	NoStart = "behind barriers alone: "
)

// Collective says whether a timer is of a collective operation.
func Collective(timer string) bool {
	return timer == CollMin || timer == CollMedian || timer == CollMax || timer == CollLast
}
