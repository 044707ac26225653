package loggp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// A program of the table runs by its name, with parameters as text.
func ExampleRunProgram() {
	run, err := loggp.RunProgram(context.Background(), loggp.ProgramOptions{
		RunOptions: loggp.RunOptions{Platform: "t3d", Ranks: 4},
		Program:    "ring", Parameters: map[string]string{"size": "500", "rounds": "2"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Document().Title)
	fmt.Println(run.Time > 0, len(run.Recording.Ranks))
	// Output:
	// ring, numbers 500, rounds 2, on t3d, chimp: result correct
	// true 4
}

// By hand: 3 rounds in which each of two ranks adds 1000 numbers.
func TestRunProgramTakesParameters(t *testing.T) {
	computing := func(parameters map[string]string) unit.Time {
		t.Helper()
		e, err := loggp.RunProgram(t.Context(), loggp.ProgramOptions{RunOptions: loggp.RunOptions{Platform: "t3d", Ranks: 2}, Program: "ring", Parameters: parameters})
		if err != nil {
			t.Fatal(err)
		}
		return e.Recording.Ranks[0].Totals[model.ComputeActivity]
	}
	if got := computing(map[string]string{"operation": "100ns"}); got != 300*unit.Microsecond {
		t.Errorf("3000 operations of 100 ns take %v", got)
	}
	if got := computing(map[string]string{"operation": "100ns", "size": "10", "rounds": "5"}); got != 5*unit.Microsecond {
		t.Errorf("50 operations of 100 ns take %v", got)
	}
}

// Without data programs take the same time on each rank, to the picosecond. The residual of cg with
// one point is zero after the first round.
func TestProgramsWithoutDataTakeTheSameTime(t *testing.T) {
	for _, c := range []struct {
		program, size string
		ranks         int
	}{{"ring", "1000", 4}, {"stencil", "5", 4}, {"stencil", "40", 6}, {"cg", "1", 1}, {"cg", "24", 4}, {"matmul", "20", 4}, {"broadcasts", "5000", 4}} {
		for _, platform := range []string{"t3d", "convex", "hdr-fattree", "now"} {
			totals := func(data string) (all [][model.NumActivities]unit.Time) {
				e, err := loggp.RunProgram(t.Context(), loggp.ProgramOptions{RunOptions: loggp.RunOptions{Platform: platform, Ranks: c.ranks, MaxSpans: -1}, Program: c.program, Parameters: map[string]string{"size": c.size, "data": data}})
				if err != nil {
					t.Fatalf("%s of %s on %s, data %s: %v", c.program, c.size, platform, data, err)
				}
				for _, r := range e.Recording.Ranks {
					all = append(all, r.Totals)
				}
				return all
			}
			if with, without := totals("all"), totals("none"); !slices.Equal(with, without) {
				t.Errorf("%s of %s on %s takes %v with data and %v without", c.program, c.size, platform, with, without)
			}
		}
	}
}

// An option that has no effect on the program or on the machine is an error that names it, and so
// is a parameter that the program does not have.
func TestRunProgramRejectsOptions(t *testing.T) {
	for _, c := range []struct {
		option, text string
		change       func(o *loggp.ProgramOptions)
	}{
		{"", `there is no program "rong"`, func(o *loggp.ProgramOptions) { o.Program = "rong" }},
		{"Platform", "say on what to run", func(o *loggp.ProgramOptions) { o.Platform = "" }},
		{"class", "ring does not take it; it takes size, rounds, operation, data", func(o *loggp.ProgramOptions) { o.Parameters = map[string]string{"class": "S"} }},
		{"sise", "ring does not take it", func(o *loggp.ProgramOptions) { o.Parameters = map[string]string{"sise": "1"} }},
		{"size", "it must be from 1 to", func(o *loggp.ProgramOptions) { o.Parameters = map[string]string{"size": "0"} }},
		{"rounds", "it must be a whole number", func(o *loggp.ProgramOptions) { o.Parameters = map[string]string{"rounds": "many"} }},
		{"data", "it must be all or none", func(o *loggp.ProgramOptions) { o.Parameters = map[string]string{"data": "some"} }},
		{"data", "sort does not take it: how many numbers a rank sends to another depends", func(o *loggp.ProgramOptions) { o.Program, o.Parameters = "sort", map[string]string{"data": "none"} }},
		{"data", "it is for emulated machines", func(o *loggp.ProgramOptions) {
			o.Platform, o.Parameters = "shm", map[string]string{"data": "none"}
		}},
		{"Arguments", "ring takes none", func(o *loggp.ProgramOptions) { o.Arguments = []string{"x"} }},
		{"Noise", "it is for emulated machines", func(o *loggp.ProgramOptions) { o.Platform, o.Noise = "shm", 0.1 }},
		{"Seed", "it is for emulated machines", func(o *loggp.ProgramOptions) { o.Platform, o.Seed = "shm", 1 }},
		{"Place", "it is for emulated machines", func(o *loggp.ProgramOptions) { o.Platform, o.Place = "shm", []string{"1+1"} }},
		{"Place", "no nodes", func(o *loggp.ProgramOptions) { o.Place = []string{"1+1"} }},
		{"Record", "name one placement", func(o *loggp.ProgramOptions) {
			o.Platform, o.Place, o.Record = "smp-torus", []string{"2", "1+1"}, true
		}},
		{"Collective", "there is no operation", func(o *loggp.ProgramOptions) { o.Collective = []string{"gossip=ring"} }},
		{"Profile", "it is for libraries of MPI", func(o *loggp.ProgramOptions) { o.Program, o.Library, o.Profile = "volume", "aclmpl", true }},
		{"Check", "it is for libraries of MPI", func(o *loggp.ProgramOptions) { o.Program, o.Library, o.Check = "volume", "aclmpl", "off" }},
	} {
		o := loggp.ProgramOptions{RunOptions: loggp.RunOptions{Platform: "t3d"}, Program: "ring"}
		c.change(&o)
		_, err := loggp.RunProgram(t.Context(), o)
		var option *loggp.OptionError
		if !errors.As(err, &option) || option.Option != c.option || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want an error of option %q with %q", err, c.option, c.text)
		}
	}
}

// All programs that ship with loggp run by their names on an emulated machine.
func TestRunProgramByName(t *testing.T) {
	for _, name := range program.Names() {
		if strings.HasPrefix(name, "npb-") && name != "npb-is" {
			continue // which take long, and run alike
		}
		e, err := loggp.RunProgram(t.Context(), loggp.ProgramOptions{RunOptions: loggp.RunOptions{Platform: "t3d", Ranks: 4, MaxSpans: -1}, Program: name, Record: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(e.Document().Title, name) || e.Time <= 0 || e.Failure != nil || e.Schedule.CountRanks() != 4 {
			t.Errorf("%s: %q takes %v: %v", name, e.Document().Title, e.Time, e.Failure)
		}
	}
}

// The name of a file without ./ is not taken for a program; the error says how to name it.
func TestProgramNameOfFileSuggestsPath(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func() error {
		_, err := loggp.RunProgram(t.Context(), loggp.ProgramOptions{RunOptions: loggp.RunOptions{Platform: "t3d", Ranks: 2}, Program: "stencl"})
		return err
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "did you mean stencil?") {
		t.Errorf("without a file: %v", err)
	}
	if err := os.WriteFile("stencl", nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "did you mean ./stencl, the file of that name?") {
		t.Errorf("with a file: %v", err)
	}
}

// Without data a program takes the same time, to the picosecond, and no result is reported as
// correct. Programs whose messages depend on what they receive do not have the parameter.
func TestRunsWithoutDataTakeTheSameTime(t *testing.T) {
	for _, c := range []struct{ platform, program, size string }{
		{"t3d", "ring", "2000"},
		{"start-x", "broadcasts", "40KiB"},
		{"roce-clos", "broadcasts", "1MiB"},
		{"hdr-fattree", "matmul", "40"},
		{"now", "shift", "20KiB"},
		{"mbcf-switch", "incast", "3000"},
		{"convex", "permutation", "8KiB"},
		{"hdr-fattree", "model/schedule/testdata/03_rendezvous_boundary.goal", ""},
	} {
		ranks := 4
		if c.size == "" {
			ranks = 2
		}
		var runs [2]*loggp.Execution
		for i, data := range []string{"all", "none"} {
			o := loggp.ProgramOptions{RunOptions: loggp.RunOptions{Platform: c.platform, Ranks: ranks, MaxSpans: -1}, Program: c.program, Parameters: map[string]string{"data": data}}
			if c.size != "" {
				o.Parameters["size"], o.Parameters["rounds"] = c.size, "3"
			}
			var err error
			if runs[i], err = loggp.RunProgram(t.Context(), o); err != nil {
				t.Fatalf("%s on %s: %v", c.program, c.platform, err)
			}
		}
		for rank, x := range runs[0].Recording.Ranks {
			if y := runs[1].Recording.Ranks[rank]; x.Totals != y.Totals {
				t.Errorf("%s on %s: rank %d takes %v with data and %v without", c.program, c.platform, rank, x.Totals, y.Totals)
			}
		}
		if title := runs[1].Document().Title; strings.Contains(title, "result correct") {
			t.Errorf("%s without data: %s", c.program, title)
		}
	}
}
