package reports

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
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/reporttest"
)

var screenshots = flag.String("screenshots", "", "directory for pictures of the pages, as TestBrowser sees them")

// glance is a way to look at a page.
type glance struct {
	width int64
	dark  bool
}

func (g glance) String() string {
	return fmt.Sprintf("%d-%s", g.width, map[bool]string{false: "light", true: "dark"}[g.dark])
}

var glances = []glance{{380, false}, {380, true}, {1400, false}, {1400, true}}

// wanted is what a page has to show: for each section its charts and the rows of its tables.
type wanted []wantedSection

type wantedSection struct {
	id     string
	charts int
	rows   []int
}

// TestBrowser: in a browser, pages show all that they have, at any width, in light and dark, and ask nothing of anybody.
func TestBrowser(t *testing.T) {
	b := openBrowser(t)
	report := whole(t)
	report.Contrast = contrasted()
	for _, x := range []struct {
		name string
		doc  *doc.Document
	}{
		{"study", largeStudy().Document(true)}, {"report", report.Document()}, {"trace", busy(3, 40).Document()}, {"survey", surveyed(t).Document()}, {"collectives", together(t).Document()},
	} {
		dir, want := filepath.Join(t.TempDir(), x.name), wantedOf(x.doc)
		if err := render.Page(dir, x.doc); err != nil {
			t.Fatal(err)
		}
		for _, g := range glances {
			t.Run(x.name+"-"+g.String(), func(t *testing.T) {
				t.Parallel()
				for _, p := range b.problems(t, filepath.Join(dir, "index.html"), g, want) {
					t.Error(p)
				}
			})
		}
	}
}

// TestBrowserSees: each fault that is planted in a page is seen.
func TestBrowserSees(t *testing.T) {
	b := openBrowser(t)
	s := smallStudy()
	dir := filepath.Join(t.TempDir(), "study")
	if err := render.Page(dir, s.Document(true)); err != nil {
		t.Fatal(err)
	}
	claims := len(s.Claims)
	b.sees(t, dir, wantedOf(s.Document(true)), []planted{
		{"none", add(""), glance{380, false}, ""},
		{"image from elsewhere", add(`<img alt="x" src="https://example.invalid/x.png">`), glance{1400, false}, "request: https://example.invalid/x.png"},
		{"style sheet from elsewhere", add(`<link rel="stylesheet" href="http://example.invalid/x.css">`), glance{1400, false}, "request: http://example.invalid/x.css"},
		{"font from elsewhere", add(`<style>@font-face{font-family:x;src:url(https://example.invalid/x.woff2)}h1{font-family:x}</style>`), glance{1400, false}, "request: https://example.invalid/x.woff2"},
		{"a file beside the page", add(`<img alt="x" src="figure-10.png">`), glance{1400, false}, "request: file:"},
		{"error", add(`<script>console.error("broken")</script>`), glance{1400, false}, "console: error"},
		{"warning", add(`<script>console.warn("doubtful")</script>`), glance{1400, false}, "console: warning"},
		{"exception", add(`<script>setTimeout(() => { throw new Error("thrown") }, 0)</script>`), glance{1400, false}, "exception:"},
		{"rejection", add(`<script>Promise.reject(new Error("thrown"))</script>`), glance{1400, false}, "exception:"},
		{"too wide", add(`<div style="width:1000px">x</div>`), glance{380, false}, "pixels wider than the window"},
		{"too wide, not seen at 1400", add(`<div style="width:1000px">x</div>`), glance{1400, false}, ""},
		{"hidden overflow", add(`<div style="overflow:hidden"><div style="width:1000px">x</div></div>`), glance{380, false}, "beyond the edge"},
		{"long numbers in narrow boxes", add(`<dl class="key"><div><dt>1/G</dt><dd>0.8207 ±0.0002 MB/s, 0.8207 ±0.0002 MB/s !</dd></div></dl>`), glance{1400, false}, ""},
		{"numbers that do not break", add(`<dl class="key"><div><dt>1/G</dt><dd style="white-space:nowrap">0.8207 ±0.0002 MB/s, 0.8207 ±0.0002 MB/s !</dd></div></dl>`), glance{1400, false}, "wider than its box"},
		{"chart missing", cut(`<figure id="chart-figure-10"`, "</figure>"), glance{1400, false}, "figure-10: 0 charts, want 1"},
		{"chart missing on phones", cut(`<svg xmlns="http://www.w3.org/2000/svg" width="380"`, "</svg>"), glance{380, true}, "charts, want 1"},
		{"chart hidden", add(`<style>svg.chart{display:none!important}</style>`), glance{380, false}, "figure-10: 0 charts, want 1"},
		{"chart without size", add(`<style>svg.chart{width:0!important;height:0!important}</style>`), glance{380, false}, "figure-10: 0 charts, want 1"},
		{"chart shown twice", add(`<style>svg.chart{display:block!important}</style>`), glance{380, false}, "figure-10: 2 charts, want 1"},
		{"chart too small", add(`<style>svg.chart{max-width:200px!important}</style>`), glance{380, false}, "letters"},
		{"chart without colours", add(`<style>svg.chart *{fill:red!important;stroke:red!important}</style>`), glance{380, false}, "colours"},
		{"table missing", cut(`<table class="cards">`, "</table>"), glance{1400, true}, fmt.Sprintf("claims: tables of [] rows, want [%d]", claims)},
		{"row missing", cut(`<tr><th data-head="claim" id="T-3"`, "</tr>"), glance{1400, true}, fmt.Sprintf("claims: tables of [%d] rows, want [%d]", claims-1, claims)},
		{"section missing", cut(`<section id="table-3"`, "</section>"), glance{1400, true}, "table-3: no such section"},
		{"table out of its box", add(`<style>.box{max-width:none!important}.wrap{min-width:40rem!important}</style>`), glance{380, true}, "box"},
		{"dark text in the dark", add(`<style>h2{color:#333!important}</style>`), glance{1400, true}, "contrast: H2"},
		{"light text in the light", add(`<style>td{color:#aaa!important}</style>`), glance{1400, false}, "contrast: TD"},
		{"chart that stays dark", add(`<style>svg.chart text{fill:#1f2328!important}</style>`), glance{1400, true}, "contrast: text"},
		{"no dark", func(_ *testing.T, page string) string {
			return strings.ReplaceAll(page, "prefers-color-scheme:dark", "width:1px")
		}, glance{1400, true}, "the ground has luminance 1.00"},
		{"heading skipped", add(`<h4>deep</h4>`), glance{1400, false}, "heading 4 after 2"},
		{"no language", func(_ *testing.T, page string) string { return strings.Replace(page, ` lang="en"`, "", 1) }, glance{1400, false}, "language"},
	})
}

