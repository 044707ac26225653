package tcp

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/transport"
)

// progressSize returns the bytes of a rank's progress in a frame.
func progressSize(ranks int) int { return 2 * 8 * ranks }

// awaitsExitFlag is set in the number of packets received from a rank whose exit notice the
// receiver has asked for and not had.
const awaitsExitFlag = 1 << 63

// activityMark stands in place of the number of packets that a rank sends to itself: a datagram has
// arrived, and the rank no longer waits.
const activityMark = 1

// encodeProgress writes how far a rank is.
func encodeProgress(b []byte, links []*link) {
	for r, l := range links {
		var sent, received uint64
		if l != nil {
			sent, received = l.packetsSent, l.packetsReceived
			if l.awaitsExit {
				received |= awaitsExitFlag
			}
		}
		binary.LittleEndian.PutUint64(b[16*r:], sent)
		binary.LittleEndian.PutUint64(b[16*r+8:], received)
	}
}

// progressTable is the progress of all ranks as far as rank 0 knows it.
type progressTable struct {
	mutex sync.Mutex // the supervisor reads the table while the rank runs
	ranks []transport.Progress

	lastReport time.Time     // when a rank last reported
	settleTime time.Duration // how long all reports must be old, so that no rank that continues after a datagram is overlooked
}

func newProgressTable(ranks int) *progressTable {
	return &progressTable{ranks: transport.NewProgress(ranks)}
}

// recordReport records the report of a rank.
func (t *progressTable) recordReport(rank int, ended bool, b []byte) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	p := &t.ranks[rank]
	p.IsKnown, p.HasEnded = binary.LittleEndian.Uint64(b[16*rank:]) != activityMark, ended
	t.lastReport = time.Now()
	for r := range p.Sent {
		p.Sent[r] = binary.LittleEndian.Uint64(b[16*r:])
		received := binary.LittleEndian.Uint64(b[16*r+8:])
		p.Received[r], p.AwaitsExit[r] = received&^awaitsExitFlag, received&awaitsExitFlag != 0
	}
}

// deadlockedRanks returns the waiting ranks of a deadlock, or nil.
func (t *progressTable) deadlockedRanks() []int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if time.Since(t.lastReport) < t.settleTime {
		return nil
	}
	return transport.DeadlockedRanks(t.ranks)
}

// sendReport sends this rank's progress over a link, and at rank 0 records it.
func (p *port) sendReport(k frameKind, l *link) {
	encodeProgress(p.progressReport, p.links)
	if p.reportsActivity {
		binary.LittleEndian.PutUint64(p.progressReport[16*p.Rank():], activityMark)
	}
	if p.progressTable != nil {
		p.progressTable.recordReport(0, k == endFrame, p.progressReport)
	}
	if l != nil && !l.isAbandoned {
		p.sendFrame(l, k, &emptyHead, p.progressReport)
	}
}

// handleReport processes the report of another rank.
func (p *port) handleReport(l *link, k frameKind, b []byte) {
	if p.progressTable != nil {
		p.progressTable.recordReport(l.peer, k == endFrame, b)
	}
	if k == endFrame {
		p.stopReading(l)
		if l.awaitsExit {
			p.enqueueExit(l)
		}
	}
}

// emptyHead is the head of frames that are not packets.
var emptyHead device.Head
