package model

import "github.com/loggp/loggp/model/unit"

// Parameters are those of LogGP, with o_s and o_r apart and, if need be, dependent on the size of the message. They are what is
// fitted to measurements, and what equations (1) to (9) are about. Times are picoseconds, finer than any measurement, so
// that sums are exact.
//
// Whether they are those of low-level messages or of whole ones is for whoever has them to know: equations (1) to (7) want
// the former, (8) and (9) the latter.
type Parameters struct {
	L      unit.Time    // latency. A fit may find a negative one
	SendO  Curve        // o_s: the processor is busy sending
	RecvO  Curve        // o_r: the processor is busy receiving
	Gap    unit.Time    // g: least time between the starts of messages
	BigGap unit.PerByte // G: per byte of a long message after the first
	GetGap unit.PerByte // G of what is pulled; 0: BigGap. The paper takes both as equal
	PutGap unit.PerByte // G of what is pushed; 0: BigGap
	P      int          // processors; 0: not said

	// Stored says that the processor itself sends the bytes, as where it stores them in another's memory, so that o_s(k) has what is G per byte.
	Stored bool
}

// Flow returns what the bytes of a message take beside the overheads: (k−1) G, or nothing where o_s(k) has it.
func (x Parameters) Flow(k int) unit.Time {
	if x.Stored {
		return 0
	}
	return long(x.BigGap, k)
}

// Parameters returns the parameters of the machine.
func (g LogGP) Parameters() Parameters {
	return Parameters{L: g.L, SendO: Constant(g.SendO), RecvO: Constant(g.RecvO), Gap: g.Gap, BigGap: g.BigGap}
}

// OneWay returns the time of a long message, protocol messages ignored: LogGP itself, and between hypernodes
//
//	(9) T_s-r = o_s + o_r + (k−1) G + L
//
// Al-Tawil and Moritz, equation (9); Alexandrov et al. 1995. With k = 1 it is equation (2).
func (x Parameters) OneWay(k int) unit.Time {
	return x.SendO.Time(k) + x.RecvO.Time(k) + x.Flow(k) + x.L
}

// long returns (k−1)·G.
func long(g unit.PerByte, k int) unit.Time { return g.Time(max(k-1, 0)) }

// pulled returns the G of a message that is read by its receiver, pushed of one that is written by its sender.
func (x Parameters) pulled() unit.PerByte { return orElse(x.GetGap, x.BigGap) }
func (x Parameters) pushed() unit.PerByte { return orElse(x.PutGap, x.BigGap) }

func orElse(g, fallback unit.PerByte) unit.PerByte {
	if g == 0 {
		return fallback
	}
	return g
}
