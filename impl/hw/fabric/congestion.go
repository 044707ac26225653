package fabric

import (
	"math"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// With congestion control each rank has a queue pair for each host to which it sends, so that a
// slowed flow does not delay the others. A queue pair is a sender, with the same number.
//
// Rates are computed when they are needed, from the time of the last congestion notice.

// queuePair is the congestion control state of a sender.
type queuePair struct {
	sourceHost, targetHost int32 // hosts
	rate                   unit.Rate
	targetRate             unit.Rate // rate towards which the current rate recovers
	lineRate               unit.Rate // link rate of the interface
	congestionEstimate     float64   // estimated congestion, 0 to 1
	recoverySteps          int       // recovery steps since the last notice
	lastStepTime           unit.Time // time of the last step
	lastNoticeTime         unit.Time // time of the last notice
	nextDeparture          unit.Time // earliest departure of the next chunk
	hasNotice              bool

	goBackN goBackN // with loss
}

// minRateShare is the smallest rate of a sender, as a share of the link rate.
const minRateShare = 1e-3

// pairKey identifies a queue pair by the original sender and the destination host.
type pairKey struct{ sender, targetHost int32 }

// queuePairOf returns the number of a sender's queue pair for a host.
func (n *network) queuePairOf(by, from, to int32) int32 {
	key := pairKey{by, to}
	i, ok := n.pairNumbers[key]
	if !ok {
		i = int32(len(n.senders))
		n.pairNumbers[key] = i
		n.senders = append(n.senders, sender{noIndex, noIndex})
		line := n.link(n.firstLink(from)).rate.Rate
		n.pairs = append(n.pairs, queuePair{sourceHost: from, targetHost: to, rate: line, targetRate: line, lineRate: line, congestionEstimate: 1, goBackN: goBackN{firstOpenTransfer: noIndex, lastOpenTransfer: noIndex}})
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

// recoverRate updates the rate for time t. Each step halves the distance to the target. After the
// first steps the target rises, too, up to the link rate.
func (q *queuePair) recoverRate(c *model.CongestionControl, t unit.Time) {
	for q.rate < q.lineRate && t-q.lastStepTime >= c.Period {
		q.lastStepTime += c.Period
		q.congestionEstimate *= 1 - c.Gain
		if q.recoverySteps++; q.recoverySteps > model.RecoverySteps {
			q.targetRate = min(q.lineRate, q.targetRate+c.Increase)
		}
		q.rate = (q.rate + q.targetRate) / 2
		if q.lineRate-q.rate < q.lineRate*minRateShare {
			q.rate = q.lineRate
		}
	}
	if steps := (t - q.lastStepTime) / c.Period; q.hasNotice && steps > 0 { // the rate has recovered to the link rate
		q.lastStepTime += steps * c.Period
		q.congestionEstimate *= math.Pow(1-c.Gain, float64(steps))
	}
}

// reserveDeparture returns the departure of a chunk that is ready at time t, and delays the next
// chunk.
func (q *queuePair) reserveDeparture(c *model.CongestionControl, t unit.Time, bytes int) {
	if !q.hasNotice {
		return
	}
	if q.recoverRate(c, t); q.rate < q.lineRate {
		q.nextDeparture = t + q.rate.Time(bytes)
	}
}

// slowDown reduces the rate after a congestion notice.
func (q *queuePair) slowDown(c *model.CongestionControl, t unit.Time) {
	q.recoverRate(c, t)
	q.hasNotice = true
	q.targetRate = q.rate
	q.rate = max(q.rate*unit.Rate(1-q.congestionEstimate/2), q.lineRate*minRateShare)
	q.congestionEstimate = (1-c.Gain)*q.congestionEstimate + c.Gain
	q.recoverySteps, q.lastStepTime = 0, t
}

// markChunk marks a chunk that leaves the queue of a switch's link, if any of its packets is
// marked. The probability depends on the bytes that wait behind it.
func (n *network) markChunk(c *chunk, waiting int) {
	p := n.Congestion.MarkProbability(waiting)
	if p == 0 || c.isMarked {
		return
	}
	packets := max(1, (int(c.payloadBytes)+n.Packet.Payload-1)/n.Packet.Payload)
	c.isMarked = p >= 1 || n.randomFraction() < 1-math.Pow(1-p, float64(packets))
}

// randomFraction returns a random number in [0, 1).
func (n *network) randomFraction() float64 { return float64(n.random.Uint64()>>11) / (1 << 53) }

// sendNotice sends a congestion notice to the sender of a marked chunk that has arrived at time t.
// It takes the latency of the way back.
func (n *network) sendNotice(by int32, t unit.Time) {
	q := n.pair(by)
	if q.hasNotice && t-q.lastNoticeTime < n.Congestion.NoticeInterval {
		return
	}
	q.lastNoticeTime, q.hasNotice = t, true
	n.job.Kernel.Schedule(t+n.firstByteTimeOfHosts(q.targetHost, q.sourceHost), (*noticeEvent)(n), uint64(by))
}

// noticeEvent is the event that a sender receives a congestion notice.
type noticeEvent network

// HandleEvent slows the sender down.
func (e *noticeEvent) HandleEvent(by uint64) {
	n := (*network)(e)
	n.pair(int32(by)).slowDown(n.Congestion, n.job.Kernel.Now())
}
