package chart

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Steps too short to be seen become boxes that together are as long, and lie where the steps do.
func TestTraceChartMerges(t *testing.T) {
	x := busy(2, 5000)
	l := newLanes(x)
	d := &drawing{timeline: l.timeline, width: 500}
	lane := l.lane(d, l.ranks[0])
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
	if few := l.lane(&drawing{timeline: l.timeline, width: 1 << 20}, l.ranks[0]); len(few) != 5000 {
		t.Errorf("%d boxes where all 5000 steps can be seen", len(few))
	}
}

// A step that can be seen is drawn by itself, whatever is beside it.
func TestTraceChartKeepsLongSteps(t *testing.T) {
	l := &lanes{timeline: &timeline{end: 1000}}
	lane := l.lane(&drawing{timeline: l.timeline, width: 100}, model.Track{Spans: []model.Span{{Name: "a", To: 5}, {Name: "b", From: 5, To: 905}, {Name: "c", From: 905, To: 907}, {Name: "d", From: 907, To: 912}}})
	want := []model.Span{{Name: "a", To: 5}, {Name: "b", From: 5, To: 905}, {Name: "d", From: 905, To: 912}}
	if !slices.Equal(lane, want) {
		t.Errorf("drawn are %v, want %v", lane, want)
	}
}

// A picture of very much is no larger than what can be seen in it, and says what it leaves out.
func TestTraceChartIsBounded(t *testing.T) {
	x := busy(40, 3000)
	c := Timeline("busy", "Busy", x)
	var b bytes.Buffer
	if err := c.SVG(&b, Width); err != nil {
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

// busy is a recording of so many ranks, each of which does so many short things and sends as many packets to the next; by as many parts of
// the network, of which the later are taken for longer.
func busy(ranks, things int) *model.Recording {
	const us = unit.Microsecond
	r := &model.Recording{}
	for i := range ranks {
		t := model.Track{Name: fmt.Sprintf("rank %d", i), Calls: []model.Span{{Name: "Send", To: unit.Time(things) * us}}}
		n := model.Track{Name: fmt.Sprintf("link %d", i)}
		for j := range things {
			at := unit.Time(j) * us
			t.Spans = append(t.Spans, model.Span{Name: fmt.Sprintf("software.%d", j%3), From: at, To: at + us})
			n.Spans = append(n.Spans, model.Span{Name: "RM", Activity: model.Carrying, From: at, To: at + unit.Time(i+1)*us/unit.Time(ranks)})
			r.Flights = append(r.Flights, model.Flight{Name: "RM", From: i, To: (i + 1) % ranks, By: i, Sent: at, Depart: at, Arrive: at + us/2, Taken: at + us/2})
		}
		r.Ranks, r.Resources = append(r.Ranks, t), append(r.Resources, n)
	}
	return r
}
