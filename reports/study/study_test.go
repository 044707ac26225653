package study

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/pagetest"
)

func TestMain(m *testing.M) { pagetest.Main(m) }

var nan = math.NaN()

// machine is two processors and a wire.
var machine = &model.Machine{Name: "toy", Ranks: model.RankLimits{Default: 2, Min: 2, Max: 64}, TimerResolution: unit.Nanosecond, Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e9}},
	Network: &model.LogGP{L: 5 * unit.Microsecond, SendOverhead: 2 * unit.Microsecond, RecvOverhead: 3 * unit.Microsecond, Gap: 4 * unit.Microsecond, GapPerByte: 10000}}

// smallStudy has one of everything: a value, a range, words, a contradiction, a calibration row, a
// figure with gaps, each verdict.
func smallStudy() *Study {
	value := func(parameter string, bytes int, published, found, predicted float64, basis string) Finding {
		return Finding{Platform: "toy", Library: "lib", Place: "inter", Mode: "isend", Parameter: parameter, Bytes: bytes, Unit: "us", Low: published, High: published,
			Measured: found, MeasuredLow: found * 0.99, MeasuredHigh: found * 1.01, Predicted: predicted, Basis: basis, Source: "[1] table 3"}
	}
	latency := value("L", -1, 4, 11, nan, compare.ValidationBasis)
	latency.High, latency.Mode, latency.Note, latency.Warning, latency.IsUpperBound = 10, "ssend", "The text gives one value, the table a range.", "skew", true
	gap := value("G", -1, 0.2, 0.83, 0.8, VerdictContradicted)
	gap.Unit, gap.Note, gap.MeasuredLow, gap.MeasuredHigh = "us/B", "0.2 us per byte is 5 MB/s on a network of 10 Mbit/s: no honest emulation of that wire can reach it.", nan, nan
	missing := value("g", -1, nan, 30, 31, BasisUnpublished)
	words := Finding{Parameter: "MPI_Ssend", Bytes: -1, Low: nan, High: nan, Measured: nan, MeasuredLow: nan, MeasuredHigh: nan, Predicted: nan, Text: [2]string{"non-local, no buffer", "non-local, no buffer"}, Basis: compare.ValidationBasis, Source: "[1] table 1", Agreement: WordsAgree}
	other := words
	other.Parameter, other.Text, other.Agreement, other.Note = "MPI_Rsend", [2]string{"local", "non-local"}, WordsDiffer, "The peer makes progress inside its calls."
	again := value("o_s", 16, 30, 30, 29, compare.CalibrationBasis)
	again.IsRepeated = true
	return &Study{Name: "toys", Title: "Toys, played with again", Source: "A. Author, B. Author: Toys, 1999",
		Facts: [][2]string{{"version", "test"}, {"command", "loggp reproduce toys --seed 1"}, {"seed", "1"}},
		Artefacts: []Artefact{
			{ID: "table-1", Caption: "send modes", Rows: []Finding{words, other}},
			{ID: "table-3", Caption: "signature", Notes: []string{"Sizes that the source leaves open are 16 and 10000 bytes."}, Rows: []Finding{
				value("o_s", 16, 30, 30, 29, compare.CalibrationBasis), value("o_s", 10000, 130, 157, 131, compare.ValidationBasis), latency, gap, missing}},
			{ID: "figure-10", Caption: "overheads of blocking and non-blocking sends", XAxis: "message length (bytes)", YAxis: "send overhead (us)",
				Rows: []Finding{again, value("o_s", 500, nan, 60, 61, BasisUnpublished)},
				Curves: []Curve{
					{"blocking", MeasuredCurve, []chart.Point{{X: 16, Y: 35, Low: 34, High: 36}, {X: 1000, Y: 80, Low: 80, High: 80}, {X: 10000, Y: 600, Low: 600, High: 600}}},
					{"blocking", PredictedCurve, []chart.Point{{X: 16, Y: 33}, {X: 1000, Y: nan}, {X: 10000, Y: 590}}},
					{"non-blocking", PublishedCurve, []chart.Point{{X: 16, Y: 30, Low: 30, High: 30}, {X: 10000, Y: 130, Low: 100, High: 160}}}}},
			{ID: "figure-3", Caption: "time line", Notes: []string{"The picture is lost."},
				Charts: []*chart.Chart{chart.TransferChart("rta", "Time line of RTA", model.Transfer{Machine: machine, Protocol: model.ProtocolRTA, Bytes: 1000}.Timeline())}},
		},
		Claims: []Claim{
			{ID: "T-1", Text: "A toy is a toy", Location: "section 2", Check: "toy == toy", Verdict: VerdictHolds, Evidence: "1 = 1", Basis: BasisNothingFitted},
			{ID: "T-2", Text: "A toy is one", Check: "toys == 1", Verdict: VerdictHolds, Evidence: "1 = 1", Note: "Some number of toy was fitted to this.", Basis: BasisFitted},
			{ID: "T-3", Text: "Toys, however many, are cheap", Check: "price < 1", Verdict: VerdictFails, Evidence: "2 at 16 B, 3 at 10000 B", Cause: "The toy is slow.", Note: "They are not cheap here.", Basis: BasisFitted},
			{ID: "T-4", Text: "A toy is itself", Check: "toy == toy", Verdict: VerdictHolds, Evidence: "1 = 1", Basis: BasisTrueByConstruction},
			{ID: "T-5", Text: "Toys are fast", Check: "speed > 1", Verdict: VerdictUndecided, Evidence: "1.0 ±0.1", Basis: BasisNothingFitted},
			{ID: "T-6", Text: "Toys are ten times smaller", Check: "9 < ratio < 11", Verdict: VerdictContradicted, Note: "Table 4 has 5."},
			{ID: "T-7", Text: "Two toys are alike", Check: "needs two", Verdict: VerdictNotApplicable, Note: "There is one library."},
		},
	}
}

