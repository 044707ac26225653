package main

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"
)

// row is a row of a comparison, by column.
type row map[string]string

func (r row) number(t *testing.T, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		t.Fatalf("%s of %v: %v", column, r, err)
	}
	return x
}

func readRows(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, l := range lines[1:] {
		r := row{}
		for i, c := range l {
			r[lines[0][i]] = c
		}
		rows = append(rows, r)
	}
	return rows
}

// of returns the rows of a quantity, mode and subject.
func of(rows []row, quantity, mode, subject string) []row {
	var out []row
	for _, r := range rows {
		if r["quantity"] == quantity && r["mode"] == mode && r["subject"] == subject {
			out = append(out, r)
		}
	}
	return out
}

// Two libraries of the emulated T3D and a LogGP machine, from measuring to the file. The T3D's
// crossovers are the paper's, section 4; those of the LogGP machine follow from its parameters.
func TestContrast(t *testing.T) {
	t.Chdir(t.TempDir())
	const plan = " --modes send,isend,ssend,issend --sizes 0,16,256,500,700,1000,1400,2000,3000,5000,10000,40000,100000 --reps 60 -o "
	mustRun(t, strings.Fields("measure --platform t3d"+plan+"chimp.csv")...)
	mustRun(t, strings.Fields("measure --platform t3d --library lean"+plan+"lean.csv")...)
	mustRun(t, strings.Fields("measure --platform loggp:L=5us,o_s=20us,o_r=10us,g=4us,G=0.02us/B --noise 5%"+plan+"loggp.csv")...)
	args := strings.Fields("compare --samples chimp.csv --samples lean.csv --samples loggp.csv -o comparison.csv")
	text := mustRun(t, args...)
	for _, want := range []string{"Overheads side by side", "Parameters side by side", "calls that do not block pay", "Which is faster", "t3d/chimp and t3d/lean", "never up to 100 KB"} {
		if !strings.Contains(strings.ReplaceAll(text, "\u00a0", " "), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	rows := readRows(t, "comparison.csv")

	crossing := func(quantity, subject string, low, high float64) {
		t.Helper()
		rs := of(rows, quantity, "send", subject)
		if len(rs) != 2 || rs[0]["outcome"] != "no" || rs[1]["outcome"] != "yes" {
			t.Fatalf("%s of %s: %v", quantity, subject, rs)
		}
		if a, b := rs[1].number(t, "ci_low"), rs[1].number(t, "ci_high"); a < low || b > high {
			t.Errorf("%s of %s: from %v to %v bytes, want it in %v to %v", quantity, subject, a, b, low, high)
		}
	}
	crossing("overlap(o_s)", "t3d/chimp", 500, 1000)  // [1] 4, figure 10
	crossing("overlap(o_r)", "t3d/chimp", 1400, 2800) // "near 2000 bytes", figure 11: 30 % to the one side, 40 % to the other
	crossing("overlap(o_s)", "t3d/lean", 3000, 5000)
	if rs := of(rows, "overlap(o_s)", "send", "loggp"); len(rs) != 1 || rs[0]["outcome"] != "no" || rs[0]["bytes_to"] != "100000" {
		t.Errorf("both calls of the LogGP machine cost o_s: %v", rs)
	}
	if rs := of(rows, "faster(o_s)", "send", "loggp"); len(rs) != 2 || rs[0]["outcome"] != "yes" || rs[1]["against"] != "t3d/lean" {
		t.Errorf("o_s of 20 us is less than the T3D's: %v", rs)
	}
	// G of the LogGP machine is 0.02 us a byte
	for _, r := range of(rows, "G", "ssend", "loggp") {
		if x, base := r.number(t, "value"), of(rows, "G", "ssend", "t3d/chimp")[0].number(t, "value"); x < 0.0199 || x > 0.0201 || r["against"] != "t3d/chimp" ||
			r.number(t, "ratio_low") > 0.02/base || r.number(t, "ratio_high") < 0.02/base || r["outcome"] != "worse" {
			t.Errorf("G: %v, of the first %v", r, base)
		}
	}

	// what the same machine does is alike, and the same command gives the same
	before, _ := os.ReadFile("comparison.csv")
	if again := mustRun(t, args...); again != text {
		t.Error("the same command printed another table")
	}
	if after, _ := os.ReadFile("comparison.csv"); string(after) != string(before) {
		t.Error("the same command wrote another file")
	}
	if rs := of(rows, "o_r", "isend", "t3d/lean"); len(rs) != 13 || rs[0]["outcome"] != "no difference" {
		t.Errorf("starting a receive costs the same in both libraries: %v", rs)
	}
}

// Jobs of other sizes on one machine are compared, though they cannot be joined; their files tell
// them apart.
func TestContrastOfOneMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, ranks := range []string{"2", "64"} {
		mustRun(t, strings.Fields("measure --platform t3d --modes send,isend --sizes 0,16,1000 --reps 20 --ranks "+ranks+" -o "+ranks+".csv")...)
	}
	text := mustRun(t, strings.Fields("compare --samples 2.csv --samples 64.csv --sizes 16")...)
	for _, want := range []string{"t3d/inter", "t3d/intra"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
