package model

import "github.com/loggp/loggp/model/unit"

// LogP is the model for messages of a word. Culler et al. 1993.
type LogP struct {
	L        unit.Time // latency
	Overhead unit.Time // o
	Gap      unit.Time // g
	P        int
}

// OneWay returns the time of a message,
//
//	o + L + o
func (x LogP) OneWay() unit.Time { return 2*x.Overhead + x.L }

// LogP returns the parameters of messages of one byte. LogP has one overhead,
//
//	o = (o_s(1) + o_r(1)) / 2
//
// and the time of a message stays what it is, but for the last picosecond.
func (x Parameters) LogP() LogP {
	g := x.LogGP()
	return LogP{L: g.L, Overhead: (g.SendO + g.RecvO) / 2, Gap: g.Gap, P: x.P}
}

// Parameters returns the parameters with o for both overheads, and no time for more than the first byte.
func (x LogP) Parameters() Parameters {
	o := Constant(x.Overhead)
	return Parameters{L: x.L, SendO: o, RecvO: o, Gap: x.Gap, P: x.P}
}

// LogGP returns the parameters with the overheads of messages of one byte. It is a machine too: one that has nothing
// else.
func (x Parameters) LogGP() LogGP {
	return LogGP{L: x.L, SendO: x.SendO.Time(1), RecvO: x.RecvO.Time(1), Gap: x.Gap, BigGap: x.BigGap}
}
