package probe

import (
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// part is a series of round trips, or of another timer.
func part(pace string, launch int, timer string, times ...unit.Time) sample.Series {
	return sample.Series{Key: sample.Key{Mode: "send", Bytes: 16, Timer: timer, Pace: pace, Launch: launch}, Times: times}
}

// Breaks are looked for in samples at full pace where there are enough, and else in all. Halves are of one root each.
func TestAtOnePace(t *testing.T) {
	many := make([]unit.Time, 16)
	got := atOnePace([]sample.Series{
		part(sample.Full, 0, sample.Timer11, many...), part(sample.SlowedP1, 0, sample.Timer11, 1, 2),
		part(sample.Full, 0, sample.RTT, 1, 2, 11, 12), part(sample.SlowedP2, 0, sample.RTT, 3, 13), part(sample.SlowedBoth, 0, sample.RTT, 4, 14),
		part(sample.SlowedP1, 0, sample.Idle, many...), part("", 0, sample.Train, 5, 6),
	})
	want := []sample.Series{part("", 0, sample.Timer11, many...), part("", 0, sample.RTT, 1, 2, 3, 4, 11, 12, 13, 14), part("", 0, sample.Idle, many...), part("", 0, sample.Train, 5, 6)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := atOnePace(nil); got != nil {
		t.Errorf("of none: %v", got)
	}
}

// A processor that was slowed all through a launch is known by the others. Of what P1 does alone P2's does not count.
func TestRelabel(t *testing.T) {
	const p1, p2, both = sample.SlowedP1, sample.SlowedP2, sample.SlowedBoth
	launch := func(n int, paces [4]string) []sample.Series {
		list := []sample.Series{part(sample.Full, n, sample.Timer12, 1, 2), part(p1, n, sample.Timer12, 3, 4)}
		for i, pace := range paces {
			at := unit.Time(10 * i)
			list = append(list, part(pace, n, sample.RTT, at, at+1))
		}
		return list
	}
	inAll := [4]string{sample.Full, p1, p2, both}
	for _, c := range []struct {
		used looks
		want []sample.Series
	}{
		{looks{1000, 1000}, launch(1, inAll)},
		{looks{1100, 1100}, launch(1, inAll)},
		{looks{0, 0}, launch(1, inAll)},
		{looks{1101, 1000}, []sample.Series{part(p1, 1, sample.Timer12, 1, 3, 2, 4), part(p1, 1, sample.RTT, 0, 10, 1, 11), part(both, 1, sample.RTT, 20, 30, 21, 31)}},
		{looks{1000, 1101}, []sample.Series{part(sample.Full, 1, sample.Timer12, 1, 2), part(p1, 1, sample.Timer12, 3, 4), part(p2, 1, sample.RTT, 0, 20, 1, 21), part(both, 1, sample.RTT, 10, 30, 11, 31)}},
		{looks{1500, 1500}, []sample.Series{part(p1, 1, sample.Timer12, 1, 3, 2, 4), part(both, 1, sample.RTT, 0, 10, 20, 30, 1, 11, 21, 31)}},
	} {
		got := relabel(launch(1, inAll), []looks{{9, 9}, c.used}, looks{1000, 1000})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("looks of %v: %v, want %v", c.used, got, c.want)
		}
	}
	if got := relabel([]sample.Series{part("", 0, sample.RTT, 1, 2)}, []looks{{1500, 1500}}, looks{1000, 1000}); got[0].Pace != "" {
		t.Errorf("nobody looked, and it is %s", got[0].Pace)
	}
}

// All samples of a timer count, at whatever paces they are; but there is none at a pace that the timer does not depend on.
func TestOfPaces(t *testing.T) {
	p := &plan{reps: 3, cells: []microbench.Cell{{Mode: "send", Bytes: 16}}, trips: func(int) bool { return true }}
	r := &result{series: []sample.Series{part(sample.SlowedBoth, 0, sample.RTT, 1, 2)}}
	if err := r.of(p); err != nil {
		t.Error(err)
	}
	p = &plan{reps: 3, brief: true, cells: p.cells}
	whole := func() *result {
		r := &result{series: []sample.Series{
			part(sample.SlowedBoth, 0, sample.RTT, 1, 2),
			part(sample.SlowedP1, 0, sample.Timer12, 1, 2), part(sample.Full, 0, sample.Timer12, 1, 2, 3, 4), part(sample.Full, 0, sample.Timer11, 1, 2, 3, 4, 5, 6),
		}}
		for _, timer := range []string{sample.Timer22, sample.Timer21} {
			for _, pace := range []string{sample.SlowedP2, sample.Full, sample.SlowedP1} {
				r.series = append(r.series, part(pace, 0, timer, 1, 2))
			}
		}
		return r
	}
	r = whole()
	if err := r.of(p); err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, s := range r.series {
		order += s.Timer + " " + s.Pace + ", "
	}
	if want := "timer11 full, timer12 full, timer12 P1 slowed, timer21 full, timer21 P1 slowed, timer21 P2 slowed, timer22 full, timer22 P1 slowed, timer22 P2 slowed, rtt both slowed, "; order != want {
		t.Errorf("in the order %s, want %s", order, want)
	}
	for want, change := range map[string]func(*result){
		"8 samples of timer11 of send at 16 bytes, not 6":      func(r *result) { r.series = append(r.series, part(sample.SlowedP1, 0, sample.Timer11, 1, 2)) },
		"4 samples of timer12 of send at 16 bytes, not 6":      func(r *result) { r.series[2].Times = r.series[2].Times[:2] },
		"5 samples of timer12 of send at 16 bytes at pace P1":  func(r *result) { r.series[1].Times = make([]unit.Time, 5) },
		"timer12 of send at 16 bytes is there twice at pace f": func(r *result) { r.series[1].Pace = sample.Full },
		"no samples of timer11":                                func(r *result) { r.series[3].Pace = sample.SlowedP2 },
		"it has 11 series, not 10":                             func(r *result) { r.series = append(r.series, part(sample.SlowedBoth, 0, sample.Timer11, 1, 2)) },
	} {
		r := whole()
		change(r)
		if err := r.of(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
