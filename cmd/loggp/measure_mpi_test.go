package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

// fakeMPI returns the path of a compiler that is a script, as are the launcher beside it and what
// it compiles.
func fakeMPI(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	path, err := filepath.Abs("../../microbench/probe/testdata/mpicc")
	if err != nil {
		t.Fatal(err)
	}
	worker, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE_WORKER", worker)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("FAKE_PIDS", filepath.Join(t.TempDir(), "pids"))
	return path
}

// The samples of an MPI go through fit and report as those of other platforms, and say how they
// came to be.
func TestMeasureMPI(t *testing.T) {
	compiler := fakeMPI(t)
	t.Chdir(t.TempDir())
	args := strings.Fields("measure --platform mpi --sizes 1,100,1000,10000 --reps 10 --launches 2 --delta 1us -o mpi.csv --mpicc")
	table := mustRun(t, append(args, compiler)...)
	for _, want := range []string{"mpi, Fake MPI 1.0, within a node", "send", "ibsend"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not have %q:\n%s", want, table)
		}
	}
	text, err := os.ReadFile("mpi.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# command: loggp measure --delta 1us --launches 2 --mpicc " + compiler, "# launches: 2\n", "# eager_limits: btl_fake_eager_limit=4096\n",
		"\nmpi,Fake MPI 1.0,real,intra,ibsend,auto,timer22,10000,1,0,1.01 1.01"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the samples do not have %q", want)
		}
	}
	if fitted := mustRun(t, "fit", "mpi.csv"); !strings.HasSuffix(table, fitted) { // below what messages take
		t.Errorf("fit prints something else:\n%s", fitted)
	}
	mustRun(t, "report", "mpi.csv", "-o", "report")
	csv := mustRun(t, append(strings.Fields("measure --platform mpi --sizes 1 --modes send -o - --quick --mpicc"), compiler)...)
	for _, want := range []string{"\n# launches: 3\n", "\n# budget: 1s\n", "\n# eager_limits: not asked for\n", "timer11,1,2,0,", "prtt10-d,1,2,0,"} {
		if !strings.Contains(csv, want) {
			t.Errorf("a quick measurement has no %q: %.2000s", want, csv)
		}
	}
}

// Collective operations of an MPI are printed and kept as those of this program's own library, with
// its own algorithm.
func TestMeasureCollectivesOfMPI(t *testing.T) {
	compiler := fakeMPI(t)
	t.Chdir(t.TempDir())
	args := strings.Fields("measure --platform mpi -n 3 --collective all --sizes 5,1KB --reps 4 --launches 2 -o mpi.csv --mpicc")
	var out, errs buffer
	if status := runCommandLine(t.Context(), append(args, compiler), &out, &errs); status != 0 {
		t.Fatal(errs.String())
	}
	for _, want := range []string{"barrier of 3 ranks on mpi, Fake MPI 1.0, within a node", "scan of 3 ranks", "\nvendor\n", "1 KB  1.001   2.001  3.001  4.001  ±0.001            8\n", "Bytes are those of each rank's block"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not have %q:\n%s", want, out.String())
		}
	}
	if want := "2 of 154 repetitions were dropped"; !strings.Contains(errs.String(), want) {
		t.Errorf("it does not say %q: %s", want, errs.String())
	}
	text, err := os.ReadFile("mpi.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# ranks: 3\n", "# start: agreed by the common clock, and behind barriers; 2 of 154 began too late\n", "/mpirun -n 3\n",
		"\nmpi,Fake MPI 1.0,real,intra,barrier,vendor,coll_min,0,0,0,1 1", "\nmpi,Fake MPI 1.0,real,intra,scan,vendor,coll_last,1000,1,0,4.001 4.001"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the samples do not have %q:\n%.3000s", want, text)
		}
	}
	t.Setenv("FAKE_PROCESSORS", "2")
	errs.Reset()
	if runCommandLine(t.Context(), append(args, compiler), &out, &errs); !strings.Contains(errs.String(), "no common start: 3 ranks have 2 processors") {
		t.Errorf("it does not say why there is no common start: %s", errs.String())
	}
}

