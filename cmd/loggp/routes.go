package main

import (
	"slices"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// way is a pair of ranks between which something was measured, on an emulated platform.
type way struct {
	*platform.Platform
	ranks int
	pair  [2]int
}

// everywhere stands for all pairs, which have no one path.
var everywhere = [2]int{-1, -1}

func (w way) path() model.Path { return w.Machine.Path(w.ranks, w.pair[0], w.pair[1]) }

func (w way) place() string {
	if w.pair == everywhere {
		return ""
	}
	return w.Machine.Tier(w.pair[0], w.pair[1]).String()
}

// bySteps predicts the times of forced protocols by adding up every step of a platform.
func bySteps(ways []way) compare.Predictor {
	return func(q compare.Query) (compare.Prediction, bool) {
		i := slices.IndexFunc(ways, func(w way) bool { return w.Machine.Name == q.Platform && w.place() == q.Place })
		protocol := model.Named(q.Protocol)
		if i < 0 || protocol == nil || q.Quantity != sample.TimerSender && q.Quantity != sample.TimerOneWay {
			return compare.Prediction{}, false
		}
		m := ways[i].Machine
		l, err := ways[i].Library(q.Library)
		mode, nonblocking := loggp.SendMode(q.Mode)
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

// byRealClock reports whether samples are of a real machine.
func byRealClock(set *sample.Set) bool {
	for i := range set.Series {
		if set.Series[i].Clock == "real" {
			return true
		}
	}
	return false
}
