package model

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

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

// stream returns how much longer than at their own rate so many bytes take to leave, and to be there, because the links are
// slower. They go in chunks; a chunk of c bytes enters when it has come at the rate and the link has passed on the one before it,
//
//	max{c / rate, c / link}
//
// later. The last has left when it has come, and is there when the link has passed it on.
func (t *Torus) stream(bytes int, rate unit.Rate) (left, there unit.Time) {
	last := max(bytes-1, 0) / t.Chunk * t.Chunk // where the last chunk begins
	if t.Link.Time(t.Chunk) >= rate.Time(t.Chunk) {
		for pos := 0; pos < last; pos += t.Chunk {
			left += max(0, t.Link.Time(t.Chunk)-(rate.Time(pos+t.Chunk)-rate.Time(pos)))
		}
	}
	return left, left + max(0, t.Link.Time(bytes-last)-(rate.Time(bytes)-rate.Time(last)))
}

// link is what slow links add.
func (n onTorus) link(w *walk, where Where, bytes int, d unit.Time) Term {
	return w.per(Term{Name: "torus.link", Count: 1, Bytes: bytes, Time: d}, where, n.Link)
}

func (n onTorus) send(w *walk, from Where, bytes int) mail {
	w.busy(from, Term{Name: "torus.send.start", Count: 1, Time: n.Send.Start}, n.Send.Start)
	depart := w.lanes[from].clock
	size := n.Header + bytes
	left, there := n.stream(size, n.Send.Bandwidth)
	w.busy(from, Term{Name: "torus.send.bandwidth", Count: 1, Bytes: size, Time: n.Send.Bandwidth.Time(size)}, n.Send.Bandwidth)
	w.busy(from, n.link(w, from, size, left), n.Link)
	m := w.post(from)
	m.fly(n.link(w, Wire, size, there-left))
	m.fly(n.way(w)...)
	w.arrow(from, depart, m.at, bytes, false)
	return m
}

// access returns the terms of the bytes of a remote access at a rate, and their sum.
func (n onTorus) access(w *walk, name string, bytes int, rate unit.Rate) ([]Term, unit.Time) {
	_, there := n.stream(bytes, rate)
	x := w.per(Term{Name: name, Count: 1, Bytes: bytes, Time: rate.Time(bytes)}, Wire, rate)
	return []Term{x, n.link(w, Wire, bytes, there)}, x.Time + there
}

func (n onTorus) receive(w *walk, who Where, _ int) {
	w.busy(who, Term{Name: "torus.receive", Count: 1, Time: n.Receive}, n.Receive)
}

// get asks, which takes the latency, and is answered, which takes it again.
func (n onTorus) get(w *walk, who Where, bytes int) {
	w.busy(who, Term{Name: "torus.get.start", Count: 1, Time: n.Get.Start}, n.Get.Start)
	t, way, latency := w.lanes[who].clock, n.way(w), n.Latency(n.Path)
	data, d := n.access(w, "torus.get.bandwidth", bytes, n.Get.Bandwidth)
	w.arrow(who, t, t+latency, 0, true)
	w.arrow(other(who), t+latency, t+latency+d+latency, bytes, true)
	w.idle(who, "get", slices.Concat(way, data, way)...)
}

// put writes; the confirmation takes the latency again.
func (n onTorus) put(w *walk, who Where, bytes int) {
	w.busy(who, Term{Name: "torus.put.start", Count: 1, Time: n.Put.Start}, n.Put.Start)
	t, way, latency := w.lanes[who].clock, n.way(w), n.Latency(n.Path)
	data, d := n.access(w, "torus.put.bandwidth", bytes, n.Put.Bandwidth)
	w.arrow(who, t, t+d+latency, bytes, true)
	w.arrow(other(who), t+d+latency, t+d+latency+latency, 0, true)
	w.idle(who, "put", slices.Concat(data, way, way)...)
}
