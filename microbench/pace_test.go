package microbench

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// What is at full pace is known by the shortest looks, but for some that were short by chance, of this launch or of an earlier one.
func TestState(t *testing.T) {
	var p pace
	if p.looked() || p.best() != (looks{}) {
		t.Errorf("before any look: %+v", p.best())
	}
	for _, l := range []looks{{3000, 2100}, {1600, 2000}, {2000, 2000}, {2010, 3000}, {2020, 3000}, {2030, 2020}, {2040, 2010}, {2900, 2000}} {
		p.see(l)
	}
	if want := (looks{2030, 2020}); p.here() != want || p.best() != want || !p.looked() || p.last != (looks{2900, 2000}) {
		t.Errorf("%+v", p)
	}
	for range 500 { // of so many more may be short by chance
		p.see(looks{2500, 2500})
	}
	if want := (looks{2040, 2100}); p.here() != want {
		t.Errorf("of many looks: %v", p.here())
	}
	p = pace{}
	for range 5 {
		p.see(looks{2030, 2020})
	}
	p.earlier = looks{2500, 1900}
	if want := (looks{2030, 1900}); p.here() != (looks{2030, 2020}) || p.best() != want {
		t.Errorf("with an earlier launch: here %v, best %v", p.here(), p.best())
	}
	for l, want := range map[looks]state{
		{1000, 1000}: quick, {2233, 2090}: quick, {2234, 2090}: slowedP1, {2233, 2091}: slowedP2, {4000, 4000}: slowedP1 | slowedP2,
	} {
		if got := p.state(l); got != want {
			t.Errorf("%v: %v, want %v", l, paces[got], paces[want])
		}
	}
	if a, b := (looks{1, 4}), (looks{2, 3}); a.longer(b) != (looks{2, 4}) {
		t.Error(a.longer(b))
	}
	var none pace
	none.see(looks{0, 0})
	if none.looked() || none.state(looks{0, 0}) != quick {
		t.Error("a clock that does not show the work")
	}
}

// What P1 does alone is told from what depends on both.
func TestAlone(t *testing.T) {
	for mode, want := range map[string]string{
		"send": "timer11 timer12 idle train", "ssend": "timer12", "issend": "timer11 timer12 idle train", "bsend": "timer11 timer12 idle train",
		Message: "timer11 timer12 idle train",
	} {
		got := ""
		for _, timer := range []string{"timer11", "timer12", "timer21", "timer22", "idle", "rtt", "train", "prtt10", "prtt10-d", "T_s", "T_sr", "get"} {
			if find(mode).alone(timer) {
				got += " " + timer
			}
		}
		if got != " "+want {
			t.Errorf("%s:%s, want %s", mode, got, want)
		}
	}
}

// Moments of the state that is aimed at are for what depends on both processors; those in which P1's is, for what it does alone; and others for nothing.
func TestNext(t *testing.T) {
	alone, both, either := errand{alone: true}, errand{both: true}, errand{alone: true, both: true}
	const s1, s2 = slowedP1, slowedP2
	for _, c := range []struct {
		aim, now state
		todo     []errand
		want     int
	}{
		{quick, quick, []errand{alone, both, either}, 1},
		{quick, quick, []errand{alone, either}, 1},
		{quick, quick, []errand{alone, alone}, 0},
		{quick, quick, []errand{{}}, 0},
		{quick, s2, []errand{both, alone, either}, 1},
		{quick, s2, []errand{both, either, alone}, 1},
		{quick, s2, []errand{both, both}, -1},
		{quick, s1, []errand{alone, both, either}, -1},
		{quick, s1 | s2, []errand{alone, both, either}, -1},
		{s1, s1, []errand{alone, both}, 1},
		{s1, s1 | s2, []errand{both, alone}, 1},
		{s1, quick, []errand{both, alone}, -1},
		{s1 | s2, s1, []errand{both, alone}, 1},
		{s2, quick, []errand{both, alone}, 1},
	} {
		l := &leader{aim: c.aim}
		for range 100 {
			l.see(looks{100, 100})
		}
		of := looks{100, 100}
		for r, s := range []state{s1, s2} {
			if c.now&s != 0 {
				of[r] = 150
			}
		}
		l.see(of)
		if l.scarce = false; c.now == c.aim && l.next(c.todo) != 0 {
			t.Errorf("aim %s: there is enough time for the first of %+v", paces[c.aim], c.todo)
		}
		l.scarce = true
		if got := l.next(c.todo); got != c.want {
			t.Errorf("aim %s, now %s, %+v: %d, want %d", paces[c.aim], paces[c.now], c.todo, got, c.want)
		}
	}
}

