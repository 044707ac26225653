package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
)

// What a run spends its time for, in a sentence. The wait states are those of the manual of
// Scalasca (late sender, late receiver, wait at a collective operation); which rank causes them is
// found on the critical path, as in Böhme, Wolf, de Supinski, Schulz and Geimer 2010, Identifying
// the root causes of wait states in large-scale parallel applications.

// Shares from which on a cause is named.
const (
	minNotableShare = 0.1  // of the time of all ranks
	minLateShare    = 0.5  // of the waiting in a call
	minDelayShare   = 0.3  // of the delays of a call, for one rank
	minGroupShare   = 0.6  // for several ranks
	maxNamedRanks   = 4    // of those
	minLoadRatio    = 1.05 // of the time of a rank to the median
	minLinkShare    = 0.6  // of the run during which a part of the network is busy
)

// causeSentence returns why a run takes as long as it does, and how long.
func causeSentence(r *model.Timeline) string {
	all := make([]rankTime, len(r.Ranks))
	var sum rankTime
	var blocked unit.Time
	for i, x := range r.Ranks {
		all[i] = rankTimeOf(x)
		sum.computing, sum.overhead, sum.waiting, sum.end = sum.computing+all[i].computing, sum.overhead+all[i].overhead, sum.waiting+all[i].waiting, sum.end+all[i].end
		blocked += x.Totals[model.BlockedActivity]
	}
	if len(all) == 0 || sum.end <= 0 {
		return ""
	}
	_, most := meanAndMax(all)
	notable := unit.Time(minNotableShare * float64(sum.end))
	share := func(t unit.Time) string { return formatWholeShare(t, sum.end) }
	var cause string
	switch main := mostWaiting(r.Profile.Calls); {
	case blocked >= notable && 2*blocked >= sum.waiting:
		cause = fmt.Sprintf("%s of the time the network holds ranks up%s", share(blocked), describeBusiestResource(r, most.end))
	case main.Waiting >= notable && (sum.waiting >= sum.overhead || isLate(main) && len(delayingRanks(main, all)) > 0):
		cause = fmt.Sprintf("%s of the time ranks wait in %s %s", share(main.Waiting), main.Name, waitCause(r, main, all, most.end))
	case sum.overhead >= notable && sum.overhead >= sum.waiting:
		cause = fmt.Sprintf("%s of the time processors work for communication", share(sum.overhead))
		if calls := callsByTime(r); len(calls) > 0 {
			cause += ", most of it in " + calls[0].Name
		}
	case sum.waiting >= notable:
		cause = fmt.Sprintf("%s of the time ranks wait", share(sum.waiting))
		if main.Waiting > 0 {
			cause += ", most of it in " + main.Name
		}
	default:
		cause = fmt.Sprintf("%s of the time ranks compute, and communication is no bottleneck", share(sum.computing))
	}
	return fmt.Sprintf("%s. The run takes %s.", cause, format.MicrosWithUnit(most.end.Micros()))
}

func formatWholeShare(part, whole unit.Time) string {
	return format.WithDecimals(100*part.Micros()/whole.Micros(), 0) + format.NonBreakingSpace + "%"
}

// mostWaiting returns the call in which ranks wait longest.
func mostWaiting(calls []model.CallProfile) (most model.CallProfile) {
	for _, c := range calls {
		if c.Waiting > most.Waiting {
			most = c
		}
	}
	return most
}

// isLate reports whether ranks wait in a call for late ranks, as far as is known, and not for
// messages on their way.
func isLate(c model.CallProfile) bool {
	return c.DelayedBy == nil || float64(c.LateSender+c.LateReceiver) >= minLateShare*float64(c.Waiting)
}

