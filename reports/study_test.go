package reports

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
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
	latency := value("L", -1, 4, 11, nan, fit.Validation)
	latency.High, latency.Mode, latency.Note = 10, "ssend", "The text gives one value, the table a range."
	gap := value("G", -1, 0.2, 0.83, 0.8, Contradicted)
	gap.Unit, gap.Note, gap.MeasuredLow, gap.MeasuredHigh = "us/B", "0.2 us per byte is 5 MB/s on a network of 10 Mbit/s: no honest emulation of that wire can reach it.", nan, nan
	missing := value("g", -1, nan, 30, 31, Shown)
	words := Finding{Parameter: "MPI_Ssend", Bytes: -1, Low: nan, High: nan, Measured: nan, Predicted: nan, Text: [2]string{"non-local, no buffer", "non-local, no buffer"}, Basis: fit.Validation, Source: "[1] table 1"}
	shown := value("o_s", 500, nan, 60, 61, Shown)
	return &Study{Name: "toys", Title: "Toys, played with again", Source: "A. Author, B. Author: Toys, 1999",
		Facts: [][2]string{{"version", "test"}, {"command", "loggp reproduce toys --seed 1"}, {"seed", "1"}},
		Artefacts: []Artefact{
			{ID: "table-1", Caption: "send modes", Rows: []Finding{words}},
			{ID: "table-3", Caption: "signature", Words: []string{"Sizes that the source leaves open are 16 and 10000 bytes."}, Rows: []Finding{
				value("o_s", 16, 30, 30, 29, fit.Calibration), value("o_s", 10000, 130, 157, 131, fit.Validation), latency, gap, missing}},
			{ID: "figure-10", Caption: "overheads of blocking and non-blocking sends", XAxis: "message length (bytes)", YAxis: "send overhead (us)",
				Rows: []Finding{value("o_s", 16, 30, 30, 29, fit.Calibration), shown},
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
			{"T-1", "A toy is a toy", "section 2", "toy == toy", Holds, "1 = 1", ""},
			{"T-2", "Toys, however many, are cheap", "section 3", "price < 1", Fails, "2 at 16 B, 3 at 10000 B", "They are not cheap here."},
			{"T-3", "Toys are ten times smaller", "section 4", "9 < ratio < 11", Contradicted, "ratio 5.2", "Table 4 has 5."},
			{"T-4", "Two toys are alike", "section 5", "needs two", NotApplicable, "there is one library", ""},
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
		modes.Rows = append(modes.Rows, Finding{Parameter: r.get("operation"), Bytes: -1, Low: nan, High: nan, Measured: nan, Predicted: nan, Basis: fit.Validation,
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
			Basis: []string{fit.Calibration, fit.Validation, fit.Validation}[i%3], Source: "[1] " + r.Table + " " + r.Column, Note: r.Contradiction}
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
					r.Low, r.High, r.Basis = published[len(published)-1].Low, published[len(published)-1].High, fit.Validation
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
		if err := StudyPage(dir, s); err != nil {
			t.Fatal(err)
		}
		files := contents(t, dir)
		if err := StudyPage(dir, s); err != nil {
			t.Fatal(err)
		}
		if again := contents(t, dir); !maps.Equal(files, again) {
			t.Error("a second time it is not the same")
		}
		sound(t, files)
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
	if err != nil || len(rows) != 9 || strings.Join(rows[0], ",") != "artefact,platform,library,place,mode,parameter,bytes,published_low,published_high,measured,predicted,error_percent,basis" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for n := range 2 {
		if err := WriteCells(&failing{n}, largeStudy(t)); err == nil {
			t.Errorf("an error of the writer is lost after %d writes", n)
		}
	}
}
