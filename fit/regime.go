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

// A machine may be in several modes: on many with virtual processors a cache line takes 60 ns from one to the other in one launch and 250 ns in the next.
// Whoever measures writes down how long (the fact "line_ns"), and parameters are those of the mode that most launches are in.

// sameMode is by how much the times of cache lines may differ within a mode.
const sameMode = 1.3

// probed is a launch and its cache lines, in ns. It is known if there is a probe of it.
type probed struct {
	file, launch  int
	before, after float64
	known         bool
}

// line is the time of a cache line around the launch.
func (p probed) line() float64 { return math.Sqrt(p.before * p.after) }

// steady says whether the machine was in one mode all the time.
func (p probed) steady() bool {
	return max(p.before, p.after) <= sameMode*min(p.before, p.after)
}

// oneMode leaves out launches of another mode of the machine than that of most, and says which. Of a subject without a mode that half of its launches are in
// all launches stay.
func oneMode(set *sample.Set) (*sample.Set, []Warning, error) {
	lines, err := readLines(set)
	if err != nil || len(lines) == 0 {
		return set, nil, err
	}
	var warnings []Warning
	out := map[subject]map[[2]int]bool{}
	for _, where := range subjects(set) {
		all := launchesOf(set, where, lines)
		kept, warns := regime(where, all)
		warnings = append(warnings, warns...)
		left := map[[2]int]bool{}
		for _, p := range all {
			if !slices.Contains(kept, p) {
				left[[2]int{p.file, p.launch}] = true
			}
		}
		out[where] = left
	}
	result := &sample.Set{Facts: set.Facts}
	for _, s := range set.Series {
		if !out[subject{s.Platform, s.Library, s.Place}][[2]int{s.File, s.Launch}] {
			result.Series = append(result.Series, s)
		}
	}
	return result, warnings, nil
}

// regime returns the launches that count, and what is to be said of the others.
func regime(where subject, all []probed) (kept []probed, warnings []Warning) {
	warn := func(code, format string, args ...any) {
		warnings = append(warnings, Warning{Platform: where.platform, Library: where.library, Place: where.place, Parameter: "launches", Code: code, Text: fmt.Sprintf(format, args...)})
	}
	var steady, moved, unknown []probed
	for _, p := range all {
		switch {
		case !p.known:
			unknown = append(unknown, p)
		case p.steady():
			steady = append(steady, p)
		default:
			moved = append(moved, p)
			warn(ModeChanged, "the machine went into another mode during launch %d: a cache line took %.3g ns before it and %.3g ns after", p.launch, p.before, p.after)
		}
	}
	slices.SortStableFunc(steady, func(a, b probed) int { return cmp.Compare(a.line(), b.line()) })
	most := largest(steady)
	others := append(slices.DeleteFunc(slices.Clone(steady), func(p probed) bool { return slices.Contains(most, p) }), moved...)
	switch {
	case len(others) == 0:
		return all, warnings
	case 2*len(most) < len(steady)+len(moved):
		warn(ModeMixed, "a cache line took %s in launches of several modes of the machine, none of which has half of them: all count, and intervals hold what differs between them", span(steady, moved))
		return all, warnings
	}
	warn(ModeMixed, "launches %s were in another mode of the machine than %d of %d: a cache line took %s in them, and %s in those that count", numbers(others),
		len(most)+len(unknown), len(all), span(others), span(most))
	return append(most, unknown...), warnings
}

// largest returns the most launches of which no two are of different modes: of several as many the quickest. They are in order.
func largest(steady []probed) []probed {
	var best []probed
	for i := range steady {
		j := i
		for j < len(steady) && steady[j].line() <= sameMode*steady[i].line() {
			j++
		}
		if j-i > len(best) {
			best = steady[i:j]
		}
	}
	return best
}

// span says how long cache lines took in launches.
func span(parts ...[]probed) string {
	var all []float64
	for _, p := range slices.Concat(parts...) {
		all = append(all, p.before, p.after)
	}
	if low, high := slices.Min(all), slices.Max(all); high > low {
		return fmt.Sprintf("%.3g to %.3g ns", low, high)
	}
	return fmt.Sprintf("%.3g ns", all[0])
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
		if where := (subject{s.Platform, s.Library, s.Place}); !slices.Contains(all, where) {
			all = append(all, where)
		}
	}
	return all
}

// launchesOf returns the launches of a subject, with their cache lines.
func launchesOf(set *sample.Set, where subject, lines map[[2]int]probed) []probed {
	var all []probed
	seen := map[[2]int]bool{}
	for _, s := range set.Series {
		at := [2]int{s.File, s.Launch}
		if where != (subject{s.Platform, s.Library, s.Place}) || seen[at] {
			continue
		}
		seen[at] = true
		p := lines[at]
		p.file, p.launch = s.File, s.Launch
		all = append(all, p)
	}
	return all
}

// readLines reads the cache lines of all launches: in each file one word a launch, in their order; - where there was no probe, ? for one of the two that failed.
func readLines(set *sample.Set) (map[[2]int]probed, error) {
	lines := map[[2]int]probed{}
	for file, facts := range set.FactsByFile() {
		text, ok := (&sample.Set{Facts: facts}).Fact(sample.Lines)
		if !ok {
			continue
		}
		var launches []int
		for _, s := range set.Series {
			if s.File == file && !slices.Contains(launches, s.Launch) {
				launches = append(launches, s.Launch)
			}
		}
		if len(launches) == 0 { // all that is in the file was in one before it
			continue
		}
		slices.Sort(launches)
		words := strings.Fields(text)
		if len(words) != len(launches) {
			return nil, fmt.Errorf("fit: fact %q is of %d launches, and there are samples of %d", sample.Lines, len(words), len(launches))
		}
		for i, word := range words {
			if word == "-" || strings.Contains(word, "?") { // half a probe does not say whether the mode stayed
				continue
			}
			before, after, err := readProbe(word)
			if err != nil {
				return nil, fmt.Errorf("fit: fact %q: %w", sample.Lines, err)
			}
			lines[[2]int{file, launches[i]}] = probed{before: before, after: after, known: true}
		}
	}
	return lines, nil
}

// readProbe reads before/after.
func readProbe(word string) (before, after float64, err error) {
	a, b, ok := strings.Cut(word, "/")
	before, errA := strconv.ParseFloat(a, 64)
	after, errB := strconv.ParseFloat(b, 64)
	if !ok || errA != nil || errB != nil || !(before > 0 && before < 1e9 && after > 0 && after < 1e9) {
		return 0, 0, fmt.Errorf("%q is not two times in nanoseconds, such as 155/160", word)
	}
	return before, after, nil
}
