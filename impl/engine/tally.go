package engine

import "fmt"

// MessageTally counts messages, and sums the ranks of their peers.
type MessageTally struct{ Count, Peers int }

// MessageTraffic counts the messages that a rank has sent and received: those of the program, and
// those of collective operations.
type MessageTraffic struct{ Sent, Received [2]MessageTally }

func (t *MessageTally) add(peer int) {
	t.Count++
	t.Peers += peer
}

// HasFailed reports whether the program has handled the error of a failed call, whose operations
// may remain.
func (r *Rank) HasFailed() bool { return r.hasFailedCall }

// Traffic returns the messages that the rank has sent and received so far, without cancelled ones.
func (r *Rank) Traffic() MessageTraffic { return r.traffic }

// Counts yields the counters of the rank's engine, if it has any.
func (r *Rank) Counts(yield func(name string, n int64) bool) {
	if c, ok := r.innermostEngine().(CountingEngine); ok {
		c.Counts(yield)
	}
}

// MessagesByPeer returns, in a checked program, the number of messages of the program sent to each
// rank and received from it.
func (r *Rank) MessagesByPeer() map[int][2]int {
	if r.overlapChecker == nil {
		return nil
	}
	return r.overlapChecker.messagesByPeer
}

// countPeerMessages counts n messages in a checked program: sent (which = 0) or received (1).
func (w *overlapChecker) countPeerMessages(rank int, context uint32, which, n int) {
	if context&1 == 0 {
		x := w.messagesByPeer[rank]
		x[which] += n
		w.messagesByPeer[rank] = x
	}
}

// SizeHistogram counts calls and sums their bytes by size class: up to each of SizeLimits, and
// above.
type SizeHistogram [len(SizeLimits) + 1]struct{ Calls, Bytes int64 }

// SizeLimits are the upper limits in bytes of the classes of SizeHistogram.
var SizeLimits = [...]int{64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}

// SizeClassSeparator separates, in the names of SizeHistogram.Counts, what is counted from the
// upper limit of the class.
const SizeClassSeparator = ", up to "

// Add counts a call.
func (s *SizeHistogram) Add(bytes int) {
	i := 0
	for i < len(SizeLimits) && bytes > SizeLimits[i] {
		i++
	}
	s[i].Calls++
	s[i].Bytes += int64(bytes)
}

// Counts yields the calls and bytes of each class.
func (s *SizeHistogram) Counts(of string, yield func(name string, n int64) bool) bool {
	for i, x := range s {
		class := SizeClassSeparator + "any B"
		if i < len(SizeLimits) {
			class = fmt.Sprintf("%s%d B", SizeClassSeparator, SizeLimits[i])
		}
		if !yield(of+class, x.Calls) || !yield("bytes by "+of+class, x.Bytes) {
			return false
		}
	}
	return true
}
