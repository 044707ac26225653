package pagetest

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed interact.js
var interactScript string

// pointChart is a chart of points in the browser, as interact.js finds it.
type pointChart struct {
	Figure string
	Series []struct {
		Name   string
		Values [][]float64
		Places [][2]float64
		Shown  bool
	}
	Lanes   []float64  // widths of what is drawn beside the plot along its horizontal axis
	Seen    bool       // something of the lanes can be seen
	Entry   [2]float64 // in the legend, of the first series
	Pressed string
	Button  [2]float64 // of the vertical axis
	Said    string
}

// timelineChart is a time line in the browser.
type timelineChart struct {
	Figure string
	Widths []float64 // of steps
	Button [2]float64
	Said   string
}

// CheckInteraction uses the charts of a page by mouse and by keyboard, on a phone and in a wide
// window: values are told where the pointer or the arrow keys are, series can be hidden, axes
// changed and time lines zoomed. Then it breaks the page's script, and each time that must be
// noticed.
func (p *Page) CheckInteraction(t *testing.T) {
	p.checkScript(t, func(u *pageUser) {
		u.usePointChart()
		u.useTimelineChart()
	}, []scriptFault{
		{"values missing", "this.tip.hidden = !words", "this.tip.hidden = true", "the pointer is near"},
		{"wrong point", "if (d < least)", "if (d > 20 && d < least)", "the pointer is near"},
		{"nothing hidden", "e.style.display = off ? 'none' : ''", "0", "is shown, want hidden"},
		{"axis stays", "plot[axis] = drawn.with({ kind, from: 0, zero: 0 })", "0", "axis that is linear"},
		{"no zoom", "plot.x = whole.with({ from, to: from + span })", "0", "zoomed"},
		{"deaf to keys", "svg.addEventListener('keydown'", "svg.addEventListener('nothing'", "arrow keys"},
		{"legend deaf to keys", "if (k.key !== 'Enter' && k.key !== ' ') return", "return", "by keyboard"},
	})
}

// CheckSizeRanges drags over part of a chart with ranges of sizes below the plot, which must follow
// its axis.
func (p *Page) CheckSizeRanges(t *testing.T) {
	p.checkScript(t, func(u *pageUser) {
		before := evaluateScript[*pointChart](u, "plotted()")
		if before == nil || len(before.Lanes) == 0 || !before.Seen {
			u.reportProblem("no chart with ranges of sizes")
			return
		}
		u.dragPointChart(before)
	}, []scriptFault{{"ranges stay", "c + x(+a) + ' '", "c + (isLane ? a : x(+a)) + ' '", "ranges of sizes below the plot"},
		{"ranges hidden", "clip(plot.lanes, box.y, box.height)", "clip(plot.lanes, 0, box.height)", "are seen: false"}})
}

// scriptFault is a fault that is made in the script of a page, and part of the complaint that it
// must cause.
type scriptFault struct{ name, was, is, want string }

