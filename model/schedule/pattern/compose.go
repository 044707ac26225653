package pattern

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/schedule"
)

// Append returns a schedule in which each rank begins with the second one when it has ended the
// first one.
func Append(all ...*schedule.Schedule) (*schedule.Schedule, error) {
	if len(all) == 0 {
		return nil, errors.New("append: there is no schedule")
	}
	for _, s := range all {
		if s.CountRanks() != all[0].CountRanks() {
			return nil, fmt.Errorf("append: schedules of %d and %d ranks do not follow each other", all[0].CountRanks(), s.CountRanks())
		}
	}
	var b schedule.Builder
	for rank := range all[0].CountRanks() {
		b.BeginRank()
		var last []int // operations of the schedule before for whose end nothing of it waits
		for _, s := range all {
			last = appendRank(&b, s, rank, func(r int) int { return r }, last)
			if len(last) > 1 { // one operation instead of many that all of the next schedule waits for
				joint := b.AddOp(schedule.Op{Kind: schedule.Calc})
				for _, i := range last {
					b.AddDependency(joint, i, false)
				}
				last = []int{joint}
			}
		}
	}
	return b.Build()
}

// appendRank adds the operations of a rank of a schedule. What waits for nothing waits for the
// given operations. It returns those for whose end nothing waits.
func appendRank(b *schedule.Builder, s *schedule.Schedule, rank int, of func(int) int, after []int) (last []int) {
	ops := s.OpsOfRank(rank)
	at := make([]int, len(ops))
	waits, waited := make([]bool, len(ops)), make([]bool, len(ops))
	calls := s.Calls(rank)
	for i, o := range ops {
		for ; len(calls) > 0 && calls[0].First == i; calls = calls[1:] {
			b.NameCall(calls[0].Name, calls[0].Ops)
		}
		if o.Kind != schedule.Calc && o.Peer != schedule.Any {
			o.Peer = uint32(of(int(o.Peer)))
		}
		at[i] = b.AddOp(o)
	}
	for i := range ops {
		for _, d := range s.Dependants(rank, i) {
			b.AddDependency(at[d.Op], at[i], d.WaitsForStart)
			waits[d.Op], waited[i] = true, waited[i] || !d.WaitsForStart
		}
	}
	for i := range ops {
		for _, before := range after {
			if !waits[i] {
				b.AddDependency(at[i], before, false)
			}
		}
		if !waited[i] {
			last = append(last, at[i])
		}
	}
	if len(ops) == 0 {
		return after
	}
	return last
}

// Merge returns a schedule in which several run at the same time, each on ranks of its own: rank r
// of schedule i is rank places[i][r]. Ranks that none has do nothing.
func Merge(places [][]int, all ...*schedule.Schedule) (*schedule.Schedule, error) {
	if len(all) == 0 {
		return nil, errors.New("merge: there is no schedule")
	}
	if len(places) != len(all) {
		return nil, fmt.Errorf("merge: places of %d schedules, and there are %d", len(places), len(all))
	}
	type origin struct{ job, rank int }
	from := map[int]origin{}
	ranks := 0
	for job, s := range all {
		if len(places[job]) != s.CountRanks() {
			return nil, fmt.Errorf("merge: schedule %d has %d ranks, and there are places for %d", job+1, s.CountRanks(), len(places[job]))
		}
		for rank, at := range places[job] {
			if other, taken := from[at]; taken {
				return nil, fmt.Errorf("merge: rank %d is for rank %d of schedule %d and for rank %d of schedule %d", at, other.rank, other.job+1, rank, job+1)
			}
			from[at] = origin{job, rank}
			if ranks = max(ranks, at+1); at < 0 || at >= maxRanks {
				return nil, fmt.Errorf("merge: rank %d: there may be ranks 0 to %d", at, maxRanks-1)
			}
		}
	}
	var b schedule.Builder
	for at := range ranks {
		b.BeginRank()
		if x, ok := from[at]; ok {
			appendRank(&b, all[x.job], x.rank, func(r int) int { return places[x.job][r] }, nil)
		}
	}
	return b.Build()
}

// Placements are the names of rules for the places of merged schedules.
var Placements = []string{"consecutive", "interleaved", RandomPlacement}

// RandomPlacement is the rule that draws places from a seed.
const RandomPlacement = "random"

// Place returns places for the ranks of schedules by a rule: one schedule after the other
// (consecutive), rank i of all before rank i+1 of any (interleaved), or drawn from a seed (random);
// or by a list of the ranks of each schedule, such as 0-3,8/4-7.
func Place(rule string, seed uint64, all ...*schedule.Schedule) ([][]int, error) {
	places := make([][]int, len(all))
	next := 0
	put := func(job int) {
		places[job] = append(places[job], next)
		next++
	}
	switch rule {
	case "consecutive", RandomPlacement:
		for job, s := range all {
			for range s.CountRanks() {
				put(job)
			}
		}
		if rule == RandomPlacement {
			to := rand.New(rand.NewPCG(seed, 0)).Perm(next)
			for _, p := range places {
				for i := range p {
					p[i] = to[p[i]]
				}
			}
		}
		return places, nil
	case "interleaved":
		most := 0
		for _, s := range all {
			most = max(most, s.CountRanks())
		}
		for rank := range most {
			for job, s := range all {
				if rank < s.CountRanks() {
					put(job)
				}
			}
		}
		return places, nil
	}
	lists := strings.Split(rule, "/")
	if len(lists) != len(all) {
		return nil, fmt.Errorf("placement %q: it is %s, or a list of the ranks of each of the %d schedules, such as 0-3,8/4-7", rule, strings.Join(Placements, ", "), len(all))
	}
	for job, list := range lists {
		ranks, err := ParseRanks(list)
		if err != nil {
			return nil, fmt.Errorf("placement %q: %w", rule, err)
		}
		places[job] = ranks
	}
	return places, nil
}

// ParseRanks reads a list of ranks, such as 0-3,8.
func ParseRanks(list string) (ranks []int, err error) {
	for item := range strings.SplitSeq(list, ",") {
		low, high, ok := strings.Cut(strings.TrimSpace(item), "-")
		from, err := strconv.Atoi(low)
		to := from
		if ok && err == nil {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 0 || to < from || to >= maxRanks || len(ranks) >= maxRanks {
			return nil, fmt.Errorf("%q is no rank, such as 8, and no ranks, such as 0-3", item)
		}
		for at := from; at <= to; at++ {
			ranks = append(ranks, at)
		}
	}
	return ranks, nil
}
