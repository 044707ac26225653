package sample

import "testing"

func TestTrains(t *testing.T) {
	for _, c := range []struct {
		timer   string
		n       int
		waiting bool
		ok      bool
	}{
		{TrainTimer(10), 10, false, true}, {SpacedTrainTimer(2), 2, true, true}, {"prtt1", 1, false, false}, {"prtt010", 10, false, false},
		{"prtt", 0, false, false}, {"prtt-d", 0, true, false}, {"prtt10-r", 0, false, false}, {TimerRTT, 0, false, false}, {"prtt99999999999", 0, false, false},
	} {
		n, waiting, ok := ParseTrainTimer(c.timer)
		if ok != c.ok || ok && (n != c.n || waiting != c.waiting) {
			t.Errorf("%s: %d, %v, %v", c.timer, n, waiting, ok)
		}
	}
}
