package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// What is missing for equations (1) to (7) is said, and what to do: low-level messages that were measured are not to be measured again.
func TestModelMissing(t *testing.T) {
	of := func(mode string) []Parameter {
		row := Parameter{Place: "inter", Mode: mode, Name: "o_s", Unit: Micros, Value: 1, Method: "m"}
		other := row
		other.Name = "o_r"
		return []Parameter{row, other}
	}
	for mode, want := range map[string]string{
		"send":  "no o_s of mode message among the parameters: measure low-level messages too",
		message: "no L of mode message among the parameters: low-level messages were measured, and loggp fit says why",
	} {
		if _, err := Model(of(mode), message); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parameters of %s: %v, want %q", mode, err, want)
		}
	}
}

// What equations (8) and (9) take, and what they make of it: computed by hand.
func TestCall(t *testing.T) {
	row := func(place, mode, name, unit string, from int, value float64) Parameter {
		return Parameter{Place: place, Mode: mode, Name: name, Unit: unit, From: from, To: from + 100, Value: value, Method: "m"}
	}
	between := []Parameter{
		row("inter", "send", "o_s", Micros, 16, 30), row("inter", "send", "o_s", PerByte, 16, 1), row("inter", "send", "o_r", Micros, 16, 20),
		row("inter", "send", "G", PerByte, 16, 0.05), row("inter", "ssend", "L", Micros, 16, 7),
		row("inter", "ssend", "o_s", Micros, 16, 90), row("inter", "issend", "o_s", Micros, 16, 31), row("inter", "ssend", "o_r", Micros, 16, 21),
		row("inter", "ssend", "G", PerByte, 16, 0.06),
	}
	var within []Parameter
	for _, p := range between {
		if p.Name != "L" {
			p.Place = "intra"
			within = append(within, p)
		}
	}
	for _, c := range []struct {
		ps     []Parameter
		inside bool
		call   string
		want   float64 // of 1001 bytes
	}{
		{between, false, "send", 14 + 20 + 50 + 7}, {within, true, "send", 14 + 20 + 50}, {between, false, "ssend", 31 + 21 + 60 + 7},
	} {
		x, err := Call(c.ps, c.call)
		if err != nil {
			t.Errorf("%s: %v", c.call, err)
			continue
		}
		if got := (model.LoGH{Between: x, Inside: x}).OneWay(c.inside, 1001); got < unit.FromMicros(c.want-0.001) || got > unit.FromMicros(c.want+0.001) {
			t.Errorf("%s, inside %v: %v, want %v us", c.call, c.inside, got, c.want)
		}
		p, ok := Predict(Query{Mode: c.call, Quantity: OneWay, Bytes: 1001, Parameters: c.ps}) // compare says what predict says
		if !ok || math.Abs(p.Micros-c.want) > 0.001 || p.Basis != Validation {
			t.Errorf("%s, inside %v: %+v, want %v us", c.call, c.inside, p, c.want)
		}
	}
	without := func(mode, name string) (out []Parameter) {
		for _, p := range between {
			if p.Mode != mode || p.Name != name {
				out = append(out, p)
			}
		}
		return out
	}
	for says, ps := range map[string][]Parameter{"no o_s of mode send": without("send", "o_s"), "no L of mode send or ssend": without("ssend", "L"), "measure both send and isend": without("send", "G")} {
		if _, err := Call(ps, "send"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