// checkScript uses a page on a phone and in a wide window. Then it breaks the page's script, and
// each time that must be noticed.
func (p *Page) checkScript(t *testing.T, use func(*pageUser), faults []scriptFault) {
	b := openBrowser(t)
	for _, width := range []int64{390, 1300} {
		t.Run(fmt.Sprint("used-", width), func(t *testing.T) {
			t.Parallel()
			for _, problem := range b.usePage(t, filepath.Join(p.Dir, "index.html"), width, use) {
				t.Error(problem)
			}
		})
	}
	for i, x := range faults {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			page := p.Files["index.html"]
			if strings.Count(page, x.was) != 1 {
				t.Fatalf("the page has %q %d times", x.was, strings.Count(page, x.was))
			}
			path := filepath.Join(p.Dir, fmt.Sprintf("broken-%d.html", i))
			if err := os.WriteFile(path, []byte(strings.Replace(page, x.was, x.is, 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			if found := strings.Join(b.usePage(t, path, 1300, use), "\n"); !strings.Contains(found, x.want) {
				t.Errorf("found %q, want %q", found, x.want)
			}
		})
	}
}

// usePage uses a page and returns what does not work.
func (b browserSession) usePage(t *testing.T, path string, width int64, use func(*pageUser)) (wrong []string) {
	t.Helper()
	ctx, address, heard, end := b.openTab(t, path)
	defer end()
	u := pageUser{t: t, ctx: ctx}
	u.act(chromedp.EmulateViewport(width, 50000), chromedp.Navigate(address)) // so high that nothing needs to be scrolled to
	evaluateScript[int](&u, "openFolds()")
	use(&u)
	return append(heard(), u.problems...)
}

// pageUser is somebody at a page.
type pageUser struct {
	t        *testing.T
	ctx      context.Context
	problems []string
}

func (u *pageUser) reportProblem(format string, args ...any) {
	u.problems = append(u.problems, fmt.Sprintf(format, args...))
}

func (u *pageUser) act(steps ...chromedp.Action[chromedp.Void]) {
	u.t.Helper()
	if err := chromedp.Do(u.ctx, steps...); err != nil {
		u.t.Fatal(err)
	}
}

// evaluateScript evaluates an expression of interact.js.
func evaluateScript[T any](u *pageUser, what string) T {
	u.t.Helper()
	v, err := chromedp.Run(u.ctx, chromedp.Evaluate[T](strings.TrimSpace(interactScript)+"."+what))
	if err != nil {
		u.t.Fatal(err)
	}
	return v
}

// focus puts the keyboard on an element of the first figure's picture.
func (u *pageUser) focus(figure, selector string) {
	u.t.Helper()
	expression := fmt.Sprintf("[...document.querySelectorAll('#%s %s')].find(e => e.getClientRects().length > 0).focus()", figure, selector)
	if _, err := chromedp.Run(u.ctx, chromedp.Evaluate[any](expression)); err != nil {
		u.t.Fatal(err)
	}
}

// describesValue says whether a text names a series and a value of it, or says what is missing.
func describesValue(said, name string, v []float64) bool {
	return strings.HasPrefix(said, name+", ") && strings.Contains(said, ": "+fmt.Sprintf("%.4g", v[1])+" ")
}

// usePointChart uses a chart of points.
func (u *pageUser) usePointChart() {
	before := evaluateScript[*pointChart](u, "plotted()")
	if before == nil {
		u.reportProblem("no chart of points")
		return
	}
	for _, s := range before.Series {
		i := len(s.Values) / 2
		u.act(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, s.Places[i][0], s.Places[i][1]))
		if said := evaluateScript[*pointChart](u, "plotted()").Said; !describesValue(said, s.Name, s.Values[i]) {
			u.reportProblem("%s: the pointer is near %s %v, told is %q", before.Figure, s.Name, s.Values[i], said)
		}
	}

	first := before.Series[0]
	u.focus(before.Figure, "svg.chart")
	u.act(chromedp.KeyEvent(kb.Escape), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1))
	u.act(chromedp.KeyEvent(kb.Home)) // of no meaning
	u.act(chromedp.KeyEvent(kb.ArrowRight))
	start := evaluateScript[*pointChart](u, "plotted()").Said
	u.act(chromedp.KeyEvent(kb.ArrowRight))
	if next := evaluateScript[*pointChart](u, "plotted()").Said; start == "" || next == start {
		u.reportProblem("%s: arrow keys tell %q and then %q", before.Figure, start, next)
	}

	hidden := func(how string, want bool) {
		now := evaluateScript[*pointChart](u, "plotted()")
		if s := now.Series[0]; s.Shown == want || (now.Pressed == "false") != want {
			u.reportProblem("%s: %s: %s is shown, want hidden: %v (pressed: %s)", now.Figure, how, s.Name, want, now.Pressed)
		}
		if !now.Series[1].Shown {
			u.reportProblem("%s: %s: the other series is hidden", now.Figure, how)
		}
	}
	u.act(chromedp.MouseClickXY(before.Entry[0], before.Entry[1]))
	hidden("clicked", true)
	u.act(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, first.Places[1][0], first.Places[1][1]))
	if said := evaluateScript[*pointChart](u, "plotted()").Said; strings.HasPrefix(said, first.Name+", ") {
		u.reportProblem("a hidden series is told: %q", said)
	}
	u.act(chromedp.MouseClickXY(before.Entry[0], before.Entry[1]))
	hidden("clicked twice", false)
	u.focus(before.Figure, "g.entry")
	u.act(chromedp.KeyEvent(kb.Enter))
	hidden("by keyboard", true)
	u.act(chromedp.KeyEvent(" "))
	hidden("by keyboard", false)

	u.dragPointChart(before)

	u.act(chromedp.MouseClickXY(before.Button[0], before.Button[1]))
	linear := evaluateScript[*pointChart](u, "plotted()")
	for _, s := range linear.Series {
		slope := math.NaN()
		for i := 1; i < len(s.Values); i++ {
			if rise := s.Values[i][1] - s.Values[0][1]; math.Abs(rise) > s.Values[0][1]/4 {
				now := (s.Places[i][1] - s.Places[0][1]) / rise
				if math.Abs(now-slope) > 0.1*math.Abs(slope) || s.Places[i][1] == s.Places[0][1] {
					u.reportProblem("%s: an axis that is linear has places %v of values %v", linear.Figure, s.Places, s.Values)
				}
				if math.IsNaN(slope) {
					slope = now
				}
			}
		}
	}
	u.act(chromedp.MouseClickXY(before.Button[0], before.Button[1]))
	back := evaluateScript[*pointChart](u, "plotted()")
	for i, s := range back.Series {
		for j, place := range s.Places {
			if was := before.Series[i].Places[j]; math.Hypot(place[0]-was[0], place[1]-was[1]) > 0.1 {
				u.reportProblem("%s: the axis was changed and changed back: a point at %v is at %v", before.Figure, was, place)
				return
			}
		}
	}
}

