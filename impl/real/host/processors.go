package host

// Processors returns the processors on which this process was allowed to run when it started, in
// ascending order; none if that is unknown. Pinning a thread does not change it.
func Processors() []int { return allowed }

// allowed is read at the start, because a pinned thread may run on one processor only.
var allowed = affinity()

// RankProcessor returns the processor to which a rank is pinned, or -1 if none is known: the
// allowed ones in their order, and again from the first if there are more ranks.
func RankProcessor(rank int) int {
	if len(allowed) == 0 {
		return -1
	}
	return allowed[rank%len(allowed)]
}
