package chart

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/reporttest"
)

// Steps too short to be seen become boxes that together are as long, and lie where the steps do.
func TestTraceChartMerges(t *testing.T) {
	x := reporttest.BusyTimeline(2, 5000)
	l := newLanes(x)
	d := &timelineCanvas{spanStatistics: l.spanStatistics, width: 500}
	lane := l.drawableSpans(d, l.ranks[0])
	if n := len(lane); n < 200 || n > 500 {
		t.Errorf("%d boxes in 500 points", n)
	}
	var at unit.Time
	for _, i := range lane {
		if i.From != at || i.To <= i.From {
			t.Fatalf("box %+v after %v", i, at)
		}
		at = i.To
	}
	if at != x.End() {
		t.Errorf("the boxes end at %v, the steps at %v", at, x.End())
	}
	if few := l.drawableSpans(&timelineCanvas{spanStatistics: l.spanStatistics, width: 1 << 20}, l.ranks[0]); len(few) != 5000 {
		t.Errorf("%d boxes where all 5000 steps can be seen", len(few))
	}
}

// A step that can be seen is drawn by itself, whatever is beside it.
func TestTraceChartKeepsLongSteps(t *testing.T) {
	l := &timelineLanes{spanStatistics: &spanStatistics{endTime: 1000}}
	lane := l.drawableSpans(&timelineCanvas{spanStatistics: l.spanStatistics, width: 100}, model.Track{Spans: []model.Span{{Name: "a", To: 5}, {Name: "b", From: 5, To: 905}, {Name: "c", From: 905, To: 907}, {Name: "d", From: 907, To: 912}}})
	want := []model.Span{{Name: "a", To: 5, Count: 1}, {Name: "b", From: 5, To: 905, Count: 1}, {Name: "d", From: 905, To: 912, Count: 2}}
	if !slices.Equal(lane, want) {
		t.Errorf("drawn are %v, want %v", lane, want)
	}
}

// A picture of very much is no larger than what can be seen in it, and says what it leaves out.
func TestTraceChartIsBounded(t *testing.T) {
	x := reporttest.BusyTimeline(40, 3000)
	c := TimelineChart("busy", "Busy", x)
	var b bytes.Buffer
	if err := c.SVG(&b, DefaultWidth); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 20_000 {
		t.Errorf("the picture of %d things has %d elements", 40*3000, n)
	}
	for _, s := range []string{"24 parts of the network", "24 ranks", "messages"} {
		if !strings.Contains(c.Text, s) {
			t.Errorf("the text does not say %q: %s", s, c.Text)
		}
	}
	if !strings.Contains(b.String(), "link 39,") || strings.Contains(b.String(), "link 3,") {
		t.Error("the parts of the network that are shown are not those that were taken longest")
	}
}
