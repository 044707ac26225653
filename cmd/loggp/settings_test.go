package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/cli"
)

// writeLibrary writes a platform file like that of a platform, whose library decides as one of
// today, and returns its name.
func writeLibrary(t *testing.T, platform, decisions string) string {
	t.Helper()
	text := mustRun(t, "platforms", "show", platform, "--yaml")
	name := t.TempDir() + "/machine.yaml"
	head, libraries, _ := strings.Cut(text, "\nlibraries:\n")
	first, rest, _ := strings.Cut(libraries, "\n")
	head = strings.Replace(head, "name: "+platform+"\n", "name: machine\n", 1)
	if err := os.WriteFile(name, []byte(head+"\nlibraries:\n"+first+"\n    decisions: "+decisions+"\n"+rest), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// A library's own variables force what --collective forces, and its decisions apply without them.
func TestSettingsForceAlgorithms(t *testing.T) {
	for _, c := range []struct {
		decisions, settings, collective string
	}{
		{"openmpi-4.1", "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4", "allreduce=recursive-doubling"}, // too few elements for a ring
		{"openmpi-4.1", "--mca coll_tuned_use_dynamic_rules=1 --mca coll_tuned_allreduce_algorithm=basic_linear", "allreduce=linear+posted"},
		{"mpich-4", "--genv MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM recursive_doubling", "allreduce=recursive-doubling"},
		{"openmpi-5.0", "", "allreduce=recursive-doubling"}, // 8 ranks, 8 bytes
	} {
		platform := writeLibrary(t, "loggp", c.decisions)
		run := func(flags string) string {
			args := slices.Concat([]string{"run", "--platform", platform, "-n", "8"}, strings.Fields(flags), []string{"cg"})
			times, _, _ := strings.Cut(mustRun(t, args...), "Overhead")
			return times
		}
		got, want, other := run(c.settings), run("--collective "+c.collective), run("--collective allreduce=reduce-bcast")
		if got != want || got == other {
			t.Errorf("%s %s:\n%s\n%s:\n%s\nreduce-bcast:\n%s", c.decisions, c.settings, got, c.collective, want, other)
		}
	}
}

// A variable that there is not, or that has no effect, is an error.
func TestSettingsWithoutEffect(t *testing.T) {
	openMPI, mpich := writeLibrary(t, "loggp", "openmpi-4.1"), writeLibrary(t, "loggp", "mpich-4")
	for _, c := range []struct{ platform, flags, want string }{
		{openMPI, "--mca coll_tuned_bcast_algorithm 6", "--mca: coll_tuned_bcast_algorithm has no effect unless coll_tuned_use_dynamic_rules is 1"},
		{openMPI, "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm 10", "no such algorithm: 1 basic_linear"},
		{openMPI, "--mca coll_tuned_bcast_algorithm=", "--mca coll_tuned_bcast_algorithm=: write a variable and its value"},
		{openMPI, "--genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial", "--genv: library none has no such variables: they are of libraries with decisions: mpich-4"},
		{mpich, "--mca coll_tuned_use_dynamic_rules 1", "libraries with decisions: openmpi-4.1 or openmpi-5.0"},
		{mpich, "--genv MPIR_CVAR_BCAST_INTRA_ALGORITHM chain", "no such algorithm: binomial"},
		{mpich, "--collective bcast=linear --genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial", "--genv, --collective: both force bcast"},
		{"loggp", "--mca coll_tuned_use_dynamic_rules 1", "library none has no such variables"},
	} {
		var out, errs buffer
		args := slices.Concat([]string{"run", "--platform", c.platform, "-n", "4"}, strings.Fields(c.flags), []string{"cg"})
		if status := runCommandLine(t.Context(), args, &out, &errs); status != exitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d, %s, want %s", c.flags, status, errs.String(), c.want)
		}
	}
}

// Only flags in front of the program are those of run.
func TestJoinSettings(t *testing.T) {
	for args, want := range map[string]string{
		"run --mca a 1 -n 4 ./x":            "run --mca a=1 -n 4 ./x",
		"run -n 4 --mca a 1 --genv b 2 ./x": "run -n 4 --mca a=1 --genv b=2 ./x",
		"run -n4 --mca a=1 ./x --mca b 2":   "run -n4 --mca a=1 ./x --mca b 2",
		"run --profile --mca a 1 ./x":       "run --profile --mca a=1 ./x",
		"run -- ./x --mca b 2":              "run -- ./x --mca b 2",
		"run --mca a":                       "run --mca a",
		"simulate --mca a 1":                "simulate --mca a 1",
		"":                                  "",
	} {
		if got := strings.Join(cli.JoinNameValueArgs(newRootCommand(), strings.Fields(args)), " "); got != want {
			t.Errorf("%s: %s, not %s", args, got, want)
		}
	}
}
