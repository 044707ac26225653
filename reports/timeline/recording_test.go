package timeline

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/doc"
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

// The page of a run can be read in a browser. Dragging over the picture of all ranks shows a part
// of the time and some of the ranks, with calls and messages that say what they are; a double click
// shows all.
func TestRunPage(t *testing.T) {
	p := pagetest.Write(t, busy(70, 40).DocumentOfRun(&doc.Document{}))
	p.CheckAppearance(t)
	got := p.RunScript(t, `(() => {
		const svg = [...document.querySelectorAll('svg.chart')].find(e => e.getClientRects().length && e.querySelector('image')), r = svg.getBoundingClientRect(), box = svg.querySelector('image').getBoundingClientRect();
		const drag = (...points) => ['pointerdown', 'pointermove', 'pointerup'].forEach((name, i) => svg.dispatchEvent(new PointerEvent(name, { clientX: box.left + points[i][0] * box.width, clientY: box.top + points[i][1] * box.height, pointerType: 'mouse', button: 0, buttons: 1, bubbles: true })));
		const seen = () => ['.call', '.message', '.computes', '[data-tip]'].map(s => svg.querySelectorAll('.detail ' + s).length).join(' ');
		const before = seen();
		drag([0.25, 0.1], [0.5, 0.2], [0.5, 0.2]);
		const zoomed = seen(), tip = svg.querySelector('.detail .message')?.parentNode.dataset.tip;
		const width = svg.querySelector('image').getBoundingClientRect().width / box.width;
		svg.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
		return [before, zoomed, tip, width.toFixed(1), seen(), (svg.querySelector('image').getBoundingClientRect().width / box.width).toFixed(1)].join('; ');
	})()`)
	if !regexp.MustCompile(`^0 0 0 0; [1-9]\d* [1-9]\d* 0 [1-9]\d*; 8 bytes from rank \d+ to rank \d+: [\d.]+ to [\d.]+ us, 0\.5 us; 4\.0; 0 0 0 0; 1\.0$`).MatchString(got) {
		t.Errorf("before and after dragging, and after a double click: %s", got)
	}
}
