package loop

import (
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// controlState is what ranks share of a network that broadcasts and combines. It keeps what all
// broadcasts had until all ranks have taken them.
type controlState struct {
	mu       sync.Mutex
	messages map[int]*controlMessage // by number
	joined   int
	word     uint32
	results  [2]uint32
	combined int
}

type controlMessage struct {
	words []uint32
	left  int
}

// control is a port as its Control.
type control struct{ *port }

func (c control) Limit() int { return 15 }

func (c control) Broadcast(root int, words []uint32) {
	s, n := &c.job.control, c.heard
	c.heard++
	if root == c.rank {
		if len(c.ports) > 1 {
			s.mu.Lock()
			if s.messages == nil {
				s.messages = map[int]*controlMessage{}
			}
			s.messages[n] = &controlMessage{append([]uint32(nil), words...), len(c.ports) - 1}
			s.mu.Unlock()
			c.tell()
		}
		return
	}
	c.listen(func() bool {
		m := s.messages[n]
		if m == nil {
			return false
		}
		copy(words, m.words)
		if m.left--; m.left == 0 {
			delete(s.messages, n)
		}
		return true
	})
}

func (c control) Combine(op device.Combination, word uint32) (result uint32) {
	s, n := &c.job.control, c.combinations
	c.combinations++
	s.mu.Lock()
	if s.joined++; s.joined > 1 {
		word = op.Of(s.word, word)
	}
	s.word = word
	last := s.joined == len(c.ports)
	if last {
		s.results[s.combined%2], s.joined = word, 0
		s.combined++
	}
	s.mu.Unlock()
	if last {
		c.tell()
	}
	c.listen(func() bool {
		result = s.results[n%2]
		return s.combined > n
	})
	return result
}

// tell lets ranks look again.
func (c control) tell() {
	for _, p := range c.ports {
		p.inbox.event(c.job)
	}
}

// listen waits until something is so.
func (c control) listen(so func() bool) {
	w := c.Watch()
	for {
		seen := w.Events()
		c.job.control.mu.Lock()
		ok := so()
		c.job.control.mu.Unlock()
		if ok {
			return
		}
		w.Wait(seen, device.Forever)
	}
}
