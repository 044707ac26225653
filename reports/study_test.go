package reports

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/testdata"
)

var nan = math.NaN()

// smallStudy has one of everything: a value, a range, words, a contradiction, a calibration row, a figure with gaps, each verdict.
func smallStudy() *Study {
	value := func(parameter string, bytes int, published, found, predicted float64, basis string) Finding {
		return Finding{Platform: "toy", Library: "lib", Place: "inter", Mode: "isend", Parameter: parameter, Bytes: bytes, Unit: "us", Low: published, High: published,
			Measured: found, MeasuredLow: found * 0.99, MeasuredHigh: found * 1.01, Predicted: predicted, Basis: basis, Source: "[1] table 3"}
	}
	latency := value("L", -1, 4, 11, nan, compare.Validation)
	latency.High, latency.Mode, latency.Note = 10, "ssend", "The text gives one value, the table a range."
	gap := value("G", -1, 0.2, 0.83, 0.8, Contradicted)
	gap.Unit, gap.Note, gap.MeasuredLow, gap.MeasuredHigh = "us/B", "0.2 us per byte is 5 MB/s on a network of 10 Mbit/s: no honest emulation of that wire can reach it.", nan, nan
	missing := value("g", -1, nan, 30, 31, Shown)
	words := Finding{Parameter: "MPI_Ssend", Bytes: -1, Low: nan, High: nan, Measured: nan, Predicted: nan, Text: [2]string{"non-local, no buffer", "non-local, no buffer"}, Basis: compare.Validation, Source: "[1] table 1", Agreement: Agrees}
	other := words
	other.Parameter, other.Text, other.Agreement, other.Note = "MPI_Rsend", [2]string{"local", "non-local"}, Differs, "The peer makes progress inside its calls."
	shown := value("o_s", 500, nan, 60, 61, Shown)
	return &Study{Name: "toys", Title: "Toys, played with again", Source: "A. Author, B. Author: Toys, 1999",
		Facts: [][2]string{{"version", "test"}, {"command", "loggp reproduce toys --seed 1"}, {"seed", "1"}},
		Artefacts: []Artefact{
			{ID: "table-1", Caption: "send modes", Rows: []Finding{words, other}},
			{ID: "table-3", Caption: "signature", Words: []string{"Sizes that the source leaves open are 16 and 10000 bytes."}, Rows: []Finding{
				value("o_s", 16, 30, 30, 29, compare.Calibration), value("o_s", 10000, 130, 157, 131, compare.Validation), latency, gap, missing}},
			{ID: "figure-10", Caption: "overheads of blocking and non-blocking sends", XAxis: "message length (bytes)", YAxis: "send overhead (us)",
				Rows: []Finding{value("o_s", 16, 30, 30, 29, compare.Calibration), shown},
				Curves: []StudyCurve{
					{"blocking", MeasuredCurve, []StudyPoint{{16, 35, 34, 36}, {1000, 80, 80, 80}, {10000, 600, 600, 600}}},
					{"blocking", PredictedCurve, []StudyPoint{{16, 33, 0, 0}, {1000, nan, 0, 0}, {10000, 590, 0, 0}}},
					{"non-blocking", MeasuredCurve, []StudyPoint{{16, 30, 30, 30}, {1000, 40, 40, 40}, {10000, 130, 130, 130}}},
					{"non-blocking", PublishedCurve, []StudyPoint{{16, 30, 30, 30}, {10000, 130, 100, 160}}}}},
			{ID: "figure-13", Caption: "bandwidth", XAxis: "message length (bytes)", YAxis: "bandwidth (MB/s)", Linear: true,
				Curves: []StudyCurve{{"all", MeasuredCurve, []StudyPoint{{1, 0.1, 0.1, 0.1}, {1e5, 23, 22, 24}}}}},
			{ID: "figure-3", Caption: "time line", Words: []string{"The picture is lost."},
				Charts: []*Chart{Timeline("timeline", "Time line of RTA", model.Transfer{Machine: toy().Machine, Protocol: model.RTA, Bytes: 1000}.Timeline())}},
		},
		Claims: []Claim{
			{"T-1", "A toy is a toy", "section 2", "toy == toy", Holds, "1 = 1", "", false},
			{"T-5", "A toy is one", "section 2", "toys == 1", Holds, "1 = 1", "Some number of toy was fitted to this.", true},
			{"T-2", "Toys, however many, are cheap", "section 3", "price < 1", Fails, "2 at 16 B, 3 at 10000 B", "They are not cheap here.", true},
			{"T-3", "Toys are ten times smaller", "section 4", "9 < ratio < 11", Contradicted, "ratio 5.2", "Table 4 has 5.", false},
			{"T-4", "Two toys are alike", "section 5", "needs two", NotApplicable, "there is one library", "", false},
		},
	}
}

