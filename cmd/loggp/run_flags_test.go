package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/loggp/loggp/impl/program"
)

// runFlag is how the effect of a flag of run is seen.
type runFlag struct {
	base, args string // flags without it, and with it; "": smp-torus with 4 ranks
	only       string // programs that take it, separated by blanks; "": all
	file       string // that it writes
	with       string // programs to try it with; "": all
	unseen     bool   // its effect shows only where something is wrong
}

// runFlagEffects has the flags of run: each has an effect on a program, or is refused.
var runFlagEffects = map[string]runFlag{
	"platform":   {base: "-n 4 --platform t3d", args: "-n 4 --platform now"},
	"library":    {base: "-n 4 --platform t3d --library lean", args: "-n 4 --platform t3d --library chimp"},
	"ranks":      {base: "--platform smp-torus -n 2", args: "--platform smp-torus -n 4", only: "ring exchange-all volume npb-is shift incast permutation ./hello"},
	"place":      {args: "--place 1+3"},
	"buffers":    {base: "--platform dgx-h100 -n 16", args: "--platform dgx-h100 -n 16 --buffers staged", with: "ring exchange-all incast bcast.goal ./hello"},
	"protocol":   {args: "--protocol RAT"},
	"collective": {args: "--collective allreduce=ring,bcast=linear"},
	"mca":        {base: "--platform ./openmpi.yaml -n 4", args: "--platform ./openmpi.yaml -n 4 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 1 --mca coll_tuned_bcast_algorithm 2 --mca coll_tuned_alltoall_algorithm 2"},
	"genv":       {base: "--platform ./mpich.yaml -n 4", args: "--platform ./mpich.yaml -n 4 --genv MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM reduce_scatter_allgather --genv MPIR_CVAR_BCAST_INTRA_ALGORITHM scatter_ring_allgather --genv MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM brucks"},
	"noise":      {args: "--noise 5%"},
	"seed":       {base: "--platform smp-torus -n 4 --noise 5%", args: "--platform smp-torus -n 4 --noise 5% --seed 2"},
	"record":     {args: "--record out.goal", file: "out.goal"},
	"phases":     {base: "--platform cc-cluster --library cc-mpi -n 4", args: "--platform cc-cluster --library cc-mpi -n 4 --phases phases.csv", with: "ring sort sdsm exchange-all npb-is bcast.goal patterns ./hello"},
	"output":     {args: "-o out.svg", file: "out.svg"},
	"profile":    {args: "--profile"},
	"check":      {args: "--check off", unseen: true},
	"picture":    {args: "--picture out.png", file: "out.png", only: "volume spheres"},
	"size":       {args: "--size 40"},
	"rounds":     {args: "--rounds 4"},
	"operation":  {args: "--operation 1us"},
	"data":       {args: "--data none", only: "ring broadcasts shift incast permutation bcast.goal ./hello", unseen: true},
	"class":      {args: "--class W", only: "npb-is"},
	"stride":     {args: "--stride 2", only: "shift"},
	"root":       {args: "--root 2", only: "incast"},
	"compute":    {args: "--compute measured*1000", only: "./hello"},
	"spare":      {args: "--spare 1", only: "./hello"},
	"tag-output": {args: "--tag-output", only: "./hello"},
	"stack":      {args: "--stack 64KiB", only: "./hello", unseen: true},
	"limit":      {args: "--limit 60s", only: "./hello", unseen: true},
	"patterns":   {args: "--patterns latency", only: "patterns"},
	"sizes":      {args: "--sizes 8", only: "patterns"},
	"parameters": {args: "--parameters", only: "patterns"},
	"format":     {args: "--format csv"},
	"table":      {base: "--platform smp-torus -n 4 --format json", args: "--platform smp-torus -n 4 --format json --table run"},
	"tables":     {args: "--tables"},
	"verbose":    {args: "--verbose", unseen: true},
}

