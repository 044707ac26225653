package docs_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

var update = flag.Bool("update", false, "write what README.md shows anew")

const (
	readme  = "../README.md"
	drawing = "t3d-one-way.svg"
)

// TestReadme compares the table and the chart that README.md shows with what its commands print and
// draw.
func TestReadme(t *testing.T) {
	skipShort(t)
	readme, drawing := commandtest.AbsolutePath(t, readme), commandtest.AbsolutePath(t, drawing)
	w := newWorkDir(t, nil, false)
	table := w.runOnce(t, "measure", "--platform", "t3d", "-o", "samples.csv")
	table, _, ok := strings.Cut(table, "\n\nLogGP parameters of")
	if !ok {
		t.Fatalf("nothing after the table:\n%s", table)
	}
	w.runOnce(t, "report", "samples.csv", "-o", "report")
	drawn, err := os.ReadFile(w.filePath("report/ways.svg"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), "```text\n")
	shown, after, _ := strings.Cut(rest, "```\n")
	if *update {
		write(t, readme, before+"```text\n"+table+"\n```\n"+after)
		write(t, drawing, string(drawn))
		return
	}
	if shown != table+"\n" {
		t.Errorf("README.md does not show what the command prints (go test ./docs -run Readme -update):\n%s", table)
	}
	if b, _ := os.ReadFile(drawing); !bytes.Equal(b, drawn) {
		t.Errorf("%s is not the chart that the report has (go test ./docs -run Readme -update)", drawing)
	}
}
