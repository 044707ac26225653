package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	fitcompare "github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports"
)

// quick is the whole paper with few repetitions and no noise.
func quick(t *testing.T) *reports.Study {
	t.Helper()
	if testing.Short() {
		t.Skip("measures all platforms")
	}
	study, err := quickly()
	if err != nil {
		t.Fatal(err)
	}
	return study
}

var quickly = sync.OnceValues(func() (*reports.Study, error) { return Reproduce(context.Background(), Options{Seed: 1, Reps: 2}) })

// What is told of progress ends with all of it.
func TestProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("measures all platforms")
	}
	var mu sync.Mutex
	most, total := 0, 0
	_, err := Reproduce(t.Context(), Options{Reps: 2, Progress: func(done, of int) {
		mu.Lock()
		defer mu.Unlock()
		if total != 0 && of != total {
			t.Errorf("of %d, then of %d", total, of)
		}
		most, total = max(most, done), of
	}})
	if err != nil || most != total || total == 0 {
		t.Errorf("%d of %d: %v", most, total, err)
	}
}

// artefact returns a table or a figure.
func artefact(t *testing.T, s *reports.Study, id string) reports.Artefact {
	t.Helper()
	i := slices.IndexFunc(s.Artefacts, func(a reports.Artefact) bool { return a.ID == id })
	if i < 0 {
		t.Fatalf("there is no %s", id)
	}
	return s.Artefacts[i]
}

