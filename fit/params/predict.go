package params

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Message is the mode of low-level messages, which equations (1) to (7) are about.
const Message = "message"

// Model returns the parameters of a mode as the models take them. It is an error if o_s, o_r or L is missing: without
// them there is nothing to compute with. A missing G or g is zero, and so is L within a node, where LoGH{sSP} neglects it.
func Model(ps []Parameter, mode string) (model.Parameters, error) {
	x := model.Parameters{SendO: overhead(ps, mode, "o_s"), RecvO: overhead(ps, mode, "o_r")}
	for _, need := range []string{"o_s", "o_r", "L"} {
		if need == "L" && Inside(ps) {
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

// Inside says whether parameters are of a place within a node.
func Inside(ps []Parameter) bool {
	return len(ps) > 0 && !slices.ContainsFunc(ps, func(p Parameter) bool { return p.Place != "intra" })
}

// hint says what to do about a parameter that is missing.
func hint(ps []Parameter, mode string) string {
	switch {
	case mode != Message:
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
