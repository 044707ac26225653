package main

import (
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// bySteps predicts the times of forced protocols by adding up every step of a platform, which the
// equations do not: they leave out what calls and copies cost.
//
// It is for messages that went one of some ways.
func bySteps(ways []way) compare.Predictor {
	return func(q compare.Query) (compare.Prediction, bool) {
		i := slices.IndexFunc(ways, func(w way) bool { return w.Machine.Name == q.Platform && w.place() == q.Place })
		protocol := model.Named(q.Protocol)
		if i < 0 || protocol == nil || q.Quantity != sample.TimerSender && q.Quantity != sample.TimerOneWay {
			return compare.Prediction{}, false
		}
		m := ways[i].Machine
		l, err := ways[i].Library(q.Library)
		mode, nonblocking := sendMode(q.Mode)
		if err != nil || l.ClosedForm() != nil || nonblocking || mode == model.Buffered {
			return compare.Prediction{}, false
		}
		c := model.Transfer{Machine: m, Library: l, Protocol: protocol, Mode: mode, Bytes: q.Bytes, Path: ways[i].path()}.Cost()
		if q.Quantity == sample.TimerSender {
			return compare.Prediction{Micros: c.Sender.Sum().Micros()}, true
		}
		return compare.Prediction{Micros: c.Delivery.Sum().Micros()}, true
	}
}

// calls are the blocking calls of the modes, as data sets name them.
var calls = [model.NumModes]string{model.Standard: "send", model.Synchronous: "ssend", model.Ready: "rsend", model.Buffered: "bsend"}

// sendMode returns the mode of a call, and whether it does not block.
func sendMode(call string) (mode model.Mode, nonblocking bool) {
	name, nonblocking := strings.CutPrefix(call, "i")
	return model.Mode(max(0, slices.Index(calls[:], name))), nonblocking
}
