package microbench_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// emulated runs a campaign on an emulated machine, whose clock is made: a second of the campaign is one of that machine.
func emulated(t *testing.T, platform string, noise float64, c *microbench.Campaign) *microbench.Outcome {
	t.Helper()
	j, err := world.Open(platform, "", 2, noise)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Run(t.Context(), func(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
		w, err := j.World(ctx, uint64(l.Number))
		if err != nil {
			return nil, err
		}
		l.Begin = time.Time{}
		return c.On(w, j.Options(""), l)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// timersOf returns the timers of a mode in an outcome's launch, and how many samples of each there are at each size.
func counts(o *microbench.Outcome, launch int) map[string]int {
	n := map[string]int{}
	for _, s := range o.Series {
		if s.Launch == launch {
			n[fmt.Sprintf("%s %d %s", s.Mode, s.Bytes, s.Timer)] += len(s.Times)
		}
	}
	return n
}

// However little time there is, every launch brings samples of all timers of all cells, and all launches together enough of each; as many with one
// root as with the other.
func TestTinyBudget(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: microbench.Modes(), Sizes: []int{0, 100, 5000, 40000}, Shared: true}, Launches: 5, Budget: 10 * time.Millisecond}
	out := emulated(t, "t3d", 0.05, c)
	if out.Launches != 5 {
		t.Errorf("%d launches", out.Launches)
	}
	want := map[string][]string{
		"send":  {"timer11", "timer12", "timer21", "timer22", "idle", "rtt", "train", "prtt10", "prtt10-d"},
		"isend": {"timer11", "timer12", "timer21", "timer22", "idle", "rtt", "train", "prtt10", "prtt10-d"},
		"ssend": {"timer11", "timer12", "timer21", "timer22", "idle", "rtt"},
		"bsend": {"timer11", "timer12", "timer21", "timer22", "idle", "rtt"},
	}
	for launch := range out.Launches {
		n := counts(out, launch)
		for _, m := range c.Modes {
			timers := want[m]
			if timers == nil {
				timers = []string{"timer11", "timer12", "timer21", "timer22", "idle"}
			}
			for _, k := range c.Sizes {
				for _, timer := range timers {
					if timer == "idle" && k > 64 { // no send is hindered
						continue
					}
					name := fmt.Sprintf("%s %d %s", m, k, timer)
					if x := n[name]; x < 4 || x%2 != 0 {
						t.Errorf("launch %d has %d samples of %s", launch, x, name)
					}
					delete(n, name)
				}
			}
		}
		if len(n) > 0 {
			t.Errorf("launch %d has also %v", launch, n)
		}
	}
}

// Where there is time for no more than an item needs, the samples by which it was met are those: it is visited once. Nor are more made so that breaks
// would show, as no size is added any more.
func TestScarceTime(t *testing.T) {
	j, err := world.Open("t3d", "", 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{0, 5000}, Shared: true}, Launches: 5, Budget: 1, Refine: true}
	visits := 0
	out, err := c.Run(t.Context(), func(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
		w, err := j.World(ctx, uint64(l.Number))
		if err != nil {
			return nil, err
		}
		l.Begin = time.Time{}
		return c.On(w, j.Options(""), l)
	}, func(float64) { visits++ })
	if err != nil {
		t.Fatal(err)
	}
	if want := 5 * (2*6 - 1); visits != want { // launches, sizes, stages, of which one size has no idle sends
		t.Errorf("%d visits, want %d", visits, want)
	}
	for name, n := range counts(out, 0) {
		if n != 2*2 {
			t.Errorf("%d samples of %s", n, name)
		}
	}
}

// Where sends right behind a barrier are hindered, as by a long gap, later launches measure idle sends of all sizes, of the modes that are hindered; else there are those of short messages only.
func TestHinderedSends(t *testing.T) {
	for gap, want := range map[string]bool{"50us": true, "2us": false} {
		c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send", "ssend"}, Sizes: []int{0, 64, 5000}, Shared: true}, Launches: 3, Budget: time.Second}
		out := emulated(t, "loggp:L=5us,o_s=2us,o_r=3us,g="+gap, 0.02, c)
		for launch := range out.Launches {
			n := counts(out, launch)
			if n["send 0 idle"] == 0 || n["send 64 idle"] == 0 || n["ssend 0 idle"] == 0 {
				t.Errorf("g=%s, launch %d: %v", gap, launch, n)
			}
			if got := n["send 5000 idle"] > 0; got != (want && launch > 0) {
				t.Errorf("g=%s, launch %d: %d idle sends of a long message", gap, launch, n["send 5000 idle"])
			}
		}
	}
}

