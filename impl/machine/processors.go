package machine

// Processors returns the processors on which this process might run when it began, in ascending order; none where that is not known. Pinning a
// thread does not change it.
func Processors() []int { return allowed }

// allowed is asked for once: a thread that is pinned may run on one only.
var allowed = affinity()

// Place returns the processor of a rank that is pinned, or -1 if none is known: the first of those allowed is the first rank's, and so on, around if
// there are more ranks.
func Place(rank int) int {
	if len(allowed) == 0 {
		return -1
	}
	return allowed[rank%len(allowed)]
}
