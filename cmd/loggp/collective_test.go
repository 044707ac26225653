package main

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp"
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
	if err != nil || len(rows) < 6 || strings.Join(rows[1], ",") != "bcast,linear,8,1,34,7,7," {
		t.Errorf("%v: %v", err, rows) // 7 messages, one in 4: the last leaves at 2 + 24, and takes 6 + 2
	}
}

// Every operation has a table, whatever the number of ranks.
func TestPredictCollectives(t *testing.T) {
	for _, ranks := range []string{"1 rank", "7 ranks", "16 ranks"} {
		number, _, _ := strings.Cut(ranks, " ")
		out := mustRun(t, strings.Fields("predict --platform t3d --collective all --sizes 8,1KB --ranks "+number)...)
		for _, name := range loggp.CollectiveNames() {
			if !strings.Contains(out, name+" of "+ranks+",") {
				t.Errorf("no %s among\n%s", name, out)
			}
		}
	}
}

// sizeRow returns the fields of the row of a table that begins with a size.
func sizeRow(t *testing.T, out, size string) []string {
	t.Helper()
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), size+" "); ok {
			return strings.Fields(rest)
		}
	}
	t.Fatalf("no row %s in\n%s", size, out)
	return nil
}

// A platform whose ranks are in nodes has two tiers, unless a place is named or it is asked for
// more ranks than it has.
func TestPredictTwoLevels(t *testing.T) {
	const two = "two-level"
	for args, c := range map[string]struct {
		fastest string
		known   bool // which ranks are near
	}{
		"barrier --platform convex":                                  {two, true},
		"barrier --platform convex --place inter":                    {"dissemination", false},
		"barrier --platform convex --ranks 17":                       {"dissemination", false},
		"barrier --platform now":                                     {"binomial", false},
		"allreduce --platform convex --ranks 12 --sizes 8":           {"recursive-doubling", true},
		"allreduce --platform convex --ranks 12 --sizes 8 --in-turn": {two, true},
	} {
		out := mustRun(t, strings.Fields("predict --collective "+args)...)
		size := "8 B"
		if strings.HasPrefix(args, "barrier") {
			size = "0 B"
		}
		if got := sizeRow(t, out, size)[0]; got != c.fastest {
			t.Errorf("%s: %s, not %s, is fastest:\n%s", args, got, c.fastest, out)
		}
		if strings.Contains(out, "within and between its ") != c.known || strings.Contains(out, "of which some are in one node and some are not") == c.known {
			t.Errorf("%s: whether ranks are near each other:\n%s", args, out)
		}
	}
}

// Ranks that were asked for, and not those that a platform has by default, say whether there are
// two tiers: with a default of two ranks in one node the same 16 ranks take the same time.
func TestPredictTiersOfRanks(t *testing.T) {
	text, err := os.ReadFile("../../model/platform/convex.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	small := strings.Replace(string(text), "default: {value: 16,", "default: {value: 2,", 1)
	if small == string(text) {
		t.Fatal("the file has another default")
	}
	write(t, "small.yaml", small)
	const args = " --collective bcast --ranks 16 --sizes 8 --format csv"
	want := mustRun(t, strings.Fields("predict --platform convex"+args)...)
	if got := mustRun(t, strings.Fields("predict --platform small.yaml"+args)...); got != want {
		t.Errorf("with two ranks by default\n%s, with 16\n%s", got, want)
	}
}

// Of parameters of both tiers --per-node makes two.
func TestPredictPerNode(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, place := range []string{"inter", "intra"} {
		mustRun(t, strings.Fields("measure --platform convex --modes send,isend,ssend,issend --sizes 0,1..4KiB*8 --place "+place+" -o "+place+".csv")...)
	}
	mustRun(t, strings.Fields("fit inter.csv intra.csv -o params.csv")...)
	out := mustRun(t, strings.Fields("predict --params params.csv --collective barrier --ranks 16 --per-node 8")...)
	if got := sizeRow(t, out, "0 B")[0]; got != "two-level" || !strings.Contains(out, "within and between its 2 nodes") {
		t.Errorf("%s is fastest:\n%s", got, out)
	}
}

// Algorithms with too many messages are left out, with a note, and the others are predicted.
func TestPredictSkipsTooManyMessages(t *testing.T) {
	t.Parallel()
	const args = "predict --platform loggp --collective allgather --sizes 8 --ranks 2100"
	out := mustRun(t, strings.Fields(args)...)
	if row := sizeRow(t, out, "8 B"); row[0] == "ring" || !strings.Contains(out, "- is not computed for ring: the schedules have more than 4194304 messages") {
		t.Errorf("the ring of 2,100 ranks is not left out with a note:\n%s", out)
	}
	out = mustRun(t, strings.Fields(args+" --format csv")...)
	if !strings.Contains(out, "allgather,ring,2100,8,,,,skipped\n") || !strings.Contains(out, "allgather,bruck,2100,8,") || strings.Count(out, "skipped") != 1 {
		t.Errorf("the rows are\n%s", out)
	}
}

// Lengths far beyond those that were measured are not predicted.
func TestPredictCollectivesTooLong(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B --modes send,isend,ssend --sizes 0,100,1000 --reps 5 -o s.csv")...)
	mustRun(t, "fit", "s.csv", "-o", "params.csv")
	const args = "predict --params params.csv --ranks 4 --collective bcast --sizes "
	var out, errs buffer
	if status := runCommandLine(t.Context(), strings.Fields(args+"100,1GiB"), &out, &errs); status != exitSuccess ||
		!strings.Contains(errs.String(), "1 of 2 lengths cannot be predicted") || strings.Contains(out.String(), "1 GiB") || !strings.Contains(out.String(), "100 B") {
		t.Errorf("status %d, %s%s", status, out.String(), errs.String())
	}
	if status := runCommandLine(t.Context(), strings.Fields(args+"1GiB"), &out, &errs); status != exitFailure {
		t.Errorf("of 1 GiB alone: status %d, %s", status, errs.String())
	}
}

// Collective operations of one rank take no time, by any algorithm: all are the fastest.
func TestPredictOneRank(t *testing.T) {
	t.Chdir(t.TempDir())
	out := mustRun(t, strings.Fields("predict --platform t3d --collective bcast --ranks 1 --sizes 8 --diagram x.svg")...)
	svg, err := os.ReadFile("x.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "fastest algorithm at 1 of 1 length.") || !strings.Contains(out, "bcast of 1 rank,") || strings.Contains(out+string(svg), "NaN") {
		t.Errorf("%s", out)
	}
}
