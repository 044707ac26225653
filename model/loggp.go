package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// LogGP is the machine of the model: nothing below it. Alexandrov, Ionescu, Schauser and Scheiman
// 1995.
type LogGP struct {
	L      unit.Time    // latency of the wire
	SendO  unit.Time    // o_s: the processor is busy sending
	RecvO  unit.Time    // o_r: the processor is busy receiving
	Gap    unit.Time    // g: between the starts of consecutive messages of one processor, sending or receiving
	BigGap unit.PerByte // G: per byte of a message after the first
}

// onLogGP walks on the machine that is LogGP itself. The interface out of each side takes a message
// for g + (k−1)·G; where g is long the next one waits. The interface in is as fast, and hears of
// one side only, so nothing ever waits there.
type onLogGP struct {
	*LogGP
	out [2]unit.Time // until when it is taken
}

func (g *LogGP) on(Path) carrier { return &onLogGP{LogGP: g} }

// Kind implements Network.
func (*LogGP) Kind() string { return "loggp" }

func (g *LogGP) String() string {
	return fmt.Sprintf("LogGP with L = %v, g = %v", g.L, g.Gap)
}

// Node returns the end: none is nearer than others.
func (g *LogGP) Node(end int) int { return end }

func (g *LogGP) way(_, _, _ int) Path { return Path{} }

// long returns (k−1)·G.
func (g *LogGP) long(k int) unit.Time { return g.BigGap.Time(max(k-1, 0)) }

func (n *onLogGP) bytes(w *walk, k int) Term {
	return w.per(Term{Name: "loggp.G", Count: 1, Bytes: max(k-1, 0), Time: n.long(k)}, Wire, n.BigGap)
}

// leave lets a side wait until its interface is free, and takes it for a message of k bytes.
func (n *onLogGP) leave(w *walk, who Where, k int) {
	l := &w.lanes[who]
	d := max(n.out[who]-l.clock, 0)
	w.idle(who, "g", w.per(Term{Name: "loggp.g", Count: 1, Time: d}, who, n.Gap))
	n.out[who] = l.clock + n.Gap + n.long(k)
}

func (n *onLogGP) latency(w *walk) Term {
	return w.per(Term{Name: "loggp.L", Count: 1, Time: n.L}, Wire, n.L)
}

func (n *onLogGP) send(w *walk, from Where, k int) mail {
	n.overhead(w, from)
	n.leave(w, from, k)
	m := w.post(from)
	m.fly(n.latency(w), n.bytes(w, k))
	w.arrow(from, w.lanes[from].clock, m.at, k, false)
	return m
}

// overhead is o_s.
func (n *onLogGP) overhead(w *walk, who Where) {
	w.busy(who, Term{Name: "loggp.o_s", Count: 1, Time: n.SendO}, n.SendO)
}

func (n *onLogGP) receive(w *walk, who Where, _ int) {
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
	n.leave(w, who, k)
	t := w.lanes[who].clock
	w.arrow(who, t, t+n.long(k)+n.L, k, true)
	w.idle(who, "put", n.bytes(w, k), n.latency(w))
}

func (g *LogGP) view(x *Parameters, control unit.Time, _ Path) {
	x.L, x.Gap, x.BigGap = g.L, g.Gap, g.BigGap
	x.SendO = Constant(control + g.SendO)
	x.RecvO = x.RecvO.plus(g.RecvO)
}
