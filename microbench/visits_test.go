package microbench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Visits that disagree are seen by their medians, where all samples together would hide it: two of ten were in slow moments, and each is as precise as can be.
func TestVisitsDisagree(t *testing.T) {
	visits := func(slow ...int) estimate {
		i, x := &item{cell: Cell{Mode: "send"}}, &timer{}
		for v := range 10 {
			took := unit.Time(100)
			if slices.Contains(slow, v) {
				took = 200
			}
			for range 3 {
				x.times[0], x.times[1] = append(x.times[0], took), append(x.times[1], took)
			}
			i.visits = append(i.visits, visit{end: len(x.times[0])})
		}
		return (&leader{}).visited(i, x)
	}
	for _, c := range []struct {
		slow []int
		want estimate
	}{{nil, estimate{100, 0}}, {[]int{0, 7}, estimate{100, 50}}, {[]int{0, 1, 2, 3, 4, 5}, estimate{200, 50}}} {
		if got := visits(c.slow...); got != c.want {
			t.Errorf("with slow visits %v: %v, not %v", c.slow, got, c.want)
		}
	}
	i, x := &item{cell: Cell{Mode: "send"}, visits: []visit{{end: 2}}}, &timer{}
	x.times = [2][]unit.Time{{1, 1}, {1, 1}}
	if e := (&leader{}).visited(i, x); !math.IsInf(e.half, 1) {
		t.Errorf("one visit knows it to %v", e.half)
	}
}

// A few waits already begin at places that are spread over a step of the clock.
func TestDither(t *testing.T) {
	const step = 1000
	d := dither{turns: step}
	var at []int
	for range 16 {
		at = append(at, d.next())
	}
	slices.Sort(at)
	last := 0
	for _, x := range append(at, step) {
		if x < 0 || x > step || x-last > step/8 {
			t.Fatalf("places are %v of %d", at, step)
		}
		last = x
	}
	if none := (dither{}); none.next() != 0 {
		t.Error("a clock without steps is waited for")
	}
}

