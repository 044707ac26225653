package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/reporttest"
)

// example is a document with one of everything.
func example() *doc.Document {
	d := &doc.Document{Title: "Example <one>", Introduction: []string{"What was done."}, KeyNumbers: []doc.KeyNumber{{Name: "L", Value: "3.1 us", Note: "ssend"}}, Footer: "Made by a test."}
	t := &doc.Table{Name: "parameters", Title: "Parameters of example", Columns: []doc.Column{{Heading: "mode", IsKey: true}, {Heading: "o_s\nus", Kind: doc.NumberColumn}, {Heading: "remark", Kind: doc.ProseColumn}}}
	t.BeginGroup("low & high")
	t.AddRow(doc.TextCell("send"), doc.IntervalCell(29.971, 29.93, 30.03), doc.TextCell("a remark that is long enough to be broken into several lines in a terminal"))
	t.AddRow(doc.TextCell("isend"), doc.IntervalCell(3.1, 2.9, 3.4).WithTone(doc.DoubtfulTone), doc.EmptyCell)
	t.AddNote("! is weak.")
	x := chart.SizePlot{YLabel: "time (us)", Series: []chart.Series{chart.JoinedSeries("send", chart.Style{Color: chart.Blue, Glyph: chart.SolidGlyphs[0]}, []chart.Point{{X: 1, Y: 2}, {X: 100, Y: 30}})}}
	d.AddSection(doc.Section{ID: "parameters", Title: "Parameters", Tables: []*doc.Table{t}})
	d.AddSection(doc.Section{ID: "charts", Title: "Charts", Figures: append(doc.Figures(doc.ColumnWidth, x.Chart("times", "Times", "Some.")), doc.Figures(doc.SingleWidth, x.Chart("times", "Charts", "Again."))...)})
	d.AddSection(doc.Section{ID: "trust", Title: "How far to trust it", Items: []string{"Not far."}})
	var ws []doc.Warning
	for i, code := range []string{"few-reps", "not-linear", "drift"} {
		ws = append(ws, doc.Warning{Code: code, Meaning: "Why it is so.", Count: 10 * (i + 1), Cases: []doc.WarningCase{{Subjects: "send o_s", Text: strings.Repeat("why ", 30)}, {Subjects: "recv"}}})
	}
	d.AddSection(doc.Section{ID: "warnings", Title: "Warnings", Warnings: ws})
	d.AddSection(doc.Section{ID: "words", Title: "Words", PageOnly: true, Terms: []doc.Term{{Name: "L", Meaning: "latency"}}})
	return d
}

func text(t *testing.T, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, example(), s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A pipe has the tables, the lists and the gravest warnings, nothing that is for pages, and no
// escapes.
func TestText(t *testing.T) {
	got := text(t, PlainStyle)
	for _, want := range []string{"Parameters of example\n\n", "low & high\n  send   29.97 ±0.06   a remark that is long enough to be broken into several lines in a terminal\n  isend     3.1 ±0.3!  -\n\n! is weak.\n", "How far to trust it\n\nNot far.\n",
		"Warnings (--verbose lists all 60):\n  few-reps (send o_s, recv): Why it is so.\n  not-linear (send o_s, recv): Why it is so.\n  also drift (30)\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text has no %q:\n%s", want, got)
		}
	}
	_, warnings, _ := strings.Cut(got, "Warnings (")
	if n := strings.Count(warnings, "\n"); n != 4 || strings.Contains(got, "latency") || strings.Contains(got, "\x1b") {
		t.Errorf("%d lines of warnings:\n%s", n, got)
	}
}

// A warning after which numbers can be used as they are gives way to others.
func TestNotesGiveWay(t *testing.T) {
	d := &doc.Document{}
	kind := func(code string, isNote bool) doc.Warning {
		return doc.Warning{Code: code, Meaning: "Why.", Count: 2, IsNote: isNote, Cases: []doc.WarningCase{{Subjects: "send"}}}
	}
	d.AddSection(doc.Section{ID: "w", Title: "Warnings", Warnings: []doc.Warning{kind("note", true), kind("grave", false)}})
	var b bytes.Buffer
	if err := WriteText(&b, d, PlainStyle); err != nil || b.String() != "Warnings (--verbose lists all 4):\n  grave (send): Why.\n  also note (2)\n" {
		t.Errorf("%v: %s", err, b.String())
	}
}

