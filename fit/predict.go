package fit

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// message is the mode of low-level messages, which equations (1) to (7) are about.
const message = "message"

// Model returns the parameters of a mode as the models take them. It is an error if o_s, o_r or L is missing: without
// them there is nothing to compute with. A missing G or g is zero, and so is L within a node, where LoGH{sSP} neglects it.
func Model(ps []Parameter, mode string) (model.Parameters, error) {
	x := model.Parameters{SendO: overhead(ps, mode, "o_s"), RecvO: overhead(ps, mode, "o_r")}
	for _, need := range []string{"o_s", "o_r", "L"} {
		if need == "L" && inside(ps) {
			continue
		}
		if _, ok := Value(ps, mode, need, 0); !ok {
			return x, fmt.Errorf("no %s of mode %s among the parameters%s", need, mode, hint(ps, mode))
		}
	}
	x.L = micros(Value(ps, mode, "L", 0))
	x.Gap = micros(Value(ps, mode, "g", 0))
	for _, p := range ps {
		if p.Mode != mode || p.Name != "G" || !(p.Value > 0) {
			continue
		}
		g := unit.PerByte(p.Value * float64(unit.Microsecond))
		switch {
		case p.Method == sample.Get:
			x.GetGap = g
		case p.Method == sample.Put:
			x.PutGap = g
		case x.BigGap == 0:
			x.BigGap = g
		}
	}
	return x, nil
}

// inside says whether parameters are of a place within a node.
func inside(ps []Parameter) bool {
	return len(ps) > 0 && !slices.ContainsFunc(ps, func(p Parameter) bool { return p.Place != "intra" })
}

// hint says what to do about a parameter that is missing.
func hint(ps []Parameter, mode string) string {
	switch {
	case mode != message:
		return ""
	case slices.ContainsFunc(ps, func(p Parameter) bool { return p.Mode == mode }):
		return ": low-level messages were measured, and loggp fit says why they show none"
	}
	return ": measure low-level messages too (loggp measure --level message) and fit both files together"
}

func micros(v float64, ok bool) unit.Time {
	if !ok {
		return 0
	}
	return unit.FromMicros(v)
}

// overhead returns an overhead as a curve, a piece for each range of sizes.
func overhead(ps []Parameter, mode, name string) model.Curve {
	var c model.Curve
	method := ""
	for _, p := range ps {
		if p.Mode != mode || p.Name != name || p.Unit != Micros || p.Value != p.Value || method != "" && p.Method != method {
			continue
		}
		method = p.Method
		c = append(c, model.Piece{
			From: max(p.From, 0), At: unit.FromMicros(p.Value), PerByte: unit.PerByte(slope(ps, p) * float64(unit.Microsecond)),
		})
	}
	return c
}

// Predict is a Predictor from parameters alone. T_s and T_sr come from equations (1) to (7) with the parameters of
// low-level messages, one-way times of calls from equation (9), within a node (8), with what Call takes: both are validations. Overheads and remote
// accesses are what the parameters were fitted to, so that their errors are only residuals.
func Predict(q Query) (Prediction, bool) {
	mode := q.Mode
	if q.Quantity == sample.Sender || q.Quantity == sample.OneWay {
		mode = message
	}
	switch q.Quantity {
	case "o_s", "o_r":
		v, ok := Value(q.Parameters, mode, q.Quantity, q.Bytes)
		return Prediction{v, Calibration}, ok
	}
	if q.Quantity == OneWay && mode != message {
		x, err := Call(q.Parameters, mode)
		return Prediction{model.LoGH{Between: x, Inside: x}.OneWay(inside(q.Parameters), q.Bytes).Micros(), Validation}, err == nil
	}
	x, err := Model(q.Parameters, mode)
	if err != nil {
		return Prediction{}, false
	}
	p := model.Named(q.Protocol)
	var t unit.Time
	switch {
	case q.Quantity == OneWay:
		// Where an overhead has the bytes in it, G has them once more: the rest is what small messages cost.
		small := model.Parameters{SendO: model.Constant(x.SendO.Time(0)), RecvO: model.Constant(x.RecvO.Time(0)), L: x.L, BigGap: x.BigGap}
		t = small.OneWay(q.Bytes)
	case q.Quantity == sample.Sender && p != nil && q.Mode != "bsend" && q.Mode != "ibsend": // those end before the protocol does
		t = model.SenderTime(p, x, q.Bytes)
	case q.Quantity == sample.OneWay && p != nil:
		t = model.Completion(p, x, q.Bytes)
	default:
		return Prediction{}, false
	}
	return Prediction{t.Micros(), Validation}, true
}
