package proto

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// flowControl keeps eager messages from overrunning their receiver. A sender has at most window
// bytes in RM packets that a receiver has not yet passed to its program. The receiver returns
// credit for these bytes with its next packet, or in a separate packet when half the window is due.
//
// Note: with Go's map a message and its credit take as long with 8 peers, 8 % longer with 128, and
// 2.7 times as long with 1,024 (BenchmarkFlow: 72 instead of 26 ns), because a map keeps every
// peer.
type flowControl struct {
	windowBytes    int
	peers          []peer // a hash table whose length is a power of two, or zero
	tables         *peerTablePool
	knownPeers     int     // number of peers in the table
	peersDueCredit []int32 // peers to which half a window is due
	lastPeer       *peer   // result of the last lookup
	firstPeers     [4]peer
}

// peer is a rank with which messages were exchanged.
//
// Note: with counts of eight bytes it would be a half larger, and a table for each of a million
// ranks is a large part of their memory.
type peer struct {
	rankPlusOne int32     // 0: unused entry
	outstanding byteCount // bytes sent to it and not credited yet
	creditDue   byteCount // bytes received from it and not credited yet
}

// byteCount is a number of bytes up to maxByteCount, in six bytes.
type byteCount [6]byte

const maxByteCount = 1<<48 - 1

func (c *byteCount) value() int {
	return int(binary.LittleEndian.Uint32(c[:4])) | int(binary.LittleEndian.Uint16(c[4:]))<<32
}

func (c *byteCount) set(n int) {
	if uint64(n) > maxByteCount {
		panic("proto: 256 TiB of messages are under way to a rank, which is too much to count: receive some before you send more")
	}
	binary.LittleEndian.PutUint32(c[:4], uint32(n))
	binary.LittleEndian.PutUint16(c[4:], uint16(n>>32))
}

func (c *byteCount) add(n int) { c.set(c.value() + n) }

// firstSlotOfRank returns the first slot to search for a rank, before reduction to the table's
// length. Four consecutive ranks are adjacent, because many programs go through ranks in order.
func firstSlotOfRank(rank int) uint64 {
	return uint64(rank)>>2*0x9e3779b97f4a7c15>>32<<2 | uint64(rank)&3 // the constant of the golden ratio, as in match
}

// slotOfPeer returns the slot of a rank in the table: its own, or the free one for it. The table
// must not be full.
func (f *flowControl) slotOfPeer(rank int) *peer {
	last := uint64(len(f.peers) - 1)
	for i := firstSlotOfRank(rank); ; i++ {
		if p := &f.peers[i&last]; p.rankPlusOne == int32(rank+1) || p.rankPlusOne == 0 {
			return p
		}
	}
}

// peer returns the peer for a rank, and adds it if necessary.
//
// Note: a slice with an element per rank would take more memory than everything else in a job of
// some thousand ranks, and every access would miss the caches.
func (f *flowControl) peer(rank int) *peer {
	if p := f.lastPeer; p.rankPlusOne == int32(rank+1) {
		return p
	}
	return f.lookupPeer(rank)
}

// noPeer is flowControl.lastPeer before the first lookup.
var noPeer peer

// lookupPeer searches a peer, and caches the result.
func (f *flowControl) lookupPeer(rank int) *peer {
	if len(f.peers) > 0 {
		if p := f.slotOfPeer(rank); p.rankPlusOne != 0 {
			f.lastPeer = p
			return p
		}
	}
	if 4*f.knownPeers >= 3*len(f.peers) {
		f.growPeerTable()
	}
	f.knownPeers++
	f.lastPeer = f.slotOfPeer(rank)
	f.lastPeer.rankPlusOne = int32(rank + 1)
	return f.lastPeer
}

// hasOpenBytes reports whether bytes to the peer, or credit for it, are outstanding. Peers without
// need not be kept.
func (p *peer) hasOpenBytes() bool { return p.outstanding != byteCount{} || p.creditDue != byteCount{} }

// growPeerTable makes room for more peers: in a table as long as before if half of it has nothing
// open, else in a longer one, for 3, 12, and then for twice as many each time. So the table of a
// rank that talks to many others in turn stays in the caches.
func (f *flowControl) growPeerTable() {
	old, open := f.peers, 0
	for i := range old {
		if old[i].hasOpenBytes() {
			open++
		}
	}
	n := len(old)
	if 2*open >= n {
		if n = 2 * n; n == 0 {
			n = 4
		} else if n < 16 {
			n = 16
		}
	}
	f.peers = f.tables.take(n)
	f.knownPeers, f.lastPeer = open, &noPeer
	for i := range old {
		if p := &old[i]; p.hasOpenBytes() {
			*f.slotOfPeer(int(p.rankPlusOne) - 1) = *p
		}
	}
	f.tables.put(old)
}

// peerTablePool has unused tables of peers.
type peerTablePool struct {
	byLogLength [32][][]peer
}

// take returns an empty table of n entries.
func (p *peerTablePool) take(n int) []peer {
	free := &p.byLogLength[bits.Len(uint(n))]
	last := len(*free) - 1
	if last < 0 {
		return make([]peer, n)
	}
	t := (*free)[last]
	*free = (*free)[:last]
	return t
}

// put clears a table and makes it available for reuse.
func (p *peerTablePool) put(t []peer) {
	clear(t)
	free := &p.byLogLength[bits.Len(uint(len(t)))]
	*free = append(*free, t)
}

// reserveWindow reserves n bytes of the window to a rank, and reports whether they were free. If
// must is set, it reserves them in any case, because everything sent will be credited. A message
// longer than the window may go if the window is entirely free.
func (f *flowControl) reserveWindow(rank, n int, must bool) bool {
	if n == 0 {
		return true
	}
	p := f.peer(rank)
	sum := p.outstanding.value() + n
	if !must && sum > n && sum > f.windowBytes {
		return false
	}
	p.outstanding.set(sum)
	return true
}

// addCredit records that a rank has returned credit for n bytes.
func (f *flowControl) addCredit(rank, n int) { f.peer(rank).outstanding.add(-n) }

// noteFreed records that n bytes from a rank have been passed to the program.
func (f *flowControl) noteFreed(rank, n int) {
	if n == 0 {
		return
	}
	p := f.peer(rank)
	before := p.creditDue.value()
	p.creditDue.set(before + n)
	if half := f.creditThreshold(); before < half && before+n >= half {
		f.peersDueCredit = append(f.peersDueCredit, int32(rank))
	}
}

// creditThreshold returns the bytes of credit that are returned in a separate packet.
func (f *flowControl) creditThreshold() int { return max(1, f.windowBytes/2) }

// takeCredit returns the credit that is due to a rank, to be sent with a packet.
func (f *flowControl) takeCredit(rank int) uint32 {
	p := f.lastPeer
	if p.rankPlusOne != int32(rank+1) {
		if f.knownPeers == 0 {
			return 0
		}
		p = f.slotOfPeer(rank)
	}
	due := p.creditDue.value()
	if due == 0 {
		return 0
	}
	n := min(due, math.MaxUint32)
	p.creditDue.set(due - n)
	return uint32(n)
}

// sendCredits sends separate credit packets to peers whose due credit has reached the threshold.
func (e *Engine) sendCredits() {
	f := &e.flow
	for len(f.peersDueCredit) > 0 {
		rank := f.peersDueCredit[len(f.peersDueCredit)-1]
		f.peersDueCredit = f.peersDueCredit[:len(f.peersDueCredit)-1]
		if f.peer(int(rank)).creditDue.value() >= f.creditThreshold() {
			e.sendControl(rank, &head{kind: kindCredit})
		}
	}
}
