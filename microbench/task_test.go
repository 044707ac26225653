package microbench

import (
	"reflect"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// Of the times of all ranks, round by round, the least, the median and the largest are samples, of
// two in the middle their mean; and of rounds that begin at an agreed time the last, but of those
// to which a rank came too late.
func TestRoundsOfRanks(t *testing.T) {
	for _, c := range []struct {
		stage int
		ranks [][]unit.Time // the rounds of each
		want  [][2][]unit.Time
	}{
		{barrierStartStageIndex, [][]unit.Time{{5, 30}, {2, 20}, {9, 10}}, [][2][]unit.Time{{{2, 10}}, {{5, 20}}, {{9, 30}}}},
		{barrierStartStageIndex, [][]unit.Time{{4}, {1}, {3}, {2}}, [][2][]unit.Time{{{1}}, {{2}}, {{4}}}}, // 2.5 is rounded down
		{barrierStartStageIndex, [][]unit.Time{{7}, {4}}, [][2][]unit.Time{{{4}}, {{5}}, {{7}}}},
		{agreedStartStageIndex, [][]unit.Time{{5, 30, 7}, {2, LateStartMarker, 7}, {9, 10, 7}}, [][2][]unit.Time{{{9, 7}}}},
		{agreedStartStageIndex, [][]unit.Time{{LateStartMarker}, {LateStartMarker}}, [][2][]unit.Time{{}}},
	} {
		x := &task{stageIndex: c.stage}
		late := x.recordVisit(0, CommandResult{TimeColumns: c.ranks})
		if got := x.samplesByVisit[0].samplesByTimer; !reflect.DeepEqual(got, c.want) || late != len(c.ranks[0])-len(got[0][0]) {
			t.Errorf("%v: %v, not %v, %d late", c.ranks, got, c.want, late)
		}
	}
}

// Estimates are of the samples of one launch, and leave out disturbed ones.
func TestEstimatesAreOfOneLaunch(t *testing.T) {
	x := &task{stageIndex: firstStageIndexOfTimer("rtt")}
	h := disturbanceDetector{}
	record := func(launch int, time, work unit.Time) {
		r := CommandResult{TimeColumns: [][]unit.Time{{time, time, time}, {time, time, time}}, FixedWorkTimes: []unit.Time{work, work}}
		h.recordFixedWorkTimes(x.Command, r.FixedWorkTimes)
		x.recordVisit(launch, r)
	}
	for range 8 {
		record(0, 100, 1000)
		record(1, 300, 1000)
	}
	for range 20 {
		record(1, 900, 5000)
	}
	for launch, want := range []float64{100, 300} {
		if got := x.timerEstimates(launch, h); len(got) != 1 || got[0].value != want || got[0].halfWidth != 0 {
			t.Errorf("launch %d: %v, want %v", launch, got, want)
		}
		if all, undisturbed := x.countSamples(launch, h); undisturbed != 24 || all != 24+launch*60 {
			t.Errorf("launch %d: %d samples, %d of them undisturbed", launch, all, undisturbed)
		}
	}
}

// A rank is disturbed if its work takes more than a tenth longer than the fifth shortest time, of
// its own rank: a few shorter ones are chance.
func TestDisturbanceIsMeasuredFromTheFifthShortestTime(t *testing.T) {
	var h disturbanceDetector
	c := Command{Pair: [2]int{3, 1}} // times of P1, rank 3, and of P2, rank 1
	for _, work := range []unit.Time{500, 100, 400, 200, 300, 600, 700} {
		h.recordFixedWorkTimes(c, []unit.Time{work, 10 * work})
	}
	for _, x := range []struct {
		work []unit.Time
		want bool
	}{
		{[]unit.Time{549, 5499}, false}, {[]unit.Time{551, 5000}, true}, {[]unit.Time{500, 5501}, true}, {[]unit.Time{100, 1000}, false}, {nil, false},
	} {
		if got := h.isDisturbed(c, x.work); got != x.want {
			t.Errorf("work of %v: disturbed %v, want %v", x.work, got, x.want)
		}
	}
	if h.isDisturbed(Command{Pair: [2]int{4, 5}}, []unit.Time{1, 1}) {
		t.Error("ranks without times are disturbed")
	}
}
