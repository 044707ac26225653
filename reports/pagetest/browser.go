package pagetest

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

var screenshots = flag.String("screenshots", "", "directory for pictures of the pages, as the browser shows them")

// viewport is a way to look at a page.
type viewport struct {
	width int64
	dark  bool
}

func (g viewport) String() string {
	return fmt.Sprintf("%d-%s", g.width, map[bool]string{false: "light", true: "dark"}[g.dark])
}

var viewports = []viewport{{390, false}, {390, true}, {1300, false}, {1300, true}}

// expectedPage is what a page has to show: for each section its charts and the rows of its tables.
type expectedPage []expectedSection

type expectedSection struct {
	id     string
	charts int
	rows   []int
}

// Fault is a change of a page that a reader must not meet, and what is found of it at a glance.
type Fault struct {
	name           string
	change         func(page string) string
	viewport       viewport
	wantedProblems []string
}

// NewFault returns a fault, which is to be found in a window of some width, in light or dark. The
// change returns "" if the page does not have what it would change. Without wants nothing may be
// found.
func NewFault(name string, change func(page string) string, width int64, dark bool, wants ...string) Fault {
	return Fault{name, change, viewport{width, dark}, wants}
}

// AddElements adds elements to a page.
func AddElements(html ...string) func(string) string {
	return func(page string) string { return strings.Replace(page, "</main>", strings.Join(html, "")+"</main>", 1) }
}

// AddStyleRules adds rules of style to it.
func AddStyleRules(rules string) func(string) string {
	return AddElements("<style>" + rules + "</style>")
}

// RemoveBetween takes out of it what begins and ends so.
func RemoveBetween(from, to string) func(string) string {
	return func(page string) string {
		before, rest, found := strings.Cut(page, from)
		_, after, ended := strings.Cut(rest, to)
		if !found || !ended {
			return ""
		}
		return before + after
	}
}

// CheckAppearance opens the page in a browser: it shows all that its document has, at any width, in
// light and dark, and asks nothing of anybody. Then it plants faults in the page, and each must be
// seen.
func (p *Page) CheckAppearance(t *testing.T, faults ...Fault) {
	b := openBrowser(t)
	t.Run("shown", func(t *testing.T) {
		t.Parallel()
		for _, problem := range b.findProblems(t, filepath.Join(p.Dir, "index.html"), expectedPageOf(p.Document), viewports...) {
			t.Error(problem)
		}
	})
	for i, x := range faults {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			changed := x.change(p.Files["index.html"])
			if changed == "" {
				t.Fatal("the page does not have what is to be changed")
			}
			path := filepath.Join(p.Dir, fmt.Sprintf("fault-%d.html", i))
			if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
				t.Fatal(err)
			}
			found := strings.Join(b.findProblems(t, path, expectedPageOf(p.Document), x.viewport), "\n")
			for _, want := range x.wantedProblems {
				if !strings.Contains(found, want) {
					t.Errorf("found %q, want %q", found, want)
				}
			}
			if len(x.wantedProblems) == 0 && found != "" {
				t.Errorf("found %q", found)
			}
		})
	}
}

// expectedPageOf is what the page of a document has to show.
func expectedPageOf(d *doc.Document) expectedPage {
	var w expectedPage
	if len(d.FrontFigures) > 0 {
		w = append(w, expectedSection{id: "cost", charts: len(d.FrontFigures)})
	}
	for _, s := range d.Sections {
		x := expectedSection{id: s.ID, charts: len(s.Figures)}
		for _, t := range s.Tables {
			x.rows = append(x.rows, t.CountRows())
		}
		w = append(w, x)
	}
	return w
}

//go:embed inspect.js
var inspectScript string

