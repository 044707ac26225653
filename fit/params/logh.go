package params

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Call returns what LoGH{sSP} needs of one place to predict the messages of a blocking call: the overheads and L of a small message, and the gap per
// byte. The send overhead of ssend, which waits for its receiver, is that of issend. Where the call itself shows no L, that of ssend counts, an upper bound; within a node it is zero if there is none, as the model
// has it. It is an error if something else is missing.
func Call(ps []Parameter, call string) (model.Parameters, error) {
	x := model.Parameters{L: micros(Value(ps, call, "L", 0))}
	sending := call
	if call == "ssend" {
		sending = "issend"
	}
	send, sends := Value(ps, sending, "o_s", 0)
	receive, receives := Value(ps, call, "o_r", 0)
	if !sends || !receives {
		return x, fmt.Errorf("no o_s of mode %s, or no o_r of %s, among the parameters", sending, call)
	}
	x.SendO, x.RecvO = model.Constant(unit.FromMicros(send)), model.Constant(unit.FromMicros(receive))
	if x.L == 0 {
		l, ok := Value(ps, "ssend", "L", 0)
		if !ok && !Inside(ps) {
			return x, fmt.Errorf("no L of mode %s or ssend among the parameters: measure ssend too", call)
		}
		x.L = micros(l, ok)
	}
	g, ok := Value(ps, call, "G", 0)
	if !ok {
		return x, fmt.Errorf("no G of mode %s among the parameters: measure both %s and i%s", call, call, call)
	}
	x.BigGap = unit.PerByte(g * float64(unit.Microsecond))
	return x, nil
}
