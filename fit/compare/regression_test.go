package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// scattered is a set of round trips of a number of sizes in five launches. Everything a launch
// measures is off by a part of its own, as launches of real machines are, and each sample by more.
func scattered(sizes int, factor, launchScatter, sampleScatter float64, seed uint64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &sample.Set{}
	for launch := range 5 {
		common := 1 + launchScatter*rng.NormFloat64()
		for i := range sizes {
			x := sample.Series{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "intra", Mode: "send", Protocol: "auto", Timer: sample.TimerRTT, Bytes: 64 * i, Launch: launch}}
			for range 20 {
				us := factor * common * (10 + float64(i)) * (1 + sampleScatter*rng.NormFloat64())
				x.Times = append(x.Times, unit.Time(us*float64(unit.Microsecond)))
			}
			s.Series = append(s.Series, x)
		}
	}
	return s
}

// What has not changed does not fail, however noisy it is and however many times there are; what is
// slower fails; and what scatters too much to tell is neither.
func TestJudgeRegression(t *testing.T) {
	for _, c := range []struct {
		name                         string
		factor, launches, samples    float64
		threshold                    float64
		wantPass, wantFail, wantNone bool // of most seeds
	}{
		{"the same, quiet", 1, 0.002, 0.01, 0.05, true, false, false},
		{"the same, noisy", 1, 0.10, 0.1, 0.05, false, false, true},
		{"slower by 10 %", 1.10, 0.002, 0.01, 0.05, false, true, false},
		{"slower by 3 %", 1.03, 0.002, 0.01, 0.05, true, false, false},
		{"slower by 3 %, no slowdown allowed", 1.03, 0.002, 0.01, 0, false, true, false},
		{"faster by 10 %", 0.9, 0.002, 0.01, 0.05, true, false, false},
		{"slower by 10 %, noisy", 1.10, 0.10, 0.1, 0.05, false, false, true},
	} {
		count := map[Judgement]int{}
		const runs = 12
		for seed := range uint64(runs) {
			set, err := FindChanges(scattered(20, 1, c.launches, c.samples, 2*seed), scattered(20, c.factor, c.launches, c.samples, 2*seed+1), clean.Options{})
			if err != nil {
				t.Fatal(err)
			}
			count[set.JudgeRegression(c.threshold).Judgement]++
		}
		for j, want := range map[Judgement]bool{PassJudgement: c.wantPass, FailJudgement: c.wantFail, UndecidedJudgement: c.wantNone} {
			if want && count[j] < runs*3/4 {
				t.Errorf("%s: %v of %d: %v", c.name, count, runs, j)
			}
		}
		if c.factor <= 1+c.threshold && count[FailJudgement] > 1 { // one in forty by chance
			t.Errorf("%s: %d of %d fail", c.name, count[FailJudgement], runs)
		}
	}
}

