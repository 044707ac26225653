package fabric

import (
	"math"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// With congestion control each rank has a queue pair for each host to which it sends, so that one
// that is slowed down does not delay the others. A queue pair is a sender; they have the same
// numbers.
//
// The rates are computed when they are needed: they follow from the time of the last notice.

// queuePair is the congestion control of a sender.
type queuePair struct {
	from, to   int32 // hosts
	rate       unit.Rate
	target     unit.Rate // to which rate recovers
	line       unit.Rate // of the interface
	congestion float64   // estimate, 0 to 1
	steps      int       // of the recovery since the last notice
	stepped    unit.Time // time of the last step
	noticed    unit.Time // time of the last notice
	next       unit.Time // time from which the next chunk may leave
	hasNotice  bool
}

// minRateShare is the part of the line that a sender keeps.
const minRateShare = 1e-3

// pairKey names a queue pair: a sender without congestion control, and a host.
type pairKey struct{ by, to int32 }

// queuePairOf returns the number of the queue pair of a sender to a host.
func (n *network) queuePairOf(by, from, to int32) int32 {
	key := pairKey{by, to}
	i, ok := n.pairNumbers[key]
	if !ok {
		i = int32(len(n.senders))
		n.pairNumbers[key] = i
		n.senders = append(n.senders, sender{none, none})
		line := n.link(n.firstLink(from)).rate.Rate
		n.pairs = append(n.pairs, queuePair{from: from, to: to, rate: line, target: line, line: line, congestion: 1})
	}
	return i
}

// firstLink returns a link by which a host sends.
func (n *network) firstLink(host int32) int32 {
	if n.nics != nil {
		return n.busOut(host)
	}
	return n.selfLink(host)
}

// pair returns the queue pair of a sender.
func (n *network) pair(by int32) *queuePair { return &n.pairs[int(by)-(len(n.senders)-len(n.pairs))] }

// recover brings the rate to a time. Each step halves the distance to the target; after the first
// ones the target rises, until it is the line's rate.
func (q *queuePair) recover(c *model.CongestionControl, t unit.Time) {
	for q.rate < q.line && t-q.stepped >= c.Period {
		q.stepped += c.Period
		q.congestion *= 1 - c.Gain
		if q.steps++; q.steps > model.RecoverySteps {
			q.target = min(q.line, q.target+c.Increase)
		}
		q.rate = (q.rate + q.target) / 2
		if q.line-q.rate < q.line*minRateShare {
			q.rate = q.line
		}
	}
	if steps := (t - q.stepped) / c.Period; q.hasNotice && steps > 0 { // at the rate of the line
		q.stepped += steps * c.Period
		q.congestion *= math.Pow(1-c.Gain, float64(steps))
	}
}

// reserve lets a chunk of some bytes leave at a time, and delays the next one.
func (q *queuePair) reserve(c *model.CongestionControl, t unit.Time, bytes int) {
	if !q.hasNotice {
		return
	}
	if q.recover(c, t); q.rate < q.line {
		q.next = t + q.rate.Time(bytes)
	}
}

// slowDown is the reaction to a notice.
func (q *queuePair) slowDown(c *model.CongestionControl, t unit.Time) {
	q.recover(c, t)
	q.hasNotice = true
	q.target = q.rate
	q.rate = max(q.rate*unit.Rate(1-q.congestion/2), q.line*minRateShare)
	q.congestion = (1-c.Gain)*q.congestion + c.Gain
	q.steps, q.stepped = 0, t
}

// markChunk marks a chunk that leaves the queue of a link from a switch, by what waits behind it:
// if any of its packets is marked.
func (n *network) markChunk(c *chunk, waiting int) {
	p := n.Congestion.MarkProbability(waiting)
	if p == 0 || c.isMarked {
		return
	}
	packets := max(1, (int(c.payload)+n.Packet.Payload-1)/n.Packet.Payload)
	c.isMarked = p >= 1 || n.randomFraction() < 1-math.Pow(1-p, float64(packets))
}

// randomFraction returns a number from 0 to 1.
func (n *network) randomFraction() float64 { return float64(n.random.Uint64()>>11) / (1 << 53) }

// sendNotice tells a sender, after the way back, that a marked chunk has arrived at a time.
func (n *network) sendNotice(by int32, t unit.Time) {
	q := n.pair(by)
	if q.hasNotice && t-q.noticed < n.Congestion.NoticeInterval {
		return
	}
	q.noticed, q.hasNotice = t, true
	n.job.Kernel.Schedule(t+n.firstByteTimeOfHosts(q.to, q.from), (*noticeEvent)(n), uint64(by))
}

// noticeEvent is the event that a sender gets a notice of congestion.
type noticeEvent network

// HandleEvent slows the sender down.
func (e *noticeEvent) HandleEvent(by uint64) {
	n := (*network)(e)
	n.pair(int32(by)).slowDown(n.Congestion, n.job.Kernel.Now())
}