// Every table and figure is there, every number of tables 3 to 5 has a row with what was measured and predicted, and every curve of a figure
// a row for each size.
func TestStudyIsComplete(t *testing.T) {
	s := quick(t)
	src, err := read()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Concat(src.parameters, src.latencies) {
		id := r.Table
		found := 0
		for _, f := range artefact(t, s, id).Rows {
			if f.Platform == subject(r).Platform && f.Place == r.Level && f.Parameter == r.Parameter && f.Bytes == r.Bytes && f.Low == r.Low && f.High == r.High &&
				(strings.HasPrefix(r.Column, "sync") == (f.Mode == "issend")) {
				found++
				checkFinding(t, id, f)
				if f.Basis == reports.Shown || f.Source == "" {
					t.Errorf("%s is shown only: %+v", r.Name(), f)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s has %d rows", r.Name(), found)
		}
	}
	for number := 6; number <= 13; number++ {
		a := artefact(t, s, fmt.Sprintf("figure-%d", number))
		f := figures[slices.IndexFunc(figures, func(f figure) bool { return f.number == number })]
		if a.Caption == "" || a.XAxis == "" || a.YAxis == "" {
			t.Errorf("%s has no caption or axis: %+v", a.ID, a)
		}
		for _, l := range f.lines {
			sizes := 0
			for _, r := range a.Rows {
				if r.Platform == l.Platform && r.Place == l.Place && r.Mode == l.mode && r.Bytes >= 0 {
					sizes++
					if f.parameter != "1/G" { // of which there may be none
						checkFinding(t, a.ID, r)
					}
				}
			}
			want := len(figureSizes)
			if f.parameter == "1/G" {
				want--
			}
			if sizes != want {
				t.Errorf("%s, %v %s: %d sizes, want %d", a.ID, l.Subject, l.mode, sizes, want)
			}
		}
		for _, c := range a.Curves {
			if c.Kind != reports.PublishedCurve && len(c.Points) < len(figureSizes)/2 {
				t.Errorf("%s: %s curve %s has %d points", a.ID, c.Kind, c.Name, len(c.Points))
			}
		}
	}
	for id, charts := range map[string]int{"figure-1": 4, "figure-2": 0, "figure-3": 1, "figure-4": 1, "figure-5": 2} {
		if a := artefact(t, s, id); len(a.Charts) != charts || a.Caption == "" || id == "figure-2" && len(a.Words) == 0 {
			t.Errorf("%s has %d charts, want %d", id, len(a.Charts), charts)
		}
	}
}

// checkFinding wants both numbers of a row.
func checkFinding(t *testing.T, id string, f reports.Finding) {
	t.Helper()
	if !(f.Measured > 0) || !(f.Predicted > 0) || math.IsInf(f.Measured+f.Predicted, 0) {
		t.Errorf("%s, %s %s %s %s at %d B: measured %v, predicted %v", id, f.Platform, f.Place, f.Mode, f.Parameter, f.Bytes, f.Measured, f.Predicted)
	}
}

// What is found of protocols and equations is what the paper has; of calls too, but for ready sends that wait for a peer to make progress.
func TestStudyOfWords(t *testing.T) {
	s := quick(t)
	src, err := read()
	if err != nil {
		t.Fatal(err)
	}
	steps := artefact(t, s, "figure-1").Rows
	if len(steps) != len(src.sequences) {
		t.Fatalf("%d steps of protocols, want %d", len(steps), len(src.sequences))
	}
	for i, r := range src.sequences {
		want := r["from"] + " to " + r["to"]
		if strings.Contains(r["carries"], "message") {
			want += " with the message"
		}
		for _, way := range []string{"pulled", "pushed"} {
			if strings.Contains(r["carries"], way) {
				want += ", " + way
			}
		}
		if got := steps[i].Text[1]; got != want || steps[i].Agreement != reports.Agrees {
			t.Errorf("step %s of %s: found %q, want %q", r["step"], r["protocol"], got, want)
		}
	}
	equations := artefact(t, s, "equations").Rows
	if len(equations) != 9 {
		t.Errorf("%d equations", len(equations))
	}
	for _, f := range equations {
		if f.Text[0] == "" || f.Text[0] != f.Text[1] || f.Agreement != reports.Agrees {
			t.Errorf("%s: printed %q, found %q", f.Parameter, f.Text[0], f.Text[1])
		}
	}
	calls := artefact(t, s, "table-1").Rows
	if want := 2 * len(src.modes) * 4; len(calls) != want {
		t.Errorf("%d calls, want %d", len(calls), want)
	}
	differ := 0
	for _, f := range calls {
		agree := strings.HasPrefix(f.Text[1], f.Text[0]+":")
		switch {
		case f.Text[0] == "unspecified":
			if f.Basis != reports.Shown || f.Agreement != "" {
				t.Errorf("%s on %s, of which the source says nothing: %s, %q", f.Mode, f.Platform, f.Basis, f.Agreement)
			}
		case f.Mode == "rsend" && f.Bytes > small && !agree: // what waits for the peer to make progress
			differ++
			if f.Agreement != reports.Differs || f.Basis != fitcompare.Validation || !strings.Contains(f.Note, "progress") {
				t.Errorf("%s on %s at %d B differs, and is %s, %q: %s", f.Mode, f.Platform, f.Bytes, f.Basis, f.Agreement, f.Note)
			}
		case !agree || f.Agreement != reports.Agrees:
			t.Errorf("%s on %s at %d B: printed %q, found %q, %s", f.Mode, f.Platform, f.Bytes, f.Text[0], f.Text[1], f.Agreement)
		}
	}
	all, agreeing := s.Words()
	if want := len(calls) - 8 + len(steps) + len(equations); differ == 0 || all != want || agreeing != want-differ {
		t.Errorf("%d of %d answers in words agree, want all but %d of %d", agreeing, all, differ, want)
	}
}

// fitted are the claims that platforms' files name.
var fitted = []string{"AM-07", "AM-11", "AM-13", "AM-14", "AM-15", "AM-17", "AM-22"}

// What a number stands on says the platform's file, and of a number that cannot be right the list of contradictions.
func TestBasis(t *testing.T) {
	s := quick(t)
	want := map[string]string{
		"table-3 t3d issend o_s 10000": fitcompare.Calibration,
		"table-3 t3d isend o_s 10000":  fitcompare.Validation,
		"table-3 now send G -1":        reports.Contradicted,
		"table-4 convex  P -1":         reports.Contradicted,
		"table-4 convex  H -1":         fitcompare.Validation,
		"table-5 t3d ssend L -1":       fitcompare.Calibration,
		"figure-11 t3d send o_r 10000": fitcompare.Validation,
		"figure-11 t3d send o_r 5000":  reports.Shown,
	}
	for _, a := range s.Artefacts {
		for _, f := range a.Rows {
			name := fmt.Sprintf("%s %s %s %s %d", a.ID, f.Platform, f.Mode, f.Parameter, f.Bytes)
			if basis, ok := want[name]; ok {
				delete(want, name)
				if f.Basis != basis {
					t.Errorf("%s is %s, want %s", name, f.Basis, basis)
				}
			}
		}
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
	for _, c := range s.Claims {
		if want := slices.Contains(fitted, c.ID); c.Calibrated != want || strings.Contains(c.Note, "was fitted to this") != want {
			t.Errorf("%s: fitted to %v: %s", c.ID, c.Calibrated, c.Note)
		}
	}
}
