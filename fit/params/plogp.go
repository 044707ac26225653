package params

import (
	"io"
	"math"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/table"
)

// PLogP is what the parameterized LogP model (Kielmann, Bal, Verstoep 2000) has of a mode:
// overheads and gap are functions of the size, and what is left of the way is one number. Times are
// in microseconds.
type PLogP struct {
	Platform, Library, Place, Mode string

	Least int    // bytes of the smallest message, which stands for one without data
	L     Timed  // RTT(0)/2 − g(0)
	Sizes []Size // in order
}

// Size is the functions of PLogP at a size.
type Size struct {
	Bytes             int
	SendO, RecvO, Gap Timed
}

// Timed is a time with its interval; NaN where the samples do not determine it.
type Timed struct {
	Value, Low, High float64
	Least            int // samples of the cell that has the fewest
}

var untimed = Timed{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}

// timed returns what a cell says, if it is more than nothing.
func timed(c *clean.Cell) Timed {
	if c == nil || c.Value <= 0 {
		return untimed
	}
	low, high := c.Shown()
	return Timed{clean.Rounded(c.Value), clean.Rounded(max(low, 0)), clean.Rounded(high), c.Least}
}

// plogp adds the view of a mode that has round trips.
//
// Kielmann's round trip is m bytes there and none back, so that g(m) = RTT(m) − RTT(0) + g(0). Ours
// has as many bytes on either way, which makes that
//
//	g(m) = (RTT(m) − RTT(0))/2 + g(0)
//	L    = RTT(0)/2 − g(0)
//
// and g(0) is the interval between the messages of a burst, or of a train. The smallest size stands
// for 0.
func (m Mode) plogp() {
	rtt, burst := m.Timer(sample.RTT), m.Burst()
	if rtt == nil {
		return
	}
	p := PLogP{Platform: m.Platform, Library: m.Library, Place: m.Place, Mode: m.Name, L: untimed}
	least := rtt.Cells[0]
	p.Least = least.Bytes
	first := burst.Cell(least.Bytes)
	if first != nil {
		l := clean.Combine([]clean.Cell{least, *first}, []float64{0.5, -1}, m.O.Level)
		if l.Low > 0 {
			p.L = timed(&l)
		}
	}
	send, receive := m.SendOverhead(), m.ReceiveOverhead()
	for _, x := range rtt.Cells {
		s := Size{Bytes: x.Bytes, SendO: timed(send.Cell(x.Bytes)), RecvO: timed(receive.Cell(x.Bytes)), Gap: untimed}
		if first != nil {
			g := *first
			if x.Bytes != least.Bytes {
				g = clean.Combine([]clean.Cell{x, least, *first}, []float64{0.5, -0.5, 1}, m.O.Level)
			}
			s.Gap = timed(&g)
		}
		p.Sizes = append(p.Sizes, s)
	}
	m.Views = append(m.Views, p)
}

// LogGP is what PLogP says in the terms of LogGP.
type LogGP struct{ L, O, Gap, BigGap float64 }

// LogGP converts to LogGP, by the formulas of Kielmann et al.:
//
//	L' = L + g(0) − o_s(0) − o_r(0), o = (o_s(0) + o_r(0))/2, g = g(0), G = g(m)/m
//
// m being the largest size, in microseconds and microseconds a byte. They write the first three of
// one byte. What is not known, or not above zero, is NaN.
func (p PLogP) LogGP() LogGP {
	if len(p.Sizes) == 0 {
		return LogGP{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	small, large := p.Sizes[0], p.Sizes[len(p.Sizes)-1]
	out := LogGP{
		L: p.L.Value + small.Gap.Value - small.SendO.Value - small.RecvO.Value, O: (small.SendO.Value + small.RecvO.Value) / 2,
		Gap: small.Gap.Value, BigGap: large.Gap.Value / float64(large.Bytes),
	}
	for _, x := range []*float64{&out.L, &out.O, &out.Gap, &out.BigGap} {
		if !(*x > 0) || math.IsInf(*x, 0) {
			*x = math.NaN()
		}
	}
	return out
}

const plogpHeader = "platform,library,place,mode,function,bytes,value,ci_low,ci_high,unit"

// WritePLogP writes views as CSV, a row for each function at each size: o_s, o_r, g, and L at the
// smallest.
func WritePLogP(w io.Writer, views []PLogP) error {
	var rows [][]string
	for _, p := range views {
		add := func(name string, bytes int, t Timed) {
			rows = append(rows, []string{p.Platform, p.Library, p.Place, p.Mode, name, table.SizeText(bytes), table.NumberText(t.Value), table.NumberText(t.Low), table.NumberText(t.High), Micros})
		}
		add("L", p.Least, p.L)
		for _, s := range p.Sizes {
			add("o_s", s.Bytes, s.SendO)
			add("o_r", s.Bytes, s.RecvO)
			add("g", s.Bytes, s.Gap)
		}
	}
	return table.WriteText(w, "functions of PLogP", plogpHeader, rows)
}
