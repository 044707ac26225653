package loggp_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// tableOf returns the first table whose title begins so.
func tableOf(t *testing.T, d *doc.Document, title string) *doc.Table {
	t.Helper()
	for _, s := range d.Sections {
		for _, x := range s.Tables {
			if strings.HasPrefix(x.Title, title) {
				return x
			}
		}
	}
	t.Fatalf("there is no table %q", title)
	return nil
}

// plainSpaces replaces spaces at which lines do not break.
func plainSpaces(s string) string { return strings.ReplaceAll(s, format.NonBreakingSpace, " ") }

// A measurement of all algorithms has those that the library takes, and the page says how often it
// takes the fastest one, what the best would save, and marks it: openmpi-4's decisions are for
// other machines.
func TestReportSaysWhatTheLibraryTakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "samples.csv")
	m, err := loggp.Measure(t.Context(), loggp.MeasureOptions{Platform: "hdr-fattree", Ranks: 16, Collective: []string{"bcast"}, Sizes: []int{8, 64 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Save(file, func(w io.Writer) error { return sample.Write(w, m.Samples) }); err != nil {
		t.Fatal(err)
	}
	d, err := loggp.Report(t.Context(), loggp.ReportOptions{Samples: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"openmpi-4 on hdr-fattree takes the fastest one at 1 of 2 lengths; the most is saved by scatter-allgather instead of binomial-posted for bcast of 64 KiB among 16 ranks: 3"} {
		if !strings.Contains(plainSpaces(d.Answer), want) {
			t.Errorf("the page does not say %q, but %q", want, d.Answer)
		}
	}
	x := tableOf(t, d, "The fastest algorithms of 16 ranks")
	column := -1
	for i, c := range x.Columns {
		if c.Heading == "library takes" {
			column = i
		}
	}
	if column < 0 {
		t.Fatalf("no column says what the library takes: %v", x.Columns)
	}
	if len(d.FrontFigures) != 1 || !strings.Contains(d.FrontFigures[0].Chart.Text, "Rings are the library's choice.") {
		t.Errorf("the chart does not mark the library's choice")
	}
}

// A prediction says what the library takes and adds its algorithms; of parameters, those of the
// library that was measured, and of one whose rules are not known, that they are not.
func TestPredictionSaysWhatTheLibraryTakes(t *testing.T) {
	for _, c := range []struct {
		name string
		o    loggp.CollectiveOptions
		says string
		take []string // by size; nil: not known
	}{
		{"decisions", loggp.CollectiveOptions{Platform: "hdr-fattree", Ranks: 64, Sizes: []int{8, 64000}}, "By the model, openmpi-4 takes the fastest algorithm at 1 of 2 lengths; the most is saved by scatter-allgather instead of knomial-4 for bcast of 64 KB: 4", []string{"knomial-4", "knomial-4"}},
		{"a paper's library", loggp.CollectiveOptions{Platform: "t3d", Ranks: 64, Sizes: []int{8, 64000}}, "chimp takes the fastest algorithm at ", []string{"binomial", "scatter-allgather"}},
		{"compiled communication", loggp.CollectiveOptions{Platform: "cc-cluster", Library: "cc-mpi", Sizes: []int{64000}}, "Which algorithm cc-mpi takes is not known.", nil},
	} {
		c.o.Operation = "bcast"
		p, err := loggp.PredictCollectives(t.Context(), c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := plainSpaces(p.Document().Answer); !strings.Contains(got, c.says) {
			t.Errorf("%s: %q does not say %q", c.name, got, c.says)
		}
		b := p.Operations[0]
		if len(b.Choices) != len(c.take) {
			t.Fatalf("%s: %d choices", c.name, len(b.Choices))
		}
		for i, want := range c.take {
			if got := b.Algorithms[b.Choices[i]].Name; got != want {
				t.Errorf("%s, %d bytes: the library takes %s, not %s", c.name, b.Sizes[i], got, want)
			}
		}
		picture, err := p.Chart()
		if err != nil {
			t.Fatal(err)
		}
		var svg bytes.Buffer
		if err := picture.SVG(&svg, chart.DefaultWidth); err != nil || strings.Contains(svg.String(), "library") != (c.take != nil) {
			t.Errorf("%s: the chart marks the library's choice: %v, %v", c.name, c.take == nil, err)
		}
	}
}

// Of parameters the rules are those of the library that was measured: an MPI of a known version,
// one of another, loggp's own, or that of a platform.
func TestChoicesOfMeasuredLibraries(t *testing.T) {
	for _, c := range []struct{ platform, library, want string }{
		{"mpi", "Open MPI 4.1.4", "knomial-4"}, {"mpi", "Open MPI 5.0.3", "knomial-4"}, {"mpi", "MPICH 4.0.2", "binomial"}, {"shm", "loggp", "binomial"}, {"t3d", "chimp", "binomial"},
		{"mpi", "Open MPI 3.1.0", ""}, {"mpi", "Intel MPI 2021.4", ""}, {"nowhere", "loggp", ""},
	} {
		file := filepath.Join(t.TempDir(), "params.csv")
		text := "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples\n"
		for _, p := range []string{"o_s,0,99,1,1,1,us,timer11,9", "o_s,0,99,0,0,0,us/B,timer11,9", "o_r,0,99,1,1,1,us,timer12,9", "o_r,0,99,0,0,0,us/B,timer12,9", "T,0,99,5,5,5,us,rtt/2,9", "T,0,99,0,0,0,us/B,rtt/2,9", "L,0,0,3,3,3,us,rtt/2-o_s-o_r,9"} {
			text += strings.Join([]string{c.platform, c.library, "inter", "send", p}, ",") + "\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ps, err := loggp.ReadParameters(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := loggp.PredictCollectives(t.Context(), loggp.CollectiveOptions{Params: ps, Operation: "bcast", Ranks: 16, Sizes: []int{8}})
		if err != nil {
			t.Fatal(err)
		}
		b := p.Operations[0]
		got := ""
		if b.Choices != nil {
			got = b.Algorithms[b.Choices[0]].Name
		}
		if got != c.want || (got == "") != (p.Document().Answer == "Which algorithm "+c.library+" takes is not known.") {
			t.Errorf("%s of %s takes %q, not %q: %s", c.library, c.platform, got, c.want, p.Document().Answer)
		}
	}
}