// Where no short messages are measured, the shortest tell whether sends are hindered.
func TestHinderedLongSends(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{1000, 5000}, Shared: true}, Launches: 2, Budget: time.Second}
	out := emulated(t, "loggp:L=5us,o_s=2us,o_r=3us,g=50us", 0.02, c)
	for launch := range out.Launches {
		if n := counts(out, launch); n["send 1000 idle"] == 0 || (n["send 5000 idle"] > 0) != (launch > 0) {
			t.Errorf("launch %d: %v", launch, n)
		}
	}
}

// Trains are of messages up to a length, if there is one.
func TestTrainsUpTo(t *testing.T) {
	for _, most := range []int{0, 100, 5000} {
		c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{0, 100, 5000}, Shared: true}, Launches: 1, Budget: 1, Trains: most}
		n := counts(emulated(t, "t3d", 0.05, c), 0)
		for _, k := range c.Sizes {
			for _, timer := range []string{"train", "prtt10", "prtt10-d"} {
				if got := n[fmt.Sprintf("send %d %s", k, timer)] > 0; got != (most == 0 || k <= most) {
					t.Errorf("up to %d: %s of %d bytes: %v", most, timer, k, got)
				}
			}
			if n[fmt.Sprintf("send %d rtt", k)] == 0 {
				t.Errorf("up to %d: no round trips of %d bytes", most, k)
			}
		}
	}
}

// With repetitions given there are as many of them in each launch.
func TestFixedRepetitions(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send", "message"}[:1], Sizes: []int{0, 5000}, Reps: 41, Shared: true}, Launches: 2}
	out := emulated(t, "t3d", 0.05, c)
	for launch := range 2 {
		for name, n := range counts(out, launch) {
			want := 2 * 10
			if strings.Contains(name, "timer") {
				want = 2 * 41
			}
			if n != want {
				t.Errorf("launch %d has %d samples of %s, want %d", launch, n, name, want)
			}
		}
	}
}

// Without noise a few visits know everything, and nothing more is repeated: neither in a launch nor by another one.
func TestStopsWhenKnown(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{0, 5000}, Shared: true}, Budget: time.Hour, Precision: 0.01}
	quiet := emulated(t, "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", 0, c)
	if quiet.Launches != 5 || quiet.Known != quiet.Medians || quiet.Medians == 0 {
		t.Errorf("without noise: %d launches, %d of %d known", quiet.Launches, quiet.Known, quiet.Medians)
	}
	c.Budget = 2 * time.Second
	noisy := emulated(t, "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", 0.2, c)
	few, many := counts(quiet, 0), counts(noisy, 0)
	for name, n := range many {
		if strings.Contains(name, "timer11") && n <= few[name]/2 {
			t.Errorf("with noise %d samples of %s, without %d", n, name, few[name])
		}
	}
}

// The sizes at which the emulated library changes its protocol are found, in the first launch, and are those of all launches. The T3D's sends
// change at 500 and at 16,384 bytes.
func TestRefines(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: microbench.LogSizes[:14], Shared: true}, Launches: 2, Budget: time.Hour, Precision: 0.5, Refine: true}
	out := emulated(t, "t3d", 0.01, c)
	if len(out.Added) == 0 || len(out.Added) > 10 {
		t.Fatalf("added %v", out.Added)
	}
	sizes := slices.Sorted(slices.Values(slices.Concat(c.Sizes, out.Added)))
	for launch := range out.Launches {
		n := counts(out, launch)
		for _, k := range sizes {
			if n[fmt.Sprintf("send %d rtt", k)] == 0 {
				t.Errorf("launch %d has no samples at %d bytes", launch, k)
			}
		}
	}
	for _, limit := range []int{512, 16384} {
		i, _ := slices.BinarySearch(sizes, limit+1)
		if gap := sizes[i] - sizes[i-1]; gap > max(32, limit/16) {
			t.Errorf("the change behind %d bytes is only known to be from %d to %d", limit, sizes[i-1], sizes[i])
		}
	}
	c.Refine = false
	if out := emulated(t, "t3d", 0.01, c); out.Added != nil {
		t.Errorf("unasked, sizes were added: %v", out.Added)
	}
}

