package fit_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
)

var update = flag.Bool("update", false, "freeze the parameters of testdata/reference anew")

// TestReference fits the frozen samples of every kind of platform. Each frozen parameter must be
// found again, with a value inside the interval that was frozen with it.
func TestReference(t *testing.T) {
	files, err := filepath.Glob("testdata/reference/*.samples.csv.gz")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files of samples: %v", len(files), err)
	}
	for _, file := range files {
		frozen := strings.TrimSuffix(file, ".samples.csv.gz") + ".parameters.csv"
		t.Run(strings.TrimSuffix(filepath.Base(frozen), ".parameters.csv"), func(t *testing.T) {
			t.Parallel()
			r, err := fit.Fit(fitcheck.ReadSet(t, file), clean.Options{})
			if err != nil {
				t.Fatal(err)
			}
			fitcheck.SmallestSizes(t, r.Curves)
			if *update {
				var b bytes.Buffer
				if err := params.WriteParameters(&b, r.Parameters); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(frozen, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			f, err := os.Open(frozen)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want, _, err := params.ReadParameters(f, frozen)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				checkReference(t, w, r.Parameters)
			}
		})
	}
}

// checkReference finds a frozen parameter among those of today and checks its value.
func checkReference(t *testing.T, want params.Parameter, all []params.Parameter) {
	t.Helper()
	const rounding = 1e-9 // of the values in files
	for _, p := range all {
		if p.Platform != want.Platform || p.Library != want.Library || p.Place != want.Place || p.Mode != want.Mode ||
			p.Name != want.Name || p.Unit != want.Unit || p.From != want.From || p.To != want.To || p.Method != want.Method {
			continue
		}
		slack := rounding * math.Abs(want.Value)
		switch {
		case math.IsNaN(want.Value) != math.IsNaN(p.Value):
			t.Errorf("%s of %s, %d to %d B, %s: %v, frozen as %v", p.Name, p.Mode, p.From, p.To, p.Method, p.Value, want.Value)
		case p.Value < want.Low-slack || p.Value > want.High+slack:
			t.Errorf("%s of %s, %d to %d B, %s: %v, frozen in %v to %v", p.Name, p.Mode, p.From, p.To, p.Method, p.Value, want.Low, want.High)
		}
		return
	}
	t.Errorf("%s of %s, %d to %d B, %s is not among the parameters any more", want.Name, want.Mode, want.From, want.To, want.Method)
}
