package transport

// Progress is how far a rank had come when it last began to wait for long, or when its program
// ended. Slices are by the other rank.
type Progress struct {
	IsKnown    bool     // it waits, as far as is known, or has ended
	HasEnded   bool     // its program has
	Sent       []uint64 // packets, or other units that both sides count alike
	Received   []uint64
	AwaitsExit []bool // it has asked for a notice of the other's exit, and has not had it
}

// NewProgress returns the progress of ranks that have not reported.
func NewProgress(ranks int) []Progress {
	all := make([]Progress, ranks)
	for r := range all {
		all[r] = Progress{Sent: make([]uint64, ranks), Received: make([]uint64, ranks), AwaitsExit: make([]bool, ranks)}
	}
	return all
}

// DeadlockedRanks returns the waiting ranks of a deadlock, or nil. In a deadlock all ranks wait or
// have ended, everything that was sent has been received, and no notice of an exit is due.
//
// Reports may be of different times, and ranks may have gone on since. But if a rank's report
// arrives behind all that it had sent, the first rank to go on after its report would need a packet
// that was sent after its sender's report, so that its sender would have gone on before it.
func DeadlockedRanks(ranks []Progress) []int {
	for r := range ranks {
		if !ranks[r].IsKnown {
			return nil
		}
	}
	var waiting []int
	for to := range ranks {
		if ranks[to].HasEnded {
			continue
		}
		for from := range ranks {
			if from != to && (ranks[from].Sent[to] != ranks[to].Received[from] || ranks[to].AwaitsExit[from] && ranks[from].HasEnded) {
				return nil
			}
		}
		waiting = append(waiting, to)
	}
	return waiting
}
