package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// Two files as arguments: the second is compared with the first, which may be packed or standard
// input; --fail-over decides the exit status.
func TestCompareFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	measure := func(platform, file string) string {
		return mustRun(t, strings.Fields("measure --platform "+platform+" --modes send --max-size 64 --sizes 0,64,1K --reps 20 -o "+file)...)
	}
	table := measure("loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", "a.csv.gz")
	if want := "\n64 B  10.63 "; !strings.HasPrefix(table, "A message of 0 B takes 10.00 ") || !strings.Contains(table, want) { // o_s + 63 G + L + o_r
		t.Errorf("no sentence and no row %q:\n%s", want, table)
	}
	measure("loggp:L=7us,o_s=2us,o_r=3us,g=4us,G=0.01us/B", "b.csv")
	if b, _ := os.ReadFile("a.csv.gz"); !strings.HasPrefix(string(b), "\x1f\x8b") {
		t.Error("a.csv.gz is not packed")
	}
	mustRun(t, strings.Fields("measure --platform t3d --modes send --sizes 0,64 --reps 2 -o few.csv")...) // too few for intervals
	out := mustRun(t, "compare", "a.csv.gz", "b.csv")
	for _, want := range []string{"Change from a.csv.gz to b.csv", "geometric", "+20.0", "slower"} { // half a round trip is 10 and 12 us
		if !strings.Contains(out, want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "1 KiB") {
		t.Errorf("--max-size 64 did not leave out 1 KiB:\n%s", out)
	}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"a.csv.gz b.csv --fail-over 5%", exitFailure, "b.csv against a.csv.gz: fail: "},
		{"a.csv.gz b.csv --fail-over 50%", exitSuccess, "pass: none of "},
		{"b.csv a.csv.gz --fail-over 5%", exitSuccess, "pass: none of "},
		{"few.csv few.csv --fail-over 5%", exitInconclusive, "cannot tell: "},
		{"a.csv.gz b.csv", exitSuccess, ""},
		{"a.csv.gz b.csv --fail-over much", exitUsage, "must be a percentage"},
		{"a.csv.gz", exitUsage, "name two files"},
		{"a.csv.gz b.csv --sizes 0", exitUsage, "--sizes: it does not go with two files"},
		{"--samples a.csv.gz --samples b.csv --fail-over 5%", exitUsage, "it needs two files as arguments"},
	} {
		var out, errs buffer
		if got := runCommandLine(context.Background(), append([]string{"compare"}, strings.Fields(c.args)...), &out, &errs); got != c.status || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: status %d, want %d: %s", c.args, got, c.status, errs.String())
		}
	}
}
