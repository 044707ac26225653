package proto

import "math"

// flow keeps eager messages from overrunning their receiver. A sender has at most window bytes in
// RM packets that a receiver has not yet handed to its program; what is handed over goes back as
// credit in the next packet, or in one of its own when half the window is due.
type flow struct {
	window int
	peers  []peer  // a hash table; its length is a power of two, or zero
	spare  []peer  // another one of that length, or nil
	known  int     // peers in it
	owing  []int32 // peers that are due half a window
	last   *peer   // looked up last
	first  [16]peer
}

// peer is a rank with which bytes were exchanged.
type peer struct {
	name int32 // its rank plus one; 0: no peer
	out  int   // bytes that we sent and that were not yet credited
	due  int   // bytes that we took and have not yet credited
}

// home returns where a rank is looked for first, in a table of any length. Four ranks in a row
// stand together, as many programs go through ranks in their order.
func home(rank int) uint64 {
	return uint64(rank)>>2*0x9e3779b97f4a7c15>>32<<2 | uint64(rank)&3 // the golden ratio's, as in match
}

// find returns the place of a rank in the table, which is not full: its own, or the free one that
// it would have.
func (f *flow) find(rank int) *peer {
	last := uint64(len(f.peers) - 1)
	for i := home(rank); ; i++ {
		if p := &f.peers[i&last]; p.name == int32(rank+1) || p.name == 0 {
			return p
		}
	}
}

// peer returns a peer, which is a new one where there was none.
//
// Note: a slice with a place for every rank would take more memory than all else in a job of some
// thousand ranks, and every look at it would miss the caches.
func (f *flow) peer(rank int) *peer {
	if p := f.last; p.name == int32(rank+1) {
		return p
	}
	return f.seek(rank)
}

// noPeer is flow.last before the first lookup.
var noPeer peer

// seek looks for a peer, and remembers it.
func (f *flow) seek(rank int) *peer {
	if len(f.peers) > 0 {
		if p := f.find(rank); p.name != 0 {
			f.last = p
			return p
		}
	}
	if 4*f.known >= 3*len(f.peers) {
		f.grow()
	}
	f.known++
	f.last = f.find(rank)
	f.last.name = int32(rank + 1)
	return f.last
}

// open reports whether bytes are under way to the peer, or due to it. Others need not be
// remembered.
func (p *peer) open() bool { return p.out != 0 || p.due != 0 }

// grow makes room for more peers: in a table as long as before if half of it has nothing open, else
// in a longer one, for 12, and then for twice as many each time. So the table of a rank
// that talks to many others in turn stays in the caches.
func (f *flow) grow() {
	old, open := f.peers, 0
	for i := range old {
		if old[i].open() {
			open++
		}
	}
	n := len(old)
	if 2*open >= n {
		n = max(2*n, 16)
	}
	if f.peers = f.spare; len(f.peers) != n {
		f.peers = make([]peer, n)
	}
	f.known, f.last = open, &noPeer
	for i := range old {
		if p := &old[i]; p.open() {
			*f.find(int(p.name) - 1) = *p
		}
	}
	clear(old)
	f.spare = old
}

// take takes n bytes of the window to a rank, and reports whether they were free. It takes them
// also where they are not if they must go: all that is sent will be credited. A message longer than
// the window may go when the window is all free.
func (f *flow) take(rank, n int, must bool) bool {
	if n == 0 {
		return true
	}
	p := f.peer(rank)
	if !must && p.out > 0 && p.out+n > f.window {
		return false
	}
	p.out += n
	return true
}

// credit notes that a rank has freed n bytes.
func (f *flow) credit(rank, n int) { f.peer(rank).out -= n }

// freed notes that n bytes from a rank have been handed over.
func (f *flow) freed(rank, n int) {
	if n == 0 {
		return
	}
	p := f.peer(rank)
	before := p.due
	p.due += n
	if half := f.half(); before < half && p.due >= half {
		f.owing = append(f.owing, int32(rank))
	}
}

// half is how much is given back without a packet to go with.
func (f *flow) half() int { return max(1, f.window/2) }

// due takes the credit that is due to a rank, to be sent with a packet.
func (f *flow) due(rank int) uint32 {
	p := f.last
	if p.name != int32(rank+1) {
		if f.known == 0 {
			return 0
		}
		p = f.find(rank)
	}
	n := min(p.due, math.MaxUint32)
	p.due -= n
	return uint32(n)
}

// payCredits sends credit to peers that are due much.
func (e *Engine) payCredits() {
	f := &e.flow
	for len(f.owing) > 0 {
		rank := f.owing[len(f.owing)-1]
		f.owing = f.owing[:len(f.owing)-1]
		if f.peer(int(rank)).due >= f.half() {
			e.control(rank, &head{kind: kindCredit})
		}
	}
}
