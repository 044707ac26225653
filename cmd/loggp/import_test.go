package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

// What another tool has measured goes all the way: imported, fitted, exported.
func TestImportFitExport(t *testing.T) {
	outputs := commandtest.ExampleFiles(t, "../..")
	t.Chdir(t.TempDir())
	commandtest.WriteFiles(t, outputs)
	mustRun(t, "import", "trains.csv", "-o", "samples.csv", "--platform-name", "cluster", "--library", "openmpi", "--place", "intra")
	table := mustRun(t, "fit", "samples.csv", "-o", "params.csv")
	for _, want := range []string{"LogGP parameters of cluster, openmpi, within a node", "4 KiB to 128 KiB"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not have %q:\n%s", want, table)
		}
	}
	mustRun(t, "export", "simgrid", "params.csv", "-o", "platform.xml")
	if b, _ := os.ReadFile("platform.xml"); !strings.Contains(string(b), `<prop id="smpi/send-is-detached-thresh" value="4001"/>`) || !strings.HasSuffix(string(b), "</platform>\n") {
		t.Errorf("platform.xml is\n%s", b)
	}
	if out := mustRun(t, "export", "logopsim", "params.csv", "--bounds"); !strings.Contains(out, " -S 4000\n") {
		t.Errorf("logopsim: %s", out)
	}
	if out := mustRun(t, "export", "json", "params.csv"); !strings.Contains(out, `"platform":"cluster"`) {
		t.Errorf("json: %s", out)
	}
	var out, errs buffer
	if runCommandLine(context.Background(), []string{"export", "logopsim", "params.csv", "-o", "x.sh"}, &out, &errs) != exitFailure || !strings.Contains(errs.String(), "g: only known to be at most") {
		t.Errorf("a bound was taken for g: %s", errs.String())
	}
	if _, err := os.Stat("x.sh"); err == nil {
		t.Error("what failed was written")
	}
}

// What was left out is said on standard error, and samples go to standard output where no file is
// named.
func TestImportNotes(t *testing.T) {
	outputs := commandtest.ExampleFiles(t, "../..")
	t.Chdir(t.TempDir())
	commandtest.WriteFiles(t, outputs)
	var out, errs buffer
	if runCommandLine(context.Background(), strings.Fields("import osu-bw.txt"), &out, &errs) != exitSuccess {
		t.Fatal(errs.String())
	}
	if !strings.Contains(errs.String(), "left out of osu-bw.txt: g and o_s") || !strings.Contains(out.String(), "# left_out: g and o_s") {
		t.Errorf("standard error: %s", errs.String())
	}
	if !strings.HasPrefix(out.String(), "# command: loggp import osu-bw.txt\n") || !strings.HasSuffix(out.String(), ",stream,4194304,0,0,257.588705\n") {
		t.Errorf("standard output: %s", out.String())
	}
}
