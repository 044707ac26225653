package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The finishing times of LogGOPSim, through files.
func TestSimulateFinish(t *testing.T) {
	dir := t.TempDir()
	if status := runCommandLine(t.Context(), []string{"simulate", "../../model/schedule/testdata/03_rendezvous_boundary.goal", "--dialect", "loggopsim",
		"--loggops", "L=3000ns,o=800ns,g=2000ns,G=3ns,O=1ns,S=256", "--finish", dir + "/finish.csv"}, io.Discard, io.Discard); status != exitSuccess {
		t.Fatal(status)
	}
	b, err := os.ReadFile(dir + "/finish.csv")
	if err != nil || string(b) != "rank,finish_ns\n0,6509449\n1,6657076\n" {
		t.Errorf("%v: %s", err, b)
	}
}

// A bad sweep is an error of usage that names its flag.
func TestSimulateRejectsSweep(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "schedule", "bcast", "-n", "4", "-o", "b.goal")
	var errs buffer
	if status := runCommandLine(t.Context(), strings.Fields("simulate b.goal --sweep L=1us"), io.Discard, &errs); status != exitUsage || !strings.Contains(errs.String(), "--sweep L=1us: it is neither a range with a step nor a list") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// A page shows all ranks, unless they are too many; a time line is of sixteen, and the command says
// how many it leaves out.
func TestSimulatedRanksShown(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ ranks, output, shows, leftOut string }{
		{"64", "page", `data-ranks="64"`, ""},
		{"64", "b.svg", "rank 63", "Left out: 48 ranks.\n"},
		{"4100", "large", " Left out: 4084 ranks.", "Left out: 4084 ranks.\n"},
	} {
		mustRun(t, "schedule", "bcast", "-n", c.ranks, "--size", "4KiB", "-o", "b.goal")
		var errs buffer
		if status := runCommandLine(t.Context(), []string{"simulate", "b.goal", "-o", c.output}, io.Discard, &errs); status != exitSuccess || !strings.HasSuffix(errs.String(), " of the simulation of b.goal written to "+c.output+"\n"+c.leftOut) {
			t.Errorf("status %d: %s", status, errs.String())
		}
		shown := c.output
		if filepath.Ext(shown) == "" {
			shown = filepath.Join(shown, "index.html")
		}
		if b, err := os.ReadFile(shown); err != nil || !strings.Contains(string(b), c.shows) {
			t.Errorf("%s of %s ranks does not show %q: %v", c.output, c.ranks, c.shows, err)
		}
	}
}

// The parameters of a machine are those that it has, and one source of them is enough.
func TestSimulateMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "schedule", "ring", "-n", "4", "-o", "r.goal")
	if out := mustRun(t, "simulate", "r.goal", "--platform", "loggp:L=7us,o_s=2us,o_r=2us,g=3us,G=0.01us/B"); !strings.Contains(out, "L=7us,o=2us,g=3us,G=10ns,O=0ps\n") {
		t.Error(out)
	}
	if out := mustRun(t, "simulate", "r.goal", "--platform", "shm", "--dialect", "loggopsim"); !strings.Contains(out, "finishing time") {
		t.Error(out)
	}
	var errs buffer
	if status := runCommandLine(t.Context(), strings.Fields("simulate r.goal --platform t3d --loggops L=1us"), io.Discard, &errs); status != exitUsage || !strings.Contains(errs.String(), "give one of them") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// A sweep is written as a chart or a table, at both levels, and flags without effect are refused.
func TestSimulateWritesSweeps(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "schedule", "bcast", "-n", "4", "-o", "b.goal")
	for _, c := range []struct{ args, file, want string }{
		{"--sweep L=0..4us/1us", "s.svg", "finishing time"},
		{"--sweep L=0..4us/1us", "s.csv", "L_us,finishing_time_us"},
		{"--platform gh200 --sweep links.host.latency=1us,2us", "f.svg", "exposed communication"},
		{"--platform gh200 --sweep links.host.latency=1us,2us", "f.csv", "2us"},
	} {
		mustRun(t, append([]string{"simulate", "b.goal", "-o", c.file}, strings.Fields(c.args)...)...)
		if b, err := os.ReadFile(c.file); err != nil || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: %v\n%s", c.args, err, b)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--platform gh200 --sweep taper=1,2 -o x.json", "-o x.json: name a .svg file"},
		{"--level flows -o x.svg", "--output: flows have no time line"},
		{"--level loggops --nodes 4", "--nodes: it needs --level flows"},
		{"--level loggops --sweep taper=1,2", `--sweep taper=1,2: there is no parameter "taper"`},
		{"--nodes 4", "--nodes: it needs a platform"},
		{"--nodes 0 --platform gh200", "--nodes 0"},
		{"--platform gh200 --sweep links.host.latency=1us --finish f.csv", "--finish: it does not go with --sweep"},
	} {
		var errs buffer
		if status := runCommandLine(t.Context(), append([]string{"simulate", "b.goal"}, strings.Fields(c.args)...), io.Discard, &errs); status != exitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d: %s", c.args, status, errs.String())
		}
	}
}

// Jobs have ranks of their own on one machine.
func TestSimulateJobs(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "schedule", "ring", "-n", "2", "--size", "1MiB", "-o", "r.goal")
	out := mustRun(t, "simulate", "--platform", "gh200", "--job", "r.goal@0-1", "--job", "r.goal@4,5")
	if !strings.Contains(out, "slow-down") || !strings.Contains(out, "r.goal@0-1") || !strings.Contains(out, "r.goal@4,5") {
		t.Error(out)
	}
	for _, c := range []struct{ args, want string }{
		{"r.goal --job r.goal@0-1", "with --job each workload has its ranks"},
		{"--job r.goal", "--job r.goal: write a workload and its ranks"},
		{"--job r.goal@0-1", "--platform: jobs share the links of a machine"},
		{"--platform gh200 --job r.goal@0-1 --sweep taper=1,2", "--sweep: it does not go with --job"},
	} {
		var errs buffer
		if status := runCommandLine(t.Context(), append([]string{"simulate"}, strings.Fields(c.args)...), io.Discard, &errs); status != exitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d: %s", c.args, status, errs.String())
		}
	}
}

// A pattern that became a file says so, whatever its flags were.
func TestScheduleOfATrainingStepIsAFile(t *testing.T) {
	for _, args := range []string{"schedule training", "schedule training -n 8 --pipeline 2 --tensor 2 -o step.goal"} {
		var errs buffer
		if status := runCommandLine(t.Context(), strings.Fields(args), io.Discard, &errs); status != exitUsage || !strings.Contains(errs.String(), "loggp schedule trace STEP.yaml") {
			t.Errorf("%s: status %d: %s", args, status, errs.String())
		}
	}
}
