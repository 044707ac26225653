package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/microbench/patterns"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// patternRuns has the flags of the verb.
type patternRuns struct {
	platform, libraries, patterns, sizes string
	ranks, rounds                        int
	parameters                           bool
	output                               string
}

// shmemLibrary is the name of raw puts where a library is asked for.
const shmemLibrary = "shmem"

func patternsCommand() *cobra.Command {
	var r patternRuns
	var list strings.Builder
	var names []string
	for _, p := range patterns.All {
		fmt.Fprintf(&list, "\n  %-11s %s", p.Name, p.What)
		names = append(names, p.Name)
	}
	cmd := &cobra.Command{
		Use:   "patterns --platform NAME -n RANKS",
		Short: "Time communication patterns by several libraries",
		Long: `patterns times communication patterns by the libraries of a platform, side by side: MPI by
synchronous sends (sync) and by standard sends (async), ACLMPL by its synchronous and asynchronous
calls, and shmem, which is raw puts, if the machine has remote memory. All are timed by the same
code.

The patterns are` + list.String(),
		Example: `  loggp patterns --platform t3d -n 32 --sizes 1KiB
  loggp patterns --platform t3d -n 8 --library aclmpl,shmem --patterns all-to-all --sizes 8,1KiB,64KiB
  loggp patterns --platform t3d -n 2 --parameters -o parameters
  loggp patterns --platform shm -n 2 --patterns latency --sizes 8`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&r.platform, "platform", "", "machine: a name of 'loggp platforms', a file, loggp:PARAMETERS, or this one ("+strings.Join(job.Here, ", ")+")")
	f.StringVar(&r.libraries, "library", "", "libraries of the machine, or shmem: a list (default: all)")
	f.StringVar(&r.patterns, "patterns", "", "patterns: a list (default: all)")
	f.StringVar(&r.sizes, "sizes", "", "lengths of messages (default: 8,1KiB)")
	f.IntVarP(&r.ranks, "ranks", "n", 0, "number of ranks (default: the platform's)")
	f.IntVar(&r.rounds, "rounds", 3, "rounds that are timed (with --parameters: 20)")
	f.BoolVar(&r.parameters, "parameters", false, "print the LogGP parameters of the libraries side by side instead of patterns")
	f.StringVarP(&r.output, "output", "o", "", "directory to write a page to, with the chart of --parameters")
	printing(cmd)
	mustComplete(cmd, "platform", append(platform.Names(), job.Here...))
	mustComplete(cmd, "patterns", names)
	return cmd
}

func (r *patternRuns) run(cmd *cobra.Command) error {
	lengths, err := sizes(r.sizes, []int{8, 1024})
	chosen, wrong := patternsNamed(r.patterns)
	err = errors.Join(err, wrong, inRange("--rounds", r.rounds, 1, 1000))
	if r.platform == "" {
		err = errors.Join(err, errors.New("--platform: say on what to run: "+strings.Join(append(platform.Names(), job.Here...), ", ")))
	}
	if r.parameters && r.patterns != "" {
		err = errors.Join(err, errors.New("--patterns: --parameters has timers of its own"))
	}
	err = errors.Join(err, pages(r.output))
	if err != nil {
		return misuse(cmd, err)
	}
	subjects, err := r.subjects(cmd)
	if err != nil {
		return err
	}
	if r.parameters {
		return r.fit(cmd, subjects)
	}
	var rows []reports.PatternRow
	for _, p := range chosen {
		for _, bytes := range lengths {
			for _, s := range subjects {
				if !patterns.Has(s.Library, p) {
					continue
				}
				w, err := s.job.World(cmd.Context(), 1)
				if err != nil {
					return err
				}
				m, err := patterns.Time(w, s.Library, p, bytes, r.rounds)
				if err != nil {
					return fmt.Errorf("patterns on %s: %w", r.platform, err)
				}
				rows = append(rows, reports.PatternRow{Pattern: p.Name, Library: s.Name, Mode: s.Mode, Ranks: m.Ranks, Bytes: bytes, Time: m.Time, Rate: m.ByteRate})
			}
		}
	}
	return r.print(cmd, reports.Patterns("Communication patterns on "+subjects[0].job.Platform.Machine.Name, rows))
}

// print prints a document, and writes its page if that is asked for.
func (r *patternRuns) print(cmd *cobra.Command, d *doc.Document) error {
	if r.output != "" {
		if err := render.WritePage(r.output, d); err != nil {
			return err
		}
	}
	return show(cmd, d)
}

