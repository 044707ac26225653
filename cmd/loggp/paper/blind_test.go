package paper

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/study"
	"github.com/loggp/loggp/testdata"
)

// frozen are the hashes of what was predicted before the published values were known.
var frozen = map[string]string{
	"aclmpl":    "70fe744733f3a0ad",
	"cc-mpi":    "0bf258bb31cb3aba",
	"mbcf":      "b27ee5076e2dd9b0",
	"mpi-start": "25cfbfe6b1e36a48",
}

// The blind predictions are those that the commit made. A calibration, a mended mechanism or a
// better reading of the paper changes what is measured now, and never these files: agreement is
// evidence only of what was written down before.
func TestBlindPredictionsAreFrozen(t *testing.T) {
	files, err := fs.Glob(testdata.Published, "*/"+blindFile)
	if err != nil || len(files) != len(frozen) {
		t.Errorf("there are %q, want those of %d papers (%v)", files, len(frozen), err)
	}
	for _, file := range files {
		b, err := fs.ReadFile(testdata.Published, file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(file, "/")
		if got := fmt.Sprintf("%x", sha256.Sum256(b))[:16]; got != frozen[name] {
			t.Errorf("testdata/published/%s was changed (hash %s, want %s). It holds what was predicted before the values were known, which nothing that was learned later may change. Undo the change; new predictions belong to rows of their own, with the commit that made them", file, got, frozen[name])
		}
		p, err := Read(testdata.Published, name)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.blind) < 13 || len(p.blindVerdicts) != 3 {
			t.Errorf("%s has %d blind rows and %d blind claims", name, len(p.blind), len(p.blindVerdicts))
		}
	}
}

// A blind prediction of something that is not printed, a second one, and one without its commit are
// errors with their line; one that the commit could not make is NA.
func TestReadBlindPredictions(t *testing.T) {
	for text, want := range map[string]string{
		"table-1 Torus large_us,1,us,abc\n":                                  `toys/blind.csv:2: no table has a published number "table-1 Torus large_us", and there is no such claim`,
		"table-1 Torus small_us,x,us,abc\n":                                  `toys/blind.csv:2: column predicted: "x" is neither a number nor NA`,
		"table-1 Torus small_us,1,us,\n":                                     `toys/blind.csv:2: the commit that predicted "table-1 Torus small_us" is missing`,
		"table-1 Torus small_us,1,us,a\ntable-1 Torus small_us,2,us,b\n":     `toys/blind.csv:3: a second prediction of "table-1 Torus small_us"`,
		"claims T-1,perhaps,verdict,abc\n":                                   `toys/blind.csv:2: "perhaps" is neither a verdict nor NA`,
		"table-1 Torus small_us,NA,us,abc\nclaims T-1,holds,verdict,abc\n":   "",
		"table-1 Torus small_us,29.5,us,abc\nclaims T-1,fails,verdict,abc\n": "",
	} {
		files := maps.Clone(invented)
		files["blind.csv"] = "row,predicted,unit,commit\n" + text
		p, err := Read(os.DirFS(write(t, files, "", "")), "toys")
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if err == nil && (p.blind["table-1 Torus small_us"] == nil || p.blindVerdicts["claims T-1"] == "") {
			t.Errorf("%q: %v, %v", text, p.blind, p.blindVerdicts)
		}
	}
}

// A blind row keeps its prediction when a number is fitted to it later: its class says so, and its
// error is that of the prediction.
func TestBlindPredictionOutlivesCalibration(t *testing.T) {
	r := study.Finding{Low: 10, High: 10, Measured: 10, Basis: compare.ValidationBasis, Blind: &study.BlindPrediction{Value: 15, Commit: "abc"}}
	if r.Class() != "blind" || math.Abs(r.BlindErrorPercent()-50) > 1e-9 || r.ErrorPercent() != 0 {
		t.Errorf("class %s, errors %v and %v", r.Class(), r.BlindErrorPercent(), r.ErrorPercent())
	}
	r.Basis = compare.CalibrationBasis
	if r.Class() != "blind, fitted later" || math.Abs(r.BlindErrorPercent()-50) > 1e-9 {
		t.Errorf("class %s, error %v", r.Class(), r.BlindErrorPercent())
	}
}

// docs/reproduce.md begins with how good the blind predictions were.
func TestDocsShowBlindErrors(t *testing.T) {
	b, err := os.ReadFile("../../../docs/reproduce.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range frozen {
		p, err := Read(testdata.Published, name)
		if err != nil {
			t.Fatal(err)
		}
		var errors []float64
		for _, r := range p.printedRows() {
			f := study.Finding{Low: r.Low, High: r.High, Blind: p.blind[r.Name]}
			if e := math.Abs(f.BlindErrorPercent()); e == e {
				errors = append(errors, e)
			}
		}
		slices.Sort(errors)
		n, within, hold := len(errors), 0, 0
		for _, e := range errors {
			if e <= 20 {
				within++
			}
		}
		for _, verdict := range p.blindVerdicts {
			if verdict == study.VerdictHolds {
				hold++
			}
		}
		want := fmt.Sprintf("| `%s` | %d | %d | %.1f %% | %.0f %% | %d | %d |", name, n, within, (errors[(n-1)/2]+errors[n/2])/2, errors[n-1], hold, len(p.blindVerdicts))
		if n != len(p.blind) || !strings.Contains(string(b), want) {
			t.Errorf("of %d blind rows %d are compared; docs/reproduce.md does not have\n%s", len(p.blind), n, want)
		}
	}
}

// What was chosen so that a number is met makes it calibration, as a fitted number of a platform
// does. A claim that compares the number rests on it, though its cell is arithmetic. A claim that
// the source's own table breaks is undecided, whatever is measured.
func TestChoicesAreCalibration(t *testing.T) {
	files := maps.Clone(invented)
	files["paper.yaml"] = strings.NewReplacer("artefacts:\n", "choices:\n  - {what: The colour, to: [table-1 Torus small_us, claims T-9]}\nartefacts:\n",
		"cell: 'o_s(s, mode, k)', note", "cell: '1000 * o_s(s, mode, k) / 1000', note", "{id: T-2, check", "{id: T-2, undecided: Table 1 breaks it., check").Replace(files["paper.yaml"])
	p, err := Read(os.DirFS(write(t, files, "", "")), "toys")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Reproduce(t.Context(), Options{Seed: 1, Reps: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Artefacts[0].Rows[0]; r.Basis != compare.CalibrationBasis || !strings.Contains(r.Note, "The colour was chosen when this was known.") {
		t.Errorf("the row is %s: %s", r.Basis, r.Note)
	}
	for _, c := range s.Claims {
		if slices.Contains([]string{"T-1", "T-2", "T-9"}, c.ID) && c.Basis != study.BasisFitted {
			t.Errorf("%s rests on %s: %s", c.ID, c.Basis, c.Note)
		}
		if c.ID == "T-2" && (c.Verdict != study.VerdictUndecided || !strings.HasPrefix(c.Note, "Table 1 breaks it.")) {
			t.Errorf("T-2 %s: %s", c.Verdict, c.Note)
		}
	}
	_, err = Read(os.DirFS(write(t, invented, "artefacts:\n", "choices:\n  - {what: The colour, to: [table-1 Mesh small_us]}\nartefacts:\n")), "toys")
	if want := `toys/paper.yaml: choice "The colour": no table has a published number "table-1 Mesh small_us", and there is no such claim`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
