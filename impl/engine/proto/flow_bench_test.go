package proto

import (
	"fmt"
	"testing"
)

// mapFlow is the flow control on Go's map, to compare the table of flowControl with.
type mapFlow struct {
	windowBytes int
	peers       map[int32]*peer
	lastRank    int32
	lastPeer    *peer
}

func (f *mapFlow) peer(rank int) *peer {
	if f.lastPeer != nil && f.lastRank == int32(rank) {
		return f.lastPeer
	}
	p := f.peers[int32(rank)]
	if p == nil {
		p = new(peer)
		f.peers[int32(rank)] = p
	}
	f.lastRank, f.lastPeer = int32(rank), p
	return p
}

func (f *mapFlow) reserveWindow(rank, n int) bool {
	p := f.peer(rank)
	sum := p.outstanding.value() + n
	if sum > n && sum > f.windowBytes {
		return false
	}
	p.outstanding.set(sum)
	return true
}

// BenchmarkFlow compares the table of flowControl with Go's map: an eager message to each of n
// ranks in turn, whose credit returns when the messages to 8 further ranks have left.
func BenchmarkFlow(b *testing.B) {
	for _, n := range []int{8, 128, 1024} {
		run := func(b *testing.B, reserve func(rank, n int), credit func(rank, n int)) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				reserve(i%n, 64)
				if i >= 8 {
					credit((i-8)%n, 64)
				}
			}
		}
		b.Run(fmt.Sprintf("ranks=%d/table", n), func(b *testing.B) {
			f := flowControl{windowBytes: 1 << 16, lastPeer: &noPeer, tables: new(peerTablePool)}
			run(b, func(rank, n int) { f.reserveWindow(rank, n, false) }, f.addCredit)
		})
		b.Run(fmt.Sprintf("ranks=%d/map", n), func(b *testing.B) {
			f := mapFlow{windowBytes: 1 << 16, peers: make(map[int32]*peer)}
			run(b, func(rank, n int) { f.reserveWindow(rank, n) }, func(rank, n int) { f.peer(rank).outstanding.add(-n) })
		})
	}
}