const sumOfRanks = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	int rank, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0) printf("%d\n", sum);
	MPI_Finalize();
	return 0;
}
`

// Each flag of run has an effect on each kind of program, or is refused by an error that names it.
func TestRunFlagsHaveEffects(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, decisions := range map[string]string{"openmpi.yaml": "openmpi-4.1", "mpich.yaml": "mpich-4"} {
		if err := os.Rename(writeLibrary(t, "smp-torus", decisions), name); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "schedule", "bcast", "-n", "4", "--size", "8KiB", "-o", "bcast.goal")
	mustRun(t, "run", "--platform", "cc-cluster", "--library", "cc-mpi", "-n", "4", "--record", "sort.goal", "sort")
	mustRun(t, "schedule", "alltoallv", "--from", "sort.goal", "-o", "phases.csv")
	programs := []string{"ring", "sort", "broadcasts", "sdsm", "exchange-all", "volume", "spheres", "npb-is", "shift", "incast", "permutation", "bcast.goal", "patterns"}
	write(t, "hello.c", sumOfRanks)
	if out, errs, status := runOutputs(t, []string{"cc", "hello.c", "-o", "hello"}); status == exitSuccess {
		programs = append(programs, "./hello")
	} else {
		t.Log("no C program: ", out, errs)
	}
	bases := map[string]string{}
	runCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return // for those who work on loggp
		}
		x, ok := runFlagEffects[f.Name]
		if !ok {
			t.Errorf("--%s is not in the table: is it refused where it has no effect?", f.Name)
			return
		}
		for _, name := range programs {
			if x.with != "" && !slices.Contains(strings.Fields(x.with), name) {
				continue
			}
			t.Run(f.Name+"/"+name, func(t *testing.T) { checkRunFlag(t, f, x, name, bases) })
		}
	})
}

// checkRunFlag checks that a flag changes what a program prints or writes, or is refused.
func checkRunFlag(t *testing.T, f *pflag.Flag, x runFlag, name string, bases map[string]string) {
	const usual = "--platform smp-torus -n 4"
	base, with := x.base, x.args
	if base == "" {
		base, with = usual, usual+" "+x.args
	}
	if _, ok := bases[base+name]; !ok {
		out, errs, status := runOutputs(t, append(append([]string{"run"}, strings.Fields(base)...), name))
		if status == exitUsage {
			return // what goes with the flag is refused
		}
		if status != exitSuccess {
			t.Fatalf("%s, %s: %s", base, name, errs)
		}
		bases[base+name] = out + errs
	}
	if x.file != "" {
		os.RemoveAll(x.file)
	}
	out, errs, status := runOutputs(t, append(append([]string{"run"}, strings.Fields(with)...), name))
	takes := x.only == "" || slices.Contains(strings.Fields(x.only), name)
	short := "-" + f.Shorthand + ":"
	switch {
	case status == exitFailure: // which is an effect
	case status != exitSuccess:
		if named := strings.Contains(errs, "--"+f.Name) || f.Shorthand != "" && strings.Contains(errs, short); !named || status != exitUsage {
			t.Errorf("status %d, and the error does not name the flag: %s", status, errs)
		}
		if takes && x.only != "" {
			t.Errorf("it is refused: %s", errs)
		}
	case x.file != "":
		if _, err := os.Stat(x.file); err != nil {
			t.Error("it is taken and writes no file")
		}
	case x.unseen && takes, f.Name == "rounds" && name == "patterns": // whose rounds are alike without noise
	case out+errs == bases[base+name]:
		t.Error("it is taken and changes nothing")
	}
}

// runOutputs runs a command line and returns its output without how long it took.
func runOutputs(t *testing.T, args []string) (out, errs string, status int) {
	t.Helper()
	var stdout, stderr buffer
	status = runCommandLine(t.Context(), args, &stdout, &stderr)
	return stdout.String(), regexp.MustCompile(`emulated in .*\n`).ReplaceAllString(stderr.String(), ""), status
}

// Each parameter of a program changes its run: programs that ship with loggp take no parameter
// that they ignore.
func TestProgramParametersHaveEffects(t *testing.T) {
	t.Parallel()
	values := map[string]string{"size": "21", "rounds": "7", "operation": "3us", "class": "", "stride": "2", "root": "2"}
	for _, p := range program.Programs {
		if strings.ContainsAny(p.Name, "./") {
			continue
		}
		args := []string{"run", "--platform", "t3d", "-n", "4"}
		if strings.HasPrefix(p.Name, "npb-") {
			continue // which take long, and have class and operation only
		}
		base, _, _ := runOutputs(t, append(args, p.Name))
		for name, value := range values {
			out, errs, status := runOutputs(t, append(args, "--"+name, value, p.Name))
			switch takes := slices.Contains(p.Parameters, name); {
			case takes && (status != exitSuccess || numbers(out) == numbers(base)):
				t.Errorf("%s: --%s %s: status %d, %s, prints the same: %v", p.Name, name, value, status, errs, out == base)
			case !takes && (status != exitUsage || !strings.Contains(errs, "--"+name)):
				t.Errorf("%s: --%s is not refused: status %d, %s", p.Name, name, status, errs)
			}
		}
	}
}

// numbers is what a run prints without its title, which has the parameters.
func numbers(out string) string {
	_, rest, _ := strings.Cut(out, "\n")
	return regexp.MustCompile(`(?m)^One operation.*$`).ReplaceAllString(rest, "")
}

// Programs of all kinds cost on a placement what the placement says.
func TestPlaceIsForAllPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "schedule", "alltoall", "-n", "4", "--size", "64KiB", "-o", "all.goal")
	programs := []string{"ring", "exchange-all", "npb-is", "shift", "all.goal"}
	write(t, "hello.c", sumOfRanks)
	if _, _, status := runOutputs(t, []string{"cc", "hello.c", "-o", "hello"}); status == exitSuccess {
		programs = append(programs, "./hello")
	}
	for _, name := range programs {
		args := []string{"run", "--platform", "smp-torus", "--format", "csv"}
		out, errs, status := runOutputs(t, append(args, "--place", "4,2+2,1+1+1+1", name))
		if all := out + errs; status != exitSuccess || strings.Count(all, "\n4,4,1,")+strings.Count(all, "\n2+2,4,2,")+strings.Count(all, "\n1+1+1+1,4,4,") != 3 {
			t.Errorf("%s: status %d: %s%s", name, status, out, errs)
		}
		for want, place := range map[string]string{"--place: ": "zz", "--place 9: ": "9", fmt.Sprintf("it has %d ranks", 3): "1+2"} {
			if _, errs, status := runOutputs(t, append(args, "-n", "4", "--place", place, name)); status != exitUsage || !strings.Contains(errs, want) {
				t.Errorf("%s: --place %s: status %d: %s", name, place, status, errs)
			}
		}
	}
}
