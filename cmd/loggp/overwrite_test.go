package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model/platform"
)

// No verb writes what it reads: the same file under its name, by a link, in a directory that would
// be replaced, or as standard input; nor two outputs into one file. What is there stays.
func TestNoVerbOverwritesItsInput(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform t3d --modes send,isend --sizes 0,64,1K,4K --reps 6 -o x.csv")...)
	mustRun(t, strings.Fields("fit x.csv -o p.csv")...)
	mustRun(t, strings.Fields("schedule alltoall -n 4 -o x.goal")...)
	mustRun(t, strings.Fields("report x.csv -o page")...)
	_, text, err := platform.Text("t3d")
	for _, err := range []error{err,
		os.WriteFile("t3d.yaml", text, 0o666), os.WriteFile("osu.txt", []byte("# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n8 1.5\n"), 0o666), os.WriteFile("noise.txt", []byte("0 1\n"), 0o666),
		os.Symlink("x.csv", "soft.csv"), os.Link("x.csv", "hard.csv"), os.Mkdir("dir", 0o777), os.Symlink("page", "soft-page"),
		os.WriteFile("page/in.csv", nil, 0o666), os.Symlink("../page/in.csv", "dir/in.csv"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := readTree(t)
	for _, line := range []string{
		"fit x.csv -o x.csv", "fit x.csv -o ./dir/../x.csv", "fit x.csv -o soft.csv", "fit x.csv -o hard.csv", "fit soft.csv -o x.csv", "fit p.csv x.csv -o x.csv",
		"fit page/in.csv -o page", "report page/in.csv -o page", "report page/in.csv -o soft-page", "report dir/in.csv -o page", "report x.csv --params page/in.csv -o page",
		"compare x.csv p.csv -o x.csv", "compare p.csv x.csv -o x.csv", "compare --samples x.csv --samples hard.csv -o x.csv", "compare --samples x.csv --params p.csv -o p.csv",
		"compare --platform ./t3d.yaml --collective bcast -o t3d.yaml", "compare --platform t3d --schedule x.goal -o x.goal",
		"predict --params p.csv --sizes 8 -o p.csv", "predict --params p.csv --sizes 8 --diagram p.csv", "predict --platform t3d.yaml --sizes 8 -o t3d.yaml",
		"measure --platform t3d.yaml -o t3d.yaml",
		"import osu-latency x.csv -o x.csv", "import x.csv -o x.csv", "export logopsim p.csv -o p.csv",
		"simulate x.goal -o x.goal", "simulate x.goal --finish x.goal", "simulate x.goal --params p.csv --finish p.csv", "simulate x.goal --noise noise.txt --finish noise.txt", "simulate x.goal --platform t3d.yaml --finish t3d.yaml",
		"run --platform t3d x.goal --record x.goal", "run --platform t3d.yaml ring --record t3d.yaml", "run --platform cc-cluster --phases x.csv ring --record x.csv", "run --platform t3d.yaml spheres --picture t3d.yaml", "run --platform t3d x.goal -o x.goal", "run x.goal --platform t3d -o x.goal",
		"trace --platform t3d.yaml -o t3d.yaml", "schedule alltoallv --from x.goal -o x.goal", "schedule alltoallv --from x.goal --picture x.goal",
		"calibrate t3d.yaml --to x.csv -o x.csv", "calibrate ./t3d.yaml -o t3d.yaml", "platforms sensitivity ./t3d.yaml -o t3d.yaml",
	} {
		var out, errs bytes.Buffer
		if status := runCommandLine(context.Background(), strings.Fields(line), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), "would overwrite") {
			t.Errorf("%s: status %d: %s", line, status, errs.String())
		}
	}
	for _, line := range []string{"simulate x.goal -o y.svg --finish ./y.svg", "predict --params p.csv --sizes 8 -o y.svg --diagram dir/../y.svg"} {
		var out, errs bytes.Buffer
		if status := runCommandLine(context.Background(), strings.Fields(line), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), "writes the same file") {
			t.Errorf("%s: status %d: %s", line, status, errs.String())
		}
	}
	if after := readTree(t); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
	for _, line := range []string{ // names that are no files of the verb, and files that are not the same
		"measure --platform t3d --modes send --sizes 0 --reps 2 -o t3d", "measure --platform t3d --modes send --sizes 0 --reps 2 -o t3d",
		"schedule ring -n 2 -o ring", "schedule ring -n 2 -o ring", "fit x.csv -o y.csv", "fit x.csv -o y.csv", "fit x.csv -o /dev/null", "report x.csv -o page2", "report x.csv -o page2",
		"run ring --platform t3d -o y.json", "run ring --platform t3d -o y.json", "import osu osu.txt -o osu", "import osu osu.txt -o osu", "run x.goal -o y.json --platform t3d",
	} {
		var out, errs bytes.Buffer
		if status := runCommandLine(context.Background(), strings.Fields(line), &out, &errs); status != exitSuccess {
			t.Errorf("%s: status %d: %s", line, status, errs.String())
		}
	}
}

// readTree returns the names and contents of all files.
func readTree(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every flag of every verb that names a file is known to the check, and no verb escapes it.
func TestFileFlagsAreKnown(t *testing.T) {
	for _, root := range []*cobra.Command{newRootCommand()} {
		var visit func(c *cobra.Command)
		visit = func(c *cobra.Command) {
			if c != root && (c.PersistentPreRunE != nil || c.PersistentPreRun != nil) {
				t.Errorf("%s replaces the check of root", c.CommandPath())
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				words := strings.Fields(strings.NewReplacer(",", " ", ";", " ", ":", " ", ")", " ", "(", " ").Replace(f.Usage))
				if slices.ContainsFunc(words, func(w string) bool { return w == "file" || w == "directory" }) && !cli.IsOutput(f) && !slices.Contains(slices.Concat(cli.InputFileFlags, notFiles), f.Name) {
					t.Errorf("%s --%s: %s: is it a file?", c.CommandPath(), f.Name, f.Usage)
				}
			})
			for _, sub := range c.Commands() {
				visit(sub)
			}
		}
		visit(root)
	}
}

// notFiles are flags whose help mentions files, and whose value is none.
var notFiles = []string{"format", "shared-dir", "library", "place", "yaml", "ranks"}
