package reports

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/pagetest"
)

// contrasted is three machines by formula: one with a step in its sends, one whose times grow, and
// one that has no calls that do not block.
func contrasted() *compare.Table {
	type call struct {
		mode, timer string
		us          func(k int) float64
	}
	constant := func(us float64) func(int) float64 { return func(int) float64 { return us } }
	step := func(k int) float64 {
		if k > 500 {
			return 60
		}
		return 30
	}
	grows := func(k int) float64 { return 20 + 0.02*float64(k) }
	var machines []sample.Machine
	for _, m := range []struct {
		name  string
		calls []call
	}{
		{"step", []call{{"send", "timer11", step}, {"send", "timer12", grows}, {"isend", "timer11", constant(30)}, {"isend", "timer21", constant(100)},
			{"ssend", "timer21", func(k int) float64 { return 23 + 0.05*float64(k) }}, {"ssend", "timer12", constant(20)}, {"send", "rtt", constant(80)}}},
		{"growing", []call{{"send", "timer11", grows}, {"send", "timer12", grows}, {"isend", "timer11", constant(30)}, {"isend", "timer21", constant(10)},
			{"ssend", "timer21", func(k int) float64 { return 26 + 0.05*float64(k) }}, {"ssend", "timer12", constant(20)}, {"send", "rtt", grows}}},
		{"blocking", []call{{"send", "timer11", constant(30)}, {"send", "timer12", grows}}},
	} {
		set := &sample.Set{}
		for _, c := range m.calls {
			for _, k := range []int{0, 16, 64, 256, 500, 700, 1000, 2000, 4000, 10000} {
				s := sample.Series{Key: sample.Key{Platform: m.name, Library: "lib", Clock: "virtual", Place: "inter", Mode: c.mode, Protocol: "auto", Timer: c.timer, Bytes: k}}
				for i := range 40 { // two percent to either side
					s.Times = append(s.Times, unit.FromMicros(c.us(k)*(0.98+0.04*float64(i*7%40)/39)))
				}
				set.Series = append(set.Series, s)
			}
		}
		machines = append(machines, sample.Machine{Files: []string{m.name + ".csv"}, Set: set})
	}
	c, err := compare.CompareSubjects(machines, clean.Options{}, 0.2, false)
	if err != nil {
		panic(err)
	}
	return c
}

// What a crossover says in words, zone by zone.
func TestStory(t *testing.T) {
	type zones = []compare.Zone
	z := func(from, to int, side compare.Side) compare.Zone {
		return compare.Zone{From: from, To: to, Side: side}
	}
	const yes, no, even, open = compare.LongerSide, compare.ShorterSide, compare.NeitherSide, compare.UndecidedSide
	for _, c := range []struct {
		zones     zones
		crossings []compare.Crossing
		pays      string
		rivals    string // a is faster where the time is longer
	}{
		{zones{z(0, 9, yes)}, nil, "from 0 B on", "a at all sizes"},
		{zones{z(0, 9, no)}, nil, "never up to 9 B", "b at all sizes"},
		{zones{z(0, 9, open)}, nil, "undecided", "undecided"},
		{zones{z(0, 9, even)}, nil, "alike at all sizes", "alike at all sizes"},
		{zones{z(0, 9, no), z(10, 19, open), z(20, 99, no)}, nil, "never up to 99 B, but undecided at 10 B to 19 B", "b at all sizes, but undecided at 10 B to 19 B"},
		{zones{z(0, 9, no), z(10, 19, open), z(20, 99, yes)}, []compare.Crossing{{Bytes: 15, Low: 9, High: 20, SideAfter: yes}}, "15 B (9 B to 20 B)", "b up to 15 B (9 B to 20 B), then a"},
		{zones{z(0, 9, no), z(10, 20, yes), z(21, 30, no)}, []compare.Crossing{{Bytes: 10, Low: 9, High: 10, SideAfter: yes}, {Bytes: 21, Low: 20, High: 21, SideAfter: no}},
			"does not pay up to 10 B (9 B to 10 B), then pays up to 21 B (20 B to 21 B), then does not pay",
			"b up to 10 B (9 B to 10 B), then a up to 21 B (20 B to 21 B), then b"},
		{zones{z(0, 9, open), z(10, 20, yes)}, nil, "undecided up to 9 B, then pays", "undecided up to 9 B, then a"},
		{zones{z(0, 9, yes), z(10, 20, open)}, nil, "pays up to 9 B, then undecided", "a up to 9 B, then undecided"},
		{zones{z(0, 9, open), z(10, 19, no), z(20, 29, yes), z(30, 40, open)}, []compare.Crossing{{Bytes: 20, Low: 19, High: 20, SideAfter: yes}},
			"undecided up to 9 B, then does not pay up to 20 B (19 B to 20 B), then pays up to 29 B, then undecided",
			"undecided up to 9 B, then b up to 20 B (19 B to 20 B), then a up to 29 B, then undecided"},
		{zones{z(0, 9, even), z(10, 20, open), z(21, 30, no)}, []compare.Crossing{{Bytes: 21, Low: 9, High: 21, SideAfter: no}}, "alike up to 21 B (9 B to 21 B), then does not pay", "alike up to 21 B (9 B to 21 B), then b"},
	} {
		x := compare.Crossover{Zones: c.zones, Crossings: c.crossings}
		if got := format.SingleLine(describeOverlap(x)); got != c.pays {
			t.Errorf("%v: %q, want %q", c.zones, got, c.pays)
		}
		if got := format.SingleLine(describeZones(x, "a", "b")); got != c.rivals {
			t.Errorf("%v: %q, want %q", c.zones, got, c.rivals)
		}
	}
}

// What changes often is a list of sizes.
func TestSides(t *testing.T) {
	z := func(from, to int, side compare.Side) compare.Zone {
		return compare.Zone{From: from, To: to, Side: side}
	}
	x := compare.Crossover{Zones: []compare.Zone{z(0, 9, compare.LongerSide), z(10, 20, compare.ShorterSide), z(21, 29, compare.UndecidedSide), z(30, 40, compare.LongerSide), z(41, 50, compare.ShorterSide)}, Crossings: make([]compare.Crossing, 3)}
	if got, want := format.SingleLine(describeZones(x, "a", "b")), "a up to 9 B, 30 B to 40 B; b 10 B to 20 B, from 41 B on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := format.SingleLine(overlapZones(x)), "up to 9 B, 30 B to 40 B"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	x.Zones, x.Crossings = x.Zones[:1], nil
	if got, want := format.SingleLine(overlapZones(x)), "from 0 B on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The page of one subject says where it pays not to block; of several, how they compare.
func TestPageContrast(t *testing.T) {
	for _, n := range []int{1, 3} {
		c := contrasted()
		c.Subjects = c.Subjects[:n]
		for i := range c.Subjects {
			c.Subjects[i].MachineIndex = 0 // of the one result
		}
		if n == 1 {
			c.Rows, c.Pairwise, c.Overlaps = nil, nil, c.Overlaps[:1]
		}
		page := strings.ReplaceAll(pagetest.Write(t, (&Report{Results: []*fit.Result{example()}, SideBySide: c}).Document()).Files["index.html"], format.NonBreakingSpace, " ")
		for id, want := range map[string]bool{`id="overlap"`: true, `id="contrast"`: n > 1, "700 B (500 B to 700 B)": true} {
			if strings.Contains(page, id) != want {
				t.Errorf("%d subjects: %s is there: %v", n, id, !want)
			}
		}
	}
}
