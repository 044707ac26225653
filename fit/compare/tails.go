package compare

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Tail is how the samples of one cell, of all launches that count, are distributed, in
// microseconds.
type Tail struct {
	SubjectIndex   int
	Quantity, Mode string // as of LaunchScatter
	Timer          string
	Bytes          int
	SampleCount    int

	Median, P95, P99, Longest float64
}

// tails returns the distributions of half round trips, which no barrier has a part in.
func (p *fittedSubject) tails(subject int, all []*fittedSubject) []Tail {
	name := "send"
	if p.Curve(name, sample.TimerRTT) == nil && p.Curve(name, sample.Timer11) == nil {
		name = sample.LowLevelMode
	}
	var out []Tail
	var sizes []int
	for _, wish := range []int{smallSize, middleSize, largeSize} {
		k := p.sizeNear(all, name, sample.TimerRTT, wish)
		if k < 0 || slices.Contains(sizes, k) {
			continue
		}
		sizes = append(sizes, k)
		if t := p.tailOf(name, sample.TimerRTT, k, 0.5); t.SampleCount > 0 {
			t.SubjectIndex, t.Quantity = subject, OneWay
			out = append(out, t)
		}
	}
	return out
}

// tailOf returns that of a cell, its times multiplied by a factor.
func (p *fittedSubject) tailOf(name, timer string, k int, factor float64) Tail {
	var times []unit.Time
	for _, x := range p.launchSeries(name, timer, k) {
		times = append(times, x.Times...)
	}
	t := Tail{Mode: name, Timer: timer, Bytes: k, SampleCount: len(times)}
	if len(times) == 0 {
		return t
	}
	slices.Sort(times)
	of := func(u float64) float64 { return factor * clean.SampleQuantile(times, u) }
	t.Median, t.P95, t.P99, t.Longest = of(0.5), of(0.95), of(0.99), of(1)
	return t
}