// At the sizes of trips nothing but round trips is measured, in those modes that have them, and such a size is none that was added.
func TestTripsAlone(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send", "rsend", "isend", "issend"}, Sizes: []int{0, 1024, 2048, 4096}, Shared: true}, Trips: []int{1440, 2048}, Launches: 2, Budget: time.Hour, Precision: 0.5, Refine: true}
	out := emulated(t, "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", 0.01, c)
	n := counts(out, 1)
	for name, samples := range n {
		if strings.Contains(name, " 1440 ") && name != "send 1440 rtt" && name != "isend 1440 rtt" {
			t.Errorf("%d samples of %s", samples, name)
		}
	}
	for _, name := range []string{"send 1440 rtt", "isend 1440 rtt", "send 2048 timer11", "rsend 2048 timer11"} {
		if n[name] < 8 {
			t.Errorf("%d samples of %s", n[name], name)
		}
	}
	if slices.Contains(out.Added, 1440) || c.OnlyTrips(2048) || !c.OnlyTrips(1440) {
		t.Errorf("added %v", out.Added)
	}
	var halve func(low, high int)
	halve = func(low, high int) {
		middle := low + (high-low)/2
		if high-low <= max(32, low/16) {
			return
		}
		if slices.Contains(microbench.LogTrips, middle) {
			t.Errorf("halving a gap leads to %d", middle)
		}
		halve(low, middle)
		halve(middle, high)
	}
	for i, k := range microbench.LogSizes[1:] {
		halve(microbench.LogSizes[i], k)
	}
	c.Trips = []int{5000}
	if err := c.Check(); err == nil {
		t.Error("a round trip is longer than the longest message")
	}
}

// What is shorter than a hundred steps of the clock is measured in batches; a sample is still what one operation takes.
func TestBatches(t *testing.T) {
	const spec = "loggp:L=50ns,o_s=20ns,o_r=30ns,g=40ns,G=0.1ns/B"
	value := func(step unit.Time) map[string]unit.Time {
		c := batchesOf(step)
		out := emulated(t, spec, 0, c)
		want := []microbench.Batch{{Timer: sample.Idle, Operations: 16}, {Timer: sample.RTT, Operations: 8}} // 20 ns, at most 16; 200 ns
		if step == 0 && c.Batches != nil || step > 0 && (!slices.Contains(c.Batches, want[0]) || !slices.Contains(c.Batches, want[1])) {
			t.Errorf("with a step of %v batches are %v, without %v", step, c.Batches, want)
		}
		if i := slices.IndexFunc(c.Batches, func(b microbench.Batch) bool { return b.Timer == sample.Train }); i >= 0 {
			t.Errorf("31 gaps are more than a hundred steps, and %v", c.Batches[i])
		}
		v := map[string]unit.Time{}
		for _, s := range out.Series {
			v[s.Timer] = s.Times[0]
		}
		return v
	}
	single, batched := value(0), value(10*unit.Nanosecond)
	for timer, want := range single {
		if got := batched[timer]; got < want*99/100 || got > want*101/100 {
			t.Errorf("%s is %v, and %v in batches", timer, want, got)
		}
	}
}

// batchesOf returns a campaign of one cell, by a clock with steps.
func batchesOf(step unit.Time) *microbench.Campaign {
	plan := microbench.Plan{Modes: []string{"send"}, Sizes: []int{16}, Shared: true}
	return &microbench.Campaign{Plan: plan, Launches: 1, Budget: time.Millisecond, Step: step}
}

// Where a round takes long batches are small, whatever the clock.
func TestDearBatches(t *testing.T) {
	c := batchesOf(unit.Microsecond)
	emulated(t, "loggp:L=50us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", 0, c)
	for _, b := range c.Batches {
		if b.Operations > 2 { // with each root a round takes more than 100 us
			t.Errorf("a sample of %s is the mean of %d operations", b.Timer, b.Operations)
		}
	}
}

// An item is visited at many times before it is known: one visit may be in a moment in which everything takes longer.
func TestManyVisits(t *testing.T) {
	j, err := world.Open("loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", "", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"ssend", "bsend"}, Sizes: []int{0, 5000}, Shared: true}, Launches: 1, Budget: time.Hour}
	visits := 0
	_, err = c.Run(t.Context(), func(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
		w, err := j.World(ctx, 0)
		if err != nil {
			return nil, err
		}
		l.Begin = time.Time{}
		return c.On(w, j.Options(""), l)
	}, func(float64) { visits++ })
	if err != nil {
		t.Fatal(err)
	}
	if items := 2*2*3 - 2; visits < 8*items || visits > 20*items { // modes, sizes, stages but for idle sends of 5000 bytes: eight medians have an interval
		t.Errorf("%d visits to %d items", visits, items)
	}
}

// The order of cells is another in each launch and with each seed, and the same again for the same.
func TestOrder(t *testing.T) {
	orders := map[uint64][]string{}
	for _, seed := range []uint64{1, 2, 1} {
		c := &microbench.Campaign{Plan: microbench.Plan{Modes: microbench.Modes(), Sizes: microbench.LogSizes}, Seed: seed, Launches: 3}
		var told []string
		_, err := c.Run(t.Context(), func(_ context.Context, l microbench.Launch) ([]sample.Series, error) {
			told = append(told, fmt.Sprint(l.Cells))
			return nil, nil
		}, nil)
		if err != nil || len(told) != 3 || told[0] == told[1] || told[1] == told[2] {
			t.Fatalf("%v: %d launches, or two in one order", err, len(told))
		}
		if before := orders[seed]; before != nil && !slices.Equal(before, told) {
			t.Error("the same seed gives another order")
		}
		orders[seed] = told
	}
	if slices.Equal(orders[1], orders[2]) {
		t.Error("another seed gives the same order")
	}
}

