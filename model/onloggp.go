package model

import "github.com/loggp/loggp/model/unit"

// onLogGP walks on the machine that is LogGP itself. Its interfaces, one out and one in a side, take a message for
// g + (k−1)·G; where g is long the next one waits.
type onLogGP struct {
	*LogGP
	out, in [2]unit.Time // until when they are taken
}

// long returns (k−1)·G.
func (g *LogGP) long(k int) unit.Time { return g.BigGap.Time(max(k-1, 0)) }

func (n *onLogGP) bytes(w *walk, k int) Term {
	return w.per(Term{Name: "loggp.G", Count: 1, Bytes: max(k-1, 0), Time: n.long(k)}, Wire, n.BigGap)
}

// gap is the wait for an interface that is taken at time t. It takes it for a message of k bytes.
func (n *onLogGP) gap(w *walk, taken *unit.Time, t unit.Time, where Where, k int) Term {
	d := max(*taken-t, 0)
	*taken = t + d + n.Gap + n.long(k)
	return w.per(Term{Name: "loggp.g", Count: 1, Time: d}, where, n.Gap)
}

func (n *onLogGP) latency(w *walk) Term {
	return w.per(Term{Name: "loggp.L", Count: 1, Time: n.L}, Wire, n.L)
}

func (n *onLogGP) send(w *walk, from Where, k int) mail {
	n.overhead(w, from)
	l := &w.lanes[from]
	w.idle(from, "g", n.gap(w, &n.out[from], l.clock, from, k))
	m := w.post(from)
	m.fly(n.latency(w))
	m.fly(n.gap(w, &n.in[other(from)], m.at, Wire, k), n.bytes(w, k))
	w.arrow(from, l.clock, m.at, k, false)
	return m
}

// overhead is o_s.
func (n *onLogGP) overhead(w *walk, who Where) {
	w.busy(who, Term{Name: "loggp.o_s", Count: 1, Time: n.SendO}, n.SendO)
}

func (n *onLogGP) receive(w *walk, who Where) {
	w.busy(who, Term{Name: "loggp.o_r", Count: 1, Time: n.RecvO}, n.RecvO)
}

// get costs no processor and no way to ask, as in equation (4).
func (n *onLogGP) get(w *walk, who Where, k int) {
	t := w.lanes[who].clock
	w.arrow(other(who), t, t+n.long(k)+n.L, k, true)
	w.idle(who, "get", n.latency(w), n.bytes(w, k))
}

// put costs o_s and no way to confirm, as in equation (6).
func (n *onLogGP) put(w *walk, who Where, k int) {
	n.overhead(w, who)
	w.idle(who, "g", n.gap(w, &n.out[who], w.lanes[who].clock, who, k))
	t := w.lanes[who].clock
	w.arrow(who, t, t+n.long(k)+n.L, k, true)
	w.idle(who, "put", n.bytes(w, k), n.latency(w))
}
