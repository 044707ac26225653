package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On the machine that is LogGP the model is never off, and finds what is the fastest; the page has
// a section for each operation, in a terminal there are the tables.
func TestReportCollectives(t *testing.T) {
	t.Chdir(t.TempDir())
	const machine = "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B"
	mustRun(t, "measure", "--platform", machine, "-n", "8", "--collective", "bcast,scan", "--sizes", "8,1000", "-o", "eight.csv")
	mustRun(t, "measure", "--platform", machine, "-n", "3", "--collective", "bcast", "--sizes", "8,1000", "-o", "three.csv")
	mustRun(t, "report", "eight.csv", "three.csv", "-o", "page")
	page := read(t, filepath.Join("page", "index.html"))
	for _, want := range []string{`id="of-bcast"`, `id="of-scan"`, `id="fastest"`, "The fastest algorithms by ranks and bytes on loggp", "among 3, 8 ranks"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	out := mustRun(t, "report", "eight.csv", "three.csv")
	_, model, ok := strings.Cut(out, "The model on loggp")
	model, _, ended := strings.Cut(model, "Errors are")
	if !ok || !ended || strings.Count(model, "2 of 2") != 3 || strings.Count(model, " 0.0") != 9 || !strings.Contains(out, "the parameters of calls on "+machine) {
		t.Errorf("the model is not exact:\n%s", out)
	}
}

// Where samples of single messages are among the files, the model takes their parameters; those of
// a file, if one is named; and a file that has none is an error.
func TestReportCollectivesByParameters(t *testing.T) {
	long(t)
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform t3d --ranks 8 --modes send,isend,ssend,issend --sizes 0,1..64KiB*4 -o samples.csv")...)
	mustRun(t, strings.Fields("fit samples.csv -o params.csv")...)
	mustRun(t, strings.Fields("measure --platform t3d --ranks 8 --collective bcast --sizes 8,4KiB -o together.csv")...)
	for args, says := range map[string]string{
		"together.csv":                     "the parameters of calls on t3d, chimp",
		"together.csv samples.csv":         "the parameters of send in samples.csv",
		"together.csv --params params.csv": "the parameters of send in params.csv",
	} {
		if out := strings.Join(strings.Fields(mustRun(t, strings.Fields("report "+args)...)), " "); !strings.Contains(out, says) {
			t.Errorf("report %s does not say %q:\n%s", args, says, out)
		}
	}
	write(t, "other.csv", "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples\nnow,x,inter,send,L,0,0,1,1,1,us,rtt/2-o_s-o_r,9\n")
	for args, says := range map[string]string{
		"together.csv --params other.csv": "other.csv has no parameters of t3d, chimp",
		"together.csv --params none.csv":  "none.csv",
		"samples.csv --params params.csv": "--params: it is for samples of collective operations",
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), strings.Fields("report "+args), &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), says) {
			t.Errorf("report %s: status %d, %s", args, status, errs.String())
		}
	}
}

// Of what was measured on this machine there is no model without parameters, and that is said; a
// vendor's MPI has none at all, and stands beside this program's library.
func TestReportCollectivesHere(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform shm -n 2 --collective bcast --sizes 8,4000 --reps 6 --launches 1 -o here.csv")...)
	text := strings.ReplaceAll(read(t, "here.csv"), ",bcast,linear,", ",bcast,vendor,")
	write(t, "vendor.csv", strings.ReplaceAll(strings.ReplaceAll(text, "\nshm,loggp,", "\nmpi,Some MPI 1.0,"), "# platform_file: ", "# was: "))
	out := strings.Join(strings.Fields(mustRun(t, "report", "here.csv", "vendor.csv")), " ")
	for _, want := range []string{"nothing is known of platform shm", "a vendor's MPI does not say which algorithm it takes", "Collective operations side by side", "A is shm, loggp, within a node, from here.csv", "B is mpi, Some MPI 1.0, within a node, from vendor.csv",
		"shm: of one launch only"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing is said of %q:\n%s", want, out)
		}
	}
	mustRun(t, "report", "here.csv", "vendor.csv", "-o", "page")
	if page := read(t, filepath.Join("page", "index.html")); !strings.Contains(page, "Collective operations measured: shm, Some MPI 1.0") {
		t.Error("the page has another title")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
