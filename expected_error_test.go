package loggp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/reports/doc"
)

// Each report of times by a library that was calibrated says what errors to expect, of what was
// left out of its calibration.
func TestReportsStateTheExpectedErrorOfNCCL(t *testing.T) {
	d, err := edit.Open("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.SetExpectedError("nccl", "12.5%", "a test")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(what string, d *doc.Document, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Sections, func(s doc.Section) bool { return s.ID == "expected-error" })
		if i < 0 || !strings.HasPrefix(d.Sections[i].Text[0], "Nine in ten times of collective operations by nccl were predicted within 12.5%") {
			t.Errorf("%s: %+v", what, d.Sections)
		}
	}
	predicted, err := loggp.PredictCollectives(t.Context(), loggp.CollectiveOptions{Platform: file, Library: "nccl", Ranks: 8, Operation: "allreduce", Sizes: []int{8}})
	if err != nil {
		t.Fatal(err)
	}
	check("predict", predicted.Document(), nil)
	measured, err := loggp.Measure(t.Context(), loggp.MeasureOptions{Platform: file, Library: "nccl", Ranks: 8, Collective: []string{"allreduce"}, Sizes: []int{8}})
	if err != nil {
		t.Fatal(err)
	}
	document, err := measured.Document()
	check("measure", document, err)
	w := allreducesOf(1<<20, []int{0, 1})
	o := loggp.FlowOptions{Platform: file, Library: "nccl"}
	flows, err := loggp.SimulateFlows(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	check("simulate", flows.Document(), nil)
	sweep, err := loggp.SweepFlows(t.Context(), w, o, "taper=1,2")
	if err != nil {
		t.Fatal(err)
	}
	check("simulate --sweep", sweep.Document(), nil)
	jobs, err := loggp.SimulateJobs(t.Context(), []loggp.Job{{Workload: w, Name: "a", Ranks: []int{0, 1}}, {Workload: w, Name: "b", Ranks: []int{2, 3}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	check("simulate --job", jobs.Document(), nil)
}