// A vendor's collective operations stand beside those of this program's library, and beside no
// model.
func TestCompareCollectivesOfMPI(t *testing.T) {
	compiler := fakeMPI(t)
	t.Chdir(t.TempDir())
	theirs := strings.Fields("measure --platform mpi -n 3 --collective bcast,scatter,scan --sizes 8 --reps 5 --launches 1 -o theirs.csv --mpicc")
	mustRun(t, append(theirs, compiler)...)
	mustRun(t, strings.Fields("measure --platform loggp:L=1us,o_s=1us,o_r=1us,g=0us,G=0us/B -n 3 --collective bcast,scatter --sizes 8,64 -o ours.csv")...)
	mustRun(t, strings.Fields("measure --platform loggp:L=1us,o_s=1us,o_r=1us,g=0us,G=0us/B -n 2 --collective bcast --sizes 8 -o other.csv")...)
	table := mustRun(t, strings.Fields("compare --samples ours.csv --samples theirs.csv -o beside.csv")...) // ours is linear: o_s + o_s + L + o_r
	for _, want := range []string{"bcast of 3 ranks\n  8 B  4.000 ±0.001  linear   4.000 ±0.001  vendor   1.000 ±0.001 ≈\n", "B is mpi, Fake MPI 1.0, within a node, from theirs.csv.", "Bytes are those of each rank's block"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "scan") {
		t.Errorf("there is an operation that one alone has:\n%s", table)
	}
	if text, err := os.ReadFile("beside.csv"); err != nil || !strings.HasPrefix(string(text), "quantity,mode,bytes_from,") || strings.Count(string(text), "vendor") != 2 {
		t.Errorf("%v: %s", err, text)
	}
	for args, want := range map[string]string{
		"--samples theirs.csv":                                "by another --samples",
		"--samples theirs.csv --params none.csv":              "leave out --params",
		"--samples theirs.csv --samples ours.csv --margin 5%": "--margin",
		"--samples theirs.csv --samples other.csv":            "no two of those",
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), append([]string{"compare"}, strings.Fields(args)...), &out, &errs); status == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, and it does not say %q: %s", args, status, want, errs.String())
		}
	}
}

// Ranks that nobody keeps on processors are in the facts, and in a line behind the results.
func TestMeasureMPIUnbound(t *testing.T) {
	compiler := fakeMPI(t)
	t.Setenv("FAKE_BOUND", "0-1")
	var out, errs buffer
	args := strings.Fields("measure --platform mpi --sizes 1,100 --modes send --quick -o - --mpicc")
	if status := runCommandLine(t.Context(), append(args, compiler), &out, &errs); status != 0 {
		t.Fatal(errs.String())
	}
	if want := "\n# binding: none: the system may move"; !strings.Contains(out.String(), want) {
		t.Errorf("no fact %q", want)
	}
	if want := "binding: the system may move a rank"; !strings.Contains(errs.String(), want) {
		t.Errorf("it does not say %q: %s", want, errs.String())
	}
}

