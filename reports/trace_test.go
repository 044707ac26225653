package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/render"
)

// busy is a recording of so many ranks, each of which does so many short things and sends as many packets to the next; by as many parts of
// the network, of which the later are taken for longer.
func busy(ranks, things int) Trace {
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
	return Trace{Name: "busy", Title: "Busy", Ranks: ranks, Command: "loggp trace", Recording: r}
}

// Sums of a table are those of the spans, and shares are of all the time.
func TestTraceSums(t *testing.T) {
	var b bytes.Buffer
	if err := render.Text(&b, busy(2, 10).Document(), render.Plain); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"software.0   software      4      -  4.000   40.0", "not waiting                          10.00  100.0", "software.2   software      3      -  3.000   30.0"} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("the tables do not have %q:\n%s", s, b.String())
		}
	}
}

// What does not fit a table is counted.
func TestTraceCourseIsBounded(t *testing.T) {
	var b bytes.Buffer
	if err := render.Text(&b, busy(2, 200).Document(), render.Plain); err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%d more rows are not shown", 2+4*200-textRows); !strings.Contains(b.String(), s) {
		t.Errorf("the table does not say %q", s)
	}
}
