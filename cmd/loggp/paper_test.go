package main

import (
	"context"
	"math"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench/paper"
	"github.com/loggp/loggp/reports"
)

// target is within how many percent of a published value that nothing was fitted to a measured one must be; of a range, of
// both ends.
const target = 20

// TestPaper runs the whole paper again: all claims that the source does not contradict hold, and the published values are met that nothing
// was fitted to.
func TestPaper(t *testing.T) {
	long(t)
	study, err := paper.Reproduce(t.Context(), paper.Options{Seed: 1, Noise: world.PlatformNoise})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range study.Claims {
		t.Logf("%s %s: %s: %s", c.ID, c.Verdict, c.Text, c.Evidence)
		if c.Verdict != reports.Holds && c.Verdict != reports.Contradicted {
			t.Errorf("%s %s: %s (%s): %s %s", c.ID, c.Verdict, c.Text, c.Check, c.Evidence, c.Note)
		}
	}
	for _, a := range study.Artefacts {
		for _, r := range a.Rows {
			if math.IsNaN(r.Low) {
				continue
			}
			off := r.ErrorPercent()
			t.Logf("%s, %s %s %s %s %d B: published %g to %g, measured %.4g, predicted %.4g, %+.1f %%, %s", a.ID, r.Platform, r.Place, r.Mode, r.Parameter, r.Bytes,
				r.Low, r.High, r.Measured, r.Predicted, off, r.Basis)
			if r.Basis == compare.Validation && !(math.Abs(off) <= target) {
				t.Errorf("%s, %s %s %s %s %d B: published %g to %g, measured %.4g", a.ID, r.Platform, r.Place, r.Mode, r.Parameter, r.Bytes, r.Low, r.High, r.Measured)
			}
		}
	}
}

// mustRun runs a command that should succeed.
func mustRun(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	var out, errs buffer
	if status := run(context.Background(), args, &out, &errs); status != succeeded {
		t.Fatalf("loggp %q: status %d: %s", args, status, errs.String())
	}
	return out.String()
}