// Flags that do not go together are misuse; what goes wrong later is a failure that leaves no file.
func TestMeasureMPIFails(t *testing.T) {
	compiler := fakeMPI(t)
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args, environment string
		status            int
		says              string
	}{
		{"--platform t3d --launches 2", "", exitUsage, "--launches: it is for this machine"},
		{"--platform t3d --mpicc cc", "", exitUsage, "--mpicc: it is for --platform mpi"},
		{"--platform mpi --ranks 4", "", exitUsage, "--ranks: "},
		{"--platform mpi --library lean", "", exitUsage, "--library: "},
		{"--platform mpi --noise off", "", exitUsage, "--noise: "},
		{"--platform mpi --level message", "", exitUsage, "--level: "},
		{"--platform mpi --protocol RTA", "", exitUsage, "--protocol: "},
		{"--platform mpi --pairs all", "", exitUsage, "--pairs: say with --ranks"},
		{"--platform mpi --place 0,1", "", exitUsage, "--place 0,1"},
		{"--platform mpi --launches 0", "", exitUsage, "--launches 0"},
		{"--platform mpi --timeout 1ms", "", exitUsage, "--timeout 1ms"},
		{"--platform mpi --timeout x", "", exitUsage, "--timeout"},
		{"--platform mpi --launcher 'x", "", exitUsage, "--launcher: a quote"},
		{"--platform mpi --launcher ''", "", exitUsage, "--launcher: it names no command"},
		{"--platform mpi --modes zsend", "", exitUsage, "zsend"},
		{"--platform mpi --reps 0", "", exitUsage, "--reps 0"},
		{"--platform mpi --reps 1000000", "", exitUsage, "samples, and at most"},
		{"--platform mpi --mpicc no-such-mpicc", "", exitFailure, "no-such-mpicc"},
		{"--platform mpi --launcher no-such-mpirun", "", exitFailure, "no-such-mpirun"},
		{"--platform mpi", "FAKE_COMPILER=fails", exitFailure, "fatal error: mpi.h"},
		{"--platform mpi", "FAKE_LAUNCHER=fails", exitFailure, "exit status 3"},
		{"--platform mpi", "FAKE_PROGRAM=garbage", exitFailure, "answer of"},
		{"--platform mpi --timeout 1s", "FAKE_PROGRAM=hangs", exitFailure, "within 1s"},
	} {
		t.Run(c.args+" "+c.environment, func(t *testing.T) {
			t.Setenv("MPICC", compiler)
			if name, value, ok := strings.Cut(c.environment, "="); ok {
				t.Setenv(name, value)
			}
			var out, errs buffer
			args := strings.Fields("measure -o samples.csv " + c.args)
			if args[len(args)-1] == "''" {
				args[len(args)-1] = ""
			}
			status := runCommandLine(t.Context(), args, &out, &errs)
			if status != c.status || !strings.Contains(errs.String(), c.says) || out.Len() > 0 {
				t.Errorf("status %d, want %d; it said: %s%s", status, c.status, errs.String(), out.String())
			}
			sees(t, ".")
			sees(t, os.Getenv("TMPDIR"))
		})
	}
}

// Ctrl-C ends it soon.
func TestMeasureMPIInterrupted(t *testing.T) {
	compiler := fakeMPI(t)
	t.Chdir(t.TempDir())
	t.Setenv("FAKE_PROGRAM", "hangs")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("interrupt"))
	defer cancel()
	var out, errs buffer
	begin := time.Now()
	if status := runCommandLine(ctx, []string{"measure", "--platform", "mpi", "--mpicc", compiler, "-o", "samples.csv"}, &out, &errs); status != exitFailure || !strings.Contains(errs.String(), "interrupted; nothing was written") {
		t.Errorf("status %d: %s", status, errs.String())
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %v to end", d)
	}
	sees(t, ".")
	sees(t, os.Getenv("TMPDIR"))
}

// On the machine's own MPI nothing that is printed is negative, infinite or not a number. Times are
// as they are.
func TestMeasureInstalledMPI(t *testing.T) {
	long(t)
	if !commandtest.HasInstalledMPI(t) {
		t.Skip("no MPI is installed")
	}
	t.Chdir(t.TempDir())
	table := mustRun(t, strings.Fields("measure --platform mpi --reps 5 --launches 1 --sizes 0,16,5000,100000 -o mpi.csv")...)
	table, _, _ = strings.Cut(table, "\nWarnings")
	if bad := regexp.MustCompile(`(?i)nan\b|\binf|(^|[ (])-[0-9.]`).FindString(table); bad != "" {
		t.Errorf("%q is printed:\n%s", bad, table)
	}
	params := mustRun(t, "fit", "mpi.csv", "--format", "csv")
	if bad := regexp.MustCompile(`(?i)\bnan\b|\binf\b`).FindString(params); bad != "" {
		t.Errorf("%q is in the parameters:\n%s", bad, params)
	}
}