// inspectedPage is what inspect.js returns.
type inspectedPage struct {
	Charts []struct {
		Section, Figure, Label string
		Width, Height, Letters float64
		Colours                int
	} `json:"charts"`
	Tables []struct {
		Section string  `json:"section"`
		Rows    int     `json:"rows"`
		Width   float64 `json:"width"`
		Clipped bool    `json:"clipped"` // it has columns that are not shown
		Boxed   bool    `json:"boxed"`
	} `json:"tables"`
	Sections []string `json:"sections"`
	Headings []int    `json:"headings"`
	Language string   `json:"language"`
	Overflow float64  `json:"overflow"`
	Beyond   []string `json:"beyond"`
	Spilled  []string `json:"spilled"`
	Faint    []string `json:"faint"`
	Ground   float64  `json:"ground"`
}

// findProblems says what is wrong with what was seen.
func (s inspectedPage) findProblems(g viewport, want expectedPage) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, w := range want {
		if !slices.Contains(s.Sections, w.id) {
			bad("%s: no such section", w.id)
			continue
		}
		charts, rows := 0, []int{}
		for _, c := range s.Charts {
			if c.Section == w.id {
				charts++
			}
		}
		for _, x := range s.Tables {
			if x.Section == w.id {
				rows = append(rows, x.Rows)
			}
		}
		if charts != w.charts {
			bad("%s: %d charts, want %d", w.id, charts, w.charts)
		}
		if !slices.Equal(rows, w.rows) {
			bad("%s: tables of %v rows, want %v", w.id, rows, w.rows)
		}
	}
	for _, c := range s.Charts {
		if c.Width < 250 || c.Height < 60 || c.Letters < 9 || c.Letters > 24 {
			bad("%s: a chart of %.0f × %.0f with letters of %.1f pixels", c.Figure, c.Width, c.Height, c.Letters)
		}
		if c.Colours < 4 || c.Label == "" {
			bad("%s: a chart of %d colours with the label %q", c.Figure, c.Colours, c.Label)
		}
	}
	for _, x := range s.Tables {
		if !x.Boxed {
			bad("%s: a table is in no box that scrolls", x.Section)
		}
		if x.Clipped && g.width >= 1300 {
			bad("%s: a table of %d rows is %.0f pixels wide, and its last columns are hidden", x.Section, x.Rows, x.Width)
		}
	}
	for i, h := range s.Headings {
		if i > 0 && h > s.Headings[i-1]+1 || i == 0 && h != 1 {
			bad("heading %d after %d", h, s.Headings[max(i-1, 0)])
		}
	}
	if s.Language == "" {
		bad("no language")
	}
	if s.Overflow > 0 {
		bad("the page is %v pixels wider than the window", s.Overflow)
	}
	if len(s.Beyond) > 0 {
		bad("beyond the edge: %q", s.Beyond[:min(len(s.Beyond), 5)])
	}
	if len(s.Spilled) > 0 {
		bad("wider than its box: %q", s.Spilled[:min(len(s.Spilled), 5)])
	}
	for _, f := range s.Faint {
		bad("contrast: %s", f)
	}
	if s.Ground > 0.1 == g.dark {
		bad("the ground has luminance %.2f", s.Ground)
	}
	return wrong
}

// Main runs the tests of a package, which share a browser.
func Main(m *testing.M) {
	code := m.Run()
	if sharedBrowser.stop != nil {
		sharedBrowser.stop()
	}
	os.Exit(code)
}

// browserSession is a headless Chromium.
type browserSession struct {
	ctx  context.Context
	stop func()
}

var (
	sharedBrowser    browserSession
	startBrowserOnce sync.Once
)

