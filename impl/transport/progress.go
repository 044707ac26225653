package transport

// Progress is how far a rank had come when it last began to wait for long, or when its program ended. Slices are by the other
// rank.
type Progress struct {
	Known      bool     // it waits, as far as is known, or has ended
	Ended      bool     // its program has
	Sent       []uint64 // packets, or other units that both sides count alike
	Received   []uint64
	AwaitsExit []bool // it has asked to hear of the end of the other's program, and has not heard
}

// NewProgress returns the progress of a rank of which nothing is known.
func NewProgress(ranks int) Progress {
	return Progress{Sent: make([]uint64, ranks), Received: make([]uint64, ranks), AwaitsExit: make([]bool, ranks)}
}

// Deadlock returns the ranks that wait, if nothing is under way to any of them; else nil. All ranks wait or have ended, nothing that was
// sent was not received, and no end is still to be heard of.
//
// Reports may be of different times, and their ranks may have gone on since. If a rank's report arrives behind all that it sent
// before it, the answer is right all the same: the first rank to go on did so by a packet, which was sent after its sender's report, and
// so its sender had gone on before. So there was none.
func Deadlock(ranks []Progress) []int {
	var waiting []int
	for r := range ranks {
		if !ranks[r].Known {
			return nil
		}
		if !ranks[r].Ended {
			waiting = append(waiting, r)
		}
	}
	for _, to := range waiting {
		for from := range ranks {
			if from != to && (ranks[from].Sent[to] != ranks[to].Received[from] || ranks[to].AwaitsExit[from] && ranks[from].Ended) {
				return nil
			}
		}
	}
	return waiting
}
