// Package fitcheck fits samples for tests and looks for rows and warnings in the result.
package fitcheck

import (
	"compress/gzip"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Fit returns the fit of a set, which must succeed.
func Fit(t *testing.T, set *sample.Set, o clean.Options) *fit.Result {
	t.Helper()
	r, err := fit.Fit(set, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ReadSet reads a compressed file of samples.
func ReadSet(t *testing.T, file string) *sample.Set {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	set, err := sample.Read(z, file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Row returns the row of a parameter, of which there must be one.
func Row(t *testing.T, r *fit.Result, mode, name, method, unit string) params.Parameter {
	t.Helper()
	rows := fittest.Truth{Mode: mode, Name: name, Method: method, Unit: unit}.FindRows(r.Parameters)
	if len(rows) != 1 {
		t.Fatalf("%d rows of %s %s by %s: %+v", len(rows), mode, name, method, r.Parameters)
	}
	return rows[0]
}

// HasWarning reports whether there is a warning of a code.
func HasWarning(r *fit.Result, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w clean.Warning) bool { return w.Code == code })
}

// HasWarningOf reports whether there is a warning of a code for a parameter or timer of a mode.
func HasWarningOf(r *fit.Result, mode, parameter, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w clean.Warning) bool {
		return w.Mode == mode && w.Parameter == parameter && w.Code == code
	})
}

// SmallestSizes checks that no piece of a timer misses its smallest size: by a twentieth of the
// time, or where times are as uncertain by a quarter and more than their interval.
func SmallestSizes(t *testing.T, curves []curve.Curve) {
	t.Helper()
	for _, c := range curves {
		for _, p := range c.Pieces {
			i := slices.IndexFunc(c.Points, func(x curve.Point) bool { return x.Bytes == p.From })
			off := math.Abs(p.Value-c.Points[i].Value) / c.Points[i].Value
			if x := c.Points[i]; off > 0.25 && x.Value > 0 && (p.Value < x.Low || p.Value > x.High) || off > 0.05 && (x.High-x.Low) < 0.01*x.Value && !strings.Contains(c.Timer, "-") {
				t.Errorf("%s of %s: the piece from %d to %d B begins with %v, measured are %+v", c.Timer, c.Mode, p.From, p.To, p.Value, x)
			}
		}
	}
}
