package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/portable"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench/patterns"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
)

// patternRuns has the flags of the verb.
type patternRuns struct {
	platform, libraries, patterns, sizes string
	ranks, rounds                        int
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
		Long: `patterns times communication patterns by the libraries of a platform side by side, MPI or not: those of MPI by synchronous sends (sync) and by
standard sends (async), ACLMPL by its synchronous and its asynchronous calls, and shmem, which is raw puts, where there is remote memory. All are
timed by the same code.

The patterns are` + list.String(),
		Example: `  loggp patterns --platform t3d -n 32 --sizes 1KiB
  loggp patterns --platform t3d -n 8 --library aclmpl,shmem --patterns all-to-all --sizes 8,1KiB,64KiB
  loggp patterns --platform shm -n 2 --patterns latency --sizes 8`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&r.platform, "platform", "", "machine: a name of 'loggp platforms', a file, loggp:PARAMETERS, or this one ("+strings.Join(world.Here, ", ")+")")
	f.StringVar(&r.libraries, "library", "", "libraries of the machine, or shmem: a list (default: all)")
	f.StringVar(&r.patterns, "patterns", "", "patterns: a list (default: all)")
	f.StringVar(&r.sizes, "sizes", "", "lengths of messages (default: 8,1KiB)")
	f.IntVarP(&r.ranks, "ranks", "n", 0, "number of ranks (default: the platform's)")
	f.IntVar(&r.rounds, "rounds", 3, "rounds that are timed")
	printing(cmd)
	mustComplete(cmd, "platform", append(platform.Names(), world.Here...))
	mustComplete(cmd, "patterns", names)
	return cmd
}

func (r *patternRuns) run(cmd *cobra.Command) error {
	lengths, err := sizes(r.sizes, []int{8, 1024})
	chosen, wrong := patternsNamed(r.patterns)
	err = errors.Join(err, wrong, inRange("--rounds", r.rounds, 1, 1000))
	if r.platform == "" {
		err = errors.Join(err, errors.New("--platform: say on what to run: "+strings.Join(append(platform.Names(), world.Here...), ", ")))
	}
	if err != nil {
		return misuse(cmd, err)
	}
	subjects, err := r.subjects(cmd)
	if err != nil {
		return err
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
	return show(cmd, reports.Patterns("Communication patterns on "+subjects[0].job.Platform.Machine.Name, rows))
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
	job *world.Job
}

// subjects sets up the libraries that are asked for.
func (r *patternRuns) subjects(cmd *cobra.Command) ([]subject, error) {
	open := func(library string) (*world.Job, error) {
		return world.NewHere(library, r.ranks, world.Placement{Platform: r.platform, Pin: true, Any: true, Command: commandLine(cmd)})
	}
	if !isHere(r.platform) {
		p, err := load(cmd, r.platform)
		if err != nil {
			return nil, err
		}
		open = func(library string) (*world.Job, error) { return world.NewAny(p, library, r.ranks, 0) }
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
