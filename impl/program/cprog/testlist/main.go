// Testlist compiles and runs the programs of an MPI test suite with loggp, and prints how many pass
// in each folder. The suite has the form of MPICH's: each folder has a file testlist, in which each
// line names a program, its number of ranks and options, or a subfolder. If a folder has a
// Makefile.am, it gives the sources and macros of programs (NAME_SOURCES, -D in NAME_CPPFLAGS).
//
//	go run ./impl/program/cprog/testlist -include suite/include -support 'suite/util/*.c' suite
//
// A program passes if it ends without an error and prints only the line "No Errors". With
// resultTest=TestStatus or TestErrFatal it passes if its exit status is nonzero.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

// settings says how to compile and run the programs.
type settings struct {
	loggp      string        // the command
	platform   string        // for loggp run
	spareRanks int           // for loggp run
	include    []string      // folders of headers
	support    []string      // linked into all programs of their language
	timeLimit  time.Duration // for programs without their own
}

func main() {
	var s settings
	flag.StringVar(&s.loggp, "loggp", "loggp", "the command loggp")
	flag.StringVar(&s.platform, "platform", "shm", "platform to run on")
	flag.IntVar(&s.spareRanks, "spare", 0, "spare ranks, on which programs start others")
	include := flag.String("include", "", "folders of headers, separated by commas")
	support := flag.String("support", "", "sources that are linked into all programs of their language: patterns, separated by commas")
	flag.DurationVar(&s.timeLimit, "limit", time.Minute, "longest time of a program that states none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("say which folder: testlist [FLAGS] FOLDER")
	if flag.NArg() == 1 {
		if *include != "" {
			s.include = strings.Split(*include, ",")
		}
		err = s.findSupportFiles(*support)
	}
	if err == nil {
		err = s.run(ctx, flag.Arg(0), os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "testlist: %v\n", err)
		os.Exit(1)
	}
}

// findSupportFiles finds the files that match the patterns.
func (s *settings) findSupportFiles(patterns string) error {
	if patterns == "" {
		return nil
	}
	for p := range strings.SplitSeq(patterns, ",") {
		files, err := filepath.Glob(p)
		if err != nil {
			return fmt.Errorf("-support %s: %w", p, err)
		}
		if len(files) == 0 {
			return fmt.Errorf("-support %s: there is no such file", p)
		}
		s.support = append(s.support, files...)
	}
	return nil
}

// outcome is the result class of a program.
type outcome string

const (
	passed   outcome = "passed"
	notBuilt outcome = "not built"
	failed   outcome = "failed"
	timedOut outcome = "timed out"
)

// outcomes are all outcomes in the order of the table.
var outcomes = []outcome{passed, notBuilt, failed, timedOut}

// result is the outcome of a program and the reason for a failure.
type result struct {
	program
	outcome outcome
	reason  string
}

// run runs all programs of a folder and its subfolders, and prints the results.
func (s *settings) run(ctx context.Context, folder string, w io.Writer) error {
	programs, err := readFolder(folder)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "testlist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	results := make([]result, len(programs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, p := range programs {
		g.Go(func() error {
			results[i] = s.runProgram(ctx, p, filepath.Join(work, fmt.Sprint(i)))
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return printResults(w, folder, results)
}

// printResults prints one line per folder, and the programs that did not pass.
func printResults(w io.Writer, folder string, results []result) error {
	for _, r := range results {
		if r.outcome != passed {
			fmt.Fprintf(w, "%s: %s: %s\n", filepath.Join(r.folder, r.name), r.outcome, r.reason)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\nfolder\tprograms\t")
	for _, o := range outcomes {
		fmt.Fprintf(t, "%s\t", o)
	}
	fmt.Fprintln(t)
	line := func(name string, of func(r result) bool) {
		counts := map[outcome]int{}
		n := 0
		for _, r := range results {
			if of(r) {
				counts[r.outcome]++
				n++
			}
		}
		fmt.Fprintf(t, "%s\t%d\t", name, n)
		for _, o := range outcomes {
			fmt.Fprintf(t, "%d\t", counts[o])
		}
		fmt.Fprintln(t)
	}
	var folders []string
	for _, r := range results {
		if !slices.Contains(folders, r.folder) {
			folders = append(folders, r.folder)
		}
	}
	for _, f := range folders {
		name, err := filepath.Rel(folder, f)
		if err != nil {
			return err
		}
		line(name, func(r result) bool { return r.folder == f })
	}
	line("all", func(result) bool { return true })
	return t.Flush()
}

// runProgram compiles and runs a program in a new directory, because a program may start itself by
// name.
func (s *settings) runProgram(ctx context.Context, p program, dir string) result {
	r, path := result{program: p, outcome: notBuilt}, filepath.Join(dir, p.name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		r.reason = err.Error()
		return r
	}
	makefile, err := readMakefile(p.folder)
	if err != nil {
		r.reason = err.Error()
		return r
	}
	verb, sources, err := p.sources(makefile, s.support)
	if err != nil {
		r.reason = err.Error()
		return r
	}
	args := append([]string{verb, "-w", "-g", "-I" + p.folder}, p.definitions(makefile)...)
	for _, headers := range s.include {
		args = append(args, "-I"+headers)
	}
	if verb == "fc" {
		args = append(args, "-J", dir)
	}
	args = append(append(args, sources...), "-o", path, "-lm")
	if out, err := exec.CommandContext(ctx, s.loggp, args...).CombinedOutput(); err != nil {
		r.reason = firstError(string(out), err)
		return r
	}
	limit := p.timeLimit
	if limit == 0 {
		limit = s.timeLimit
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, s.loggp, append([]string{"run", "--platform", s.platform, "-n", fmt.Sprint(p.ranks), "--spare", fmt.Sprint(s.spareRanks), path}, p.arguments...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), p.environment...), &errs
	out, err := cmd.Output()
	if ctx.Err() != nil {
		r.outcome, r.reason = timedOut, "after "+limit.String()
		return r
	}
	if r.reason = p.failureReason(string(out), errs.String(), err); r.reason == "" {
		r.outcome = passed
	} else {
		r.outcome = failed
	}
	return r
}

// failureReason returns why the output or the end of a program is not that of a passing one, or "".
func (p program) failureReason(out, errs string, err error) string {
	noErrors := false
	other := ""
	for line := range strings.Lines(out) {
		switch line = strings.TrimSpace(line); {
		case strings.EqualFold(line, "No Errors"):
			noErrors = true
		case line != "" && line != "Test Passed" && other == "":
			other = line
		}
	}
	switch {
	case p.endsWithError && err == nil:
		return "it ends well and ought to end with an error"
	case p.endsWithError && (noErrors || !p.printsNoErrors):
		return ""
	case err != nil && !p.endsWithError:
		return firstError(errs, err)
	case !noErrors && other == "":
		return `it does not print "No Errors"`
	case other != "":
		return "it prints: " + other
	}
	return ""
}

// firstError returns the most informative line of an error output.
func firstError(out string, err error) string {
	first := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "error") || strings.Contains(line, "undefined reference") || strings.HasPrefix(line, "loggp: ") {
			return line
		}
		if first == "" {
			first = line
		}
	}
	if first != "" {
		return first
	}
	return err.Error()
}
