package main

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The exchanges of a program that is recorded on one machine are carried out in phases that were
// computed before, on another: without gathering lengths or computing phases, in less time, and in
// about the time that the closed forms predict.
func TestScheduleAlltoallv(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "run", "--platform", "t3d", "-n", "8", "--record", "is.goal", "npb-is")
	predicted := cells(t, mustRun(t, "schedule", "alltoallv", "--from", "is.goal", "--picture", "phases.svg", "-o", "phases.csv", "--format", "csv"), "exchange", "0", "all-to-all_us")
	calls := []string{"run", "--platform", "cc-cluster", "--library", "cc-mpi", "-n", "8", "--profile", "--format", "csv", "--table", "calls", "npb-is"}
	one := cells(t, mustRun(t, calls...), "call", "MPI_Alltoallv", "mean_us")
	three := cells(t, mustRun(t, append(calls, "--phases", "phases.csv")...), "call", "MPI_Alltoallv", "mean_us")
	if three >= one || math.Abs(three/predicted-1) > 0.1 {
		t.Errorf("an exchange takes %v us with stored phases and %v us without; predicted are %v us", three, one, predicted)
	}
	if b, err := os.ReadFile("phases.svg"); err != nil || !strings.Contains(string(b), "exchange 0 in 7 phases") || !strings.Contains(string(b), "to 7") {
		t.Errorf("%v: the picture is\n%.300s", err, b)
	}
	write(t, "many.csv", "source,destination,bytes\n0,1,5\n")
	// Another exchange than the one that was recorded is found out.
	for args, want := range map[string]string{
		"run --platform cc-cluster --library cc-mpi -n 8 --class W --phases phases.csv npb-is":       "it is of another exchange; make the schedule again",
		"run --platform cc-cluster --library cc-mpi -n 4 --phases phases.csv npb-is":                 "--phases: there is a rank 7, and the run has 4 ranks",
		"run --platform cc-cluster --library lam -n 8 --phases phases.csv npb-is":                    "library lam of cc-cluster does not exchange in phases",
		"run --platform cc-cluster --library cc-mpi -n 8 --phases phases.csv --record x.goal npb-is": "--phases, --record: a recording has messages without phases",
		"run --platform cc-cluster --library cc-mpi -n 8 --phases none.csv npb-is":                   "--phases: open none.csv",
		"run --platform cc-cluster --library cc-mpi -n 8 --phases phases.csv spheres":                "--phases: it is for programs of MPI",
		"run --platform cc-cluster --phases phases.csv is.goal":                                      "--phases: is.goal makes no calls of collective operations",
		"schedule alltoallv":                                   "--from: say which record",
		"schedule alltoallv --from is.goal --exchange 11":      "--exchange 11: is.goal has exchanges 0 to 10",
		"schedule alltoallv --from is.goal --ranks 8":          "--ranks: it is for a CSV file",
		"schedule alltoallv --from is.goal --platform start-x": "no closed form is known",
		"schedule alltoallv --from is.goal --picture x.png":    "the picture is an SVG file",
		"schedule alltoallv --from is.goal --scheduler best":   "greedy",
		"schedule alltoallv --from is.goal --threshold x":      "--threshold: ",
		"schedule alltoallv --from many.csv -n 80":             "it has up to ",
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), strings.Fields(args), &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d: %s", args, status, errs.String())
		}
	}
}

// cells returns a number of a table in CSV: that of a column, in the first row whose cell in
// another column is as asked.
func cells(t *testing.T, text, key, is, column string) float64 {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.Comment = -1, '#'
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for _, row := range all {
		if i, ok := place[key]; ok && i < len(row) && row[i] == is && place[column] < len(row) {
			if x, err := strconv.ParseFloat(row[place[column]], 64); err == nil {
				return x
			}
		}
		if slices.Contains(row, key) {
			clear(place)
			for i, c := range row {
				place[c] = i
			}
		}
	}
	t.Fatalf("no %s of %s %s in\n%s", column, key, is, text)
	return 0
}

// The worked example of figure 3.3, as a file of messages.
func TestScheduleMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "six.csv", "source,destination,bytes\n0,1,1048576\n1,3,1048576\n0,2,10240\n2,3,100\n1,5,100\n2,1,100\n")
	for scheduler, want := range map[string]string{
		"greedy":     "0,0-5,0,0,1,1048576\n0,0-5,0,1,3,1048576\n0,0-5,1,0,2,10240\n0,0-5,1,2,3,100\n0,0-5,1,1,5,100\n0,0-5,2,2,1,100\n",
		"all-to-all": "0,0-5,0,0,1,1048576\n0,0-5,0,2,3,100\n0,0-5,0,1,5,100\n0,0-5,1,1,3,1048576\n0,0-5,1,0,2,10240\n0,0-5,1,2,1,100\n",
	} {
		mustRun(t, "schedule", "alltoallv", "--from", "six.csv", "--scheduler", scheduler, "-o", "phases.csv")
		b, err := os.ReadFile("phases.csv")
		if err != nil || !strings.HasSuffix(string(b), "bytes\n"+want) {
			t.Errorf("%v, %s:\n%s", err, scheduler, b)
		}
	}
}
