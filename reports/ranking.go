package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// formatOneWay returns a one-way time with its interval, in the digits in which tables have it.
func formatOneWay(p curve.Point) string {
	if !(p.High > p.Low) {
		return format.MicrosWithUnit(p.Value)
	}
	in := displayUnitOf(params.UnitMicros, p.Value)
	return format.WithInterval(p.Value*in.factor, p.Low*in.factor, p.High*in.factor) + format.NonBreakingSpace + in.unit
}

// rankedZone is neighbouring sizes at which the same subjects are the fastest: those that the
// fastest does not beat by more than their intervals. Next is the fastest of the others; -1: there
// is none. Then the ratio is of the slowest to the fastest.
type rankedZone struct {
	fastest   []int
	next, to  int
	sizes     int
	logRatios []float64 // of the next to the fastest
}

// meanRatio returns the geometric mean of the ratios of times.
func (z rankedZone) meanRatio() float64 {
	var sum float64
	for _, r := range z.logRatios {
		sum += r
	}
	return math.Exp(sum / float64(len(z.logRatios)))
}

// formatRatios returns the mean of the ratios of times, or their range if they are far apart.
func (z rankedZone) formatRatios() string {
	least, most := math.Exp(slices.Min(z.logRatios)), math.Exp(slices.Max(z.logRatios))
	if most > maxRatioSpread*least {
		return format.WithDecimals(least, 1) + " to " + format.WithDecimals(most, 1)
	}
	return format.WithDecimals(z.meanRatio(), 1)
}

// maxRatioSpread is how many times as high as the least the highest ratio of times may be for their
// mean to stand for them.
const maxRatioSpread = 1.25

// minRankedRatio is the ratio of times from which on one subject is faster than another.
const minRankedRatio = 1.02

// maxRankedZones is how many changes of the fastest subject are told one by one.
const maxRankedZones = 3

// rankingSentence says which subject is the fastest up to which size, and by how much, and names
// those whose round trips were not measured. It is empty for one subject.
func rankingSentence(all []reportSubject) string {
	var known []int
	var missing []string
	halves := make([][]curve.Point, len(all))
	for i := range all {
		if c := all[i].timerCurve(all[i].mainMode(), sample.TimerRTT); c != nil && len(c.Points) > 0 {
			known, halves[i] = append(known, i), c.HalfRoundTrip().Points
		} else {
			missing = append(missing, all[i].name)
		}
	}
	if len(known) < 2 {
		return ""
	}
	zones := rankedZones(halves, known)
	if len(zones) == 0 {
		return ""
	}
	text := describeRanking(zones, func(i int) string { return all[i].name })
	if len(zones) > maxRankedZones {
		wins, sizes := map[int]int{}, 0
		for _, z := range zones {
			sizes += z.sizes
			for _, i := range z.fastest {
				wins[i] += z.sizes
			}
		}
		best := known[0]
		for _, i := range known {
			if wins[i] > wins[best] {
				best = i
			}
		}
		text = fmt.Sprintf("which is the fastest changes with the size, and %s is it at %d of %d", all[best].name, wins[best], sizes)
	}
	if len(missing) > 0 {
		text += "; no round trips of " + strings.Join(missing, ", ") + " were measured"
	}
	if zones[0].next < 0 || len(zones) > maxRankedZones { // names of subjects keep their letters
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}

// describeRanking says which subject is the fastest up to which size, and by how much.
func describeRanking(zones []rankedZone, nameOf func(subject int) string) string {
	var parts []string
	for i, z := range zones {
		part := ""
		switch {
		case z.next < 0 && z.meanRatio() >= minRankedRatio:
			part = "the intervals are too wide to tell which is the fastest"
		case z.next < 0:
			part = "all are equally fast"
		default:
			var names []string
			for _, i := range z.fastest {
				names = append(names, nameOf(i))
			}
			verb := "is"
			if len(names) > 1 {
				verb = "are"
			}
			part = fmt.Sprintf("%s %s %s times as fast as %s", strings.Join(names, " and "), verb, z.formatRatios(), nameOf(z.next))
		}
		if i == 0 && z.sizes == 1 && len(zones) > 1 {
			part += " at " + format.Size(z.to)
		} else if i < len(zones)-1 {
			part += " up to " + format.Size(z.to)
		} else if i > 0 {
			part = "above, " + part
		} else {
			part += " at all sizes"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// rankedZones returns the zones of the sizes at which all known subjects were measured.
func rankedZones(halves [][]curve.Point, known []int) (zones []rankedZone) {
	for _, p := range halves[known[0]] {
		order := make([]curve.Point, len(halves))
		isCommon := true
		for _, i := range known {
			at := slices.IndexFunc(halves[i], func(q curve.Point) bool { return q.Bytes == p.Bytes })
			if isCommon = isCommon && at >= 0; !isCommon {
				break
			}
			order[i] = halves[i][at]
		}
		if !isCommon {
			continue
		}
		ranked := slices.Clone(known)
		slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(order[a].Value, order[b].Value) })
		first := order[ranked[0]]
		z := rankedZone{next: -1, to: p.Bytes, sizes: 1}
		for _, i := range ranked {
			if order[i].Low > first.High && order[i].Value >= minRankedRatio*first.Value {
				z.next, z.logRatios = i, []float64{math.Log(order[i].Value / first.Value)}
				break
			}
			z.fastest = append(z.fastest, i)
			z.logRatios = []float64{math.Log(order[i].Value / first.Value)}
		}
		slices.Sort(z.fastest)
		if n := len(zones) - 1; n >= 0 && slices.Equal(zones[n].fastest, z.fastest) && zones[n].next == z.next {
			x := &zones[n]
			x.to, x.sizes, x.logRatios = z.to, x.sizes+1, append(x.logRatios, z.logRatios...)
			continue
		}
		zones = append(zones, z)
	}
	return zones
}

// verdictOf says in a word and a reason how far the numbers of a transport can be trusted.
func (s transportComparison) verdictOf(i int) doc.KeyNumber {
	out := doc.KeyNumber{Name: s.subjects[i].name + ", trust", Value: "sound", Tone: doc.GoodTone, IsTrust: true}
	n := s.countVerdicts(i)
	all := n.sound + len(n.weak) + len(n.unknown)
	var reasons []string
	if s.subjects[i].factValues("spoiled") != "" {
		reasons = append(reasons, "the machine was busy")
	}
	if float64(n.sound) < doc.MinSoundShare*float64(all) {
		reason := fmt.Sprintf("only %d of %d numbers are sound", n.sound, all)
		if n.sound == 0 {
			reason = fmt.Sprintf("none of %d numbers is sound", all)
		}
		if len(n.unknown) > 0 {
			reason += fmt.Sprintf(", and %d not identifiable from these samples", len(n.unknown))
		}
		reasons = append(reasons, reason)
	}
	if len(reasons) > 0 {
		out.Value, out.Tone, out.Note = "weak", doc.BadTone, strings.Join(reasons, "; ")
		return out
	}
	out.Note = fmt.Sprintf("%d of %d numbers, %s", n.sound, all, format.Plural(s.subjects[i].launches, "launch"))
	return out
}