// Launches go on while they disagree and there is time, and no longer.
func TestLaunches(t *testing.T) {
	plan := microbench.Plan{Modes: []string{"send"}, Sizes: []int{0}}
	run := func(c *microbench.Campaign, value func(launch int) unit.Time) *microbench.Outcome {
		out, err := c.Run(t.Context(), func(_ context.Context, l microbench.Launch) ([]sample.Series, error) {
			return []sample.Series{{Key: sample.Key{Mode: "send", Timer: sample.RTT}, Times: []unit.Time{value(l.Number)}}}, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range out.Series {
			if s.Launch != i {
				t.Errorf("series %d is of launch %d", i, s.Launch)
			}
		}
		return out
	}
	same := func(int) unit.Time { return unit.Microsecond }
	until := func(n int) func(int) unit.Time {
		return func(launch int) unit.Time { return unit.Microsecond * unit.Time(1+max(0, n-launch)) }
	}
	if out := run(&microbench.Campaign{Plan: plan, Budget: time.Hour}, same); out.Launches != 5 || out.Known != 1 {
		t.Errorf("launches that agree: %d, %d known", out.Launches, out.Known)
	}
	if out := run(&microbench.Campaign{Plan: plan, Budget: time.Hour, Precision: 0.2}, until(4)); out.Launches <= 5 || out.Known != 1 {
		t.Errorf("launches of which the first disagree: %d, %d known", out.Launches, out.Known)
	}
	if out := run(&microbench.Campaign{Plan: plan, Budget: 1}, until(4)); out.Launches != 1 || out.Known != 0 {
		t.Errorf("no time: %d launches, %d known", out.Launches, out.Known)
	}
	if out := run(&microbench.Campaign{Plan: plan, Budget: 1, Launches: 4}, until(4)); out.Launches != 4 {
		t.Errorf("no time, and four were asked for: %d launches", out.Launches)
	}
	if out := run(&microbench.Campaign{Plan: plan, Budget: time.Hour, Launches: 2}, until(4)); out.Launches != 2 {
		t.Errorf("two were asked for: %d launches", out.Launches)
	}
	if out := run(&microbench.Campaign{Plan: plan, Budget: time.Hour, Quick: true}, same); out.Launches != 3 {
		t.Errorf("a quick one has %d launches", out.Launches)
	}
}

// Ranks are goroutines in real time, more than two of them: the others take no part.
func TestCampaignOnGoroutines(t *testing.T) {
	j, err := world.Open("t3d", "", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{microbench.Message}, Sizes: []int{0, 600}, Shared: true}, Quick: true, Launches: 3, Budget: 10 * time.Millisecond}
	last := 0.0
	out, err := c.Run(t.Context(), func(_ context.Context, l microbench.Launch) ([]sample.Series, error) {
		var w mpi.World = loop.New(3)
		return c.On(w, j.Options(""), l)
	}, func(part float64) {
		if part < 0 || part > 1 {
			t.Errorf("%v is over", part)
		}
		last = part
	})
	if err != nil || last == 0 {
		t.Fatalf("%v, %v over", err, last)
	}
	n := counts(out, 2)
	for _, timer := range []string{"timer12", "timer21", "rtt", "train", "prtt10", "prtt10-d", "get"} {
		if n["message 600 "+timer] < 8 {
			t.Errorf("%d samples of %s: %v", n["message 600 "+timer], timer, n)
		}
	}
}

// What a sample takes, and how many operations make one, is found out once: later launches go on from there.
func TestMeetsOnce(t *testing.T) {
	j, err := world.Open("t3d", "", 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{0, 5000}, Reps: 10, Shared: true}, Launches: 3, Step: unit.Microsecond}
	visits := make([]int, 3)
	out, err := c.Run(t.Context(), func(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
		w, err := j.World(ctx, uint64(l.Number))
		if err != nil {
			return nil, err
		}
		l.Begin, l.Progress = time.Time{}, func(float64) { visits[l.Number]++ }
		return c.On(w, j.Options(""), l)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if items := 2 * 6; visits[0]-visits[1] != items || visits[1] != visits[2] {
		t.Errorf("%v visits of %d items", visits, items)
	}
	first := counts(out, 0)
	for name, n := range counts(out, 2) {
		if n != first[name] {
			t.Errorf("%s: %d samples, and %d in the first launch", name, n, first[name])
		}
	}
}