// largeStudy is as long as one of the published paper, with its texts and invented measurements.
func largeStudy(t testing.TB) *Study {
	t.Helper()
	s := smallStudy()
	timeline := s.Artefacts[4].Charts
	s.Name, s.Title = "altawil-moritz", "Performance Modeling and Evaluation of MPI, reproduced"
	s.Source = "K. Al-Tawil, C. A. Moritz: Performance Modeling and Evaluation of MPI, Journal of Parallel and Distributed Computing"
	s.Artefacts, s.Claims = nil, nil
	dir, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	rows := func(file string) []record {
		r, err := records(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for i, c := range rows("claims.csv") {
		x := Claim{ID: c.get("id"), Text: c.get("claim"), Where: c.get("where"), Check: c.get("how_to_check"), Verdict: verdicts[[]int{0, 0, 0, 1, 0, 2, 0, 3}[i%8]],
			Evidence: "o_s(isend) of Convex inter/intra = 30.04/2.11 us = 14.2 at 100 bytes, 198.7/20.2 us = 9.84 at 10000 bytes, both between 5 and 20; medians of 100 repetitions, seed 1"}
		if x.Verdict == Contradicted || x.Verdict == Fails {
			x.Note = "The text says a factor of ten between inter and intra; the tables have 15 and 10. The second \"inter-cluster\" of the conclusions is read as intra-cluster."
		}
		s.Claims = append(s.Claims, x)
	}
	modes := Artefact{ID: "table-1", Caption: "send modes of MPI: what a call that ends says"}
	for _, r := range rows("table-1-send-modes.csv") {
		modes.Rows = append(modes.Rows, Finding{Parameter: r.get("operation"), Bytes: -1, Low: nan, High: nan, Measured: nan, Predicted: nan, Basis: compare.Validation,
			Source: "table 1", Text: [2]string{r.get("ends") + "; buffer: " + r.get("buffer"), r.get("ends") + "; returned before the receive was posted"}})
	}
	s.Artefacts = append(s.Artefacts, modes)
	published, err := ReadPublished(dir)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*Artefact{"table-3": {ID: "table-3", Caption: "LogGP signature of T3D and NOW"}, "table-4": {ID: "table-4", Caption: "LoGH{sSP} signature of the Convex Exemplar"}}
	for i, r := range published {
		mode, _ := r.Answer()
		found := r.Low * (0.9 + 0.07*float64(i%6))
		x := Finding{Platform: strings.ToLower(r.Platform), Library: "chimp", Place: r.Level, Mode: mode, Parameter: r.Parameter, Bytes: r.Bytes, Unit: strings.ReplaceAll(strings.ReplaceAll(r.Unit, "_per_byte", "/B"), "count", ""),
			Low: r.Low, High: r.High, Measured: found, MeasuredLow: found * 0.998, MeasuredHigh: found * 1.002, Predicted: r.Low * 1.01,
			Basis: []string{compare.Calibration, compare.Validation, compare.Validation}[i%3], Source: "[1] " + r.Table + " " + r.Column, Note: r.Contradiction}
		if r.Contradiction != "" && r.Parameter == "G" {
			x.Basis = Contradicted
		}
		tables[r.Table].Rows = append(tables[r.Table].Rows, x)
	}
	tables["table-4"].Words = []string{"P is what the clustering of all pairs finds; the table prints 4 where the machine has 8."}
	s.Artefacts = append(s.Artefacts, *tables["table-3"], *tables["table-4"])
	for _, f := range rows("figures.csv") {
		n, err := strconv.Atoi(f.get("figure"))
		if err != nil {
			t.Fatal(err)
		}
		a := Artefact{ID: "figure-" + f.get("figure"), Caption: f.get("caption"), XAxis: f.get("x_axis"), YAxis: f.get("y_axis"), Words: []string{"The picture of the source is lost: axes are inferred from its text."}}
		switch {
		case n < 3:
			continue
		case n < 6:
			a.Charts = timeline
		default:
			a.Linear = strings.HasPrefix(a.YAxis, "bandwidth")
			invent(&a, n)
		}
		s.Artefacts = append(s.Artefacts, a)
	}
	return s
}

// invent fills a figure with up to eight curves that part and cross as real ones do.
func invent(a *Artefact, n int) {
	names := []string{"T3D blocking", "T3D non-blocking", "NOW blocking", "NOW non-blocking", "Convex inter blocking", "Convex inter non-blocking", "Convex intra blocking", "Convex intra non-blocking"}
	switch n {
	case 6, 7:
		names = []string{"inter-hypernode", "intra-hypernode"}
	case 8, 9:
		names = names[:4]
	case 12, 13:
		names = []string{"T3D", "NOW", "Convex inter", "Convex intra"}
	}
	for i, name := range names {
		var at, predicted, published []StudyPoint
		for k := 1; k <= 100000; k *= 10 {
			for _, f := range []int{1, 2, 5} {
				x := float64(k * f)
				y := []float64{30, 24, 1000, 900, 45, 32, 4, 2.2}[i] + x*[]float64{0.06, 0.01, 0.9, 0.02, 0.05, 0.017, 0.01, 0.0018}[i]
				if a.Linear {
					y = x / y / (1 + float64(i))
				}
				at = append(at, StudyPoint{x, y, y * 0.99, y * 1.01})
				predicted = append(predicted, StudyPoint{X: x, Y: y * 1.06})
				r := Finding{Platform: strings.ToLower(strings.Fields(name)[0]), Library: "chimp", Place: "inter", Mode: "isend", Parameter: "o_s", Unit: "us", Bytes: k * f, Low: nan, High: nan,
					Measured: y, MeasuredLow: y * 0.99, MeasuredHigh: y * 1.01, Predicted: y * 1.06, Basis: Shown}
				if f == 1 && (k == 10 || k == 10000) {
					published = append(published, StudyPoint{x, y * 1.1, y * 1.1, y * 1.1})
					if k > 10 {
						published[1].Low, published[1].High = y*0.8, y*1.5
					}
					r.Low, r.High, r.Basis = published[len(published)-1].Low, published[len(published)-1].High, compare.Validation
				}
				a.Rows = append(a.Rows, r)
			}
		}
		a.Curves = append(a.Curves, StudyCurve{name, MeasuredCurve, at}, StudyCurve{name, PredictedCurve, predicted})
		if i%2 == 0 {
			a.Curves = append(a.Curves, StudyCurve{name, PublishedCurve, published})
		}
	}
}

// TestStudyPage: the page has all that the study has, needs nothing from elsewhere, and is the same each time.
func TestStudyPage(t *testing.T) {
	for _, s := range []*Study{smallStudy(), largeStudy(t), {}} {
		dir := filepath.Join(t.TempDir(), "study")
		written(t, dir, func() error { return StudyPage(dir, s) })
	}
}

// TestStudyCSV: the columns are those that are promised, a row a finding or claim, and nothing stands where there is no number.
func TestStudyCSV(t *testing.T) {
	var cells, claims bytes.Buffer
	s := smallStudy()
	if err := WriteCells(&cells, s); err != nil {
		t.Fatal(err)
	}
	if err := WriteClaims(&claims, s); err != nil {
		t.Fatal(err)
	}
	golden(t, "study-cells.csv", cells.Bytes())
	golden(t, "study-claims.csv", claims.Bytes())
	rows, err := csv.NewReader(&cells).ReadAll()
	if err != nil || len(rows) != 10 || strings.Join(rows[0], ",") != "artefact,platform,library,place,mode,parameter,bytes,published_low,published_high,measured,predicted,error_percent,basis" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for n := range 2 {
		if err := WriteCells(&failing{n}, largeStudy(t)); err == nil {
			t.Errorf("an error of the writer is lost after %d writes", n)
		}
	}
}

// TestStudyCharts: in every width the labels of figures lie in the picture, none on another, whatever the curves.
func TestStudyCharts(t *testing.T) {
	for _, s := range []*Study{smallStudy(), largeStudy(t)} {
		for i := range s.Artefacts {
			if c := s.Artefacts[i].chart(); c != nil {
				legible(t, c)
			} else if len(s.Artefacts[i].Curves) > 0 {
				t.Errorf("%s has no chart", s.Artefacts[i].ID)
			}
		}
	}
	if c := (&Artefact{ID: "x", Curves: []StudyCurve{{"a", MeasuredCurve, []StudyPoint{{1, nan, 0, 0}}}}}).chart(); c != nil {
		t.Error("a chart of nothing")
	}
}

// TestCurves: curves of one name look alike, those of eight names differ in colour and in shape, and kinds differ without colours.
func TestCurves(t *testing.T) {
	at := []StudyPoint{{1, 10, 9, 11}, {10, nan, 0, 0}, {100, 30, 20, 40}}
	colours, shapes := map[ink]bool{}, map[string]bool{}
	for i := range 8 {
		m, p, q := StudyCurve{"a", MeasuredCurve, at}.series(i), StudyCurve{"a", PredictedCurve, at}.series(i), StudyCurve{"a", PublishedCurve, at}.series(i)
		if m.look.ink != p.look.ink || m.look.ink != q.look.ink {
			t.Errorf("curve %d: colours %v %v %v", i, m.look.ink, p.look.ink, q.look.ink)
		}
		if len(m.points) != 2 || len(m.lines) != 1 || m.look.dashed || !p.look.dashed || p.look.framed || !q.look.framed || q.lines != nil {
			t.Errorf("curve %d: %+v, %+v, %+v", i, m, p, q)
		}
		colours[m.look.ink] = true
		shapes[fmt.Sprintf("%T %+[1]v", m.look.glyph)] = true
		shapes[fmt.Sprintf("%T %+[1]v", q.look.glyph)] = true
	}
	if len(colours) != 8 || len(shapes) != 16 {
		t.Errorf("%d colours and %d shapes", len(colours), len(shapes))
	}
}

// TestLinear: a linear axis begins at 0, has round numbers at equal distances beyond the data, and as many as there is room for.
func TestLinear(t *testing.T) {
	for i := range 300 {
		high := math.Pow(1.06, float64(i-150))
		x := xy{linear: true, series: []series{{points: []point{{x: 1, y: high / 7}, {x: 100, y: high}}}}}
		p := x.plot(vg.Point{X: 400, Y: 180})
		ticks := p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max)
		if p.Y.Min != 0 || p.Y.Max < high || p.Y.Max > 2*high || len(ticks) < 3 || len(ticks) > 11 {
			t.Fatalf("to %v: axis to %v with %d ticks", high, p.Y.Max, len(ticks))
		}
		for _, k := range ticks {
			if v, err := strconv.ParseFloat(k.Label, 64); err != nil || math.Abs(v-k.Value) > 1e-9*high {
				t.Fatalf("to %v: a tick at %v says %s", high, k.Value, k.Label)
			}
		}
	}
}

// TestBars: of a published range both ends are on the axis.
func TestBars(t *testing.T) {
	a := smallStudy().Artefacts[2]
	a.Curves = []StudyCurve{{"a", PublishedCurve, []StudyPoint{{100, 10, 0.3, 700}}}}
	x := xy{series: []series{a.Curves[0].series(0)}}
	if p := x.plot(vg.Point{X: 400, Y: 300}); p.Y.Min > 0.3 || p.Y.Max < 700 {
		t.Errorf("axis from %v to %v", p.Y.Min, p.Y.Max)
	}
}

// TestCounts: claims and rows are counted, and said in words that fit their number.
func TestCounts(t *testing.T) {
	s := smallStudy()
	s.Claims = append(s.Claims, Claim{Verdict: Holds})
	if got, want := s.counts(), "Of 6 claims, 3 hold, 1 fails, 1 is contradicted by the source itself, 1 is not applicable. Of those that hold, 1 proves nothing: some number of a platform was fitted to it."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if all, agree := s.Words(); all != 2 || agree != 1 {
		t.Errorf("%d of %d answers in words", agree, all)
	}
	if got, want := s.agreement(), "Of 2 answers in words 1 agrees and 1 differs."; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want at its end %q", got, want)
	}
	// 157 for 130 and 11 for 4 to 10; what is words is not counted.
	if all, within := s.Rows(compare.Validation, 20); all != 2 || within != 1 {
		t.Errorf("%d of %d", within, all)
	}
	if all, within := s.Rows(compare.Validation, 21); all != 2 || within != 2 {
		t.Errorf("%d of %d within 21 %%", within, all)
	}
	s.Artefacts[1].Rows[1].Measured = nan // what was not measured does not agree
	if all, within := s.Rows(compare.Validation, 21); all != 2 || within != 1 {
		t.Errorf("%d of %d, of which one was not measured", within, all)
	}
}

