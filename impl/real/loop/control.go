package loop

import (
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// controlNetworkState is the shared state of a network that broadcasts and combines. It keeps the
// words of a broadcast until all ranks have received them.
type controlNetworkState struct {
	mu               sync.Mutex
	messages         map[int]*controlMessage // by number
	arrivedCount     int
	combinedWord     uint32
	results          [2]uint32
	combinationsDone int
}

type controlMessage struct {
	words         []uint32
	receiversLeft int
}

// control is a port as its Control.
type control struct{ *port }

func (c control) MaxWords() int { return 15 }

func (c control) Broadcast(root int, words []uint32) {
	s, n := &c.job.control, c.broadcastsBegun
	c.broadcastsBegun++
	if root == c.Rank() {
		if len(c.ports) > 1 {
			s.mu.Lock()
			if s.messages == nil {
				s.messages = map[int]*controlMessage{}
			}
			s.messages[n] = &controlMessage{append([]uint32(nil), words...), len(c.ports) - 1}
			s.mu.Unlock()
			c.wakeAll()
		}
		return
	}
	c.waitUntil(func() bool {
		m := s.messages[n]
		if m == nil {
			return false
		}
		copy(words, m.words)
		if m.receiversLeft--; m.receiversLeft == 0 {
			delete(s.messages, n)
		}
		return true
	})
}

func (c control) Combine(op device.Combination, word uint32) (result uint32) {
	s, n := &c.job.control, c.combinationsBegun
	c.combinationsBegun++
	s.mu.Lock()
	if s.arrivedCount++; s.arrivedCount > 1 {
		word = op.Combine(s.combinedWord, word)
	}
	s.combinedWord = word
	last := s.arrivedCount == len(c.ports)
	if last {
		s.results[s.combinationsDone%2], s.arrivedCount = word, 0
		s.combinationsDone++
	}
	s.mu.Unlock()
	if last {
		c.wakeAll()
	}
	c.waitUntil(func() bool {
		result = s.results[n%2]
		return s.combinationsDone > n
	})
	return result
}

// wakeAll counts an event at all ranks.
func (c control) wakeAll() {
	for _, p := range c.ports {
		p.inbox.countEvent(c.job)
	}
}

// waitUntil waits until a condition holds.
func (c control) waitUntil(so func() bool) {
	w := c.Watch()
	for {
		seen := w.EventCount()
		c.job.control.mu.Lock()
		ok := so()
		c.job.control.mu.Unlock()
		if ok {
			return
		}
		w.WaitForEvent(seen, device.Forever)
	}
}
