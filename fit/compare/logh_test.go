package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// What is missing for equations (1) to (7) is said, and what to do: low-level messages that were
// measured are not to be measured again.
func TestModelMissing(t *testing.T) {
	of := func(mode string) []params.Parameter {
		row := params.Parameter{Place: "inter", Mode: mode, Name: "o_s", Unit: params.UnitMicros, Value: 1, Method: "m"}
		other := row
		other.Name = "o_r"
		return []params.Parameter{row, other}
	}
	for mode, want := range map[string]string{
		"send":              "no o_s of mode message among the parameters: measure low-level messages too",
		sample.LowLevelMode: "no L of mode message among the parameters: low-level messages were measured, and loggp fit says why",
	} {
		if _, err := params.ModelParameters(of(mode), sample.LowLevelMode); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parameters of %s: %v, want %q", mode, err, want)
		}
	}
}

// What equations (8) and (9) take, and what they make of it: computed by hand.
func TestCall(t *testing.T) {
	row := func(place, mode, name, unit string, from int, value float64) params.Parameter {
		return params.Parameter{Place: place, Mode: mode, Name: name, Unit: unit, From: from, To: from + 1000, Value: value, Method: "m"}
	}
	between := []params.Parameter{
		row("inter", "send", "o_s", params.UnitMicros, 16, 30), row("inter", "send", "o_s", params.UnitMicrosPerByte, 16, 1), row("inter", "send", "o_r", params.UnitMicros, 16, 20),
		row("inter", "send", "G", params.UnitMicrosPerByte, 16, 0.05), row("inter", "ssend", "L", params.UnitMicros, 16, 7),
		row("inter", "ssend", "o_s", params.UnitMicros, 16, 90), row("inter", "issend", "o_s", params.UnitMicros, 16, 31), row("inter", "ssend", "o_r", params.UnitMicros, 16, 21),
		row("inter", "ssend", "G", params.UnitMicrosPerByte, 16, 0.06),
	}
	var within []params.Parameter
	for _, p := range between {
		if p.Name != "L" {
			p.Place = "intra"
			within = append(within, p)
		}
	}
	for _, c := range []struct {
		ps     []params.Parameter
		inside bool
		call   string
		want   float64 // of 1001 bytes
	}{
		{between, false, "send", 30 + 20 + 50 + 7}, {within, true, "send", 30 + 20 + 50}, {between, false, "ssend", 31 + 21 + 60 + 7},
	} {
		x, err := params.BlockingCallParameters(c.ps, c.call)
		if err != nil {
			t.Errorf("%s: %v", c.call, err)
			continue
		}
		if got := (model.LoGH{BetweenHypernodes: x, InsideHypernode: x}).OneWayTime(c.inside, 1001); got < unit.FromMicros(c.want-0.001) || got > unit.FromMicros(c.want+0.001) {
			t.Errorf("%s, inside %v: %v, want %v us", c.call, c.inside, got, c.want)
		}
		p, ok := PredictFromParameters(PredictionQuery{Mode: c.call, Quantity: OneWay, Bytes: 1001, Parameters: c.ps}) // compare says what predict says
		if !ok || math.Abs(p.Micros-c.want) > 0.001 || p.Basis != ValidationBasis {
			t.Errorf("%s, inside %v: %+v, want %v us", c.call, c.inside, p, c.want)
		}
	}
	without := func(mode, name string) (out []params.Parameter) {
		for _, p := range between {
			if p.Mode != mode || p.Name != name {
				out = append(out, p)
			}
		}
		return out
	}
	for says, ps := range map[string][]params.Parameter{"no o_s of mode send": without("send", "o_s"), "no L of mode send or ssend": without("ssend", "L"), "measure both send and isend": without("send", "G")} {
		if _, err := params.BlockingCallParameters(ps, "send"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