// dragPointChart drags over the part of a chart between the first two places of a series, which is
// then all that is shown, and shows all again.
func (u *pageUser) dragPointChart(before *pointChart) {
	was := before.Series[0].Places
	from, to := was[0], was[1]
	pressed := func(p *input.DispatchMouseEventParams) {
		p.Button, p.Buttons, p.ClickCount = input.MouseButtonLeft, 1, 1
	}
	u.act(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from[0]+1, from[1], pressed))
	u.act(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, to[0]+1, from[1], pressed))
	u.act(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to[0]+1, from[1], pressed))
	now := evaluateScript[*pointChart](u, "plotted()")
	dragged := now.Series[0].Places
	factor := (dragged[1][0] - dragged[0][0]) / (to[0] - from[0])
	if factor < 1.5 {
		u.reportProblem("%s: dragged from %v to %v: these are at %v and %v", before.Figure, from, to, dragged[0], dragged[1])
	}
	if now.Seen != before.Seen {
		u.reportProblem("%s: dragged: ranges of sizes below the plot are seen: %v, before %v", before.Figure, now.Seen, before.Seen)
	}
	for i, width := range now.Lanes {
		if want := factor * before.Lanes[i]; math.Abs(width-want) > 0.5+0.02*want {
			u.reportProblem("%s: dragged: ranges of sizes below the plot are %.1f pixels wide, want %.1f", before.Figure, width, want)
			break
		}
	}
	u.act(chromedp.MouseClickXY(from[0], from[1], chromedp.ClickCount(2)))
	if again := evaluateScript[*pointChart](u, "plotted()").Series[0].Places; math.Hypot(again[1][0]-to[0], again[1][1]-to[1]) > 0.1 {
		u.reportProblem("%s: a double click after dragging: what was at %v is at %v", before.Figure, to, again[1])
	}
}

// useTimelineChart uses a time line.
func (u *pageUser) useTimelineChart() {
	before := evaluateScript[*timelineChart](u, "timed()")
	if before == nil {
		u.reportProblem("no time line")
		return
	}
	scaled := func(how string, want float64) {
		now := evaluateScript[*timelineChart](u, "timed()")
		for i, w := range now.Widths {
			if was := before.Widths[i]; math.Abs(w-want*was) > 0.5+0.01*was {
				u.reportProblem("%s: zoomed %s: a step of %.1f pixels has %.1f", now.Figure, how, was, w)
				return
			}
		}
	}
	u.act(chromedp.MouseClickXY(before.Button[0], before.Button[1]))
	scaled("by the button", 2)
	u.focus(before.Figure, "svg.chart")
	u.act(chromedp.KeyEvent("+"))
	scaled("by a key", 4)
	u.act(chromedp.KeyEvent("0"))
	scaled("out", 1)
	u.act(chromedp.KeyEvent(kb.ArrowRight))
	if said := evaluateScript[*timelineChart](u, "timed()").Said; !strings.Contains(said, " to ") || !strings.HasSuffix(said, "s") {
		u.reportProblem("%s: arrow keys on a time line tell %q", before.Figure, said)
	}
}

// RunScript opens the page in a wide window, and returns the text that a script in it comes to.
// What was in the page may be replaced before: the way to see that a fault is found.
func (p *Page) RunScript(t *testing.T, script string, replace ...string) string {
	t.Helper()
	b := openBrowser(t)
	page := p.Files["index.html"]
	for i := 0; i+1 < len(replace); i += 2 {
		if strings.Count(page, replace[i]) != 1 {
			t.Fatalf("the page has %q %d times", replace[i], strings.Count(page, replace[i]))
		}
		page = strings.Replace(page, replace[i], replace[i+1], 1)
	}
	path := filepath.Join(p.Dir, "answers.html")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	u := pageUser{t: t, ctx: ctx}
	u.act(chromedp.EmulateViewport(1300, 5000), chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string](script))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
