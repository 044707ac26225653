package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// control is the state of a network that broadcasts and combines words (device.Control).
type control struct {
	messages []broadcast // that some rank has not taken, the oldest first
	first    int         // number of the first
	free     unit.Time   // from which the network takes the next word
	joined   int         // ranks in the combination under way
	word     uint32      // their result
	results  [2]uint32   // of the last combinations: no rank begins another before all have its last
	combined int         // combinations that have ended
}

// broadcast is a broadcast in flight: words that travel to all ranks.
type broadcast struct {
	words []uint32
	there unit.Time
	left  int // ranks that have not taken them
}

// controlCalls is a port as its Control.
type controlCalls struct {
	*Port
	*model.Control
}

// Control implements device.Port.
func (p *Port) Control() device.Control {
	c := p.Machine.Control()
	if c == nil {
		return nil
	}
	return controlCalls{p, c}
}

func (c controlCalls) Limit() int { return c.Words }

func (c controlCalls) Broadcast(root int, words []uint32) {
	p, s := c.Port, &c.Port.Job.control
	p.check(root)
	if len(words) > c.Words {
		panic("hw: a broadcast of more words than Control.Limit")
	}
	n := p.heard
	p.heard++
	if root != int(p.ID) {
		p.listen(func() bool { return n < s.first+len(s.messages) && s.messages[n-s.first].there <= p.Kernel.Now() })
		m := &s.messages[n-s.first]
		copy(words, m.words)
		p.Charge(c.Control.Receive.Time(4 * len(words)))
		p.Pay()
		s.take(p.Job, n)
		return
	}
	p.listen(func() bool { return len(s.messages) < c.Buffers })
	p.Charge(c.Control.Send.Time(4 * len(words)))
	p.Pay()
	s.free = max(s.free, p.Kernel.Now()) + c.Word*unit.Time(len(words))
	s.messages = append(s.messages, broadcast{append([]uint32(nil), words...), s.free + c.Latency, len(p.Ports)})
	p.Kernel.At(s.free+c.Latency, (*heard)(p.Job), 0)
	s.take(p.Job, n)
}

// take notes that a rank has taken message n. The network has room again when all have taken the
// oldest.
func (s *control) take(j *Job, n int) {
	for s.messages[n-s.first].left--; len(s.messages) > 0 && s.messages[0].left == 0; s.first++ {
		s.messages = s.messages[1:]
		j.Kernel.At(j.Kernel.Now(), (*heard)(j), 0)
	}
}

func (c controlCalls) Combine(op device.Combination, word uint32) uint32 {
	p, s := c.Port, &c.Port.Job.control
	p.Charge(c.Control.Send.Time(4))
	p.Pay()
	if s.joined++; s.joined > 1 {
		word = op.Of(s.word, word)
	}
	s.word = word
	if s.joined == len(p.Ports) {
		s.joined = 0
		p.Kernel.At(p.Kernel.Now()+c.Latency, (*heard)(p.Job), 1)
	}
	n := p.combinations
	p.combinations++
	p.listen(func() bool { return s.combined > n })
	p.Charge(c.Control.Receive.Time(4))
	return s.results[n%2]
}

// listen waits until something that the network does is so.
func (p *Port) listen(so func() bool) {
	for p.Pay(); !so(); {
		p.parkAndPay(awaitingControl)
	}
}

// heard is the event that a broadcast has arrived, that all ranks have it, or that a combination
// has ended.
type heard Job

// Act wakes the ranks that listen.
func (h *heard) Act(ended uint64) {
	if s := &h.control; ended > 0 {
		s.results[s.combined%2] = s.word
		s.combined++
	}
	for i := range h.Ports {
		if p := &h.Ports[i]; p.state == awaitingControl {
			p.Wake()
		}
	}
}