// largeStudy is as long as that of a published paper, with invented measurements.
func largeStudy() *Study {
	s := smallStudy()
	for i := range 30 {
		c := s.Claims[i%len(s.Claims)]
		c.ID, c.Text = fmt.Sprintf("U-%d", i), "For messages of more than ten thousand bytes the overhead of a send that does not block is about ten times that of one that does"
		c.Evidence = "o_s(inter, isend, k) / o_s(intra, isend, k) is 15.07 ±0.06 at k = 100; 10.70 ±0.02 at k = 10000"
		s.Claims = append(s.Claims, c)
	}
	names := []string{"T3D blocking", "T3D non-blocking", "NOW blocking", "NOW non-blocking", "Convex inter blocking", "Convex inter non-blocking", "Convex intra blocking", "Convex intra non-blocking"}
	a := Artefact{ID: "figure-12", Caption: "send overheads of all platforms, blocking and non-blocking", XAxis: "message length (bytes)", YAxis: "send overhead (us)"}
	for i, name := range names {
		curves := [3]Curve{{Name: name, Kind: MeasuredCurve}, {Name: name, Kind: PredictedCurve}, {Name: name, Kind: PublishedCurve}}
		for k := 1; k <= 100000; k *= 10 {
			x := float64(k)
			y := []float64{30, 24, 1000, 900, 45, 32, 4, 2.2}[i] + x*[]float64{0.06, 0.01, 0.9, 0.02, 0.05, 0.017, 0.01, 0.0018}[i]
			for n, f := range []float64{1, 1.06, 1.1} {
				curves[n].Points = append(curves[n].Points, chart.Point{X: x, Y: f * y, Low: 0.99 * f * y, High: 1.01 * f * y})
			}
			a.Rows = append(a.Rows, Finding{Platform: strings.ToLower(strings.Fields(name)[0]), Library: "chimp", Place: "inter", Mode: "isend", Parameter: "o_s", Unit: "us", Bytes: k,
				Low: 1.1 * y, High: 1.1 * y, Measured: y, MeasuredLow: y * 0.99, MeasuredHigh: y * 1.01, Predicted: y * 1.06, Basis: compare.ValidationBasis})
		}
		a.Curves = append(a.Curves, curves[:]...)
	}
	s.Artefacts = append(s.Artefacts, a)
	return s
}

