package loop

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// Faults are what the optional capabilities may do to their users and seldom do: probabilities from
// 0 to 1, of each operation. Packets are not affected. Random numbers come from the seed and the
// rank, so that each rank meets the same faults in the same operations.
type Faults struct {
	Seed uint64

	Loss      float64 // a datagram is lost on the way to one of its receivers
	Duplicate float64 // a datagram arrives twice
	Reorder   float64 // a datagram arrives after the next one of its sender
	Refuse    float64 // an entry or a message is refused though there is room
	Delay     float64 // an access, an entry or a signal takes effect up to 100 µs after its call
}

// dice is random numbers of one rank, for its program and its handlers.
type dice struct {
	mu  sync.Mutex
	rnd *rand.Rand
}

// chance is true with probability p.
func (d *dice) chance(p float64) bool {
	if p == 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rnd.Float64() < p
}

// pause is up to 100 µs with probability p, or 0.
func (d *dice) pause(p float64) time.Duration {
	if !d.chance(p) {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.rnd.Int64N(int64(100 * time.Microsecond)))
}

// transfers is operations of a rank that take effect later, one after another.
type transfers struct {
	mu      sync.Mutex
	waiting []func()
	running bool
}

// later carries out an operation in a goroutine, behind all that the rank has started before.
// Meanwhile it counts as a rank that does not wait.
func (p *port) later(operation func()) {
	t := &p.transfers
	pause := p.dice.pause(p.faults.Delay)
	p.idle.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, func() {
		defer p.rest()
		if pause > 0 {
			time.Sleep(pause)
		} else {
			runtime.Gosched()
		}
		operation()
	})
	if !t.running {
		t.running = true
		p.running.Go(t.run)
	}
}

// run carries out what waits.
func (t *transfers) run() {
	for {
		t.mu.Lock()
		if t.running = len(t.waiting) > 0; !t.running {
			t.mu.Unlock()
			return
		}
		next := t.waiting[0]
		t.waiting = t.waiting[1:]
		t.mu.Unlock()
		next()
	}
}
