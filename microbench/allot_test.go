package microbench

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// A time that is enough gives all of them what they need, and a short one scatter/√cost: of items that scatter alike the one whose samples take 100 times
// as long gets a tenth of the samples, which is ten times the time.
func TestAllot(t *testing.T) {
	const many = 1 << 20
	needs := []need{{scatter: 100, cost: 1, most: many}, {scatter: 100, cost: 100, most: many}, {scatter: 200, cost: 1, most: many}, {scatter: 3, cost: 1, most: many}, {scatter: 100, cost: 1, most: 7}}
	if got := allot(needs, math.MaxInt64); got[0] != 10000 || got[1] != 10000 || got[2] != 40000 || got[3] != 9 || got[4] != 7 {
		t.Errorf("with time for all: %v", got)
	}
	time := unit.Time(13_000 + 16)
	got := allot(needs, time)
	if !near(got[0], 1000) || !near(got[1], 100) || !near(got[2], 2000) || got[3] != 9 || got[4] != 7 {
		t.Errorf("with little time: %v", got)
	}
	var took unit.Time
	for i, n := range got {
		took += unit.Time(n * float64(needs[i].cost))
	}
	if took > time || took < time*9/10 {
		t.Errorf("of %d they take %d", time, took)
	}
	needs[0].had, needs[2].had = 5000, 100
	if got := allot(needs, 1900); got[0] != 0 || got[2] == 0 {
		t.Errorf("with what there is already: %v", got)
	}
	if got := allot(needs, 0); got[0]+got[1]+got[2]+got[3]+got[4] != 0 {
		t.Errorf("with no time: %v", got)
	}
}

func near(n, want float64) bool { return n > want*0.97 && n < want*1.03 }
