package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// controlNetworkState is the state of a network that broadcasts and combines words
// (device.Control).
type controlNetworkState struct {
	broadcasts           []broadcast // not yet received by all ranks, oldest first
	firstBroadcastNumber int         // number of the first of them
	networkFreeAt        unit.Time   // when the network accepts the next word
	ranksInCombination   int         // ranks that have joined the current combination
	combinationSoFar     uint32      // result of these ranks
	combinationResults   [2]uint32   // of the last two combinations: no rank starts another before all have the result of the last
	combinationsEnded    int         // number of combinations that have ended
}

// broadcast is a broadcast in flight: words that travel to all ranks.
type broadcast struct {
	words            []uint32
	arrivalTime      unit.Time
	ranksNotReceived int // number of ranks that have not received them
}

// portAsControl implements device.Control for a port.
type portAsControl struct {
	*Port
	*model.Control
}

// Control implements device.Port.
func (p *Port) Control() device.Control {
	c := p.Machine.Control()
	if c == nil {
		return nil
	}
	return portAsControl{p, c}
}

func (c portAsControl) MaxWords() int { return c.Words }

func (c portAsControl) Broadcast(root int, words []uint32) {
	p, s := c.Port, &c.Port.Job.controlNetwork
	p.checkRank(root)
	if len(words) > c.Words {
		panic("hw: a broadcast of more words than Control.Limit")
	}
	n := p.broadcastsBegun
	p.broadcastsBegun++
	if root != int(p.ID) {
		p.awaitControlNetwork(func() bool {
			return n < s.firstBroadcastNumber+len(s.broadcasts) && s.broadcasts[n-s.firstBroadcastNumber].arrivalTime <= p.Kernel.Now()
		})
		m := &s.broadcasts[n-s.firstBroadcastNumber]
		copy(words, m.words)
		p.Charge(c.Control.Receive.Time(4 * len(words)))
		p.ElapseCharges()
		s.noteBroadcastReceived(p.Job, n)
		return
	}
	p.awaitControlNetwork(func() bool { return len(s.broadcasts) < c.Buffers })
	p.Charge(c.Control.Send.Time(4 * len(words)))
	p.ElapseCharges()
	s.networkFreeAt = max(s.networkFreeAt, p.Kernel.Now()) + c.Word*unit.Time(len(words))
	s.broadcasts = append(s.broadcasts, broadcast{append([]uint32(nil), words...), s.networkFreeAt + c.Latency, len(p.Ports)})
	p.Kernel.Schedule(s.networkFreeAt+c.Latency, (*controlNetworkEvent)(p.Job), 0)
	s.noteBroadcastReceived(p.Job, n)
}

// noteBroadcastReceived records that one more rank has received broadcast n. When all ranks have
// received the oldest one, the network has space for another.
func (s *controlNetworkState) noteBroadcastReceived(j *Job, n int) {
	for s.broadcasts[n-s.firstBroadcastNumber].ranksNotReceived--; len(s.broadcasts) > 0 && s.broadcasts[0].ranksNotReceived == 0; s.firstBroadcastNumber++ {
		s.broadcasts = s.broadcasts[1:]
		j.Kernel.Schedule(j.Kernel.Now(), (*controlNetworkEvent)(j), 0)
	}
}

func (c portAsControl) Combine(op device.Combination, word uint32) uint32 {
	p, s := c.Port, &c.Port.Job.controlNetwork
	p.Charge(c.Control.Send.Time(4))
	p.ElapseCharges()
	if s.ranksInCombination++; s.ranksInCombination > 1 {
		word = op.Combine(s.combinationSoFar, word)
	}
	s.combinationSoFar = word
	if s.ranksInCombination == len(p.Ports) {
		s.ranksInCombination = 0
		p.Kernel.Schedule(p.Kernel.Now()+c.Latency, (*controlNetworkEvent)(p.Job), 1)
	}
	n := p.combinationsBegun
	p.combinationsBegun++
	p.awaitControlNetwork(func() bool { return s.combinationsEnded > n })
	p.Charge(c.Control.Receive.Time(4))
	return s.combinationResults[n%2]
}

// awaitControlNetwork waits until a condition on the control network holds.
func (p *Port) awaitControlNetwork(condition func() bool) {
	for p.ElapseCharges(); !condition(); {
		p.parkThenElapseCharges(awaitingControlNetwork)
	}
}

// controlNetworkEvent is the event that a broadcast has arrived or been received by all, or that a
// combination has ended.
type controlNetworkEvent Job

// HandleEvent wakes the ranks that wait for the control network.
func (h *controlNetworkEvent) HandleEvent(ended uint64) {
	if s := &h.controlNetwork; ended > 0 {
		s.combinationResults[s.combinationsEnded%2] = s.combinationSoFar
		s.combinationsEnded++
	}
	for i := range h.Ports {
		if p := &h.Ports[i]; p.processState == awaitingControlNetwork {
			p.Wake()
		}
	}
}
