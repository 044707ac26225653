package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// predictedOf returns rows that docs/predictions/t3d.csv is made of.
func predictedOf(t *testing.T, ranks, sizes string) (header string, rows []string) {
	t.Helper()
	out := mustRun(t, "run", "--platform", "t3d", "-n", ranks, "--patterns", "one-to-all,all-to-one,reduce", "--sizes", sizes, "--format", "csv", "patterns")
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(out), "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
	return lines[0], lines[1:]
}

// What docs/predictions/t3d.csv predicts is what the platform does (go test ./cmd/loggp -run
// Predictions -update writes it, with the commit that is checked out).
func TestPredictions(t *testing.T) {
	const file = "../../docs/predictions/t3d.csv"
	if *update {
		commit, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
		if err != nil {
			t.Fatal(err)
		}
		text := "# what loggp predicts of libraries on the Cray T3D, of which nothing was at hand to compare with; made by commit " + string(commit)
		for i, ranks := range []string{"2", "32", "128"} {
			header, rows := predictedOf(t, ranks, "8,64,512,1KiB,4KiB,16KiB,64KiB")
			if i == 0 {
				text += header + "\n"
			}
			text += strings.Join(rows, "\n") + "\n"
		}
		write(t, file, text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, ranks := range []string{"2", "32"} {
		header, rows := predictedOf(t, ranks, "8,1KiB")
		for _, row := range append(rows, header) {
			if !slices.Contains(lines, row) {
				t.Errorf("now it is %s", row)
			}
		}
	}
}