// The page of a study can be read in a browser, even if it is long; and whatever a reader must not
// meet in a page is found there.
func TestStudyPage(t *testing.T) {
	pagetest.Write(t, new(Study).Document(true))
	pagetest.Write(t, largeStudy().Document(true)).CheckAppearance(t)
	s := smallStudy()
	claims := len(s.Claims)
	const key = `<dl class="key"><div><dt>1/G</dt><dd>0.8207 ±0.0002 MB/s, 0.8207 ±0.0002 MB/s !</dd></div></dl>`
	pagetest.Write(t, s.Document(true)).CheckAppearance(t,
		pagetest.NewFault("requests", pagetest.AddElements(`<img alt="x" src="https://example.invalid/x.png">`, `<link rel="stylesheet" href="http://example.invalid/x.css">`,
			`<style>@font-face{font-family:x;src:url(https://example.invalid/x.woff2)}h1{font-family:x}</style>`, `<img alt="x" src="figure-10.png">`), 1400, false,
			"request: https://example.invalid/x.png", "request: http://example.invalid/x.css", "request: https://example.invalid/x.woff2", "request: file:"),
		pagetest.NewFault("console", pagetest.AddElements(`<script>console.error("broken"); console.warn("doubtful"); setTimeout(() => { throw new Error("thrown") }, 0); Promise.reject(new Error("rejected"))</script>`), 1400, false,
			"console: error", "console: warning", "exception: Uncaught\n", "exception: Uncaught (in promise)"),
		pagetest.NewFault("what fits", pagetest.AddElements(`<div style="width:1000px">x</div>`, key), 1400, false),
		pagetest.NewFault("what does not", pagetest.AddElements(`<div style="overflow:hidden"><div style="width:1000px">x</div></div>`, strings.Replace(key, "<dd>", `<dd style="white-space:nowrap">`, 1)), 380, false, "beyond the edge", "wider than its box"),
		pagetest.NewFault("too wide", pagetest.AddElements(`<div style="width:1000px">x</div>`), 380, false, "pixels wider than the window"),
		pagetest.NewFault("chart missing", pagetest.RemoveBetween(`<figure id="chart-figure-10"`, "</figure>"), 1400, false, "figure-10: 0 charts, want 1"),
		pagetest.NewFault("chart missing on phones", pagetest.RemoveBetween(`<svg xmlns="http://www.w3.org/2000/svg" width="380"`, "</svg>"), 380, true, "charts, want 1"),
		pagetest.NewFault("chart hidden", pagetest.AddStyleRules("svg.chart{display:none!important}"), 380, false, "figure-10: 0 charts, want 1"),
		pagetest.NewFault("chart without size", pagetest.AddStyleRules("svg.chart{width:0!important;height:0!important}"), 380, false, "figure-10: 0 charts, want 1"),
		pagetest.NewFault("chart shown twice", pagetest.AddStyleRules("svg.chart{display:block!important}"), 380, false, "figure-10: 2 charts, want 1"),
		pagetest.NewFault("chart too small, without colours", pagetest.AddStyleRules("svg.chart{max-width:200px!important}svg.chart *{fill:red!important;stroke:red!important}"), 380, false, "letters", "colours"),
		pagetest.NewFault("table and section missing", func(page string) string {
			return pagetest.RemoveBetween(`<section id="table-3"`, "</section>")(pagetest.RemoveBetween(`<table class="cards">`, "</table>")(page))
		}, 1400, true, fmt.Sprintf("claims: tables of [] rows, want [%d]", claims), "table-3: no such section"),
		pagetest.NewFault("row missing", pagetest.RemoveBetween(`<tr><th data-head="claim" id="T-3"`, "</tr>"), 1400, true, fmt.Sprintf("claims: tables of [%d] rows, want [%d]", claims-1, claims)),
		pagetest.NewFault("table out of its box", pagetest.AddStyleRules(".box{max-width:none!important}.wrap{min-width:40rem!important}"), 380, true, "box"),
		pagetest.NewFault("dark on dark", pagetest.AddStyleRules("h2{color:#333!important}svg.chart text{fill:#1f2328!important}"), 1400, true, "contrast: H2", "contrast: text"),
		pagetest.NewFault("light on light, heading skipped, no language", func(page string) string {
			return pagetest.AddElements(`<style>td{color:#aaa!important}</style><h4>deep</h4>`)(strings.Replace(page, ` lang="en"`, "", 1))
		}, 1400, false, "contrast: TD", "heading 4 after 2", "language"),
		pagetest.NewFault("no dark", func(page string) string { return strings.ReplaceAll(page, "prefers-color-scheme:dark", "width:1px") }, 1400, true, "the ground has luminance 1.00"),
	)
}

