package model

import "github.com/loggp/loggp/model/unit"

// Diagram is the course of a transfer in time: what both sides do and what goes between them. Al-Tawil and Moritz,
// figures 3 to 5. Time begins with the sender's call.
type Diagram struct {
	Protocol *Protocol
	Sender   Lane
	Receiver Lane
	Arrows   []Arrow // in the order in which they depart
}

// Lane is one side of a diagram. What it does and when it waits does not overlap.
type Lane struct {
	Busy  []Interval // named as terms are
	Waits []Interval // named for what is waited for: the kind of a message, get, put, or g
	Call  unit.Time  // when the sender's call returns; at the receiver 0
	End   unit.Time  // when the side has nothing more to do
}

// Interval is something that lasts.
type Interval struct {
	Name     string
	Step     Kind
	From, To unit.Time
}

// Arrow is a message.
type Arrow struct {
	Step           Kind
	From, To       Where
	Depart, Arrive unit.Time // of its first byte, of its last
	Bytes          int       // of the message's data
	Hardware       bool      // part of a remote access: no processor sends or receives it
}

// Timeline returns the course of the transfer. The sender's call ends at T_s, the receiver's lane at T_s-r.
func (t Transfer) Timeline() Diagram {
	w := t.walk()
	for i := range w.lanes {
		w.lanes[i].End = w.lanes[i].clock
	}
	return Diagram{t.protocol(), w.lanes[Sender].Lane, w.lanes[Receiver].Lane, w.arrows}
}

func (w *walk) arrow(from Where, depart, arrive unit.Time, bytes int, hardware bool) {
	w.arrows = append(w.arrows, Arrow{w.step, from, other(from), depart, arrive, bytes, hardware})
}

// other returns the other side.
func other(side Where) Where { return Sender + Receiver - side }