// timedSizes are the lengths of messages for parameters unless others are asked for.
var timedSizes = []int{8, 256, 1024, 4096, 16384, 65536}

// fit prints LogGP parameters of the libraries side by side, from the same timers for all.
func (r *patternRuns) fit(cmd *cobra.Command, subjects []subject) error {
	lengths := timedSizes
	if cmd.Flags().Changed("sizes") {
		lengths, _ = sizes(r.sizes, nil)
	}
	rounds := 20
	if cmd.Flags().Changed("rounds") {
		rounds = r.rounds
	}
	var set sample.Set
	var libraries []string
	curves := map[string][]chart.Point{}
	for _, s := range subjects {
		name := s.Name + " " + s.Mode
		libraries = append(libraries, name)
		for _, bytes := range lengths {
			w, err := s.job.World(cmd.Context(), 1)
			if err != nil {
				return err
			}
			series, err := patterns.Timers(w, s.Library, bytes, rounds)
			if err != nil {
				return fmt.Errorf("patterns on %s: %w", r.platform, err)
			}
			for _, x := range series {
				x.Platform, x.Place, x.Clock = s.job.Platform.Machine.Name, s.job.Place(0, 1), s.job.Clock()
				set.Series = append(set.Series, x)
				if x.Timer == sample.TimerRTT {
					half := slices.Sorted(slices.Values(x.Times))[len(x.Times)/2].Micros() / 2
					curves[name] = append(curves[name], chart.Point{X: float64(bytes), Y: half})
				}
			}
		}
	}
	if len(set.Series) == 0 {
		return nil // this process was started as another rank
	}
	set.Facts = []sample.Fact{{Key: sample.RootsFact, Value: "1"}, {Key: sample.ResolutionFact, Value: subjects[0].job.Platform.Machine.Timer.MicrosString()}}
	found, err := fit.Fit(&set, clean.Options{})
	if err != nil {
		return err
	}
	return r.print(cmd, reports.LibraryParameters("LogGP parameters of libraries on "+subjects[0].job.Platform.Machine.Name, libraries, found.Parameters, curves))
}

// patternsNamed returns patterns by a list of their names; "" is all.
func patternsNamed(list string) ([]patterns.Pattern, error) {
	if list == "" {
		return patterns.All, nil
	}
	var chosen []patterns.Pattern
	for _, name := range words(list) {
		p, ok := patterns.Named(name)
		if !ok {
			return nil, fmt.Errorf("--patterns: there is no pattern %q: 'loggp patterns --help' lists them", name)
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

// subject is a library with a way to send, and a job that it runs in.
type subject struct {
	*portable.Library
	job *job.Job
}

// subjects sets up the libraries that are asked for.
func (r *patternRuns) subjects(cmd *cobra.Command) ([]subject, error) {
	open := func(library string) (*job.Job, error) {
		return job.NewHere(library, r.ranks, job.Placement{Platform: r.platform, Pin: true, Any: true, Command: commandLine(cmd)})
	}
	if !slices.Contains(job.Here, r.platform) {
		p, err := load(cmd, r.platform)
		if err != nil {
			return nil, err
		}
		open = func(library string) (*job.Job, error) { return job.NewAny(p, library, r.ranks, 0) }
	}
	first, err := open("")
	if err != nil {
		return nil, misuse(cmd, err)
	}
	var libraries []string
	if r.libraries != "" {
		libraries = words(r.libraries)
	} else {
		for _, l := range first.Platform.Libraries {
			libraries = append(libraries, l.Name)
		}
		if !first.Real() && first.Platform.Machine.Remote() {
			libraries = append(libraries, shmemLibrary)
		}
	}
	var all []subject
	for _, name := range libraries {
		if name == shmemLibrary && (first.Real() || !first.Platform.Machine.Remote()) {
			return nil, misuse(cmd, fmt.Errorf("--library shmem: raw puts need remote memory, which platform %s does not have", r.platform))
		}
		j, s := first, []*portable.Library{portable.SHMEM()}
		if name != shmemLibrary {
			if j, err = open(name); err != nil {
				return nil, misuse(cmd, err)
			}
			s = sendingBy(j, "")
		}
		for _, x := range s {
			all = append(all, subject{x, j})
		}
	}
	return all, nil
}
