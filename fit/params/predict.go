package params

import (
	"errors"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// ModelParameters returns the parameters of a mode as the models take them. It is a
// *MissingParameterError if o_s, o_r, L or G is missing: without them there is nothing to compute
// with. L within a node is zero if it is missing, where LoGH{sSP} neglects it; g is the bound if
// only that is known.
func ModelParameters(ps []Parameter, mode string) (model.Parameters, error) {
	x, err := overheadsAndLatencyOfSmallMessage(ps, mode, mode)
	if err != nil {
		return x, err
	}
	x.SendOverhead, x.RecvOverhead = overheadCurve(ps, mode, SendOverhead), overheadCurve(ps, mode, RecvOverhead)
	if g, ok := FindParameter(ps, mode, Gap, 0); ok && g.Value > 0 {
		x.Gap = unit.FromMicros(g.Value)
	}
	for _, p := range ps {
		if p.Mode != mode || p.Kind() != GapPerByte || !(p.Value > 0) {
			continue
		}
		g := unitPerByteFromMicros(p.Value)
		switch {
		case p.Method == sample.TimerGet:
			x.GapPerPulledByte = g
		case p.Method == sample.TimerPut:
			x.GapPerPushedByte = g
		case x.GapPerByte == 0:
			x.GapPerByte = g
		}
	}
	if x.GapPerByte == 0 {
		return x, &MissingParameterError{Name: "G", Mode: mode, Remedy: remedyForMissing(ps, mode)}
	}
	return x, nil
}

// BlockingCallParameters returns what LoGH{sSP} needs of one place to predict the messages of a
// blocking call: the overheads and L of a small message, and the gap per byte. The send overhead of
// ssend, which waits for its receiver, is that of issend. Where the call itself shows no L, the
// bound that ssend shows counts. It is a *MissingParameterError if something else is missing.
func BlockingCallParameters(ps []Parameter, call string) (model.Parameters, error) {
	sending := call
	if call == "ssend" {
		sending = "issend"
	}
	x, err := overheadsAndLatencyOfSmallMessage(ps, call, sending)
	if err != nil {
		return x, err
	}
	g, err := EstimateAt(ps, call, GapPerByte, 0)
	if err != nil {
		return x, &MissingParameterError{Name: "G", Mode: call, Remedy: "measure both " + call + " and i" + call}
	}
	x.GapPerByte = unitPerByteFromMicros(g.Value)
	return x, nil
}

// BlockingCallParametersBySize is BlockingCallParameters for messages of all sizes: overheads and
// one-way time T by ranges of sizes, so that they contain the rendezvous of long messages, and what
// of o_s follows the transfer. Without T it is BlockingCallParameters.
func BlockingCallParametersBySize(ps []Parameter, call string) (model.Parameters, error) {
	way := overheadCurve(ps, call, OneWayTime)
	if len(way) == 0 {
		return BlockingCallParameters(ps, call)
	}
	x := model.Parameters{SendOverhead: overheadCurve(ps, call, SendOverhead), RecvOverhead: overheadCurve(ps, call, RecvOverhead), OneWayCurve: way}
	for _, kind := range []Kind{SendOverhead, RecvOverhead} {
		if _, err := EstimateAt(ps, call, kind, 0); err != nil && !errors.As(err, new(*SizeRangeError)) {
			return x, err
		}
	}
	if g, ok := FindParameter(ps, call, Gap, 0); ok && g.Value > 0 && g.Verdict != UnidentifiableVerdict {
		x.Gap = unit.FromMicros(g.Value)
	}
	if call == "send" {
		x.Start, x.Posted = overheadCurve(ps, "isend", SendOverhead), overheadCurve(ps, "rsend", RecvOverhead)
	}
	if limit, _, err := FindEagerLimit(ps, call); err == nil {
		x.EagerLimit = int(limit)
	}
	ways := SizeRanges(ps, call, OneWayTime)
	longest := ways[len(ways)-1]
	if g, err := EstimateAt(ps, call, GapPerByte, 0); err == nil {
		x.GapPerByte = unitPerByteFromMicros(g.Value)
	} else if longest.Slope > 0 {
		x.GapPerByte = unitPerByteFromMicros(longest.Slope)
	}
	limitGapPerByteToInterfaceRate(&x, longest.To, SizeRanges(ps, call, RecvOverhead))
	return x, nil
}

// limitGapPerByteToInterfaceRate limits G to what interfaces have shown. The longest message of
// those measured has passed them within T. One that is sent at once had arrived when o_r was left
// of T; that counts at the end of the last range of o_r up to the eager limit. G as a slope is
// longer if it contains copies that processors make one after the other.
func limitGapPerByteToInterfaceRate(x *model.Parameters, longest int, receives []SizeRange) {
	limit := func(k int, t unit.Time) {
		if k > 1 && t > 0 {
			x.GapPerByte = min(x.GapPerByte, unit.PerByte(t)/unit.PerByte(k-1))
		}
	}
	limit(longest, x.OneWayCurve.Time(longest))
	for _, r := range slices.Backward(receives) {
		if k := r.To; k <= x.EagerLimit {
			limit(k, x.OneWayCurve.Time(k)-x.RecvOverhead.Time(k))
			return
		}
	}
}

// overheadsAndLatencyOfSmallMessage returns the overheads and L of a small message of a mode, whose
// send overhead is that of another.
func overheadsAndLatencyOfSmallMessage(ps []Parameter, mode, sending string) (model.Parameters, error) {
	var x model.Parameters
	s, err := EstimateAt(ps, sending, SendOverhead, 0)
	if err != nil {
		return x, err
	}
	r, err := EstimateAt(ps, mode, RecvOverhead, 0)
	if err != nil {
		return x, err
	}
	x.SendOverhead, x.RecvOverhead = model.ConstantCurve(unit.FromMicros(s.Value)), model.ConstantCurve(unit.FromMicros(r.Value))
	l, err := EstimateAt(ps, mode, Latency, 0)
	var missing *MissingParameterError
	if errors.As(err, &missing) && mode != sample.LowLevelMode {
		if p, ok := FindParameter(ps, "ssend", Latency, 0); ok && p.Value > 0 {
			l.Value, err = p.Value, nil
		} else {
			missing = &MissingParameterError{Name: "L", Mode: mode + " or ssend", Remedy: "measure ssend too"}
			err = missing
		}
	}
	if err != nil && !AreIntraNode(ps) {
		return x, err
	}
	x.L = unit.FromMicros(l.Value)
	return x, nil
}

func unitPerByteFromMicros(g float64) unit.PerByte {
	return unit.PerByte(g * float64(unit.Microsecond))
}

// AreIntraNode reports whether parameters are of a place within a node.
func AreIntraNode(ps []Parameter) bool {
	return len(ps) > 0 && !slices.ContainsFunc(ps, func(p Parameter) bool { return p.Place != "intra" })
}

// SizeRange is what a parameter that depends on size is from one size to another.
type SizeRange struct {
	From, To           int     // bytes
	ValueAtFrom, Slope float64 // microseconds at From, and microseconds a byte
	Method             string
}

// ValueAt returns the line of the range at k bytes, in microseconds.
func (r SizeRange) ValueAt(k int) float64 { return r.ValueAtFrom + r.Slope*float64(k-r.From) }

// SizeRanges returns the ranges of a kind that depends on size, by the method that counts, in
// order.
func SizeRanges(ps []Parameter, mode string, kind Kind) []SizeRange {
	var out []SizeRange
	first, _ := FindParameter(ps, mode, kind, 0)
	for _, p := range ps {
		if p.Mode != mode || p.Method != first.Method || math.IsNaN(p.Value) {
			continue
		}
		if p.Kind() == kind {
			out = append(out, SizeRange{From: p.From, To: p.To, ValueAtFrom: p.Value, Method: p.Method})
		} else if i := slices.IndexFunc(out, func(r SizeRange) bool { return r.From == p.From && r.To == p.To }); p.Kind() == kindTable[kind].slope && i >= 0 {
			out[i].Slope = p.Value
		}
	}
	slices.SortStableFunc(out, func(a, b SizeRange) int { return a.From - b.From })
	return out
}

// overheadCurve returns an overhead as a curve, a piece for each range of sizes.
func overheadCurve(ps []Parameter, mode string, kind Kind) model.Curve {
	var c model.Curve
	for _, r := range SizeRanges(ps, mode, kind) {
		piece := model.Piece{From: max(r.From, 0), ValueAtFrom: unit.FromMicros(r.ValueAtFrom)}
		if r.Slope > 0 {
			piece.PerByte = unitPerByteFromMicros(r.Slope)
		}
		c = append(c, piece)
	}
	return c
}
