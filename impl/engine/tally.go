package engine

import "fmt"

// MessageTally counts messages, and adds up the ranks at their other ends.
type MessageTally struct{ Count, Peers int }

// MessageTraffic is what a rank has sent and received: messages of the program, and of collective
// operations.
type MessageTraffic struct{ Sent, Received [2]MessageTally }

func (t *MessageTally) add(peer int) {
	t.Count++
	t.Peers += peer
}

// HasFailed reports whether a call has failed whose error the program has handled: what it had
// begun may be left.
func (r *Rank) HasFailed() bool { return r.hasFailedCall }

// MessageTraffic returns what the rank has sent and received so far. Messages that were cancelled
// do not count.
func (r *Rank) Traffic() MessageTraffic { return r.traffic }

// Counts yields what the rank's engine counts, if it counts anything.
func (r *Rank) Counts(yield func(name string, n int64) bool) {
	if c, ok := r.innermostEngine().(CountingEngine); ok {
		c.Counts(yield)
	}
}

// MessagesByPeer returns how many messages of the program the rank has sent to each other one and
// received from it, if the program is checked.
func (r *Rank) MessagesByPeer() map[int][2]int {
	if r.overlapChecker == nil {
		return nil
	}
	return r.overlapChecker.messagesByPeer
}

// countPeerMessages counts n messages of a program that is checked: sent ones (0) or received ones
// (1).
func (w *overlapChecker) countPeerMessages(rank int, context uint32, which, n int) {
	if context&1 == 0 {
		x := w.messagesByPeer[rank]
		x[which] += n
		w.messagesByPeer[rank] = x
	}
}

// SizeHistogram counts calls, and adds up their bytes, by classes of sizes: up to each of
// SizeLimits, and beyond.
type SizeHistogram [len(SizeLimits) + 1]struct{ Calls, Bytes int64 }

// SizeLimits are the largest sizes of the classes of SizeHistogram.
var SizeLimits = [...]int{64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}

// SizeClassSeparator stands in the names of SizeHistogram.Counts between what is counted and the
// largest size of a class.
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
