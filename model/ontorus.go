package model

import "github.com/loggp/loggp/model/unit"

// onTorus walks on a torus.
type onTorus struct {
	*Torus
	Path
}

// Latency returns how long a first byte is on its way:
//
//	hops·hop + turns·turn + deliver
func (t *Torus) Latency(p Path) unit.Time {
	return t.Hop*unit.Time(p.Hops) + t.Turn*unit.Time(p.Turns) + t.Deliver
}

// way returns the terms of the latency.
func (n onTorus) way(w *walk) []Term {
	return []Term{
		w.per(Term{Name: "torus.hop", Count: n.Hops, Time: n.Hop * unit.Time(n.Hops)}, Wire, n.Hop),
		w.per(Term{Name: "torus.turn", Count: n.Turns, Time: n.Turn * unit.Time(n.Turns)}, Wire, n.Turn),
		w.per(Term{Name: "torus.deliver", Count: 1, Time: n.Deliver}, Wire, n.Deliver),
	}
}

// stream returns how long it takes until the last of so many bytes has left that come at a rate: their length at the rate,
//
//	bytes / rate
//
// as the links are at least as fast. Where rounding to picoseconds makes a chunk leave the link later than the next is
// there, the next waits.
func (t *Torus) stream(bytes int, rate unit.Rate) unit.Time {
	if bytes <= t.Chunk || t.Link.Time(t.Chunk) < rate.Time(t.Chunk) {
		return rate.Time(bytes)
	}
	var left unit.Time
	for pos := 0; pos < bytes; pos += t.Chunk {
		c := min(t.Chunk, bytes-pos)
		d := rate.Time(pos+c) - rate.Time(pos)
		if pos+c < bytes {
			d = max(d, t.Link.Time(c))
		}
		left += d
	}
	return left
}

func (n onTorus) send(w *walk, from Where, bytes int) mail {
	w.busy(from, Term{Name: "torus.send.start", Count: 1, Time: n.Send.Start}, n.Send.Start)
	depart := w.lanes[from].clock
	size := n.Header + bytes
	w.busy(from, Term{Name: "torus.send.bandwidth", Count: 1, Bytes: size, Time: n.stream(size, n.Send.Bandwidth)}, n.Send.Bandwidth)
	m := w.post(from)
	m.fly(n.way(w)...)
	w.arrow(from, depart, m.at, bytes, false)
	return m
}

func (n onTorus) receive(w *walk, who Where) {
	w.busy(who, Term{Name: "torus.receive", Count: 1, Time: n.Receive}, n.Receive)
}

// get asks, which takes the latency, and is answered, which takes it again.
func (n onTorus) get(w *walk, who Where, bytes int) {
	w.busy(who, Term{Name: "torus.get.start", Count: 1, Time: n.Get.Start}, n.Get.Start)
	way := n.way(w)
	stream := w.per(Term{Name: "torus.get.bandwidth", Count: 1, Bytes: bytes, Time: n.stream(bytes, n.Get.Bandwidth)}, Wire, n.Get.Bandwidth)
	t, lat := w.lanes[who].clock, n.Latency(n.Path)
	w.arrow(who, t, t+lat, 0, true)
	w.arrow(other(who), t+lat, t+lat+stream.Time+lat, bytes, true)
	w.idle(who, "get", append(append(way, stream), way...)...)
}

// put writes; the confirmation takes the latency again.
func (n onTorus) put(w *walk, who Where, bytes int) {
	w.busy(who, Term{Name: "torus.put.start", Count: 1, Time: n.Put.Start}, n.Put.Start)
	way := n.way(w)
	stream := w.per(Term{Name: "torus.put.bandwidth", Count: 1, Bytes: bytes, Time: n.stream(bytes, n.Put.Bandwidth)}, Wire, n.Put.Bandwidth)
	t, lat := w.lanes[who].clock, n.Latency(n.Path)
	w.arrow(who, t, t+stream.Time+lat, bytes, true)
	w.arrow(other(who), t+stream.Time+lat, t+stream.Time+lat+lat, 0, true)
	w.idle(who, "put", append(append([]Term{stream}, way...), way...)...)
}