// TestFitted: what proves nothing is no success, in the boxes and in the table.
func TestFitted(t *testing.T) {
	s := smallStudy()
	boxes := map[string]string{}
	for _, k := range s.keys() {
		boxes[k.Name] = k.Value
	}
	for name, want := range map[string]string{"holds": "1 of 5", "holds, fitted": "1 of 5", "fails": "", "fails, fitted": "1 of 5", "contradicted": "1 of 5", "words": "1 of 2"} {
		if boxes[name] != want {
			t.Errorf("%s: %q, want %q", name, boxes[name], want)
		}
	}
	for i, want := range []Cell{{"holds", Good}, {"holds, fitted", Faint}, {"fails, fitted", Bad}, {"contradicted", Normal}, {"not applicable", Faint}} {
		if got := s.Claims[i].verdict(); got != want {
			t.Errorf("%s: %+v, want %+v", s.Claims[i].ID, got, want)
		}
	}
	rows := s.Artefacts[0].findings(false).Groups[0].Rows
	if len(rows) != 2 {
		t.Fatalf("%d rows of words", len(rows))
	}
	for i, want := range []Cell{{"yes", Normal}, {"no", Bad}} {
		if !slices.Contains(rows[i], want) {
			t.Errorf("%v says nothing of %+v", rows[i], want)
		}
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

// TestHostileStudy: whatever stands in a study, the page shows it as text, and files have names.
func TestHostileStudy(t *testing.T) {
	const evil = `<script>alert("1")</script>&amp;'`
	s := smallStudy()
	s.Title, s.Source, s.Facts = evil, evil, [][2]string{{evil, evil}, {"command", evil}}
	for i := range s.Claims {
		c := &s.Claims[i]
		c.ID, c.Text, c.Where, c.Check, c.Verdict, c.Evidence, c.Note = evil+strconv.Itoa(i), evil, evil, evil, evil, evil, evil
	}
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		a.ID, a.Caption, a.Words, a.XAxis, a.YAxis = "../"+evil+strconv.Itoa(i), evil, []string{evil}, evil, evil
		for j := range a.Rows {
			r := &a.Rows[j]
			r.Platform, r.Mode, r.Parameter, r.Unit, r.Basis, r.Source, r.Note = evil, evil, evil, evil, evil, evil, evil
		}
		for j := range a.Curves {
			a.Curves[j].Name += evil
		}
	}
	dir := filepath.Join(t.TempDir(), "study")
	if err := StudyPage(dir, s); err != nil {
		t.Fatal(err)
	}
	files := contents(t, dir)
	sound(t, files)
	var cells bytes.Buffer
	if err := WriteCells(&cells, s); err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(&cells).ReadAll(); err != nil || rows[1][1] != evil {
		t.Errorf("%q, %v", rows[1], err)
	}
}
