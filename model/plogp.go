package model

import "github.com/loggp/loggp/model/unit"

// PLogP is LogP with overheads and a gap that depend on the size. Its g(m) is the least time between messages of m bytes
// and covers whatever keeps them apart, so g(m) ≥ o_s(m) and g(m) ≥ o_r(m); its L is from the first byte to the last but
// for g. Kielmann, Bal and Verstoep 2000.
type PLogP struct {
	L     unit.Time
	SendO Curve // o_s(m)
	RecvO Curve // o_r(m)
	Gap   Curve // g(m)
	P     int
}

// OneWay returns the time of a message of m bytes,
//
//	L + g(m)
func (x PLogP) OneWay(m int) unit.Time { return x.L + x.Gap.Time(m) }

// PLogP returns the parameters as PLogP has them,
//
//	g(m) = max{g + (m−1) G, o_s(m), o_r(m)}
//	L'   = L + o_s(1) + o_r(1) − g(1)
//
// so that a byte takes as long in both.
func (x Parameters) PLogP() PLogP {
	g := Curve{{0, x.Gap, 0}, {1, x.Gap, x.BigGap}}
	y := PLogP{SendO: x.SendO, RecvO: x.RecvO, Gap: upper(upper(g, x.SendO), x.RecvO), P: x.P}
	y.L = x.OneWay(1) - y.Gap.Time(1)
	return y
}

// Parameters returns what LogGP sees of PLogP, with a message of m bytes, m large, to see G by:
//
//	L = L' + g(1) − o_s(1) − o_r(1)
//	o = (o_s(1) + o_r(1)) / 2
//	g = g(1)
//	G = g(m) / m
//
// Kielmann et al. The overheads stay apart and dependent on the size here; LogP and LogGP take them at 1 byte.
func (x PLogP) Parameters(m int) Parameters {
	return Parameters{
		L:      x.L + x.Gap.Time(1) - x.SendO.Time(1) - x.RecvO.Time(1),
		SendO:  x.SendO,
		RecvO:  x.RecvO,
		Gap:    x.Gap.Time(1),
		BigGap: unit.PerByte(float64(x.Gap.Time(m)) / float64(m)),
		P:      x.P,
	}
}
