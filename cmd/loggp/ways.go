package main

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// way is between which ranks something was measured, of how many.
type way struct {
	*platform.Platform
	ranks int
	pair  [2]int // or everywhere
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

// waysOf returns the ways on which samples were measured, as far as the platforms are where they
// were and what they were. A file without facts about ranks is of the platform's default, the first
// and the last.
func waysOf(set *sample.Set) (ways []way, changed []clean.Warning) {
	runs, _ := set.Runs() // they were resolved when the set was read
	for _, run := range runs {
		if run.PlatformFile == "" || run.PlatformSum == "" {
			continue
		}
		p, err := platform.Load(run.PlatformFile)
		if err != nil || p.Sum != run.PlatformSum {
			changed = append(changed, clean.Warning{Platform: run.PlatformFile, Code: clean.PlatformChanged,
				Text: "the platform's file is gone, or is not what it was when this was measured: where its numbers are from, and sums of its steps, are left out"})
			continue
		}
		w := wayOf(p, run)
		if !slices.ContainsFunc(ways, func(v way) bool { return v.Sum == w.Sum && v.ranks == w.ranks && v.pair == w.pair }) {
			ways = append(ways, w)
		}
	}
	return ways, changed
}

// wayOf reads the ranks. A file by hand may say anything: what the machine does not have is not
// believed.
func wayOf(p *platform.Platform, run sample.Run) way {
	w := way{Platform: p, ranks: run.Ranks, pair: run.Pair}
	if r := p.Machine.Ranks; w.ranks < r.Min || w.ranks > r.Max {
		w.ranks = r.Default
	}
	switch {
	case run.AllPairs:
		w.pair = everywhere
	case w.pair == [2]int{} || max(w.pair[0], w.pair[1]) >= w.ranks:
		w.pair = [2]int{0, w.ranks - 1}
	}
	return w
}
