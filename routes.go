package loggp

import (
	"io/fs"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/platform"
)

// route is a measured pair of ranks on an emulated platform.
type route struct {
	*platform.Platform
	ranks int    // of the job
	pair  [2]int // or measuresAllPairs
}

// measuresAllPairs stands for all pairs, which have no common path.
var allPairs = [2]int{-1, -1}

func (r route) path() model.Path { return r.Machine.PathBetweenRanks(r.ranks, r.pair[0], r.pair[1]) }

func (r route) place() string {
	if r.pair == allPairs {
		return ""
	}
	return r.Machine.TierOfRanks(r.pair[0], r.pair[1]).String()
}

// nodes returns which ranks share a node.
func (r route) nodes() *collective.Nodes {
	names := make([]int, r.ranks)
	for rank := range names {
		names[rank] = r.Machine.NodeOfRank(rank)
	}
	return collective.NewNodes(names)
}

// routesOf returns the routes on which samples were measured, for platforms that can still be
// loaded and are unchanged. Without facts about ranks, the route is from the first to the last rank
// of the platform's default.
func routesOf(set *sample.Set) (routes []route, changed []clean.Warning) {
	runs, _ := set.Runs() // resolved when the set was read
	for _, run := range runs {
		if run.PlatformFile == "" || run.PlatformSum == "" {
			continue
		}
		var p *platform.Platform
		err := fs.ErrNotExist // of a platform from standard input, which is not there any more
		if run.PlatformFile != input.Standard {
			p, err = platform.Load(run.PlatformFile)
		}
		if err != nil || p.Hash != run.PlatformSum {
			changed = append(changed, clean.Warning{Platform: run.PlatformFile, Code: clean.CodePlatformChanged,
				Text: "the platform's file is gone, or is not what it was when this was measured: where its numbers are from, and sums of its steps, are left out"})
			continue
		}
		r := routeOf(p, run)
		if !slices.ContainsFunc(routes, func(x route) bool { return x.Hash == r.Hash && x.ranks == r.ranks && x.pair == r.pair }) {
			routes = append(routes, r)
		}
	}
	return routes, changed
}

// routeOf returns the route of a run. If the machine does not have the ranks that the file states,
// it uses the defaults.
func routeOf(p *platform.Platform, run sample.RunFacts) route {
	w := route{Platform: p, ranks: run.RankCount, pair: run.Pair}
	if r := p.Machine.Ranks; w.ranks < r.Min || w.ranks > r.Max {
		w.ranks = r.Default
	}
	switch {
	case run.HasAllPairs:
		w.pair = allPairs
	case w.pair == [2]int{} || max(w.pair[0], w.pair[1]) >= w.ranks:
		w.pair = [2]int{0, w.ranks - 1}
	}
	return w
}

// sumSteps returns a predictor for forced protocols on routes that adds up every step of a
// platform. The equations omit the costs of calls and copies.
func sumSteps(routes []route) compare.Predictor {
	return func(q compare.PredictionQuery) (compare.Prediction, bool) {
		i := slices.IndexFunc(routes, func(r route) bool { return r.Machine.Name == q.Platform && r.place() == q.Place })
		protocol := model.FindProtocol(q.Protocol)
		if i < 0 || protocol == nil || q.Quantity != sample.TimerSender && q.Quantity != sample.TimerOneWay {
			return compare.Prediction{}, false
		}
		m := routes[i].Machine
		l, err := routes[i].Library(q.Library)
		mode, nonblocking := SendMode(q.Mode)
		if err != nil || l.ClosedForm() != nil || nonblocking || mode == model.BufferedMode {
			return compare.Prediction{}, false
		}
		c := model.Transfer{Machine: m, Library: l, Protocol: protocol, Mode: mode, Bytes: q.Bytes, Path: routes[i].path()}.Cost()
		if q.Quantity == sample.TimerSender {
			return compare.Prediction{Micros: c.Sender.Sum().Micros()}, true
		}
		return compare.Prediction{Micros: c.Delivery.Sum().Micros()}, true
	}
}
