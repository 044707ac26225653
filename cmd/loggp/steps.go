package main

import (
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// bySteps predicts the times of forced protocols by adding up every step of a platform, which the equations do not: they leave out
// what calls and copies cost.
//
// The job had so many ranks; 0 stands for the platform's default.
func bySteps(platforms []*platform.Platform, ranks int) fit.Predictor {
	return func(q fit.Query) (fit.Prediction, bool) {
		i := slices.IndexFunc(platforms, func(p *platform.Platform) bool { return p.Machine.Name == q.Platform })
		protocol := model.Named(q.Protocol)
		if i < 0 || protocol == nil || q.Quantity != sample.Sender && q.Quantity != sample.OneWay {
			return fit.Prediction{}, false
		}
		m := platforms[i].Machine
		l, err := platforms[i].Library(q.Library)
		mode, nonblocking := sendMode(q.Mode)
		if err != nil || nonblocking || mode == model.Buffered {
			return fit.Prediction{}, false
		}
		n := ranks
		if n < m.Ranks.Min || n > m.Ranks.Max {
			n = m.Ranks.Default
		}
		c := model.Transfer{Machine: m, Library: l, Protocol: protocol, Mode: mode, Bytes: q.Bytes, Path: m.Path(n, 0, n-1)}.Cost()
		if q.Quantity == sample.Sender {
			return fit.Prediction{Micros: c.Sender.Sum().Micros()}, true
		}
		return fit.Prediction{Micros: c.Delivery.Sum().Micros()}, true
	}
}

// calls are the blocking calls of the modes, as data sets name them.
var calls = [model.NumModes]string{model.Standard: "send", model.Synchronous: "ssend", model.Ready: "rsend", model.Buffered: "bsend"}

// sendMode returns the mode of a call, and whether it does not block.
func sendMode(call string) (mode model.Mode, nonblocking bool) {
	name, nonblocking := strings.CutPrefix(call, "i")
	return model.Mode(max(0, slices.Index(calls[:], name))), nonblocking
}
