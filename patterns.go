package loggp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/microbench/patterns"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
)

// PatternOptions say which communication patterns TimePatterns times, with which libraries. Only
// Platform is required; it may also be shm or tcp, which are this computer.
type PatternOptions struct {
	Platform string
	Library  []string // libraries of the platform, MPI or others, or PutLibrary; nil: all
	Ranks    int      // 0: the platform's default
	Patterns []string // names in patterns.Patterns; nil: all
	Sizes    []int    // message sizes in bytes; nil: 8 and 1 KiB, and for FitLibraries six up to 64 KiB
	Rounds   int      // timed rounds; 0: 3, and for FitLibraries 20
	Args     []string // arguments of processes started as ranks on shm or tcp; nil: those of this process
}

// PutLibrary, in place of a library, stands for raw puts. They need remote memory.
const PutLibrary = "shmem"

// Defaults of PatternOptions.
var (
	patternSizes     = []int{8, 1024}
	libraryFitSizes  = []int{8, 256, 1024, 4096, 16384, 65536}
	patternRounds    = 3
	libraryFitRounds = 20
)

// maxPatternRounds is the largest PatternOptions.Rounds.
const maxPatternRounds = 1000

// libraryJob is a library with its way to send, and the job in which it runs.
type libraryJob struct {
	*portable.Library
	job *job.Job
}

// TimePatterns times communication patterns with several libraries. The same code times all of
// them.
func TimePatterns(ctx context.Context, o PatternOptions) (*doc.Document, error) {
	chosen := patterns.Patterns
	if o.Patterns != nil {
		chosen = nil
	}
	for _, name := range o.Patterns {
		p, ok := patterns.FindPattern(name)
		if !ok {
			return nil, optionErrorf("Patterns", "there is no pattern %q%s", name, table.NameChoices(name, patterns.Names()))
		}
		chosen = append(chosen, p)
	}
	subjects, err := o.open()
	if err != nil {
		return nil, err
	}
	sizes := o.Sizes
	if sizes == nil {
		sizes = patternSizes
	}
	var rows []reports.PatternRow
	for _, p := range chosen {
		for _, bytes := range sizes {
			for _, s := range subjects {
				if !p.IsTimedBy(s.Library) {
					continue
				}
				w, err := s.job.World(ctx, 1)
				if err != nil {
					return nil, err
				}
				m, err := patterns.MeasurePattern(w, s.Library, p, bytes, cmp.Or(o.Rounds, patternRounds))
				if err != nil {
					return nil, fmt.Errorf("patterns on %s: %w", o.Platform, err)
				}
				rows = append(rows, reports.PatternRow{Pattern: p.Name, Library: s.Name, Mode: s.Mode, Ranks: m.Ranks, Bytes: bytes, Time: m.Time, Rate: m.ByteRate})
			}
		}
	}
	return reports.PatternTimes("Communication patterns on "+subjects[0].job.Platform.Machine.Name, rows), nil
}

// FitLibraries fits LogGP parameters of several libraries, from the same timers.
func FitLibraries(ctx context.Context, o PatternOptions) (*doc.Document, error) {
	if o.Patterns != nil {
		return nil, optionErrorf("Patterns", "parameters are fitted to timers, which are no patterns")
	}
	subjects, err := o.open()
	if err != nil {
		return nil, err
	}
	sizes := o.Sizes
	if sizes == nil {
		sizes = libraryFitSizes
	}
	var set sample.Set
	var libraries []string
	curves := map[string][]chart.Point{}
	for _, s := range subjects {
		name := s.Name + " " + s.Mode
		libraries = append(libraries, name)
		for _, bytes := range sizes {
			w, err := s.job.World(ctx, 1)
			if err != nil {
				return nil, err
			}
			series, err := patterns.MeasureTimers(w, s.Library, bytes, cmp.Or(o.Rounds, libraryFitRounds))
			if err != nil {
				return nil, fmt.Errorf("patterns on %s: %w", o.Platform, err)
			}
			for _, x := range series {
				x.Platform, x.Place, x.Clock = s.job.Platform.Machine.Name, s.job.PlaceOfPair(0, 1), s.job.ClockKind()
				set.Series = append(set.Series, x)
				if x.Timer == sample.TimerRTT {
					half := quantile.UpperMedian(slices.Sorted(slices.Values(x.Times))).Micros() / 2
					curves[name] = append(curves[name], chart.Point{X: float64(bytes), Y: half})
				}
			}
		}
	}
	title := "LogGP parameters of libraries on " + subjects[0].job.Platform.Machine.Name
	if len(set.Series) == 0 { // this process was started as another rank
		return &doc.Document{Title: title}, nil
	}
	set.Facts = []sample.Fact{{Key: sample.RootsFact, Value: "1"}, {Key: sample.ResolutionFact, Value: subjects[0].job.Platform.Machine.TimerResolution.MicrosString()}}
	found, err := fit.Fit(&set, clean.Options{})
	if err != nil {
		return nil, err
	}
	return reports.LibraryParameters(title, libraries, found.Parameters, curves), nil
}

// open sets up the requested libraries.
func (o *PatternOptions) open() ([]libraryJob, error) {
	if o.Platform == "" {
		return nil, missingPlatformError()
	}
	if o.Rounds != 0 {
		if err := checkRange("Rounds", o.Rounds, 1, maxPatternRounds); err != nil {
			return nil, err
		}
	}
	open := func(library string) (*job.Job, error) {
		return job.NewLocal(library, o.Ranks, job.LocalOptions{Platform: o.Platform, PinsRanks: true, AllowsAnyLibrary: true, RankCommand: o.Args})
	}
	if !isThisMachine(o.Platform) {
		p, err := LoadPlatform(o.Platform)
		if err != nil {
			return nil, err
		}
		open = func(library string) (*job.Job, error) { return job.NewForAnyLibrary(p, library, o.Ranks, 0) }
	}
	first, err := open("")
	if err != nil {
		return nil, badOption("", err)
	}
	hasPuts := !first.IsLocal() && first.Platform.Machine.HasRemoteMemory()
	libraries := o.Library
	if libraries == nil {
		for _, l := range first.Platform.Libraries {
			libraries = append(libraries, l.Name)
		}
		if hasPuts {
			libraries = append(libraries, PutLibrary)
		}
	}
	var all []libraryJob
	for _, name := range libraries {
		if name == PutLibrary {
			if !hasPuts {
				return nil, &OptionError{"Library", name, fmt.Errorf("raw puts need remote memory, which platform %s does not have", o.Platform)}
			}
			all = append(all, libraryJob{portable.SHMEMLibrary(), first})
			continue
		}
		j, err := open(name)
		if err != nil {
			return nil, badOption("", err)
		}
		for _, l := range portable.LibrariesOfEngine(j.Library, j.MPIOptions("")) {
			all = append(all, libraryJob{l, j})
		}
	}
	return all, nil
}
