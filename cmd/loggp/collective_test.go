package main

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"
)

// The broadcast tree of the LogP paper (Culler et al. 1993, figure 3) ends at 24.
func TestPredictTree(t *testing.T) {
	t.Chdir(t.TempDir())
	out := mustRun(t, strings.Fields("predict --platform loggp:L=6us,o_s=2us,o_r=2us,g=4us,G=0us/B --collective bcast --ranks 8 --sizes 1 --tree -o bcast.csv")...)
	for _, want := range []string{"ends first, at 24us", "├─ 1 at 10us", "└─ 5 at 22us", "fastest", "binomial"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	f, err := os.Open("bcast.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 6 || strings.Join(rows[1], " ") != "bcast linear 8 1 34 7 7" {
		t.Errorf("%v: %v", err, rows) // 7 messages, one in 4: the last leaves at 2 + 24, and takes 6 + 2
	}
}

// Every operation has a table, whatever the number of ranks.
func TestPredictCollectives(t *testing.T) {
	for _, ranks := range []string{"1", "7", "16"} {
		out := mustRun(t, strings.Fields("predict --platform t3d --collective all --sizes 8,1KB --ranks "+ranks)...)
		for _, name := range collectiveNames()[1:] {
			if !strings.Contains(out, name+" of "+ranks+" ranks") {
				t.Errorf("no %s among\n%s", name, out)
			}
		}
	}
}
