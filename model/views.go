package model

import (
	"math"

	"github.com/loggp/loggp/model/unit"
)

// The models of the LogP family, each as a view of Parameters.

// LogP is the model for messages of a word. Culler et al. 1993.
type LogP struct {
	L          unit.Time // latency
	Overhead   unit.Time // o
	Gap        unit.Time // g
	Processors int
}

// OneWayTime returns the time of a message,
//
//	o + L + o
func (x LogP) OneWayTime() unit.Time { return 2*x.Overhead + x.L }

// LogP returns the parameters of messages of one byte. LogP has one overhead,
//
//	o = (o_s(1) + o_r(1)) / 2
//
// so that the time of a message stays the same, to a picosecond.
func (x Parameters) LogP() LogP {
	g := x.LogGP()
	return LogP{L: g.L, Overhead: (g.SendOverhead + g.RecvOverhead) / 2, Gap: g.Gap, Processors: x.Processors}
}

// Parameters returns the parameters with o for both overheads, and G = 0.
func (x LogP) Parameters() Parameters {
	o := ConstantCurve(x.Overhead)
	return Parameters{L: x.L, SendOverhead: o, RecvOverhead: o, Gap: x.Gap, Processors: x.Processors}
}

// LogGP returns the parameters with the overheads of messages of one byte. They are also those of a
// machine that consists of them alone.
func (x Parameters) LogGP() LogGP {
	return LogGP{L: x.L, SendOverhead: x.SendOverhead.Time(1), RecvOverhead: x.RecvOverhead.Time(1), Gap: x.Gap, GapPerByte: x.GapPerByte}
}

// LogGPS is LogGP in which long messages wait for their receiver. Ino, Fujimoto and Hagihara 2001.
type LogGPS struct {
	Parameters
	EagerLimit int // bytes of the longest message that does not wait; −1: none, NoLimit: all
}

// NoLimit is the S of a library that sends messages of any size eagerly.
const NoLimit = math.MaxInt

// LogGPS returns the parameters with a limit.
func (x Parameters) LogGPS(s int) LogGPS { return LogGPS{x, s} }

// OneWayTime returns the time of a message to a receiver that waits. A message of more than S bytes
// is preceded by a request and an answer,
//
//	k ≤ S:                    o_s + (k−1) G + L + o_r
//	k > S: 2 (o_s + L + o_r) + o_s + (k−1) G + L + o_r
//
// The request and the answer have the overheads of an empty message.
func (x LogGPS) OneWayTime(k int) unit.Time {
	t := x.Parameters.OneWayTime(k)
	if k > x.EagerLimit {
		t += 2 * (x.SendOverhead.Time(0) + x.L + x.RecvOverhead.Time(0))
	}
	return t
}

// EagerLimit returns the S of a library for a mode and a tier: the size up to which all messages go
// by a protocol whose first packet has all of their data. It is −1 if not even the empty message
// does, NoLimit if all do.
func (l *Library) EagerLimit(m Mode, peer Tier) int {
	s := -1
	for _, r := range l.Proto.Rules {
		upTo := r.MaxBytes
		if upTo < 0 {
			upTo = NoLimit
		}
		if r.Mode != m || !r.Peers.Contains(peer) || upTo <= s {
			continue
		}
		p := FindProtocol(r.Protocol)
		if p == nil || !p.IsEager() {
			return s
		}
		s = max(s, p.Steps[0].Bytes(upTo, l.Proto.FirstBytes))
		if s < upTo || s == NoLimit {
			return s
		}
	}
	return s
}

// PLogP is LogP with overheads and a gap that depend on the size. Its g(m) is the least time
// between messages of m bytes and covers every cause, so g(m) ≥ o_s(m) and g(m) ≥ o_r(m); its L is
// the time from the first byte to the last, less g. Kielmann, Bal and Verstoep 2000.
type PLogP struct {
	L            unit.Time
	SendOverhead Curve // o_s(m)
	RecvOverhead Curve // o_r(m)
	Gap          Curve // g(m)
	Processors   int
}

// OneWayTime returns the time of a message of m bytes,
//
//	L + g(m)
func (x PLogP) OneWayTime(m int) unit.Time { return x.L + x.Gap.Time(m) }

// PLogP returns the parameters as PLogP has them,
//
//	g(m) = max{g + (m−1) G, o_s(m), o_r(m)}
//	L'   = L + o_s(1) + o_r(1) − g(1)
//
// so that a message of one byte takes the same time in both.
func (x Parameters) PLogP() PLogP {
	g := Curve{{0, x.Gap, 0}, {1, x.Gap, x.GapPerByte}}
	y := PLogP{SendOverhead: x.SendOverhead, RecvOverhead: x.RecvOverhead, Gap: largerCurve(largerCurve(g, x.SendOverhead), x.RecvOverhead), Processors: x.Processors}
	y.L = x.OneWayTime(1) - y.Gap.Time(1)
	return y
}

// Parameters returns the LogGP parameters of PLogP. G is taken from a message of m bytes, m large:
//
//	L = L' + g(1) − o_s(1) − o_r(1)
//	o = (o_s(1) + o_r(1)) / 2
//	g = g(1)
//	G = g(m) / m
//
// Kielmann et al. Here the two overheads stay separate functions of the size; LogP and LogGP take
// their values at 1 byte.
func (x PLogP) Parameters(m int) Parameters {
	return Parameters{
		L:            x.L + x.Gap.Time(1) - x.SendOverhead.Time(1) - x.RecvOverhead.Time(1),
		SendOverhead: x.SendOverhead,
		RecvOverhead: x.RecvOverhead,
		Gap:          x.Gap.Time(1),
		GapPerByte:   unit.PerByte(float64(x.Gap.Time(m)) / float64(m)),
		Processors:   x.Processors,
	}
}

// LoGH is LoGH{sSP}, for processors in hypernodes: LogGP between them, and in braces the same
// within one, where latency is neglected. It is for long messages; protocol messages are ignored.
// Al-Tawil and Moritz.
type LoGH struct {
	BetweenHypernodes      Parameters // L, o, G
	Hypernodes             int        // hypernodes
	InsideHypernode        Parameters // overheads s, gap per byte S
	ProcessorsPerHypernode int        // processors of a hypernode
}

// OneWayTime returns the time of a message within a hypernode or between two:
//
//	(8) T_s-r = s_s + s_r + (k−1) S
//	(9) T_s-r = o_s + o_r + (k−1) G + L
//
// (8) ignores the latency of Inside.
func (x LoGH) OneWayTime(inside bool, k int) unit.Time {
	if !inside {
		return x.BetweenHypernodes.OneWayTime(k)
	}
	return x.InsideHypernode.OneWayTime(k) - x.InsideHypernode.L
}