// openBrowser returns the browser. Without one the test is skipped, but not where CI says that it
// must not be.
func openBrowser(t *testing.T) browserSession {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	path := findChromium()
	if path == "" {
		const missing = "no Chromium: install it (apt-get install chromium), or name another one in CHROMIUM"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	startBrowserOnce.Do(func() {
		dir, err := os.MkdirTemp("", "browser") // for all that it writes: it is killed in the end
		if err != nil {
			t.Error(err)
			return
		}
		flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
			chromedp.NoSandbox, // which root cannot have, nor many containers; the pages are our own
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), // planted requests reach nobody
			chromedp.UserDataDir(filepath.Join(dir, "user")), chromedp.Env("TMPDIR="+dir))
		ctx, stop := chromedp.NewExecAllocator(context.Background(), flags...)
		ctx, cancel := chromedp.NewContext(ctx)
		sharedBrowser = browserSession{ctx, func() { cancel(); stop(); os.RemoveAll(dir) }}
		if err := chromedp.Do(ctx); err != nil {
			sharedBrowser.ctx = nil
			t.Errorf("start %s: %v", path, err)
		}
	})
	if sharedBrowser.ctx == nil {
		t.Fatal("the browser has not started")
	}
	return sharedBrowser
}

// findChromium returns the path of a browser, or "".
func findChromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// unfoldTablesScript unfolds all tables, and returns how many long ones were not folded.
const unfoldTablesScript = `(() => {
	const long = [...document.querySelectorAll('table')].filter(t => t.querySelectorAll('tbody tr td').length > 0 && [...t.querySelectorAll('tbody tr')].filter(r => !r.querySelector('.group')).length > 40 && !t.closest('details:not([open])')).length;
	for (const d of document.querySelectorAll('details')) d.open = true;
	return long;
})()`

// openTab opens a tab for a page, for a minute at most. heard returns what the page complains of.
func (b browserSession) openTab(t *testing.T, path string) (ctx context.Context, address string, heard func() []string, end func()) {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx)
	address = (&url.URL{Scheme: "file", Path: path}).String()
	heard, err := collectProblems(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	return ctx, address, heard, func() { cancel(); closeTab() }
}

// findProblems opens a page in a tab of its own, and returns all that is wrong with it in some
// windows.
func (b browserSession) findProblems(t *testing.T, path string, want expectedPage, glances ...viewport) []string {
	t.Helper()
	ctx, address, heard, end := b.openTab(t, path)
	defer end()
	var wrong []string
	for i, g := range glances {
		scheme := map[bool]string{false: "light", true: "dark"}[g.dark]
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(g.width, 900)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
				t.Fatal(err)
			}
			unfolded, err := chromedp.Run(ctx, chromedp.Evaluate[int](unfoldTablesScript))
			if err != nil {
				t.Fatal(err)
			}
			if unfolded > 0 {
				wrong = append(wrong, fmt.Sprintf("%d tables of more than 40 rows are not folded", unfolded))
			}
		}
		const settled = `document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true), 50))))`
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](settled, chromedp.EvalAwaitPromise)); err != nil {
			t.Fatal(err)
		}
		s, err := chromedp.Run(ctx, chromedp.Evaluate[inspectedPage](inspectScript))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s.findProblems(g, want) {
			wrong = append(wrong, g.String()+": "+x)
		}
		b.saveScreenshot(ctx, t, g)
	}
	return append(heard(), wrong...)
}

// collectProblems hears what a page says on the console, and what it asks for. Asking for the page
// itself is no problem.
func collectProblems(ctx context.Context, address string) (heard func() []string, err error) {
	var mu sync.Mutex
	var problems []string
	add := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	err = chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value))
			}
			add("console: %s: %s", e.Type, strings.Join(words, " "))
		case *runtime.EventExceptionThrown:
			add("exception: %s", e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			add("console: %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != address && !strings.HasPrefix(e.Request.URL, "data:") {
				add("request: %s", e.Request.URL)
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(problems)
	}, err
}

// saveScreenshot keeps what is seen, for those who want to look.
func (b browserSession) saveScreenshot(ctx context.Context, t *testing.T, g viewport) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	name := format.FileName(append(strings.Split(t.Name(), "/"), g.String())...) + ".png"
	if err := os.WriteFile(filepath.Join(*screenshots, name), png, 0o666); err != nil {
		t.Fatal(err)
	}
}
