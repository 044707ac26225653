package main

import (
	"encoding/csv"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
)

// comparisonsIn reads a file that compare wrote.
func comparisonsIn(t *testing.T, name string) []compare.Comparison {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		if s == "" {
			return math.NaN()
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var cs []compare.Comparison
	for _, r := range rows[1:] {
		cs = append(cs, compare.Comparison{Platform: r[0], Library: r[1], Place: r[2], Protocol: r[3], Bytes: int(number(r[4])), Quantity: r[5],
			Predicted: number(r[6]), Measured: number(r[7]), Error: number(r[8]), Basis: r[9]})
	}
	return cs
}

// On the machine that is LogGP every algorithm takes what the model says, so that both find the
// same ones the fastest.
func TestCompareCollectives(t *testing.T) {
	t.Chdir(t.TempDir())
	const machine = "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B"
	out := mustRun(t, "measure", "--platform", machine, "-n", "8", "--collective", "all", "--sizes", "8,1000", "-o", "together.csv")
	for _, want := range []string{"barrier of 8 ranks on loggp", "scatter-allgather", "min", "last", "Bytes are those of each rank's block"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out = mustRun(t, "compare", "--samples", "together.csv", "-o", "comparison.csv")
	cs := comparisonsIn(t, "comparison.csv")
	if len(cs) < 50 {
		t.Errorf("%d comparisons", len(cs))
	}
	for _, c := range cs {
		if c.Error != 0 || c.Predicted <= 0 || !strings.HasPrefix(c.Quantity, "coll_last(") || !strings.HasSuffix(c.Quantity, ":8)") {
			t.Errorf("%+v", c)
		}
	}
	rows := regexp.MustCompile(`(?m)^ +(?:0 B|8 B|1 KB) .*$`)
	_, fastest, _ := strings.Cut(out, "The fastest algorithms of 8 ranks")
	if all := rows.FindAllString(fastest, -1); len(all) < 15 || slices.ContainsFunc(all, func(s string) bool { return !strings.HasSuffix(s, " 0.0") }) {
		t.Errorf("by measurement and by the model other algorithms are the fastest:\n%s", out)
	}
}

// On a machine of nodes, from the parameters that were fitted to its calls: two-level algorithms
// are measured, too, and the model is nearer the longer the data.
func TestCompareCollectivesByParameters(t *testing.T) {
	long(t)
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform t3d --ranks 8 --modes send,isend,ssend,issend --noise off --reps 4 -o samples.csv")...)
	mustRun(t, strings.Fields("fit samples.csv -o params.csv")...)
	mustRun(t, strings.Fields("measure --platform t3d --ranks 8 --collective bcast,alltoall --noise off --sizes 8,64KiB -o together.csv")...)
	out := mustRun(t, strings.Fields("compare --samples together.csv --params params.csv -o comparison.csv")...)
	if !strings.Contains(out, "the parameters of send in params.csv") {
		t.Errorf("it does not say by whose parameters:\n%s", out)
	}
	two := 0
	for _, c := range comparisonsIn(t, "comparison.csv") {
		if c.Protocol == "two-level" {
			two++
		}
		if c.Protocol == "linear" && (c.Error < -25 || c.Error > 25) {
			t.Errorf("%+v", c)
		}
	}
	if two != 2 {
		t.Errorf("%d comparisons of two-level broadcasts", two)
	}
	facts, err := sample.ReadFile("together.csv")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{sample.RanksFact: "8", "reps": "1", "warmup": "2", "root": "0", "start": "agreed by the common clock, and behind barriers; 0 of "} {
		if got, _ := facts.Fact(key); !strings.HasPrefix(got, want) {
			t.Errorf("the fact %s is %q, not %q", key, got, want)
		}
	}
}

// Here ranks are processes. As many as there are processors begin together, more have barriers
// alone, and wait in the kernel; it is said.
func TestMeasureCollectivesHere(t *testing.T) {
	t.Chdir(t.TempDir())
	var set *sample.Set
	for platform, ranks := range map[string]string{"shm": "2", "tcp": "3"} {
		mustRun(t, "measure", "--platform", platform, "-n", ranks, "--collective", "barrier,allreduce", "--sizes", "8,20000", "--reps", "4", "--launches", "2", "-o", "together.csv")
		var err error
		if set, err = sample.ReadFile("together.csv"); err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, s := range set.Series {
			found[s.Mode+" "+s.Protocol+" "+s.Timer]++
			if s.Platform != platform || s.Clock != "real" || s.Place != "intra" || s.Timer != sample.TimerCollLast && len(s.Times) != 4 {
				t.Errorf("%+v: %d samples", s.Key, len(s.Times))
			}
		}
		if found["barrier dissemination coll_max"] != 2 || found["allreduce ring coll_min"] != 4 || found["allreduce ring coll_median"] != 4 {
			t.Errorf("%s: %v", platform, found)
		}
		if start, _ := set.Fact("start"); start == "" {
			t.Errorf("%s: it is not said how repetitions began", platform)
		}
		if got, _ := set.Fact(sample.RanksFact); got != ranks {
			t.Errorf("%s: %s ranks, not %s", platform, got, ranks)
		}
	}
	var out, errs buffer
	if status := runCommandLine(t.Context(), []string{"compare", "--samples", "together.csv"}, &out, &errs); status != exitFailure || !strings.Contains(errs.String(), "nothing is known of platform "+set.Series[0].Platform+": say with --params") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// What cannot be measured, or not together, is an error that says what to do.
func TestMeasureCollectiveFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, says := range map[string]string{
		"--platform t3d --collective zcast":                                          `no operation "zcast"; did you mean bcast? There are barrier, bcast`,
		"--platform t3d --collective bcast,bcast":                                    "bcast is named twice",
		"--platform t3d --collective=":                                               "name operations, such as bcast",
		"--platform t3d --algorithm ring":                                            "--algorithm: it is for collective operations",
		"--platform t3d --collective bcast --algorithm ring":                         `bcast has no "ring": there are linear, binomial`,
		"--platform t3d -n 6 --collective reduce --algorithm scatter-gather":         "reduce scatter-gather is for a power of two of ranks, and these are 6 in 3 nodes",
		"--platform t3d --collective bcast --modes send":                             "--modes: it is for messages between two ranks",
		"--platform t3d --collective bcast --place intra":                            "--place: it is for messages between two ranks",
		"--platform mpi --collective bcast --algorithm ring":                         "--algorithm: it has no effect on the MPI of this machine",
		"--platform mpi --collective bcast --modes send":                             "--modes: it is for messages between two ranks",
		"--platform mpi --collective bcast -n 1":                                     "--ranks 1",
		"--platform t3d -n 1024 --collective alltoall --sizes 1MB":                   "takes more memory than",
		"--platform loggp -n 5000 --collective bcast":                                "--ranks 5000: it must be from 2 to 4096",
		"--platform t3d --collective bcast --reps 0":                                 "--reps 0",
		"--platform t3d --collective bcast --quick":                                  "--quick: it is for this machine",
		"--platform shm --collective bcast --launches 0":                             "--launches 0",
		"--platform loggp --collective bcast -o no/where.csv":                        "there is no directory",
		"--platform t3d --collective reduce-scatter --algorithm bruck --sizes 1,2,3": `reduce-scatter has no "bruck"`,
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), append([]string{"measure"}, strings.Fields(args)...), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), says) {
			t.Errorf("%s: status %d, %s", args, status, errs.String())
		}
	}
	mustRun(t, strings.Fields("measure --platform loggp --collective bcast --sizes 8 -o together.csv")...)
	mustRun(t, strings.Fields("measure --platform loggp --modes send --sizes 0,8,64 --reps 2 -o pair.csv")...)
	for args, says := range map[string]string{
		"fit together.csv": "all samples are of collective operations",
		"compare --samples together.csv --samples pair.csv":         "compare them apart",
		"compare --samples together.csv --params together.csv":      "together.csv",
		"compare --samples together.csv --params params.csv":        "params.csv has no parameters of loggp, none, inter",
		"compare --samples together.csv --margin 5%":                "--margin: predictions know none",
		"measure --platform loggp --collective bcast --format json": "", // is printed
	} {
		write(t, "params.csv", "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples\nt3d,chimp,inter,send,L,0,0,1,1,1,us,rtt/2-o_s-o_r,9\n")
		var out, errs buffer
		if status := runCommandLine(t.Context(), strings.Fields(args), &out, &errs); (status == exitSuccess) != (says == "") || !strings.Contains(errs.String(), says) {
			t.Errorf("%s: status %d, %s", args, status, errs.String())
		}
	}
}
