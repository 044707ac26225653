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

	SmallestBytes int           // bytes of the smallest message, which stands for one without data
	Latency       TimeEstimate  // RTT(0)/2 − g(0)
	ValuesBySize  []PLogPValues // in order
}

// PLogPValues is the functions of PLogP at a size.
type PLogPValues struct {
	Bytes                           int
	SendOverhead, RecvOverhead, Gap TimeEstimate
}

// TimeEstimate is a time with its interval; NaN where the samples do not determine it.
type TimeEstimate struct {
	Value, Low, High float64
	FewestSamples    int // samples of the cell that has the fewest
}

var unknownTimeInterval = TimeEstimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}

// positiveTimeEstimate returns the time of a cell with its interval; NaN if it is not above zero.
func positiveTimeEstimate(c *clean.Cell) TimeEstimate {
	if c == nil || c.Value <= 0 {
		return unknownTimeInterval
	}
	low, high := c.DisplayedInterval()
	return TimeEstimate{clean.RoundDigits(c.Value), clean.RoundDigits(max(low, 0)), clean.RoundDigits(high), c.FewestSamples}
}

// addPLogP adds the view of a mode that has round trips.
//
// Kielmann's round trip is m bytes there and none back, so that g(m) = RTT(m) − RTT(0) + g(0). Ours
// has as many bytes on either way, which makes that
//
//	g(m) = (RTT(m) − RTT(0))/2 + g(0)
//	L    = RTT(0)/2 − g(0)
//
// and g(0) is the interval between the messages of a burst, or of a train. The smallest size stands
// for 0.
func (m Mode) addPLogP() {
	rtt, burst := m.TimerCurve(sample.TimerRTT), m.GapCurve()
	if rtt == nil {
		return
	}
	p := PLogP{Platform: m.Platform, Library: m.Library, Place: m.Place, Mode: m.Name, Latency: unknownTimeInterval}
	least := rtt.Cells[0]
	p.SmallestBytes = least.Bytes
	first := burst.CellOf(least.Bytes)
	if first != nil {
		l := clean.LinearCombination([]clean.Cell{least, *first}, []float64{0.5, -1}, m.Options.ConfidenceLevel)
		if l.Low > 0 {
			p.Latency = positiveTimeEstimate(&l)
		}
	}
	send, receive := m.SendOverheadCurve(), m.ReceiveOverheadCurve()
	for _, x := range rtt.Cells {
		s := PLogPValues{Bytes: x.Bytes, SendOverhead: positiveTimeEstimate(send.CellOf(x.Bytes)), RecvOverhead: positiveTimeEstimate(receive.CellOf(x.Bytes)), Gap: unknownTimeInterval}
		if first != nil {
			g := *first
			if x.Bytes != least.Bytes {
				g = clean.LinearCombination([]clean.Cell{x, least, *first}, []float64{0.5, -0.5, 1}, m.Options.ConfidenceLevel)
			}
			s.Gap = positiveTimeEstimate(&g)
		}
		p.ValuesBySize = append(p.ValuesBySize, s)
	}
	m.PLogPParameters = append(m.PLogPParameters, p)
}

// LogGPOfPLogP is what PLogP says in the terms of LogGP, for showing. The models compute with
// model.Parameters.
type LogGPOfPLogP struct{ LatencyMicros, OverheadMicros, GapMicros, GapMicrosPerByte float64 }

// ToLogGP converts to LogGP, by the formulas of Kielmann et al.:
//
//	L' = L + g(0) − o_s(0) − o_r(0), o = (o_s(0) + o_r(0))/2, g = g(0), G = g(m)/m
//
// m being the largest size, in microseconds and microseconds a byte. They write the first three of
// one byte. What is not known, or not above zero, is NaN.
func (p PLogP) ToLogGP() LogGPOfPLogP {
	if len(p.ValuesBySize) == 0 {
		return LogGPOfPLogP{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	small, large := p.ValuesBySize[0], p.ValuesBySize[len(p.ValuesBySize)-1]
	out := LogGPOfPLogP{
		LatencyMicros: p.Latency.Value + small.Gap.Value - small.SendOverhead.Value - small.RecvOverhead.Value, OverheadMicros: (small.SendOverhead.Value + small.RecvOverhead.Value) / 2,
		GapMicros: small.Gap.Value, GapMicrosPerByte: large.Gap.Value / float64(large.Bytes),
	}
	for _, x := range []*float64{&out.LatencyMicros, &out.OverheadMicros, &out.GapMicros, &out.GapMicrosPerByte} {
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
		add := func(name string, bytes int, t TimeEstimate) {
			rows = append(rows, []string{p.Platform, p.Library, p.Place, p.Mode, name, table.SizeText(bytes), table.NumberText(t.Value), table.NumberText(t.Low), table.NumberText(t.High), UnitMicros})
		}
		add("L", p.SmallestBytes, p.Latency)
		for _, s := range p.ValuesBySize {
			add("o_s", s.Bytes, s.SendOverhead)
			add("o_r", s.Bytes, s.RecvOverhead)
			add("g", s.Bytes, s.Gap)
		}
	}
	return table.WriteText(w, "functions of PLogP", plogpHeader, rows)
}
