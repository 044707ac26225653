package paper

import (
	"fmt"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// configured are quantities that the platform's file says: the time of the first byte on the wire,
// and what a call that waits does after its protocol is done, at the sender longer than at the
// receiver.
var configured = map[string]int{"wire": 1, "after_protocol": 2}

// descriptions are the texts that answer to published ones, with the number of their arguments.
var descriptions = map[string]int{"description": 1, "clock": 1, "interconnect": 1, "ranks": 1, "equation": 2}

// configure adds what the platform's file says of a subject. H and P of the file are predictions.
func (x *run) configure(s *site) {
	m, library := s.job.Platform.Machine, s.job.Library
	there, _ := s.path()
	x.measured[expr.Key("wire", s.ID)] = micros(model.MessageView(m, library, there).L)
	x.measured[expr.Key("after_protocol", s.ID, "ssend")] = micros(library.Software[model.ProtoSynchronous] - library.Software[model.ProtoComplete])
	if n, ok := m.Network.(*model.Hypernodes); ok {
		x.predicted[expr.Key("H", s.ID)] = expr.Exactly(float64(len(n.Sizes)))
		x.predicted[expr.Key("P", s.ID)] = expr.Exactly(float64(n.Sizes[0]))
	}
	for name, text := range map[string]string{
		"description":  m.Description,
		"clock":        fmt.Sprintf("programs read a clock of %s MHz", expr.Digits(float64(unit.Microsecond)/float64(m.Timer))),
		"interconnect": m.Interconnect(),
		"ranks":        fmt.Sprintf("%d ranks run", s.job.Ranks),
	} {
		x.texts[expr.Key(name, s.ID)] = text
	}
}

// equations adds the texts equation(protocol, symbol): the sums of the models for T_s and T_s-r.
func (x *run) equations() {
	for _, p := range model.Protocols {
		e := p.Equations()
		x.texts[expr.Key("equation", p.Name, "T_s")] = sum(e.Sender[:])
		x.texts[expr.Key("equation", p.Name, "T_s-r")] = sum(e.Delivery[:])
	}
	// One parameter of the model of long messages is 1 and all others are 0.
	const one = unit.Microsecond
	half := []model.Parameters{{SendO: model.Constant(one)}, {L: one}, {RecvO: model.Constant(one)}, {BigGap: unit.PerByte(one)}}
	for _, inside := range []bool{false, true} {
		var n []int
		for _, h := range half {
			n = append(n, int(model.LoGH{Between: h}.OneWay(inside, 2)/one))
		}
		for _, i := range []int{0, 2, 3} {
			n = append(n, int(model.LoGH{Inside: half[i]}.OneWay(inside, 2)/one))
		}
		where := map[bool]string{false: "inter-hypernode, long", true: "intra-hypernode, long"}[inside]
		x.texts[expr.Key("equation", where, "T_s-r")] = sum(n)
	}
}

// sum prints coefficients of o_s, L, o_r, (k−1) G, s_s, s_r and (k−1) S, without those that are zero.
func sum(coefficients []int) string {
	symbols := []string{"o_s", "L", "o_r", "(k−1) G", "s_s", "s_r", "(k−1) S"}
	text := ""
	for i, n := range coefficients {
		text += fmt.Sprintf(" + %d %s", n, symbols[i])
	}
	return tidy(text[len(" + "):])
}

// functions are the checks that no expression can state. They say whether the claim holds, and by
// what.
var functions = map[string]func() (holds bool, evidence string){
	// Each parameter has a value that no sum of the others has.
	"simple_model_is_protocol_model": func() (bool, string) {
		x := model.Parameters{L: 1, SendO: model.Constant(10), RecvO: model.Constant(100), BigGap: 1000}
		protocol, simple := model.Delivery(model.T, x, 1), x.OneWay(1)
		return protocol == simple, fmt.Sprintf("with L = 1, o_s = 10, o_r = 100, G = 1000 and k = 1 the protocol T takes %d, the simple model %d", protocol, simple)
	},
}
