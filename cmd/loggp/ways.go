package main

import (
	"fmt"
	"slices"
	"strconv"

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

// waysOf returns the ways on which samples were measured, as far as the platforms are where they were and what they were. A file without
// facts about ranks is of the platform's default, the first and the last.
func waysOf(set *sample.Set) (ways []way, changed []clean.Warning) {
	for _, file := range set.FactsByFile() {
		facts := byKey(file)
		file, known := facts[fileFact]
		sum, summed := facts[sample.PlatformSum]
		if !known || !summed {
			continue
		}
		p, err := platform.Load(file)
		if err != nil || p.Sum != sum {
			changed = append(changed, clean.Warning{Platform: file, Code: clean.PlatformChanged,
				Text: "the platform's file is gone, or is not what it was when this was measured: where its numbers are from, and sums of its steps, are left out"})
			continue
		}
		w := wayOf(p, facts)
		if !slices.ContainsFunc(ways, func(v way) bool { return v.Sum == w.Sum && v.ranks == w.ranks && v.pair == w.pair }) {
			ways = append(ways, w)
		}
	}
	return ways, changed
}

// wayOf reads the ranks. A file by hand may say anything: what the machine does not have is not believed.
func wayOf(p *platform.Platform, facts map[string]string) way {
	w := way{Platform: p}
	n, err := strconv.Atoi(facts[sample.Ranks])
	if r := p.Machine.Ranks; err != nil || n < r.Min || n > r.Max {
		n = r.Default
	}
	w.ranks, w.pair = n, [2]int{0, n - 1}
	if facts[sample.Pair] == sample.AllPairs {
		w.pair = everywhere
		return w
	}
	var a, b int
	if _, err := fmt.Sscanf(facts[sample.Pair], "%d %d", &a, &b); err == nil && a != b && min(a, b) >= 0 && max(a, b) < n {
		w.pair = [2]int{a, b}
	}
	return w
}

// byKey returns the first value of each fact.
func byKey(facts []sample.Fact) map[string]string {
	first := make(map[string]string)
	for _, f := range facts {
		if _, known := first[f.Key]; !known {
			first[f.Key] = f.Value
		}
	}
	return first
}