// Full pace is what is aimed at, unless it is rare.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		visits [4]int // in each state
		want   state
		scarce bool
	}{
		{[4]int{}, quick, false},
		{[4]int{10, 90, 0, 0}, quick, false},
		{[4]int{10, 0, 90, 0}, quick, true},
		{[4]int{3, 97, 0, 0}, quick, false},
		{[4]int{2, 48, 50, 0}, slowedP2, false},
		{[4]int{0, 50, 40, 10}, slowedP1, false},
		{[4]int{1, 9, 30, 60}, slowedP1 | slowedP2, false},
		{[4]int{4, 30, 36, 30}, quick, true},
	} {
		l := &leader{}
		for range 100 {
			l.see(looks{100, 100})
		}
		i := &item{cell: Cell{Mode: "send"}}
		for s, n := range c.visits {
			of := looks{100, 100}
			if state(s)&slowedP1 != 0 {
				of[0] = 150
			}
			if state(s)&slowedP2 != 0 {
				of[1] = 150
			}
			for range n {
				i.visits = append(i.visits, visit{looks: of})
			}
		}
		l.items = []*item{i}
		if l.choose(); l.aim != c.want || l.scarce != c.scarce {
			t.Errorf("%v: %s, scarce %v, want %s, %v", c.visits, paces[l.aim], l.scarce, paces[c.want], c.scarce)
		}
	}
}

