package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// trust says in a few sentences how far the numbers go.
func (s *Survey) trust(all []subject) []string {
	var out []string
	for i := range all {
		out = append(out, s.judged(i, all[i].name))
	}
	out = append(out, s.off(all)...)
	out = append(out, s.launched(all)...)
	for i := range all {
		if v := all[i].fact("spoiled"); v != "" {
			out = append(out, all[i].name+" was disturbed: "+shortened(v)+".")
		}
	}
	return append(out, unlike(all)...)
}

// judged counts the numbers of a transport by what they are worth.
func (s *Survey) judged(i int, name string) string {
	var good int
	var weak, unknown []string
	for _, x := range s.Fit.Standings {
		for _, r := range x.Of {
			if r.Subject != i || x.Quantity == compare.Bandwidth { // which is G once more
				continue
			}
			short := shortWords(x)
			switch r.Verdict {
			case params.Good:
				good++
			case params.Weak, params.Bad:
				weak = append(weak, short)
			default:
				unknown = append(unknown, short)
			}
		}
	}
	text := fmt.Sprintf("%s: %d of %d numbers are sound", name, good, good+len(weak)+len(unknown))
	if len(weak) > 0 {
		text += "; weak: " + strings.Join(weak, ", ")
	}
	if len(unknown) > 0 {
		text += "; not to be told from these samples: " + strings.Join(unknown, ", ")
	}
	return text + "."
}

// shortWords names a number in a sentence.
func shortWords(x compare.Standing) string {
	switch x.Quantity {
	case compare.OneWay:
		return "half round trip"
	case "L":
		return "L (" + strings.TrimPrefix(standingWords(x), "L = ") + ")"
	case "g", "G":
		return x.Quantity
	}
	name, _, _ := strings.Cut(standingWords(x), ",")
	return name
}

// off says how far the fit is from what was measured.
func (s *Survey) off(all []subject) []string {
	var words []string
	for i := range all {
		if c := all[i].curve(all[i].main(), sample.RTT); c != nil && len(c.Points) > 2 {
			if middle, most := c.Off(); !math.IsNaN(most) {
				words = append(words, fmt.Sprintf("%s %.1f and %.1f %%", all[i].name, middle, most))
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	return []string{"Half round trips are off the pieces that were fitted, in the median and at most, by: " + strings.Join(words, "; ") + "."}
}

// launched says what launches differ by.
func (s *Survey) launched(all []subject) []string {
	var out, once []string
	for i := range all {
		if all[i].launches == 1 {
			once = append(once, all[i].name)
		}
	}
	if len(once) > 0 {
		out = append(out, strings.Join(once, ", ")+": of one launch only. What another one would show is not in the intervals: measure several.")
	}
	var words []string
	for _, q := range s.Fit.Scatters {
		if q.Quantity != compare.OneWay || len(q.Values) < 2 {
			continue
		}
		least, most := q.Span()
		in := scaleOf(q.Unit, least)
		words = append(words, fmt.Sprintf("%s from %s to %s %s in %d", all[q.Subject].name, number(least*in.factor), number(most*in.factor), in.unit, len(q.Values)))
	}
	if len(words) > 0 {
		out = append(out, "Half round trips of small messages by launch: "+strings.Join(words, "; ")+". The intervals contain it.")
	}
	return out
}

// unlike names what was not alike for all transports, and makes their numbers harder to compare.
func unlike(all []subject) []string {
	if len(all) < 2 {
		return nil
	}
	var out []string
	var in, outside []string
	for i := range all {
		x := &all[i]
		switch cost := x.fact(sample.ClockCost); {
		case cost == "":
		case x.clockTaken():
			outside = append(outside, x.name)
		default:
			in = append(in, fmt.Sprintf("%s (%s us)", x.name, cost))
		}
	}
	if len(in) > 0 && len(outside) > 0 {
		out = append(out, "What reading the clock costs is in each time of "+strings.Join(in, ", ")+", and taken out of those of "+strings.Join(outside, ", ")+": do not compare overheads that are not much longer.")
	}
	for _, q := range []struct {
		what string
		keys []string
	}{{"Ranks wait differently", []string{sample.Wait}}, {"Processors differ", []string{"processor", "p1_processor"}}, {"Kernels differ", []string{"kernel"}}} {
		var answers, words []string
		for i := range all {
			if v := all[i].fact(q.keys...); v != "" {
				words = append(words, all[i].name+" "+v)
				if !slices.Contains(answers, v) {
					answers = append(answers, v)
				}
			}
		}
		if len(answers) > 1 {
			out = append(out, q.what+": "+strings.Join(words, ", ")+".")
		}
	}
	return out
}

// clockTaken says whether what reading the clock costs is taken out of the times.
func (s *subject) clockTaken() bool {
	return s.fact(sample.ClockIs) == sample.TakenOut || strings.Contains(s.fact("timer"), sample.TakenOut)
}

// machineWords says where it was measured, if all transports agree on it.
func machineWords(all []subject) string {
	var words []string
	for _, q := range []struct {
		keys   []string
		format string
	}{{[]string{"processor", "p1_processor"}, "%s"}, {[]string{"processors"}, "%s processors"}, {[]string{"kernel"}, "kernel %s"}} {
		var answers []string
		for i := range all {
			if v := all[i].fact(q.keys...); v != "" && !slices.Contains(answers, v) {
				answers = append(answers, v)
			}
		}
		if len(answers) == 1 {
			words = append(words, fmt.Sprintf(q.format, answers[0]))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, ", ") + "."
}
