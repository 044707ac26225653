package loggp

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/format"
)

// trustNote describes the accuracy of predictions: from the intervals of the parameters, and from
// effects that neither parameters nor platform include.
func (m collectiveModel) trustNote(operations []reports.PredictedCollective) string {
	var sentences []string
	if m.isPlatform {
		sentences = append(sentences, "Single messages were measured on the emulated machine, without noise; what they share is as the platform's file says. Left out are back-pressure, retransmissions, and links of a torus.")
	} else {
		sentences = append(sentences, m.intervalSentence())
		if s := m.missingSentence(); s != "" {
			sentences = append(sentences, s)
		}
		sentences = append(sentences, "Combining takes no time.")
		if s := m.contentionSentence(operations); s != "" {
			sentences = append(sentences, s)
		}
	}
	sentences = append(sentences, "Measure the near ties before you choose: 'loggp measure --collective NAME -o FILE', and 'loggp compare --samples FILE' prints the error of the model and whether it finds the fastest algorithm.")
	return strings.Join(sentences, " ")
}

// usedKinds are the kinds of call parameters that predictions of collective operations use.
var usedKinds = []params.Kind{params.SendOverhead, params.RecvOverhead, params.OneWayTime, params.Latency, params.Gap, params.GapPerByte}

// intervalSentence names the parameter with the largest relative interval.
func (m collectiveModel) intervalSentence() string {
	var widest params.Parameter
	used, weak, width := 0, 0, 0.0
	for _, place := range m.params {
		for _, p := range place {
			if p.Mode != m.call || !slices.Contains(usedKinds, p.Kind()) || math.IsNaN(p.Value) {
				continue
			}
			used++
			if p.Verdict != params.GoodVerdict {
				weak++
			}
			if w := (p.High - p.Low) / 2 / p.Value; w > width {
				widest, width = p, w
			}
		}
	}
	s := fmt.Sprintf("%d of %s of %s are weak or bounds", weak, format.Plural(used, "parameter"), m.call)
	if width > 0 {
		s += fmt.Sprintf("; the widest 95 %% interval is ±%s %%, of %s from %s", unit.Rounded(100*width, 2), widest.Name, unit.Bytes(max(widest.From, 0)))
	}
	return s + "."
}

// missingSentence says what replaces missing parameters.
func (m collectiveModel) missingSentence() string {
	var missing []string
	x := &m.Parameters
	if len(x.OneWayCurve) == 0 {
		missing = append(missing, "T (a rendezvous costs what a short message does)")
	} else if x.EagerLimit == 0 {
		missing = append(missing, "S (no send waits for its receiver, unless o_r contains the transfer)")
	}
	if x.GapPerByte == 0 {
		missing = append(missing, "G (interfaces carry any number of bytes at once)")
	}
	if len(x.Start) == 0 {
		missing = append(missing, "o_s of isend (a posted send takes what a send does)")
	}
	if len(x.Posted) == 0 {
		missing = append(missing, "o_r of rsend (a posted receive takes what a late one does)")
	}
	if len(missing) == 0 {
		return ""
	}
	return "Missing: " + strings.Join(missing, "; ") + "."
}

// contentionSentence says how much longer operations take if all messages share one medium, which
// parameters of two ranks do not show.
func (m collectiveModel) contentionSentence(operations []reports.PredictedCollective) string {
	most, name, bytes := 1.0, "", 0
	for _, o := range operations {
		for _, a := range o.Algorithms {
			for i, c := range a.Costs {
				if longer := float64(m.GapPerByte.Time(c.Bytes)) / float64(c.LastEnd); longer > most && a.Positions[i].HasTime() {
					most, name, bytes = longer, o.Operation+" "+a.Name, o.Sizes[i]
				}
			}
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("Two ranks do not show what a network takes of all: if all messages went through one medium or one interface, %s of %s would take %s times as long, the most of these.", name, unit.Bytes(bytes), unit.Rounded(most, 2))
}
