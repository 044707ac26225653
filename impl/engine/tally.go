package engine

// Tally stands for a set of messages: how many there are, and the sum of a hash of each one's
// sender and receiver. Two sets of equal tallies have as many messages of each pair of ranks, with
// a probability of error of 2^-64. A job's ranks compare what they sent and received by it, as a
// table of pairs would cost a million ranks more than their messages.
type Tally struct{ Count, Sum uint64 }

// Add adds another set.
func (t *Tally) Add(x Tally) {
	t.Count += x.Count
	t.Sum += x.Sum
}

// Minus returns what is left without another set.
func (t Tally) Minus(x Tally) Tally { return Tally{t.Count - x.Count, t.Sum - x.Sum} }

// Of reports whether the set has messages of one pair of ranks only, and of the given one.
func (t Tally) Of(src, dst int) bool { return t.Count*pair(src, dst) == t.Sum }

// pair hashes a pair of ranks, by the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func pair(src, dst int) uint64 {
	x := uint64(src)<<32 | uint64(uint32(dst))
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Traffic is what a rank has sent and received: messages of the program, and of collective
// operations.
type Traffic struct{ Sent, Received [2]Tally }

// Failed reports whether a call has failed whose error the program has handled: what it had begun
// may be left.
func (r *Rank) Failed() bool { return r.failed }

// Traffic returns what the rank has sent and received so far. Messages that were cancelled do not
// count.
func (r *Rank) Traffic() Traffic { return r.traffic }

// Peers returns how many messages of the program the rank has sent to each other one and received
// from it, if the program is checked.
func (r *Rank) Peers() map[int][2]int {
	if r.overlap == nil {
		return nil
	}
	return r.overlap.peers
}

// sent counts n messages to a rank.
func (r *Rank) sent(dst int, context uint32, n int) {
	t := &r.traffic.Sent[context&1]
	t.Count += uint64(n)
	t.Sum += uint64(n) * pair(r.id, dst)
	if r.overlap != nil && context&1 == 0 {
		x := r.overlap.peers[dst]
		x[0] += n
		r.overlap.peers[dst] = x
	}
}

// received counts a message that a receive has taken.
func (r *Rank) received(src int, context uint32) {
	t := &r.traffic.Received[context&1]
	t.Count++
	t.Sum += pair(src, r.id)
	if r.overlap != nil && context&1 == 0 {
		x := r.overlap.peers[src]
		x[1]++
		r.overlap.peers[src] = x
	}
}
