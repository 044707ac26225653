package pattern

import (
	"errors"
	"fmt"

	"github.com/loggp/loggp/model/schedule"
)

// Append returns a schedule in which each rank begins with the second one when it has ended the
// first one.
func Append(all ...*schedule.Schedule) (*schedule.Schedule, error) {
	if len(all) == 0 {
		return nil, errors.New("append: there is no schedule")
	}
	for _, s := range all {
		if s.Ranks() != all[0].Ranks() {
			return nil, fmt.Errorf("append: schedules of %d and %d ranks do not follow each other", all[0].Ranks(), s.Ranks())
		}
	}
	var b schedule.Builder
	for rank := range all[0].Ranks() {
		b.Rank()
		var last []int // operations of the schedule before for whose end nothing of it waits
		for _, s := range all {
			last = add(&b, s, rank, func(r int) int { return r }, last)
			if len(last) > 1 { // one operation instead of many that all of the next schedule waits for
				joint := b.Add(schedule.Op{Kind: schedule.Calc})
				for _, i := range last {
					b.Depend(joint, i, false)
				}
				last = []int{joint}
			}
		}
	}
	return b.Schedule()
}

// add adds the operations of a rank of a schedule. What waits for nothing waits for the given
// operations. It returns those for whose end nothing waits.
func add(b *schedule.Builder, s *schedule.Schedule, rank int, of func(int) int, after []int) (last []int) {
	ops := s.Of(rank)
	at := make([]int, len(ops))
	waits, waited := make([]bool, len(ops)), make([]bool, len(ops))
	for i, o := range ops {
		if o.Kind != schedule.Calc && o.Peer != schedule.Any {
			o.Peer = uint32(of(int(o.Peer)))
		}
		at[i] = b.Add(o)
	}
	for i := range ops {
		for _, d := range s.Dependants(rank, i) {
			b.Depend(at[d.Op], at[i], d.Start)
			waits[d.Op], waited[i] = true, waited[i] || !d.Start
		}
	}
	for i := range ops {
		for _, before := range after {
			if !waits[i] {
				b.Depend(at[i], before, false)
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

// Merge returns a schedule in which several run at the same time, each on ranks of its own: those of
// the first one, then those of the second one and so on; or interleaved, rank i of all before rank
// i+1 of any.
func Merge(interleaved bool, all ...*schedule.Schedule) (*schedule.Schedule, error) {
	if len(all) == 0 {
		return nil, errors.New("merge: there is no schedule")
	}
	type place struct{ job, rank int }
	var places []place
	at := make([][]int, len(all))
	most := 0
	for _, s := range all {
		most = max(most, s.Ranks())
	}
	put := func(job, rank int) {
		at[job] = append(at[job], len(places))
		places = append(places, place{job, rank})
	}
	if interleaved {
		for rank := range most {
			for job, s := range all {
				if rank < s.Ranks() {
					put(job, rank)
				}
			}
		}
	} else {
		for job, s := range all {
			for rank := range s.Ranks() {
				put(job, rank)
			}
		}
	}
	var b schedule.Builder
	for _, p := range places {
		b.Rank()
		add(&b, all[p.job], p.rank, func(r int) int { return at[p.job][r] }, nil)
	}
	return b.Schedule()
}