// One size of many that is slower is found, and named; so is a mean of changes of which none is
// certain by itself.
func TestRegressionOfOneSizeAndOfTheMean(t *testing.T) {
	after := scattered(40, 1, 0.002, 0.01, 2)
	for i, s := range after.Series {
		if s.Bytes == 640 {
			for j := range s.Times {
				after.Series[i].Times[j] = s.Times[j] * 6 / 5
			}
		}
	}
	set, err := FindChanges(scattered(40, 1, 0.002, 0.01, 1), after, clean.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.JudgeRegression(0.05)
	if r.Judgement != FailJudgement || len(r.SlowerChanges) != 1 || r.SlowerChanges[0].Bytes != 640 || !strings.HasPrefix(r.String(), "fail: 1 of 40 times are slower by more than 5 % with their whole interval, such as rtt of send at 640 bytes, +") {
		t.Errorf("%v, %+v", r, r.SlowerChanges)
	}
	if r := set.JudgeRegression(0.5); r.Judgement != PassJudgement || !strings.HasPrefix(r.String(), "pass: none of 40 times is slower by more than 50 %; the geometric mean changes by +") {
		t.Errorf("%v", r)
	}

	set, err = FindChanges(scattered(40, 1, 0, 0.3, 1), scattered(40, 1.15, 0, 0.3, 2), clean.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := set.JudgeRegression(0.05); r.Judgement != FailJudgement || len(r.SlowerChanges) > 0 || !(r.Mean.Low > 1.05) || !strings.Contains(r.String(), "which is more than 5 % with its whole interval") {
		t.Errorf("%v, %+v", r, r.SlowerChanges)
	}
}

// Runs of one program that differ from size to size by more than their launches do are not slower:
// intervals are as much wider. What goes over all sizes, or begins at one, is not chance.
func TestRunToRunScatter(t *testing.T) {
	vary := func(seed uint64, scatter float64) *sample.Set {
		s, rng, factor := scattered(40, 1, 0.002, 0.01, seed), rand.New(rand.NewPCG(seed, 2)), map[int]float64{}
		for i, x := range s.Series {
			if factor[x.Bytes] == 0 {
				factor[x.Bytes] = math.Exp(scatter * rng.NormFloat64())
			}
			for j := range x.Times {
				s.Series[i].Times[j] = unit.Time(float64(x.Times[j]) * factor[x.Bytes])
			}
		}
		return s
	}
	failures := 0
	for seed := range uint64(10) {
		set, err := FindChanges(vary(2*seed+1, 0.1), vary(2*seed+2, 0.1), clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if set.JudgeRegression(0.05).Judgement == FailJudgement {
			failures++
		}
		if set.BirgeRatio < 10 || set.BirgeRatio > 40 { // the medians' own errors are a half to one percent
			t.Errorf("seed %d: Birge ratio %v", seed, set.BirgeRatio)
		}
	}
	if failures > 1 {
		t.Errorf("%d of 10 fail", failures)
	}
	step := vary(2, 0)
	for i, x := range step.Series {
		for j := range x.Times {
			if x.Bytes >= 1024 {
				step.Series[i].Times[j] = x.Times[j] * 6 / 5
			}
		}
	}
	set, err := FindChanges(vary(1, 0), step, clean.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := set.JudgeRegression(0.05); r.Judgement != FailJudgement || len(r.SlowerChanges) != 24 || set.BirgeRatio > 1.5 {
		t.Errorf("a step of 20 %%: %v; Birge ratio %v", r, set.BirgeRatio)
	}
}

// Disturbed samples count if there are no others, but show no regression.
func TestRegressionOfDisturbedSamples(t *testing.T) {
	for _, side := range []int{0, 1} {
		sets := []*sample.Set{scattered(20, 1, 0.002, 0.01, 1), scattered(20, 1.3, 0.002, 0.01, 2)}
		for i := range sets[side].Series {
			sets[side].Series[i].Disturbed = true
		}
		set, err := FindChanges(sets[0], sets[1], clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := set.JudgeRegression(0.05); r.Judgement != UndecidedJudgement || len(r.UnclearChanges) != 20 {
			t.Errorf("side %d: %v", side, r)
		}
		for _, c := range set.Changes {
			if c.Outcome != UndecidedOutcome {
				t.Errorf("side %d: %+v", side, c)
			}
		}
	}
}

// Times without an interval decide nothing.
func TestRegressionOfFewSamples(t *testing.T) {
	few := func(factor float64) *sample.Set {
		s := changing("l", factor, 1)
		for i := range s.Series {
			s.Series[i].Times = s.Series[i].Times[:4]
		}
		return s
	}
	for _, factor := range []float64{1, 3} {
		set, err := FindChanges(few(1), few(factor), clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := set.JudgeRegression(0.05); r.Judgement != UndecidedJudgement {
			t.Errorf("%v", r)
		}
	}
}

// Times that a fit excludes are not compared, on either side, and are counted; nor are those that
// may be zero. No interval reaches below a change of -100 %.
func TestChangesLeaveOutDisturbedTimes(t *testing.T) {
	for _, side := range []int{0, 1} {
		sets := []*sample.Set{scattered(20, 1, 0.002, 0.01, 1), scattered(20, 1, 0.002, 0.01, 2)}
		for i, s := range sets[side].Series {
			for j := range s.Times {
				switch s.Bytes {
				case 640:
					sets[side].Series[i].Times[j] *= 4000
				case 320:
					sets[side].Series[i].Times[j] = unit.Time(j-8) * unit.Microsecond
				}
			}
		}
		set, err := FindChanges(sets[0], sets[1], clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if set.DisturbedCount != 1 || set.NearZeroCount != 1 || len(set.Changes) != 18 {
			t.Errorf("side %d: %d disturbed, %d near zero, %d compared", side, set.DisturbedCount, set.NearZeroCount, len(set.Changes))
		}
		for _, c := range set.Changes {
			if c.Bytes == 640 || c.Bytes == 320 || !(c.Low > 0.9 && c.High < 1.1) {
				t.Errorf("side %d: %+v", side, c)
			}
		}
		if r := set.JudgeRegression(0.05); r.Judgement != PassJudgement {
			t.Errorf("side %d: %v", side, r)
		}
	}
}

// The intervals of n numbers hold together: of n independent ones, each holds with 1 - 0.05/n.
func TestSimultaneousFactor(t *testing.T) {
	for n, want := range map[int]float64{0: 1, 1: 1, 2: 2.2414 / 1.95996, 50: 3.2905 / 1.95996} { // tables of the normal distribution
		if got := simultaneousFactor(n, 0.95); math.Abs(got-want) > 1e-4 {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}

// Three launches of each side show no regression, however large: all of one side are the slower
// ones in one of twenty runs. Four do.
func TestRegressionOfFewLaunches(t *testing.T) {
	for launches, want := range map[int]Judgement{3: UndecidedJudgement, 4: FailJudgement} {
		var sets [2]*sample.Set
		for i, factor := range []float64{1, 1.5} {
			sets[i] = scattered(20, factor, 0.002, 0.01, uint64(i))
			sets[i].Series = slices.DeleteFunc(sets[i].Series, func(s sample.Series) bool { return s.Launch >= launches })
		}
		set, err := FindChanges(sets[0], sets[1], clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := set.JudgeRegression(0.05)
		if r.Judgement != want || (want == UndecidedJudgement) != strings.Contains(r.String(), "Fewer than 4 launches of a side show nothing") {
			t.Errorf("%d launches: %v", launches, r)
		}
	}
}

// What other programs can explain that took a part of the processors' time from the second run does
// not fail; what is more does. The first run may have been disturbed: that hides a regression, and
// makes none.
func TestRegressionUnderOtherLoad(t *testing.T) {
	const busy = "load: much; interruptions: processor 1, the worst of 2, misses 50 % of the time: 4 gaps in 0.022 s" // four times as long
	for _, c := range []struct {
		side   int
		factor float64
		want   Judgement
	}{{1, 3.5, UndecidedJudgement}, {1, 5, FailJudgement}, {0, 3.5, FailJudgement}} {
		sets := [2]*sample.Set{scattered(20, 1, 0.002, 0.01, 1), scattered(20, c.factor, 0.002, 0.01, 2)}
		sets[c.side].Facts = append(sets[c.side].Facts, sample.Fact{Key: sample.FailedChecksFact, Value: busy})
		set, err := FindChanges(sets[0], sets[1], clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := set.JudgeRegression(0.05)
		if r.Judgement != c.want || (c.want == UndecidedJudgement) != strings.Contains(r.String(), "which can make it up to 4.0 times as long") {
			t.Errorf("side %d, factor %v: %v", c.side, c.factor, r)
		}
	}
}
