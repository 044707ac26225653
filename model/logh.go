package model

import "github.com/loggp/loggp/model/unit"

// LoGH is LoGH{sSP}, for processors in hypernodes: LogGP between them, and in braces the same within one, where latency
// is neglected. It is for long messages; protocol messages are ignored. Al-Tawil and Moritz.
type LoGH struct {
	Between Parameters // L, o, G
	H       int        // hypernodes
	Inside  Parameters // overheads s, gap per byte S
	P       int        // processors of a hypernode
}

// OneWay returns the time of a message within a hypernode or between two:
//
//	(8) T_s-r = s_s + s_r + (k−1) S
//	(9) T_s-r = o_s + o_r + (k−1) G + L
//
// What latency Inside has is left out of (8).
func (x LoGH) OneWay(inside bool, k int) unit.Time {
	if !inside {
		return x.Between.OneWay(k)
	}
	return x.Inside.OneWay(k) - x.Inside.L
}
