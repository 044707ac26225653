package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// A machine may be in several modes: on many with virtual processors a cache line takes 60 ns from one to the other in one launch and 250 ns in the next, or a
// processor works half as quickly all the time, as something else has the other thread of its core. Whoever measures writes down how long a line took (the fact
// "line_ns"), and how long a piece of work at best (the fact "pace_ns"), and parameters are those of the mode that most launches are in.

// probed is a launch and what was seen of the machine around it, in ns; 0 where that is not known.
type probed struct {
	file, launch int
	line         [2]float64 // of a cache line, before and after
	least        [2]float64 // of the same work, at P1's processor and at P2's, at best
	best         [2]float64 // likewise, in all launches of the file: by that samples are told at which pace they are
}

// gauge is what does not differ by more than a factor between launches in one mode.
type gauge struct {
	name   string
	factor float64
	of     func(p probed) [2]float64 // two times of one, which are alike as well
}

// at returns what a gauge shows in a launch; 0 where it shows nothing.
func (g gauge) at(p probed) float64 {
	two := g.of(p)
	return math.Sqrt(two[0] * two[1])
}

var gauges = []gauge{
	{"a cache line took", 1.3, func(p probed) [2]float64 { return p.line }},
	{"the same work of P1 took at best", 1.1, func(p probed) [2]float64 { return [2]float64{p.best[0], p.best[0]} }},
	{"the same work of P2 took at best", 1.1, func(p probed) [2]float64 { return [2]float64{p.best[1], p.best[1]} }},
}

// steady says whether the machine was in one mode all the time.
func (p probed) steady() bool {
	return max(p.line[0], p.line[1]) <= gauges[0].factor*min(p.line[0], p.line[1])
}

// known says whether anything was seen.
func (p probed) known() bool { return p.line[0] > 0 || p.least[0] > 0 || p.least[1] > 0 }

// regime returns the launches in another mode of the machine than that of most, which do not count, and what is to be said of them. Where no mode has half of the launches all count.
func regime(where subject, all []probed) (aside []probed, warnings []Warning) {
	warn := func(code, format string, args ...any) {
		warnings = append(warnings, where.warning("launches", code, fmt.Sprintf(format, args...)))
	}
	var steady, moved []probed
	unknown := 0
	for _, p := range all {
		switch {
		case !p.known():
			unknown++
		case p.steady():
			steady = append(steady, p)
		default:
			moved = append(moved, p)
			warn(ModeChanged, "the machine went into another mode during launch %d: a cache line took %.3g ns before it and %.3g ns after", p.launch, p.line[0], p.line[1])
		}
	}
	most := largest(steady, gauges)
	others := append(slices.DeleteFunc(slices.Clone(steady), func(p probed) bool { return slices.Contains(most, p) }), moved...)
	switch {
	case len(others) == 0:
		return nil, warnings
	case 2*len(most) < len(steady)+len(moved):
		warn(ModeMixed, "%s in launches of several modes of the machine, none of which has half of them: all count, and intervals hold what differs between them",
			differing(slices.Concat(steady, moved), nil))
		return nil, warnings
	}
	warn(ModeMixed, "launches %s were in another mode of the machine than %d of %d: %s", numbers(others), len(most)+unknown, len(all), differing(others, most))
	return others, warnings
}

// largest returns the most launches of which no two are of different modes: of several as many the quickest.
func largest(all []probed, by []gauge) []probed {
	if len(by) == 0 {
		return all
	}
	of := by[0].at
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b probed) int { return cmp.Compare(of(a), of(b)) })
	first := slices.IndexFunc(all, func(p probed) bool { return of(p) > 0 })
	if first < 0 {
		return largest(all, by[1:])
	}
	var best []probed
	for i, end := first, first; i < len(all); i++ {
		for end < len(all) && of(all[end]) <= by[0].factor*of(all[i]) {
			end++
		}
		if first+end-i <= len(best) {
			continue
		}
		if some := largest(slices.Concat(all[:first], all[i:end]), by[1:]); len(some) > len(best) {
			best = some
		}
	}
	return best
}

