package proto

import "math"

// flow keeps eager messages from overrunning their receiver. A sender has at most window bytes in RM packets that a receiver has not
// yet handed to its program; what is handed over goes back as credit in the next packet, or in one of its own when
// half the window is due.
type flow struct {
	window int
	peers  []peer          // by rank, in a small job
	far    map[int32]*peer // in a large one
	size   int
	owing  []int32 // peers to whom half a window is due
}

type peer struct {
	out int // bytes that we sent and that were not yet credited
	due int // bytes that we took and have not yet credited
}

// small is the number of ranks up to which all peers have their place from the first message on.
const small = 1 << 13

func (f *flow) init(size, window int) { f.size, f.window = size, window }

func (f *flow) peer(rank int) *peer {
	if f.peers != nil {
		return &f.peers[rank]
	}
	if f.size <= small {
		f.peers = make([]peer, f.size)
		return &f.peers[rank]
	}
	p := f.far[int32(rank)]
	if p == nil {
		if f.far == nil {
			f.far = make(map[int32]*peer)
		}
		p = new(peer)
		f.far[int32(rank)] = p
	}
	return p
}

// fits reports whether n bytes of the window to a rank are free. A message longer than the window may go when the window
// is all free.
func (f *flow) fits(rank, n int) bool {
	if n == 0 {
		return true
	}
	p := f.peer(rank)
	return p.out <= 0 || p.out+n <= f.window
}

// take takes n bytes of the window to a rank, free or not: all that is sent will be credited.
func (f *flow) take(rank, n int) {
	if n > 0 {
		f.peer(rank).out += n
	}
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
	if half := f.window / 2; before < half && p.due >= half {
		f.owing = append(f.owing, int32(rank))
	}
}

// due takes the credit that is due to a rank, to be sent with a packet.
func (f *flow) due(rank int) uint32 {
	if f.peers == nil && f.far == nil {
		return 0
	}
	p := f.peer(rank)
	n := min(p.due, math.MaxUint32)
	p.due -= n
	return uint32(n)
}

// payCredits sends credit to those whom much is due.
func (e *Engine) payCredits() {
	f := &e.flow
	for len(f.owing) > 0 {
		rank := f.owing[len(f.owing)-1]
		f.owing = f.owing[:len(f.owing)-1]
		if f.peer(int(rank)).due >= f.window/2 {
			e.control(rank, &head{kind: kindCredit})
		}
	}
}
