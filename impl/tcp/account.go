package tcp

import (
	"encoding/binary"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// account is how far a rank has come: how many packets it has sent to each, and got from each.
type account struct{ sent, got []uint64 }

func newAccount(ranks int) account { return account{make([]uint64, ranks), make([]uint64, ranks)} }

// accountSize returns the bytes of an account in a frame.
func accountSize(ranks int) int { return 2 * 8 * ranks }

// encode writes an account.
func (a *account) encode(b []byte) {
	for r := range a.sent {
		binary.LittleEndian.PutUint64(b[16*r:], a.sent[r])
		binary.LittleEndian.PutUint64(b[16*r+8:], a.got[r])
	}
}

// decode reads one.
func (a *account) decode(b []byte) {
	for r := range a.sent {
		a.sent[r] = binary.LittleEndian.Uint64(b[16*r:])
		a.got[r] = binary.LittleEndian.Uint64(b[16*r+8:])
	}
}

// take takes down how far a rank is.
func (a *account) take(links []*link) {
	for r, l := range links {
		if l != nil {
			a.sent[r], a.got[r] = l.sent, l.got
			if l.mourned {
				a.got[r] |= mourns
			}
		}
	}
}

// mourns stands beside what a rank got from another of whose end it is to hear and has not heard.
const mourns = 1 << 63

// census is what rank 0 knows of how far ranks had come when they last began to wait, or ended.
type census struct {
	mu    sync.Mutex // the job is looked at while the rank runs
	ranks []state
}

// state is that of one rank.
type state struct {
	account
	known bool // it has waited, or ended
	ended bool
}

func newCensus(ranks int) *census {
	c := &census{ranks: make([]state, ranks)}
	for r := range c.ranks {
		c.ranks[r].account = newAccount(ranks)
	}
	return c
}

// note notes what a rank says.
func (c *census) note(rank int, ended bool, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.ranks[rank]
	s.known, s.ended = true, ended
	s.decode(b)
}

// stuck returns the ranks that wait, if nothing can happen any more; else nil.
//
// Accounts are of different times, and their ranks may have gone on since. But then there was a first one to go on, by a packet; that was sent after its
// sender's account, for what was sent before has come before its own; and so its sender had gone on before. So there was none.
func (c *census) stuck() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var waiting []int
	for r := range c.ranks {
		if !c.ranks[r].known {
			return nil
		}
		if !c.ranks[r].ended {
			waiting = append(waiting, r)
		}
	}
	for _, to := range waiting {
		for from := range c.ranks {
			got := c.ranks[to].got[from]
			if from != to && c.ranks[from].sent[to] != got&^mourns || got&mourns != 0 && c.ranks[from].ended {
				return nil
			}
		}
	}
	return waiting
}

// say tells rank 0 that this rank waits.
func (p *port) say() { p.tell(waits, p.links[0]) }

// tell sends how far this rank has come.
func (p *port) tell(k kind, l *link) {
	b := p.telling
	p.account.take(p.links)
	p.account.encode(b)
	if p.census != nil {
		p.census.note(0, k == ends, b)
	}
	if l != nil && !l.cut {
		p.send(l, k, &none, b)
	}
}

// told takes in what another rank tells.
func (p *port) told(l *link, k kind, b []byte) {
	if p.census != nil {
		p.census.note(l.peer, k == ends, b)
	}
	if k == ends {
		p.leaveOut(l)
		if l.mourned {
			p.bury(l)
		}
	}
}

// none is the head of what is no packet.
var none device.Head