// disturbed runs a campaign on an emulated machine whose times scatter. By its clock the processor of a rank is slowed when the test says so.
func disturbed(t *testing.T, c *Campaign, slowed func(rank int, now unit.Time) bool) *Outcome {
	t.Helper()
	j, err := world.Open("t3d", "", 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	c.look = func(comm *mpi.Comm) unit.Time {
		if slowed(comm.Rank(), comm.Wtime()) {
			return 3 * unit.Microsecond
		}
		return 2 * unit.Microsecond
	}
	out, err := c.Run(t.Context(), func(ctx context.Context, l Launch) ([]sample.Series, error) {
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

// byPace counts the samples of each timer at each pace.
func byPace(out *Outcome) map[string]map[string]int {
	n := map[string]map[string]int{}
	for _, s := range out.Series {
		name := fmt.Sprintf("%s %d %s", s.Mode, s.Bytes, s.Timer)
		if n[name] == nil {
			n[name] = map[string]int{}
		}
		n[name][s.Pace] += len(s.Times)
	}
	return n
}

// On a machine of its own everything is at full pace; where nobody can look nothing is known of that.
func TestUndisturbed(t *testing.T) {
	plan := Plan{Modes: []string{"send", "ssend"}, Sizes: []int{0, 5000}, Reps: 8, Shared: true}
	c := &Campaign{Plan: plan, Launches: 2}
	for name, n := range byPace(disturbed(t, c, func(int, unit.Time) bool { return false })) {
		if len(n) != 1 || n[sample.Full] == 0 {
			t.Errorf("%s: %v", name, n)
		}
	}
	if want := [][2]float64{{2000, 2000}, {2000, 2000}}; !reflect.DeepEqual(c.Paces, want) {
		t.Errorf("paces are %v", c.Paces)
	}
}

// A processor that is slowed for four fifths of the time, in turns of 50 ms: all that is wanted is known at full pace nevertheless, as its moments are
// waited for.
func TestWaitsForFullPace(t *testing.T) {
	for _, rank := range []int{0, 1} {
		c := &Campaign{Plan: Plan{Modes: []string{"send", "ssend"}, Sizes: []int{0, 5000}, Shared: true}, Launches: 1, Budget: 10 * time.Second}
		out := disturbed(t, c, func(r int, now unit.Time) bool { return r == rank && now/(50*unit.Millisecond)%5 != 0 })
		full, all := 0, 0
		for name, n := range byPace(out) {
			if n[sample.Full] < 10 {
				t.Errorf("rank %d is slowed: of %s there are %v samples", rank, name, n)
			}
			if len(n) > 1 {
				full, all = full+n[sample.Full], all+n[sample.Full]+n[sample.SlowedP1]+n[sample.SlowedP2]
			}
			if rank == 1 && slices.Contains([]string{"send 0 timer11", "send 5000 train", "ssend 0 timer12"}, name) && len(n) != 1 {
				t.Errorf("what P1 does alone is slowed by P2: of %s there are %v", name, n)
			}
			if rank == 0 && n[sample.SlowedP2]+n[sample.SlowedBoth] > 0 || rank == 1 && n[sample.SlowedP1]+n[sample.SlowedBoth] > 0 {
				t.Errorf("rank %d is slowed: of %s there are %v samples", rank, name, n)
			}
		}
		if 10*full < 7*all {
			t.Errorf("rank %d is slowed: %d of %d samples are at full pace", rank, full, all)
		}
	}
}

// If it is of no use to wait for full pace, the state in which the machine is gets all of the time but the first look: nobody waits.
func TestNeverFullPace(t *testing.T) {
	run := func(slowed func(r int, now unit.Time) bool) map[string]map[string]int {
		c := &Campaign{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0, 5000}, Shared: true}, Launches: 1, Budget: time.Second, Precision: 1e-9, best: looks{2 * unit.Microsecond, 2 * unit.Microsecond}}
		return byPace(disturbed(t, c, slowed))
	}
	quiet := run(func(int, unit.Time) bool { return false })
	for name, n := range run(func(int, unit.Time) bool { return true }) {
		pace := sample.SlowedBoth
		if find("send").alone(name[len("send 0 "):]) || find("send").alone(name[min(len(name), len("send 5000 ")):]) {
			pace = sample.SlowedP1
		}
		if len(n) != 1 || n[pace] < quiet[name][sample.Full]*8/10 {
			t.Errorf("of %s there are %v samples, and %v on a quiet machine", name, n, quiet[name])
		}
	}
}

// A launch all of which was slowed is known to have been when another has been quicker, before it or after it.
func TestSlowedLaunch(t *testing.T) {
	for slow := range 2 {
		launch := -1
		var last unit.Time
		c := &Campaign{Plan: Plan{Modes: []string{"send"}, Sizes: []int{100}, Reps: 8, Shared: true}, Launches: 2}
		out := disturbed(t, c, func(r int, now unit.Time) bool {
			if r == 0 {
				if launch < 0 || now < last { // time begins anew with each launch
					launch++
				}
				last = now
			}
			return r == 1 && launch == slow
		})
		for _, s := range out.Series {
			if want := map[bool]string{true: sample.SlowedP2, false: sample.Full}[s.Launch == slow && s.Timer == sample.RTT]; s.Timer != sample.RTT && s.Timer != sample.Timer12 || s.Pace == want {
				continue
			}
			t.Errorf("launch %d is slowed: %v", slow, s.Key)
		}
		if c.Paces[slow] != [2]float64{2000, 3000} || c.Paces[1-slow] != [2]float64{2000, 2000} {
			t.Errorf("paces are %v", c.Paces)
		}
	}
}

// A visit is at full pace if both looks were, before it and after it, of both ranks.
func TestBothLooks(t *testing.T) {
	for rank, pace := range []string{sample.SlowedP1, sample.SlowedP2} {
		for which := range 2 {
			var looked [2]int
			c := &Campaign{Plan: Plan{Modes: []string{"send"}, Sizes: []int{100}, Reps: 8, Shared: true}, Launches: 1, best: looks{2 * unit.Microsecond, 2 * unit.Microsecond}}
			out := disturbed(t, c, func(r int, _ unit.Time) bool {
				looked[r]++
				return r == rank && looked[r]%2 == which
			})
			if n := byPace(out)["send 100 rtt"]; len(n) != 1 || n[pace] == 0 {
				t.Errorf("look %d of rank %d is slowed: %v", which, rank, n)
			}
		}
	}
}

// However the processors are, as many samples are made as were asked for, and as many with one root of the barrier as with the other.
func TestRepetitionsAtAnyPace(t *testing.T) {
	c := &Campaign{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0, 5000}, Reps: 40, Shared: true}, Launches: 2}
	out := disturbed(t, c, func(r int, now unit.Time) bool { return now/(10*unit.Millisecond)%3 == unit.Time(r) })
	several := false
	for name, n := range byPace(out) {
		all := 0
		for pace, k := range n {
			if all += k; k%2 != 0 || !slices.Contains(sample.Paced, pace) {
				t.Errorf("%s: %v", name, n)
			}
		}
		several = several || len(n) > 1
		if timer := name[len("send 0 "):]; timer == "timer11" && all != 2*2*40 {
			t.Errorf("of %s there are %d samples: %v", name, all, n)
		}
	}
	if !several {
		t.Error("all is at one pace")
	}
}