// differing says by what launches differ, from others if there are such.
func differing(these, from []probed) string {
	var words []string
	for _, g := range gauges {
		low, high := span(g, slices.Concat(these, from))
		if high <= g.factor*low {
			continue
		}
		text := g.name + " " + inNanoseconds(span(g, these))
		if from != nil {
			text += " in them, and " + inNanoseconds(span(g, from)) + " in those that count"
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// span returns the least and the most that a gauge shows in some launches; 0 where it shows nothing.
func span(g gauge, all []probed) (low, high float64) {
	for _, p := range all {
		for _, v := range g.of(p) {
			if v > 0 && (low == 0 || v < low) {
				low = v
			}
			high = max(high, v)
		}
	}
	return low, high
}

func inNanoseconds(low, high float64) string {
	switch {
	case high == 0:
		return "a time that is not known"
	case high > low:
		return fmt.Sprintf("%.3g to %.3g ns", low, high)
	}
	return fmt.Sprintf("%.3g ns", low)
}

// numbers lists launches as the files count them.
func numbers(all []probed) string {
	var n []int
	for _, p := range all {
		n = append(n, p.launch)
	}
	slices.Sort(n)
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(n), "[]"), " ", ", ")
}

// subjects lists what a set has samples of.
func subjects(set *sample.Set) []subject {
	var all []subject
	for _, s := range set.Series {
		if where := subjectOf(&s); !slices.Contains(all, where) {
			all = append(all, where)
		}
	}
	return all
}

// launchesOf returns the launches of a subject, with what was seen of the machine.
func launchesOf(set *sample.Set, where subject, probes map[[2]int]probed) []probed {
	var all []probed
	seen := map[[2]int]bool{}
	for _, s := range set.Series {
		at := launchOf(&s)
		if where != subjectOf(&s) || seen[at] {
			continue
		}
		seen[at] = true
		p := probes[at]
		p.file, p.launch = s.File, s.Launch
		all = append(all, p)
	}
	return all
}

// launchOf returns the file and the number of a launch.
func launchOf(s *sample.Series) [2]int { return [2]int{s.File, s.Launch} }

// readProbes reads what was seen of the machine in all launches: in each file one word a launch, in their order.
func readProbes(set *sample.Set) (map[[2]int]probed, error) {
	probes := map[[2]int]probed{}
	files := set.FactsByFile()
	launches := launchesByFile(set, len(files))
	for file, facts := range files {
		of := launches[file]
		if len(of) == 0 { // all that is in the file was in one before it
			continue
		}
		lines, err := readPairs(facts, sample.Lines, len(of))
		if err != nil {
			return nil, err
		}
		least, err := readPairs(facts, sample.Paces, len(of))
		if err != nil {
			return nil, err
		}
		best := leastOf(least)
		for i, launch := range of {
			p := probed{line: lines[i], least: least[i], best: best}
			if min(p.line[0], p.line[1]) == 0 { // half a probe does not say whether the mode stayed
				p.line = [2]float64{}
			}
			if p.known() {
				probes[[2]int{file, launch}] = p
			}
		}
	}
	return probes, nil
}

// leastOf returns the least of each of two times; 0 where there is none.
func leastOf(pairs [][2]float64) (least [2]float64) {
	for _, p := range pairs {
		for i, v := range p {
			if v > 0 && (least[i] == 0 || v < least[i]) {
				least[i] = v
			}
		}
	}
	return least
}

// launchesByFile returns the numbers of the launches in each of so many files, in order.
func launchesByFile(set *sample.Set, files int) [][]int {
	out := make([][]int, files)
	for _, s := range set.Series {
		if s.File < files && !slices.Contains(out[s.File], s.Launch) {
			out[s.File] = append(out[s.File], s.Launch)
		}
	}
	for _, launches := range out {
		slices.Sort(launches)
	}
	return out
}

// readPairs reads a fact that has two times for each of so many launches, in ns: zeros where there is none, where a launch has - for both, or ? for one of them.
func readPairs(facts []sample.Fact, key string, launches int) ([][2]float64, error) {
	pairs := make([][2]float64, launches)
	text, ok := (&sample.Set{Facts: facts}).Fact(key)
	if !ok {
		return pairs, nil
	}
	words := strings.Fields(text)
	if len(words) != launches {
		return nil, fmt.Errorf("fit: fact %q is of %d launches, and there are samples of %d", key, len(words), launches)
	}
	for i, word := range words {
		if word == "-" {
			continue
		}
		a, b, ok := strings.Cut(word, "/")
		for j, number := range []string{a, b} {
			if number == "?" {
				continue
			}
			v, err := strconv.ParseFloat(number, 64)
			if !ok || err != nil || !(v > 0 && v < 1e9) {
				return nil, fmt.Errorf("fit: fact %q: %q is not two times in nanoseconds, such as 155/160", key, word)
			}
			pairs[i][j] = v
		}
	}
	return pairs, nil
}