// With --verbose every warning is explained.
func TestVerbose(t *testing.T) {
	got := text(t, Style{Verbose: true})
	for _, want := range []string{"drift (30): Why it is so.", "  send o_s: why why", "  recv\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text has no %q:\n%s", want, got)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// No line is wider than the terminal, none ends with a space, and a narrow terminal shows every
// word of a wide one.
func TestWidth(t *testing.T) {
	for width := 40; width <= 200; width += 7 {
		for _, s := range []Style{{Width: width}, {Width: width, Lines: true, Colour: true, Verbose: true}} {
			got := escapes.ReplaceAllString(text(t, s), "")
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > width || strings.TrimRight(line, " ") != line {
					t.Fatalf("%+v: %d columns: %q", s, n, line)
				}
			}
			for _, w := range strings.Fields(text(t, Style{Verbose: s.Verbose})) {
				if s.Verbose && !strings.Contains(got, w) {
					t.Errorf("%+v: %q is missing", s, w)
				}
			}
		}
	}
	if got := text(t, TerminalStyle); !strings.Contains(got, "\x1b[33m3.1 ±0.3!\x1b[0m") || !strings.Contains(got, "──") {
		t.Errorf("a terminal has no colours or lines:\n%q", got)
	}
}

// Files have all digits, and both ends of intervals.
func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, example(), ""); err != nil {
		t.Fatal(err)
	}
	const want = "group,mode,o_s_us,o_s_us_low,o_s_us_high,o_s_us_weak,remark\nlow & high,send,29.971,29.93,30.03,false,a remark that is long enough to be broken into several lines in a terminal\nlow & high,isend,3.1,2.9,3.4,true,\n"
	if b.String() != want {
		t.Errorf("%s, want\n%s", b.String(), want)
	}
	b.Reset()
	d := example()
	d.Files = []doc.File{{Name: "data.csv", Write: func(w io.Writer) error { _, err := io.WriteString(w, "a,b\n"); return err }}}
	if err := WriteCSV(&b, d, ""); err != nil || b.String() != "a,b\n" {
		t.Errorf("a document that has a file is %q as CSV (%v)", b.String(), err)
	}
}

