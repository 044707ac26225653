package model

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// An overview keeps the time of each kind, however long the run gets, and has a bounded number of
// rows and parts.
func TestOverviewKeepsTimes(t *testing.T) {
	const ranks = 3000
	random := rand.New(rand.NewPCG(1, 2))
	o := NewOverview(ranks)
	var want [NumOverviewKinds]unit.Time
	activities := []Activity{ComputeActivity, CopyActivity, WaitActivity, BlockedActivity}
	at := unit.Time(0)
	for range 2000 {
		a, long := activities[random.IntN(len(activities))], unit.Time(random.Int64N(int64(unit.Microsecond)))
		o.Add(random.IntN(ranks), a, at, at+long)
		want[a.OverviewKind()] += long
		at += long
	}
	var got [NumOverviewKinds]unit.Time
	for _, row := range o.Rows {
		for i, x := range row {
			got[i%int(NumOverviewKinds)] += x
		}
	}
	if got != want {
		t.Errorf("the kinds take %v, want %v", got, want)
	}
	if len(o.Rows) > maxOverviewRows || o.Parts > maxOverviewParts || o.Parts < maxOverviewParts/2 || unit.Time(o.Parts)*o.Width < at {
		t.Errorf("%d rows and %d parts of %v for %v", len(o.Rows), o.Parts, o.Width, at)
	}
}