// TestBrowserSeesSurvey: so are those of a survey, whose charts stand in halves and whose tables are slim.
func TestBrowserSeesSurvey(t *testing.T) {
	b := openBrowser(t)
	s := surveyed(t)
	dir := filepath.Join(t.TempDir(), "survey")
	if err := render.Page(dir, s.Document()); err != nil {
		t.Fatal(err)
	}
	rows := s.summary(s.subjects()).Rows()
	b.sees(t, dir, wantedOf(s.Document()), []planted{
		{"none", ruled(""), glance{1400, true}, ""},
		{"chart missing", cut(`<figure id="chart-ways"`, "</figure>"), glance{380, false}, "ways: 1 charts, want 2"},
		{"both widths at once", ruled("svg.half{display:block!important}"), glance{380, false}, "ways: 4 charts, want 2"},
		{"no width at all", ruled("svg.half{display:none!important}"), glance{1400, true}, "overheads: 0 charts, want 2"},
		{"halves that need a wide window", ruled(".halves{grid-template-columns:34rem 34rem!important}"), glance{380, true}, "pixels wider than the window"},
		{"row missing", cut(`<tr><th scope="row">g, gap`, "</tr>"), glance{1400, false}, fmt.Sprintf("parameters: tables of [%d] rows, want [%d]", rows-1, rows)},
		{"best in a colour that is too light", ruled(".good{color:#9f9!important}"), glance{1400, false}, "contrast: TD"},
		{"trust missing", cut(`<section id="trust"`, "</section>"), glance{1400, false}, "trust: no such section"},
		{"table out of its box", ruled(".box{max-width:none!important;width:900px!important}"), glance{380, false}, "box"},
	})
}

// TestBrowserSeesCollectives: so are those of a page on collective operations, which has a section for each.
func TestBrowserSeesCollectives(t *testing.T) {
	b := openBrowser(t)
	r := together(t)
	dir := filepath.Join(t.TempDir(), "collectives")
	if err := render.Page(dir, r.Document()); err != nil {
		t.Fatal(err)
	}
	b.sees(t, dir, wantedOf(r.Document()), []planted{
		{"none", ruled(""), glance{380, true}, ""},
		{"section missing", cut(`<section id="of-allgather"`, "</section>"), glance{1400, false}, "of-allgather: no such section"},
		{"chart behind a barrier missing", cut(`<figure id="chart-bcast-of-16-ranks-here-barrier"`, "</figure>"), glance{380, false}, "of-bcast: 4 charts, want 5"},
		{"side by side missing", cut(`<figure id="chart-side-by-side-scan-of-4-ranks"`, "</figure>"), glance{1400, true}, "side-by-side: 2 charts, want 3"},
		{"weak in a colour that is too light", ruled(".doubt{color:#fc9!important}"), glance{1400, false}, "contrast: TD"},
		{"table of all algorithms out of its box", ruled(".box{max-width:none!important;overflow:visible!important;max-height:none!important}"), glance{380, false}, "box"},
		{"halves that need a wide window", ruled(".halves{grid-template-columns:34rem 34rem!important}"), glance{380, false}, "pixels wider than the window"},
	})
}

