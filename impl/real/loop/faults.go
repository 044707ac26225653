package loop

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// Faults are rare events that the optional capabilities allow: probabilities from 0 to 1 for each
// operation. Packets are not affected. Random numbers come from the seed and the rank, so that each
// rank meets the same faults in the same operations.
type Faults struct {
	Seed uint64

	Loss      float64 // a datagram is lost on the way to one of its receivers
	Duplicate float64 // a datagram arrives twice
	Reorder   float64 // a datagram arrives after the next one of its sender
	Refuse    float64 // an entry or a message is refused though there is room
	Delay     float64 // an access, an entry or a signal takes effect up to 100 µs after its call
}

// faultRandom generates the random numbers of one rank, for its program and its handlers.
type faultRandom struct {
	mu        sync.Mutex
	generator *rand.Rand
}

// isHit returns true with probability p.
func (d *faultRandom) isHit(p float64) bool {
	if p == 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.generator.Float64() < p
}

// randomPause returns up to 100 µs with probability p, else 0.
func (d *faultRandom) randomPause(p float64) time.Duration {
	if !d.isHit(p) {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.generator.Int64N(int64(100 * time.Microsecond)))
}

// delayedOperations holds operations of a rank that take effect later, one after another.
type delayedOperations struct {
	mu        sync.Mutex
	pending   []func()
	isRunning bool
}

// runLater executes an operation in a goroutine, after all earlier ones of the rank. Until then it
// counts as a rank that does not wait.
func (p *port) runLater(operation func()) {
	t := &p.delayed
	pause := p.random.randomPause(p.faults.Delay)
	p.idleCount.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, func() {
		defer p.countIdle()
		if pause > 0 {
			time.Sleep(pause)
		} else {
			runtime.Gosched()
		}
		operation()
	})
	if !t.isRunning {
		t.isRunning = true
		p.goroutines.Go(t.runPending)
	}
}

// runPending executes the pending operations.
func (t *delayedOperations) runPending() {
	for {
		t.mu.Lock()
		if t.isRunning = len(t.pending) > 0; !t.isRunning {
			t.mu.Unlock()
			return
		}
		next := t.pending[0]
		t.pending = t.pending[1:]
		t.mu.Unlock()
		next()
	}
}
