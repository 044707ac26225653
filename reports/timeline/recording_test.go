package timeline

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/pagetest"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/reporttest"
)

func TestMain(m *testing.M) { pagetest.Main(m) }

// busy is a trace of the recording that reporttest makes.
func busy(ranks, things int) Trace {
	return Trace{Name: "busy", Title: "Busy", Command: "loggp trace", Recording: reporttest.BusyTimeline(ranks, things)}
}

// Sums of a table are those of the spans, and shares are of all the time.
func TestTraceSums(t *testing.T) {
	var b bytes.Buffer
	if err := render.WriteText(&b, busy(2, 10).Document(), render.PlainStyle); err != nil {
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
	if err := render.WriteText(&b, busy(2, 200).Document(), render.PlainStyle); err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%d more rows are not shown", 2+4*200-maxTextRows); !strings.Contains(b.String(), s) {
		t.Errorf("the table does not say %q", s)
	}
}

// The page of a recording can be read in a browser.
func TestTracePage(t *testing.T) {
	pagetest.Write(t, busy(3, 40).Document()).CheckAppearance(t)
}