// planted is a fault in a page, at a glance, and what is to be found then; "": nothing.
type planted struct {
	name   string
	fault  func(t *testing.T, page string) string
	glance glance
	want   string
}

// add adds to a page.
func add(html string) func(*testing.T, string) string {
	return func(_ *testing.T, page string) string { return strings.Replace(page, "</main>", html+"</main>", 1) }
}

// ruled adds rules of style to it.
func ruled(rules string) func(*testing.T, string) string {
	return add("<style>" + rules + "</style>")
}

// cut takes out of a page what begins and ends so.
func cut(from, to string) func(*testing.T, string) string {
	return func(t *testing.T, page string) string {
		before, rest, found := strings.Cut(page, from)
		_, after, ended := strings.Cut(rest, to)
		if !found || !ended {
			t.Fatalf("the page has no %s … %s", from, to)
		}
		return before + after
	}
}

// sees looks at the page in a directory with each of some faults.
func (b browser) sees(t *testing.T, dir string, want wanted, faults []planted) {
	page := reporttest.Files(t, dir)["index.html"]
	for i, x := range faults {
		path := filepath.Join(dir, fmt.Sprintf("fault-%d.html", i))
		if err := os.WriteFile(path, []byte(x.fault(t, page)), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			found := strings.Join(b.problems(t, path, x.glance, want), "\n")
			if x.want == "" && found != "" || !strings.Contains(found, x.want) {
				t.Errorf("found %q, want %q", found, x.want)
			}
		})
	}
}

// wantedOf is what the page of a document has to show.
func wantedOf(d *doc.Document) wanted {
	var w wanted
	for _, s := range d.Sections {
		x := wantedSection{id: s.ID, charts: len(s.Figures)}
		for _, t := range s.Tables {
			x.rows = append(x.rows, t.Rows())
		}
		w = append(w, x)
	}
	return w
}

//go:embed testdata/inspect.js
var inspect string

// sight is what inspect.js returns.
type sight struct {
	Charts []struct {
		Section, Figure, Label string
		Width, Height, Letters float64
		Colours                int
	} `json:"charts"`
	Tables []struct {
		Section string  `json:"section"`
		Rows    int     `json:"rows"`
		Width   float64 `json:"width"`
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

// check says what is wrong with what was seen.
func (s sight) check(g glance, want wanted) (wrong []string) {
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

// browser is a headless Chromium.
type browser struct{ ctx context.Context }

// openBrowser starts the browser. Without one the test is skipped, but not where CI says that it must not be.
func openBrowser(t *testing.T) browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	path := chromium()
	if path == "" {
		const missing = "no Chromium: install it (apt-get install chromium), or name another one in CHROMIUM"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.NoSandbox, // which root cannot have, nor many containers; the pages are our own
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND")) // planted requests reach nobody
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return browser{ctx}
}

// chromium returns the path of a browser, or "".
func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// problems opens a page in a tab of its own, and returns all that is wrong with it.
func (b browser) problems(t *testing.T, path string, g glance, want wanted) []string {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	defer cancel()
	address := (&url.URL{Scheme: "file", Path: path}).String()
	heard, err := listen(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	scheme := map[bool]string{false: "light", true: "dark"}[g.dark]
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(g.width, 900), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	const settled = `document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true), 50))))`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](settled, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	s, err := chromedp.Run(ctx, chromedp.Evaluate[sight](inspect))
	if err != nil {
		t.Fatal(err)
	}
	b.picture(ctx, t)
	return append(heard(), s.check(g, want)...)
}

// listen hears what a page says on the console, and what it asks for. Asking for the page itself is no problem.
func listen(ctx context.Context, address string) (heard func() []string, err error) {
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

// picture keeps what is seen, for those who want to look.
func (b browser) picture(ctx context.Context, t *testing.T) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	name := format.FileName(strings.Split(t.Name(), "/")...) + ".png"
	if err := os.WriteFile(filepath.Join(*screenshots, name), png, 0o666); err != nil {
		t.Fatal(err)
	}
}
