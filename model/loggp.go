package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// LogGP is a machine that consists of the parameters of the model, without hardware below them.
// Alexandrov, Ionescu, Schauser and Scheiman 1995.
type LogGP struct {
	L            unit.Time    // latency of the wire
	SendOverhead unit.Time    // o_s: the processor is busy sending
	RecvOverhead unit.Time    // o_r: the processor is busy receiving
	Gap          unit.Time    // g: between the starts of consecutive messages of one processor, sending or receiving
	GapPerByte   unit.PerByte // G: per byte of a message after the first
}

// logGPTransfer is a transfer on a LogGP machine. A message occupies the outgoing interface of its
// sender for g + (k−1)·G; the next one waits until then. The incoming interface is as fast and has
// one peer, so nothing waits there.
type logGPTransfer struct {
	*LogGP
	outgoingBusyUntil [2]unit.Time // until then the outgoing interface is occupied
}

func (g *LogGP) newCarrier(Path) carrier { return &logGPTransfer{LogGP: g} }

// Kind implements Network.
func (*LogGP) Kind() string { return "loggp" }

func (g *LogGP) String() string {
	return fmt.Sprintf("LogGP with L = %v, g = %v", g.L, g.Gap)
}

// Node returns the end: each is a node of its own.
func (g *LogGP) Node(end int) int { return end }

func (g *LogGP) route(_, _, _ int) Path { return Path{} }

// timeOfLaterBytes returns (k−1)·G.
func (g *LogGP) timeOfLaterBytes(k int) unit.Time { return g.GapPerByte.Time(max(k-1, 0)) }

func (n *logGPTransfer) bytesTerm(w *protocolRun, k int) Term {
	return w.fillTerm(Term{Name: "loggp.G", Count: 1, Bytes: max(k-1, 0), Time: n.timeOfLaterBytes(k)}, NetworkSide, n.GapPerByte)
}

// occupyOutgoing lets a side wait until its outgoing interface is free, and occupies it for a
// message of k bytes.
func (n *logGPTransfer) occupyOutgoing(w *protocolRun, side CostSide, k int) {
	l := &w.lanes[side]
	d := max(n.outgoingBusyUntil[side]-l.clock, 0)
	w.waitForWire(side, "g", w.fillTerm(Term{Name: "loggp.g", Count: 1, Time: d}, side, n.Gap))
	n.outgoingBusyUntil[side] = l.clock + n.Gap + n.timeOfLaterBytes(k)
}

func (n *logGPTransfer) latencyTerm(w *protocolRun) Term {
	return w.fillTerm(Term{Name: "loggp.L", Count: 1, Time: n.L}, NetworkSide, n.L)
}

func (n *logGPTransfer) send(w *protocolRun, from CostSide, k int) packet {
	n.chargeSendOverhead(w, from)
	n.occupyOutgoing(w, from, k)
	m := w.newPacket(from)
	m.delay(n.latencyTerm(w), n.bytesTerm(w, k))
	w.recordFlight(from, w.lanes[from].clock, m.at, k, false)
	return m
}

// chargeSendOverhead charges o_s to a side.
func (n *logGPTransfer) chargeSendOverhead(w *protocolRun, side CostSide) {
	w.occupyProcessor(side, Term{Name: "loggp.o_s", Count: 1, Time: n.SendOverhead}, n.SendOverhead)
}

func (n *logGPTransfer) receive(w *protocolRun, side CostSide, _ int) {
	w.occupyProcessor(side, Term{Name: "loggp.o_r", Count: 1, Time: n.RecvOverhead}, n.RecvOverhead)
}

// get costs neither processor time nor a latency for the request, as in equation (4).
func (n *logGPTransfer) get(w *protocolRun, side CostSide, k int) {
	t := w.lanes[side].clock
	w.recordFlight(otherSide(side), t, t+n.timeOfLaterBytes(k)+n.L, k, true)
	w.waitForWire(side, "get", n.latencyTerm(w), n.bytesTerm(w, k))
}

// put costs o_s but no latency for the confirmation, as in equation (6).
func (n *logGPTransfer) put(w *protocolRun, side CostSide, k int) {
	n.chargeSendOverhead(w, side)
	n.occupyOutgoing(w, side, k)
	t := w.lanes[side].clock
	w.recordFlight(side, t, t+n.timeOfLaterBytes(k)+n.L, k, true)
	w.waitForWire(side, "put", n.bytesTerm(w, k), n.latencyTerm(w))
}

func (g *LogGP) fillParameters(x *Parameters, control unit.Time, _ Path) {
	x.L, x.Gap, x.GapPerByte = g.L, g.Gap, g.GapPerByte
	x.SendOverhead = ConstantCurve(control + g.SendOverhead)
	x.RecvOverhead = x.RecvOverhead.shiftedBy(g.RecvOverhead)
}

// appendSharedUse appends nothing: each end has interfaces of its own, and the network has
// unlimited capacity.
func (g *LogGP) appendSharedUse(into []Occupation, _, _, _ int, _ dataMovement) []Occupation {
	return into
}
