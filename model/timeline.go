package model

import "github.com/loggp/loggp/model/unit"

// Timeline returns the course of the transfer, with the sender as rank 0 and the receiver as rank
// 1. Al-Tawil and Moritz, figures 3 to 5. Time begins with the sender's call, which takes T_s. The
// receiver's ends at T_s-r.
func (t Transfer) Timeline() *Recording {
	w := t.walk()
	track := func(side Where, call string, end unit.Time) Track {
		return Track{Name: side.String(), Calls: []Span{{Name: call, To: end}}, Spans: w.lanes[side].spans}
	}
	return &Recording{Ranks: []Track{track(Sender, "T_s", w.lanes[Sender].call), track(Receiver, "T_s-r", w.lanes[Receiver].clock)}, Flights: w.flights}
}

// arrow records a flight to the other side. A flight of the hardware without data is the request
// for a remote access or its confirmation.
func (w *walk) arrow(from Where, depart, arrive unit.Time, bytes int, hardware bool) {
	name := string(w.step)
	if hardware && bytes == 0 {
		name = w.signal
	}
	w.flights = append(w.flights, Flight{Name: name, Step: w.step, From: int(from), To: int(other(from)), By: int(from), Sent: depart, Depart: depart, Arrive: arrive,
		Taken: arrive, Bytes: bytes, Hardware: hardware})
}

// other returns the other side.
func other(side Where) Where { return Sender + Receiver - side }