// In a terminal a study has the rows with a published value.
func TestText(t *testing.T) {
	pagetest.CheckTextStyles(t, []pagetest.NamedDocument{{Name: "study", Document: func() *doc.Document { return smallStudy().Document(false) }}})
}

// The columns are those that are promised, a row a finding or claim, and nothing stands where there
// is no number.
func TestStudyCSV(t *testing.T) {
	var cells, claims bytes.Buffer
	s := smallStudy()
	if err := s.WriteCells(&cells); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteClaims(&claims); err != nil {
		t.Fatal(err)
	}
	pagetest.CheckGolden(t, "cells.csv", cells.Bytes())
	pagetest.CheckGolden(t, "claims.csv", claims.Bytes())
	rows, err := csv.NewReader(&cells).ReadAll()
	if err != nil || len(rows) != 10 || !strings.HasPrefix(strings.Join(rows[0], ","), "artefact,platform,library,place,mode,parameter,bytes,published_low,published_high,measured,predicted,error_percent,basis") {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// Curves of one name look alike, those of eight names differ in colour and in shape, and kinds
// differ without colours.
func TestCurves(t *testing.T) {
	at := []chart.Point{{X: 1, Y: 10, Low: 9, High: 11}, {X: 10, Y: nan}, {X: 100, Y: 30, Low: 20, High: 40}}
	colours, shapes := map[chart.Color]bool{}, map[string]bool{}
	for i := range 8 {
		m, p, q := Curve{"a", MeasuredCurve, at}.series(i), Curve{"a", PredictedCurve, at}.series(i), Curve{"a", PublishedCurve, at}.series(i)
		if m.Style.Color != p.Style.Color || m.Style.Color != q.Style.Color {
			t.Errorf("curve %d: colours %v %v %v", i, m.Style.Color, p.Style.Color, q.Style.Color)
		}
		if len(m.Points) != 2 || len(m.Lines) != 1 || m.Style.IsDashed || !p.Style.IsDashed || p.Style.HasRing || !q.Style.HasRing || q.Lines != nil {
			t.Errorf("curve %d: %+v, %+v, %+v", i, m, p, q)
		}
		colours[m.Style.Color] = true
		shapes[fmt.Sprintf("%T %+[1]v", m.Style.Glyph)] = true
		shapes[fmt.Sprintf("%T %+[1]v", q.Style.Glyph)] = true
	}
	if len(colours) != 8 || len(shapes) != 16 {
		t.Errorf("%d colours and %d shapes", len(colours), len(shapes))
	}
	if c := (&Artefact{ID: "x", Curves: []Curve{{"a", MeasuredCurve, []chart.Point{{X: 1, Y: nan}}}}}).figures(); len(c) > 0 {
		t.Error("a chart of nothing")
	}
}

// rowTexts returns the cells of a table as they are shown.
func rowTexts(x *doc.Table) (rows []string) {
	for _, g := range x.Groups {
		for _, r := range g.Rows {
			var cells []string
			for _, c := range r {
				cells = append(cells, c.Text)
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
	return rows
}

// A value that assumptions decide is no validation, wherever it stands.
func TestDecide(t *testing.T) {
	row := Finding{PublishedRow: "table-1 toy L low", Parameter: "L", Low: 10, High: 10, Measured: 11, Basis: compare.ValidationBasis}
	fitted := row
	fitted.Basis = compare.CalibrationBasis
	s := &Study{Artefacts: []Artefact{{Rows: []Finding{row, {PublishedRow: "table-1 toy G low", Low: 1, High: 1, Measured: 3, Basis: compare.ValidationBasis}}}, {Rows: []Finding{row, fitted}}}}
	s.Artefacts[1].Rows[0].IsRepeated = true
	s.MarkAssumed("table-1 toy L low", []string{"machine.x (1us)", "machine.y (2us)"})
	for i, a := range s.Artefacts {
		if r := a.Rows[0]; r.Basis != BasisAssumed || r.Note != "Decided by assumptions: machine.x (1us), machine.y (2us)." {
			t.Errorf("artefact %d: %s, %s", i, r.Basis, r.Note)
		}
	}
	if r := s.Artefacts[1].Rows[1]; r.Basis != compare.CalibrationBasis || r.Note != "" {
		t.Errorf("what was fitted is %s, %s", r.Basis, r.Note)
	}
	if got, want := s.agreementSentence(), "Published values met within 20 %: 0 of 1 to which nothing was fitted, 1 of 1 that assumed numbers decide. Published values used for calibration, which prove nothing: 1."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Verdicts are counted by what they rest on, published values once, and what was not measured does
// not agree.
func TestStudyCounts(t *testing.T) {
	s := smallStudy()
	want := []string{"nothing fitted|1|1|0", "fitted numbers|2|1|1", "true by construction|1|1|0", "undecided|1|-|-", "contradicted|1|-|-", "not applicable|1|-|-"}
	if got := rowTexts(s.VerdictDocument(false).Sections[0].Tables[0]); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := s.agreementSentence(), "Published values met within 20 %: 1 of 2 to which nothing was fitted. 1 of 2 answers in words agree. Published values used for calibration, which prove nothing: 1. Published values that the source itself contradicts: 1."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Artefacts[1].Rows[1].Measured = 150
	if n := s.countNumbers(compare.ValidationBasis); n != (agreementCounts{2, 2}) {
		t.Errorf("%v", n)
	}
	s.Artefacts[1].Rows[1].Measured = nan
	if n := s.countNumbers(compare.ValidationBasis); n != (agreementCounts{2, 1}) {
		t.Errorf("%v, of which one was not measured", n)
	}
}

// A verdict that could not be otherwise is no success, and a terminal has only rows with a
// published value.
func TestStudyTables(t *testing.T) {
	s := smallStudy()
	for i, want := range []doc.Cell{{Text: "holds", Tone: doc.GoodTone}, {Text: "holds", Tone: doc.FaintTone}, {Text: "fails", Tone: doc.BadTone}, {Text: "holds", Tone: doc.FaintTone},
		{Text: "undecided", Tone: doc.DoubtfulTone}, {Text: "contradicted"}, {Text: "not applicable", Tone: doc.FaintTone}} {
		if got := s.Claims[i].verdictCell(); !got.Equal(want) {
			t.Errorf("%s: %+v, want %+v", s.Claims[i].ID, got, want)
		}
	}
	for all, rows := range map[bool]int{false: 4, true: 5} {
		if n := s.Artefacts[1].findingTable(all).CountRows(); n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
	for i, want := range []string{"MPI_Ssend|non-local, no buffer|non-local, no buffer|yes|validation", "MPI_Rsend|local|non-local|no|validation\u00a0(1)"} {
		if got := rowTexts(s.Artefacts[0].findingTable(false))[i]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := rowTexts(s.Artefacts[1].findingTable(false))[2], "ssend|L us|-|4 to 10|≤11.11|-|-|validation\u00a0(1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestErrorPercent(t *testing.T) {
	for _, x := range []struct{ low, high, measured, want float64 }{
		{100, 100, 120, 20}, {100, 100, 75, -25}, {100, 100, 100, 0}, {4, 10, 7, 0}, {4, 10, 3, -25}, {4, 10, 12, 20},
		{nan, nan, 7, nan}, {4, 10, nan, nan}, {4, nan, 7, nan},
	} {
		got := (&Finding{Low: x.low, High: x.high, Measured: x.measured}).ErrorPercent()
		if math.Abs(got-x.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(x.want) {
			t.Errorf("%v beside %v to %v: %v, want %v", x.measured, x.low, x.high, got, x.want)
		}
	}
}

// Whatever stands in a study, the page shows it as text, and files have names.
func TestHostileStudy(t *testing.T) {
	const evil = pagetest.InjectedMarkup
	s := smallStudy()
	s.Title, s.Source, s.Facts = evil, evil, [][2]string{{evil, evil}, {"command", evil}}
	for i := range s.Claims {
		c := &s.Claims[i]
		c.ID, c.Text, c.Location, c.Check, c.Verdict, c.Evidence, c.Note, c.Basis = evil+strconv.Itoa(i), evil, evil, evil, evil, evil, evil, evil
	}
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		a.ID, a.Caption, a.Notes, a.XAxis, a.YAxis = "../"+evil+strconv.Itoa(i), evil, []string{evil}, evil, evil
		for j := range a.Rows {
			r := &a.Rows[j]
			r.Platform, r.Mode, r.Parameter, r.Unit, r.Basis, r.Source, r.Note = evil, evil, evil, evil, evil, evil, evil
		}
		for j := range a.Curves {
			a.Curves[j].Name += evil
		}
	}
	pagetest.Write(t, s.Document(true))
	var cells bytes.Buffer
	if err := s.WriteCells(&cells); err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(&cells).ReadAll(); err != nil || rows[1][1] != evil {
		t.Errorf("%q, %v", rows[1], err)
	}
}

// The chart of all values has a dot for each published number, once, that says what it is.
func TestRatios(t *testing.T) {
	s := smallStudy()
	svg := s.ratioChart().InlineSVG(1100, "")
	for _, want := range []string{"published 30 us, measured 30.00 us (0.0 %)", "published 130 us, measured 157.0 us (+20.8 %)", "published 4 to 10 us, measured 11.00 us (+10.0 %)", "(+315.0 %)"} {
		if n := strings.Count(svg, want); n != 1 {
			t.Errorf("%q %d times", want, n)
		}
	}
	if n := strings.Count(svg, "data-tip="); n != 4 {
		t.Errorf("%d dots", n)
	}
	if !strings.Contains(svg, ">2/4<") {
		t.Error("the row does not say how many of its values are near")
	}
	if new(Study).ratioChart() != nil {
		t.Error("a chart of nothing")
	}
}

// A table that prints values for several sizes is drawn, by mode if there are many curves.
func TestTablePictures(t *testing.T) {
	var a Artefact
	for _, mode := range []string{"one", "other"} {
		for _, library := range []string{"a", "b", "c", "d"} {
			for _, k := range []int{4, 64, 1024} {
				a.Rows = append(a.Rows, Finding{Platform: "toy", Library: library, Mode: mode, Parameter: "time", Unit: "us", Bytes: k, Low: 10, High: 10, Measured: 11, Predicted: nan})
			}
		}
	}
	a.ID = "table-9"
	var titles []string
	for _, f := range a.figures() {
		titles = append(titles, f.Title)
		if n := strings.Count(f.InlineSVG(660, ""), `data-kind="published"`); n != 4 {
			t.Errorf("%s: %d published curves", f.Title, n)
		}
	}
	if want := []string{"Table 9: one time by size, published and measured", "Table 9: other time by size, published and measured"}; !slices.Equal(titles, want) {
		t.Errorf("%q, want %q", titles, want)
	}
	again := a.Rows[0]
	again.Mode = "NA"
	a.Rows = append(a.Rows[:6:6], again)
	if x := a.findingTable(true); len(x.Groups) != 2 || len(x.Groups[0].Rows) != 4 || x.Groups[0].Rows[3][0].Text != doc.EmptyCell.Text {
		t.Errorf("groups %+v", x.Groups)
	}
	a.Rows = a.Rows[:6]
	if n := len(a.figures()); n != 1 {
		t.Errorf("%d charts of two libraries", n)
	}
	a.Rows = a.Rows[:2]
	if n := len(a.figures()); n != 0 {
		t.Errorf("%d charts of two sizes", n)
	}
}

// An entry of the legend such as published hides what is of that kind, and arrow keys go from dot
// to dot of those that are shown.
func TestStudyInteractions(t *testing.T) {
	p := pagetest.Write(t, smallStudy().Document(true))
	const script = `(() => {
		const visible = e => e.getClientRects().length > 0;
		const picture = id => [...document.querySelectorAll('#' + id + ' svg.chart')].find(visible);
		const press = (svg, name) => [...svg.querySelectorAll('g.entry')].find(e => e.dataset.series === name).dispatchEvent(new MouseEvent('click'));
		const kinds = svg => [...svg.querySelectorAll('g[data-kind]')].filter(visible).map(e => e.dataset.kind).join(' ');
		const figure = picture('chart-figure-10'), out = [kinds(figure)];
		press(figure, 'published');
		out.push(kinds(figure));
		press(figure, 'published');
		out.push(kinds(figure));
		const dots = picture('chart-ratios'), walk = () => {
			const told = new Set();
			for (let i = 0; i < 9; i++) {
				dots.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
				told.add(document.querySelector('#chart-ratios .tip').textContent);
			}
			return told.size;
		};
		out.push(walk());
		dots.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
		return out.join(', ');
	})()`
	const want = "predicted measured published, predicted measured, predicted measured published, 4"
	if got := p.RunScript(t, script); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for was, is := range map[string]string{
		"this.hidden.has(e.dataset.series) || this.hidden.has(e.dataset.kind)": "this.hidden.has(e.dataset.series)",
		"this.step(steps[0] + steps[1])":                                       "0",
	} {
		if got := p.RunScript(t, script, was, is); got == want {
			t.Errorf("%q instead of %q is not noticed", is, was)
		}
	}
}

// A blind prediction counts as such, with the error that it had, whatever is measured and fitted
// later. A value that was not examined counts apart from those that validate.
func TestBlindPredictionsCountApart(t *testing.T) {
	s := smallStudy()
	blind := &s.Artefacts[1].Rows[1] // published 130
	blind.Blind = &BlindPrediction{Value: 143, Commit: "abc"}
	s.Artefacts[1].Rows[2].Basis = BasisUnexamined
	s.Claims[0].BlindVerdict = VerdictFails
	for _, later := range []string{compare.ValidationBasis, compare.CalibrationBasis} {
		blind.Measured, blind.Basis = 130, later
		if n := s.countNumbers(BlindClass); n != (agreementCounts{1, 1}) {
			t.Errorf("%s: %v", later, n)
		}
		if n := s.countNumbers(compare.ValidationBasis); n.all != 0 {
			t.Errorf("%s: %v validate", later, n)
		}
		if got, want := s.blindSentence(), "1 blind prediction of numbers that the authors did not know, by commit abc: 1 within 20 %, the median error is 10.0\u00a0%, the largest 10.0\u00a0%. Claims that were not known then: 0 of 1 held."; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		var cells bytes.Buffer
		if err := s.WriteCells(&cells); err != nil || !strings.Contains(cells.String(), ",143,10\n") {
			t.Errorf("%s: %v\n%s", later, err, cells.String())
		}
	}
	if got, want := rowTexts(s.blindTable()), []string{"toy, lib isend o_s us|130.0|143.0|+10.0|130.0|0.0|yes"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := s.countNumbers(BasisUnexamined); n.all != 1 {
		t.Errorf("%v are unexamined", n)
	}
	if svg := s.ratioChart().InlineSVG(1100, ""); !strings.Contains(svg, "predicted blind") || !strings.Contains(svg, "nothing fitted, not examined") {
		t.Error("the chart does not tell blind and unexamined values apart")
	}
	if rows := rowTexts(s.errorTable()); rows[len(rows)-1] != "the paper|1|10.00|10.00|2|1|10.00|10.00" {
		t.Errorf("%q", rows)
	}
}