// A column of intervals has the field of the one before it, and no value of its own: a second value
// of one name would hide the first from readers of JSON.
func TestIntervalsOfTheColumnBefore(t *testing.T) {
	for _, c := range []struct {
		interval doc.Cell
		want     string
	}{
		{doc.TextCell("n=2"), "change_percent,change_percent_low,change_percent_high\n5,,\n"},
		{doc.Cell{Text: "4 to 6", Values: []float64{4, 6}}, "change_percent,change_percent_low,change_percent_high\n5,4,6\n"},
	} {
		table := &doc.Table{Columns: []doc.Column{{Heading: "change\n%", Kind: doc.NumberColumn}, {Heading: "95 % interval\n%", Field: "change_percent", Kind: doc.NumberColumn}}}
		table.AddRow(doc.NumberCell(5), c.interval)
		var b bytes.Buffer
		if err := TableFile(table).Write(&b); err != nil || b.String() != c.want {
			t.Errorf("%q, want %q (%v)", b.String(), c.want, err)
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, example(), ""); err != nil {
		t.Fatal(err)
	}
	var x struct {
		Title    string
		Sections []struct {
			Tables []struct{ Rows []map[string]any }
		}
	}
	if err := json.Unmarshal(b.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(x.Sections[0].Tables[0].Rows[1]), "map[group:low & high mode:isend o_s_us:3.1 o_s_us_high:3.4 o_s_us_low:2.9 o_s_us_weak:true remark:<nil>]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A page needs nothing from elsewhere, escapes what it says, and leads to files that are there:
// charts of one name get numbers.
func TestPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "page")
	if err := WritePage(dir, example()); err != nil {
		t.Fatal(err)
	}
	files := reporttest.ReadFiles(t, dir)
	page := files["index.html"]
	for _, m := range regexp.MustCompile(` href="([^"#]*)"`).FindAllStringSubmatch(page, -1) {
		if m[1] != "data:," && files[m[1]] == "" {
			t.Errorf("a link leads to %s, which is missing", m[1])
		}
	}
	for _, want := range []string{"Example &lt;one&gt;", "low &amp; high", `<td class="num doubt">3.1 ±0.3!</td>`, `href="times-2.svg"`, `href="parameters.csv"`, "<dt>L</dt><dd>latency</dd>", `id="chart-times"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Count(page, "<script") != 1 || !strings.Contains(page, "<script>\n"+Script+"</script>") || strings.Contains(page, "ZgotmplZ") || strings.Count(page, "<figcaption>Charts") != 0 {
		t.Error("the page has another script than that of pages, something unsafe, or a title twice")
	}
}

// What says how far to trust the answer stands below it and above the first chart, and not among
// the cards.
func TestTrustStandsBesideTheAnswer(t *testing.T) {
	d := example()
	d.Answer = "It takes 3 us."
	d.FrontFigures, d.Sections[1].Figures = d.Sections[1].Figures[:1], d.Sections[1].Figures[1:]
	d.KeyNumbers = append(d.KeyNumbers, doc.KeyNumber{Name: "Trust", Value: "weak", Note: "the machine was busy", Tone: doc.BadTone, IsTrust: true})
	dir := filepath.Join(t.TempDir(), "page")
	if err := WritePage(dir, d); err != nil {
		t.Fatal(err)
	}
	page := reporttest.ReadFiles(t, dir)["index.html"]
	answer, trust, figure, cards := strings.Index(page, "It takes 3 us."), strings.Index(page, `Trust: <span class="bad">weak</span>, the machine was busy.`), strings.Index(page, "<figure"), strings.Index(page, `<dl class="key">`)
	if answer < 0 || trust < answer || figure < trust || cards < figure || strings.Contains(page[cards:], "the machine was busy") {
		t.Errorf("answer, trust, first chart and cards are at %d, %d, %d and %d", answer, trust, figure, cards)
	}
}

// The script of pages asks nothing of anybody, keeps nothing, and makes no code of texts.
func TestScript(t *testing.T) {
	for _, bad := range []string{"fetch", "XMLHttpRequest", "import", "WebSocket", "sendBeacon", "eval", "Function(", "innerHTML", "outerHTML", "document.write", "localStorage", "cookie", "http:", "https:", "</"} {
		if strings.Contains(strings.ReplaceAll(Script, "http://www.w3.org/2000/svg", ""), bad) {
			t.Errorf("the script has %q", bad)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestFailingWriter(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return WriteText(w, example(), PlainStyle) },
		"CSV":  func(w io.Writer) error { return WriteCSV(w, example(), "") },
		"JSON": func(w io.Writer) error { return WriteJSON(w, example(), "") },
	} {
		if write(failing{}) == nil {
			t.Errorf("%s: an error of the writer is lost", name)
		}
	}
}

// Cells cannot break a table of WriteMarkdown, weak ones are marked, and groups have a column.
func TestMarkdown(t *testing.T) {
	table := &doc.Table{Name: "t", Title: "A title\nin two lines", Columns: []doc.Column{{Heading: "mode"}, {Heading: "o_s\nus", Kind: doc.NumberColumn}}, Notes: []string{"A note."},
		Groups: []doc.Group{{Name: "near", Rows: [][]doc.Cell{{{Text: "a | b"}, {Text: "1.5", Tone: doc.DoubtfulTone}}}}, {Name: "far", Rows: [][]doc.Cell{{{Text: "c"}, {Text: "20"}}}}}}
	d := &doc.Document{Title: "Document"}
	d.AddTables("t", "t", table)
	var b bytes.Buffer
	if err := WriteMarkdown(&b, d); err != nil {
		t.Fatal(err)
	}
	const want = "### A title in two lines\n\n|      | mode   | o_s us |\n|:-----|:-------|-------:|\n| near | a \\| b |   1.5! |\n| far  | c      |     20 |\n\nA note.\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