// An item that was met is known in later launches: how long to wait in it, what it takes, how many operations make a sample, what it lacks, and how many samples there are.
func TestRemembers(t *testing.T) {
	c := &Campaign{Plan: Plan{Modes: []string{"send", "isend"}, Sizes: []int{8}}}
	all := []*item{{cell: Cell{"send", 8}, stage: 0, delta: 3, batch: 4, cost: 5}, {cell: Cell{"send", 8}, stage: 1, delta: 6, batch: 7, cost: 8}, {cell: Cell{"isend", 8}, stage: 0, delta: 9, batch: 10, cost: 11}}
	benches := map[Cell]*bench{{"send", 8}: {}, {"isend", 8}: {}}
	l := &leader{Campaign: c, crew: &crew{benches: benches, out: make([]byte, 8), in: make([]byte, 8)}, items: all}
	for n, i := range all {
		x := l.bench(i.cell).timer(campaigned[i.stage].timers[0], true)
		for k := range 10 * (n + 1) {
			x.times[0], x.times[1] = append(x.times[0], unit.Time(1000+k)), append(x.times[1], unit.Time(1000+k))
		}
		i.rounds = len(x.times[0])
		i.visits = []visit{{end: i.rounds}}
	}
	l.remember()
	for n, want := range all {
		got := &item{cell: want.cell, stage: want.stage}
		(&leader{Campaign: c}).meet(got)
		if got.delta != want.delta || got.batch != want.batch || got.cost != want.cost {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got.had != 10*(n+1) || got.scatter <= 0 {
			t.Errorf("%d samples that lack %g", got.had, got.scatter)
		}
	}
}

// A visit is of as many samples as are worth it. Who is to get fewer is visited in that part of the cases; who gets more, up to what a visit may take; and who has hardly any that count, always.
func TestPortion(t *testing.T) {
	l := &leader{Campaign: &Campaign{met: map[Cell]met{}}, crew: &crew{benches: map[Cell]*bench{{"send", 8}: {}}, out: make([]byte, 8), in: make([]byte, 8)}, random: rand.New(rand.NewPCG(1, 2))}
	for _, c := range []struct {
		cost   unit.Time
		rounds int
		share  float64
		want   float64 // on average
		each   []int
	}{
		{unit.Microsecond, 100, 0, 0, []int{0}},
		{unit.Microsecond, 100, 1, 1, []int{0, 4}},
		{unit.Microsecond, 100, 3, 3, []int{0, 4}},
		{unit.Microsecond, 100, 17.5, 17, []int{17}},
		{unit.Microsecond, 100, 5000, 1000, []int{1000}},
		{300 * unit.Microsecond, 100, 1, 1, []int{0, 3}},
		{400 * unit.Microsecond, 100, 5, 2, []int{2}},
		{900 * unit.Microsecond, 100, 1, 1, []int{0, 2}},
		{5 * unit.Millisecond, 100, 0.5, 0.5, []int{0, 1}},
		{5 * unit.Millisecond, 100, 7, 1, []int{1}},
		{unit.Microsecond, 0, 0, 2, []int{0, 4}}, // two are the least that each launch has
	} {
		i, sum := &item{cell: Cell{"send", 8}, cost: c.cost, rounds: c.rounds, had: 8}, 0
		for range 4000 {
			n := l.portion(i, c.share)
			if !slices.Contains(c.each, n) {
				t.Fatalf("%+v: %d", c, n)
			}
			sum += n
		}
		if mean := float64(sum) / 4000; math.Abs(mean-c.want) > 0.1 {
			t.Errorf("%+v: %g on average", c, mean)
		}
	}
	for range 100 {
		if n := l.portion(&item{cell: Cell{"send", 8}, cost: unit.Microsecond, had: 7}, 0); n != 4 {
			t.Fatalf("of what starves there are %d", n)
		}
	}
	l.Reps = 1
	if l.starves(&item{cell: Cell{"send", 8}}) {
		t.Error("what has its number of repetitions starves")
	}
}

// Rounds that do not count take a tenth of a millisecond; there are 40 at most, and three at least where a sample is of one message.
func TestWarm(t *testing.T) {
	for _, c := range []struct {
		cost               unit.Time
		stage, batch, want int
	}{
		{0, 0, 1, 1},
		{unit.Microsecond, 0, 1, 40},
		{10 * unit.Microsecond, 0, 1, 20},
		{100 * unit.Microsecond, 0, 1, 3},
		{100 * unit.Microsecond, 0, 8, 16}, // of a sample of eight rounds
		{300 * unit.Microsecond, 0, 1, 3},
		{900 * unit.Microsecond, 0, 1, 3},
		{10 * unit.Millisecond, 0, 1, 1},
	} {
		if got := (&item{stage: c.stage, batch: c.batch, cost: c.cost}).warm(); got != c.want {
			t.Errorf("%+v: %d rounds", c, got)
		}
	}
}

// With the other root no more rounds do not count than half of those that do, and three at most.
func TestRewarm(t *testing.T) {
	for _, c := range []struct{ warm, rounds, want int }{{0, 100, 0}, {1, 1, 1}, {3, 1, 1}, {3, 2, 1}, {3, 4, 2}, {40, 100, 3}, {2, 100, 2}} {
		if got := (order{warm: c.warm, rounds: c.rounds}).rewarm(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// What L, o_s, o_r, g and G are from is to be known three times as well: short messages, and long ones as far as they show what a byte costs on its way.
func TestWanted(t *testing.T) {
	l := &leader{Campaign: &Campaign{Plan: Plan{Sizes: []int{0, 64, 1 << 10, 64 << 10, 512 << 10}}, Precision: 0.03}}
	for _, c := range []struct {
		mode   string
		bytes  int
		timer  string
		better bool
	}{
		{"send", 0, sample.Idle, true}, {"isend", 64, sample.Timer11, true}, {"send", 65, sample.RTT, false}, {"send", 1 << 10, sample.Timer11, false},
		{"send", 64 << 10, sample.RTT, true}, {"send", 64<<10 - 1, sample.RTT, false}, {"send", 512 << 10, sample.Timer11, true}, {"isend", 512 << 10, sample.Timer11, false},
		{"isend", 512 << 10, sample.RTT, true}, {"isend", 512 << 10, sample.Train, true}, {"send", 512 << 10, sample.PRTT(Carriages), true},
		{"send", 512 << 10, sample.PRTTWaiting(Carriages), false}, {"send", 512 << 10, sample.Idle, false},
	} {
		i := &item{cell: Cell{c.mode, c.bytes}, stage: slices.IndexFunc(campaigned, func(s *stage) bool { return s.has(c.timer) })}
		if got := l.wanted(i); (got < 0.011) != c.better || (got > 0.029) == c.better {
			t.Errorf("%+v: to %g", c, got)
		}
	}
}

// Sizes of campaigns go up.
func TestGrids(t *testing.T) {
	for name, sizes := range map[string][]int{"log": LogSizes, "long": LongSizes, "trips": LogTrips} {
		if !slices.IsSorted(sizes) || len(slices.Compact(slices.Clone(sizes))) != len(sizes) {
			t.Errorf("%s: %v", name, sizes)
		}
	}
	if longest := slices.Max(LongSizes); longest != 512<<10 || slices.Max(LogSizes) != 128<<10 || !slices.Contains(LogSizes, 96<<10) {
		t.Errorf("to %d", longest)
	}
}

// A later launch aims at the state that the one before did, until it has visits of its own.
func TestAimsAsBefore(t *testing.T) {
	l := &leader{Campaign: &Campaign{sought: slowedP1}}
	l.recall(nil)
	if l.choose(); l.aim != slowedP1 {
		t.Errorf("without visits it aims at %v", l.aim)
	}
	l.items = []*item{{visits: []visit{{end: 1}}}}
	if l.choose(); l.aim != quick {
		t.Errorf("with one at full pace it aims at %v", l.aim)
	}
}

// What was not visited yet lacks what earlier launches say, or as much as what has too few samples for an interval; and it may depend on both processors.
func TestUnvisited(t *testing.T) {
	x := &bench{}
	l := &leader{Campaign: &Campaign{met: map[Cell]met{}, Plan: Plan{Reps: 1}}, launch: Launch{Rows: 1 << 20}, crew: &crew{benches: map[Cell]*bench{{"send", 8}: x}, out: make([]byte, 8), in: make([]byte, 8)}}
	i := &item{cell: Cell{"send", 8}}
	l.items = []*item{i}
	blindly := blind * math.Sqrt(seen)
	check := func(what string, need, lacks float64, both bool) {
		t.Helper()
		if n := l.need(i); n.scatter != need {
			t.Errorf("%s: it needs %g, not %g", what, n.scatter, need)
		}
		if got := l.lacks(i); got != lacks {
			t.Errorf("%s: it lacks %g, not %g", what, got, lacks)
		}
		if e := l.errand(i, 3); e.both != both || e.samples != 3 {
			t.Errorf("%s: %+v", what, e)
		}
	}
	check("never seen", blindly, 0, true)
	i.scatter = 7
	check("seen in an earlier launch", 7, 7, true)
	sends := x.timer(sample.Timer11, true)
	sends.times = [2][]unit.Time{{1000, 1100}, {1000, 1100}}
	i.rounds, i.visits = 2, []visit{{end: 2}}
	check("seen twice", 7, 7, false)
	i.scatter = 0
	check("seen twice for the first time", blindly, 0, false)
}

// A train waits between its messages for as long as P1 does otherwise on a real machine, and for the longest round of the warm-up on one whose clock is made.
func TestPause(t *testing.T) {
	for _, c := range []struct {
		shared      bool
		round, want unit.Time
	}{{true, 40, 5}, {false, 40, 40}, {false, 0, 5}} {
		if got := (&bench{Plan: &Plan{Shared: c.shared, Delta: 5}, round: c.round}).pause(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
