package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/microbench/sample"
)

// The three formats say the same of this machine, whatever it is.
func TestDoctor(t *testing.T) {
	table := mustRun(t, "doctor", "--quick")
	var told struct {
		Verdict string
		Checks  []struct{ Check, Verdict, Found, Why, Do string }
	}
	if err := json.Unmarshal([]byte(mustRun(t, "doctor", "--quick", "--format", "json")), &told); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(mustRun(t, "doctor", "--quick", "--format", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(told.Checks) == 0 || len(rows) != len(told.Checks)+1 {
		t.Fatalf("%d checks as JSON, and %d lines of CSV", len(told.Checks), len(rows))
	}
	known := []string{"ok", "note", "warning", "problem"}
	for i, c := range told.Checks {
		if c.Check != rows[i+1][0] || c.Found == "" || !slices.Contains(known, c.Verdict) {
			t.Errorf("check %d: %+v, and as CSV %q", i, c, rows[i+1])
		}
		if !strings.Contains(table, "\n"+c.Check+" ") {
			t.Errorf("%s is not in the table:\n%s", c.Check, table)
		}
	}
	if !slices.Contains(known, told.Verdict) {
		t.Errorf("in all it is %q", told.Verdict)
	}
}

// What spoils a measurement is in its data set and the last word about it; where nothing does,
// neither is there.
func TestSpoiled(t *testing.T) {
	t.Chdir(t.TempDir())
	all := len(host.Processors())
	if all == 0 || all >= 64 {
		t.Skip("the job needs more ranks than there are processors, and may have 64")
	}
	var out, errs buffer
	ranks := strconv.Itoa(all + 1)
	if status := runCommandLine(t.Context(), []string{"measure", "--platform", "shm", "--ranks", ranks, "--modes", "ssend", "--sizes", "0", "--reps", "2", "-o", "here.csv"}, &out, &errs); status != exitSuccess {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	set, err := sample.ReadFile("here.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("processors: %d for %s ranks", all, ranks)
	if got, _ := set.Fact(sample.FailedChecksFact); !strings.HasPrefix(got, want) {
		t.Errorf("the data set is spoiled by %q, want %q", got, want)
	}
	if lines := strings.Split(strings.TrimSpace(errs.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], "possible disturbances: "+want) {
		t.Errorf("the last word is %q", lines[len(lines)-1])
	}

	out.Reset()
	errs.Reset()
	if status := runCommandLine(t.Context(), []string{"measure", "--platform", "t3d", "--modes", "ssend", "--sizes", "0", "--reps", "2", "-o", "t3d.csv"}, &out, &errs); status != exitSuccess {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	set, err = sample.ReadFile("t3d.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, is := set.Fact(sample.FailedChecksFact); is || strings.Contains(errs.String(), "spoiled") {
		t.Errorf("an emulated machine is spoiled: %s", errs.String())
	}
}
