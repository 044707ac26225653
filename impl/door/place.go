package door

import (
	"fmt"
)

// Purpose is what a connection is for.
type Purpose uint8

// The purposes.
const (
	Control Purpose = 1 + iota // orders and reports
	Data                       // what ranks send to each other
)

// String returns a word.
func (p Purpose) String() string {
	switch p {
	case Control:
		return "control"
	case Data:
		return "data"
	}
	return fmt.Sprintf("purpose %d", uint8(p))
}

// Who is a place in a job: one connection, from who dials to whose door it is.
type Who struct {
	Purpose Purpose
	Run     uint32 // of the job, so that who is late for one is not taken for another
	Rank    uint32 // of who dials
	To      uint32 // the rank whose door it is
}

// String says it in words.
func (w Who) String() string {
	return fmt.Sprintf("%v from rank %d to rank %d in run %d", w.Purpose, w.Rank, w.To, w.Run)
}

// place is one of a job.
type place struct {
	given bool
	conn  chan *admitted // has room for it
}

// hold keeps a connection for who waits for it.
func (p *place) hold(a *admitted) {
	select {
	case p.conn <- a:
	default: // the place was forgotten, and expected and taken again
		a.Close()
	}
}

// take gives a place away and says how that went.
func (d *Door) take(who Who) verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.places[who]
	switch {
	case p == nil:
		return early
	case p.given:
		return taken
	}
	p.given = true
	return welcome
}

// giveBack takes a place back that its owner did not get.
func (d *Door) giveBack(who Who) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.places[who]; p != nil {
		p.given = false
	}
}
