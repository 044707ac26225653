package sample

import "testing"

// The share that other programs took is read from the check of interruptions, of the worst file.
func TestMissedShare(t *testing.T) {
	fact := func(text string) Fact { return Fact{Key: FailedChecksFact, Value: text} }
	for _, c := range []struct {
		facts []Fact
		want  float64
	}{
		{nil, 0},
		{[]Fact{fact("budget: it was enough for 2 of 3 launches")}, 0},
		{[]Fact{{Key: "load", Value: "interruptions: processor 0 misses 9 % of the time"}}, 0},
		{[]Fact{fact("processors: 1 for 2 ranks; interruptions: processor 0, the worst of 2, misses 12.5 % of the time: 2 gaps")}, 0.125},
		{[]Fact{fact("interruptions: processor 0 misses 2 % of the time"), fact("interruptions: processor 3 misses 40 % of the time")}, 0.4},
	} {
		if got := (&Set{Facts: c.facts}).MissedShare(); got != c.want {
			t.Errorf("%v: %v, want %v", c.facts, got, c.want)
		}
	}
}