// waitCause returns for what ranks wait in a call.
func waitCause(r *model.Timeline, c model.CallProfile, all []rankTime, end unit.Time) string {
	if !isLate(c) {
		return "for messages on their way" + describeBusiestResource(r, end)
	}
	ranks := delayingRanks(c, all)
	if len(ranks) == 0 {
		return "for each other, no rank more than others"
	}
	out := "for " + listRanks(ranks)
	if len(ranks) == 1 && c.LateReceiver > c.LateSender {
		out += " to receive"
	}
	return out + loadText(ranks, all)
}

// delayingRanks returns the ranks that cause most of the waiting in a call; none if it is caused by
// many. Where delays are not known, it is the rank that computes longer than all others.
func delayingRanks(c model.CallProfile, all []rankTime) []int {
	if c.DelayedBy == nil {
		computing := computingTimes(all)
		most := slices.Max(computing)
		if rank := slices.Index(computing, most); float64(most) >= 1.2*float64(median(computing)) {
			return []int{rank}
		}
		return nil
	}
	var sum unit.Time
	order := make([]int, len(c.DelayedBy))
	for rank, d := range c.DelayedBy {
		sum += d
		order[rank] = rank
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(c.DelayedBy[b]-c.DelayedBy[a], -1), 1)) })
	first := c.DelayedBy[order[0]]
	if len(all) <= 2 || float64(first) >= minDelayShare*float64(sum) && (len(order) < 2 || first >= 2*c.DelayedBy[order[1]]) {
		return order[:1]
	}
	var group unit.Time
	for n, rank := range order[:min(maxNamedRanks, len(order)/4)] {
		if group += c.DelayedBy[rank]; float64(group) >= minGroupShare*float64(sum) {
			ranks := slices.Clone(order[:n+1])
			slices.Sort(ranks)
			return ranks
		}
	}
	return nil
}

func listRanks(ranks []int) string {
	var words []string
	for _, r := range ranks {
		words = append(words, fmt.Sprint(r))
	}
	if len(words) == 1 {
		return "rank " + words[0]
	}
	last := len(words) - 1
	return "ranks " + strings.Join(words[:last], ", ") + " and " + words[last]
}

func computingTimes(all []rankTime) (out []unit.Time) {
	for _, x := range all {
		out = append(out, x.computing)
	}
	return out
}

func median(of []unit.Time) unit.Time {
	of = slices.Clone(of)
	slices.Sort(of)
	return quantile.UpperMedian(of)
}

// loadText returns what delaying ranks do longer than the median rank.
func loadText(ranks []int, all []rankTime) string {
	computing := computingTimes(all)
	var overheads []unit.Time
	for _, x := range all {
		overheads = append(overheads, x.overhead)
	}
	for _, x := range []struct {
		of          []unit.Time
		verb, verbs string
		end         string
	}{{computing, "computes", "compute", ""}, {overheads, "works", "work", " for communication"}} {
		var mean unit.Time
		for _, r := range ranks {
			mean += x.of[r] / unit.Time(len(ranks))
		}
		m := median(x.of)
		if m <= 0 || float64(mean) < minLoadRatio*float64(m) {
			continue
		}
		verb := x.verb
		if len(ranks) > 1 {
			verb = x.verbs
		}
		return fmt.Sprintf(", which %s %s times as long%s as the median rank", verb, formatRatio(float64(mean)/float64(m)), x.end)
	}
	return ""
}

func formatRatio(x float64) string {
	if x < 1.2 {
		return format.WithDecimals(x, 2)
	}
	return format.WithDecimals(x, 1)
}

// describeBusiestResource names the part of the network that is busy longest, if it is for most of
// the run.
func describeBusiestResource(r *model.Timeline, end unit.Time) string {
	name, busy := "", unit.Time(0)
	for _, x := range r.Resources {
		if t := busyTime(x); t > busy {
			name, busy = x.Name, t
		}
	}
	if float64(busy) < minLinkShare*float64(end) {
		return ""
	}
	return fmt.Sprintf("; %s is busy for %s of it", name, formatWholeShare(busy, end))
}
