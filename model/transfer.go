package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Transfer is one message from a rank to another under the conditions in which its cost has a closed form. The receiver
// has posted its receive without blocking and waits for it; nothing else is under way or on the wires, and nothing varies.
type Transfer struct {
	Machine  *Machine
	Library  *Library  // nil: software that costs nothing and does not copy
	Protocol *Protocol // nil: the one that the library's rules choose
	Mode     Mode
	Bytes    int // k
	Path     Path

	// Nonblocking says that the sender's call only starts the message, and that the sender waits for it right after.
	Nonblocking bool
}

// Cost is what a transfer costs, as sums of terms in the order in which time passes.
type Cost struct {
	// Sender is T_s: the duration of the sender's call.
	//
	// Delivery is T_s-r: from the start of the sender's call until the receiver's wait returns. A buffered send returns
	// before a message by RAT has left; the sender is taken to drain its buffer from then on. Of TA it is what Completion is to
	// the equations.
	Sender, Delivery Terms
}

// Terms is a sum.
type Terms []Term

// Term is a part of a time.
type Term struct {
	// Name is what takes the time, by its key in the platform's file: software.match, torus.hop, processor.copy. It leads to
	// the number's provenance.
	Name  string
	Step  Kind   // message of the protocol to which it belongs; "": the call
	Where Where  // whose time it is
	Count int    // how often it occurs
	Bytes int    // in all, of what takes its time by the byte
	Per   string // price of one, or of a byte
	Time  unit.Time
}

// Sum returns the sum.
func (t Terms) Sum() unit.Time {
	var sum unit.Time
	for _, x := range t {
		sum += x.Time
	}
	return sum
}

// String says how the time of the term comes about: 3 × 8.2us, or 2 × 1024 B at 60MB/s.
func (t Term) String() string {
	switch {
	case t.Bytes == 0:
		return fmt.Sprintf("%d × %s", t.Count, t.Per)
	case t.Count == 1:
		return fmt.Sprintf("%d B, %s", t.Bytes, t.Per)
	}
	return fmt.Sprintf("%d B in %d parts, %s", t.Bytes, t.Count, t.Per)
}

// add adds a term to a path, to one of the same name and place if the step has one: a message that moves in a thousand
// pieces has no more terms than one that moves in one.
func (t Terms) add(x Term) Terms {
	for i := len(t) - 1; i >= 0 && t[i].Step == x.Step; i-- {
		if y := &t[i]; y.Name == x.Name && y.Where == x.Where {
			y.Count += x.Count
			y.Bytes += x.Bytes
			y.Time += x.Time
			return t
		}
	}
	return append(t, x)
}

// Cost returns what the transfer costs. A protocol that cannot carry the message panics.
func (t Transfer) Cost() Cost {
	w := t.walk()
	return Cost{w.call, w.lanes[Receiver].path}
}

// protocol returns the protocol by which the message goes.
func (t Transfer) protocol() *Protocol {
	p := t.Protocol
	if p == nil && t.Library != nil {
		p = Named(t.Library.Protocol(t.Mode, t.Path.Tier, t.Bytes))
	}
	switch {
	case p == nil:
		panic(fmt.Sprintf("model: no protocol for a %v message of %d bytes", t.Mode, t.Bytes))
	case t.Mode == Synchronous && !p.Synchronous():
		panic("model: protocol " + p.Name + " does not tell a synchronous sender that the receive was there")
	}
	return p
}
