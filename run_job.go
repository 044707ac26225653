package loggp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/recorder"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
)

// programRun is one run of a program on a job.
type programRun struct {
	*ProgramOptions
	program  program.Program
	settings program.Settings
	job      *job.Job
	outcome  *Execution
	results  []program.Result // by rank, for the ranks in this process
	close    func()
}

// newRun sets up a run with a placement; "" is that of the platform. It stores the contents of the
// program's file in p, so that the file is read once.
func (o *ProgramOptions) newRun(ctx context.Context, p *program.Program, known *platform.Platform, s program.Settings, placement string) (*programRun, error) {
	read := o.Open
	if read == nil {
		read = func(file string) (io.ReadCloser, error) { return input.Open(file) }
	}
	e := program.Environment{Context: ctx, IsThisMachine: isThisMachine(o.Platform), Stdout: o.Stdout, Stderr: o.Stderr, AvailableMemory: host.AvailableMemory, ReadSchedule: func(file string) (*schedule.Schedule, error) {
		f, err := read(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return ReadSchedule(f, file)
	}}
	loaded, closing, err := p.Load(e, s)
	if err != nil {
		return nil, err
	}
	if loaded.OnlyRankCount > 0 {
		*p = loaded
	}
	r := &programRun{ProgramOptions: o, program: loaded, settings: s, close: closing, outcome: &Execution{}}
	if r.job, err = o.openJob(known, loaded, s.SpareRanks, placement); err == nil {
		err = checkBuffersUsed(o.Buffers, r.job.Platform.Machine, r.job.Ranks)
	}
	if err == nil {
		err = r.setUpJob()
	}
	if err != nil {
		closing()
		return nil, err
	}
	r.results = make([]program.Result, r.job.Ranks)
	return r, nil
}

// openJob sets up the job of a run, including spare ranks.
func (o *ProgramOptions) openJob(known *platform.Platform, p program.Program, spare int, placement string) (*job.Job, error) {
	ranks, err := o.Ranks, checkNoise(o.Noise)
	if err != nil {
		return nil, err
	}
	if p.OnlyRankCount > 0 {
		if ranks != 0 && ranks != p.OnlyRankCount {
			return nil, &OptionError{"Ranks", fmt.Sprint(ranks), fmt.Errorf("%s has %d ranks: leave it out", p.Name, p.OnlyRankCount)}
		}
		ranks = p.OnlyRankCount
	}
	if spare > 0 {
		ranks = cmp.Or(ranks, known.Machine.Ranks.Default, job.DefaultLocalRanks) + spare
	}
	if placement != "" {
		if known, ranks, err = placeRanks(known, ranks, placement); err != nil {
			return nil, err
		}
	}
	var j *job.Job
	switch {
	case isThisMachine(o.Platform):
		j, err = job.NewLocal(o.Library, ranks, job.LocalOptions{Platform: o.Platform, PinsRanks: true, AllowsAnyLibrary: p.RunAny != nil, RankOutput: o.RankOutput, RankCommand: o.Args})
	case p.RunAny != nil:
		j, err = job.NewForAnyLibrary(known, o.Library, ranks, o.Noise)
	default:
		j, err = job.New(known, o.Library, ranks, o.Noise)
	}
	if err != nil && placement != "" {
		err = &OptionError{"Place", placement, err}
	}
	return j, badOption("", err)
}

// placeRanks returns a platform with a placement of ranks on its nodes, and the number of ranks.
func placeRanks(known *platform.Platform, ranks int, placement string) (*platform.Platform, int, error) {
	x, err := model.ParsePlacement(strings.TrimSpace(placement))
	if err != nil {
		return nil, 0, badOption("Place", err)
	}
	if ranks != 0 && ranks != x.Ranks() {
		return nil, 0, &OptionError{"Place", x.String(), fmt.Errorf("it has %d ranks, and the run has %d", x.Ranks(), ranks)}
	}
	placed := *known
	placed.Machine, err = known.Machine.WithPlacement(x)
	return &placed, x.Ranks(), badOption("Place", err)
}

// setUpJob checks program and options against the job, and sets the job's options.
func (r *programRun) setUpJob() (err error) {
	j := r.job
	j.Spare, j.Started = r.settings.SpareRanks, r.program.Started
	if err := r.program.Check(r.settings, j.Ranks-j.Spare); err != nil {
		return parameterOption(err)
	}
	if j.Spare > 0 && (r.Record || j.Library.Compiled != nil) {
		return parameterOption(&program.ParameterError{Parameter: "spare", Value: fmt.Sprint(j.Spare), Err: fmt.Errorf("programs that start others cannot be recorded, nor run by a library that compiles communication")})
	}
	if j.CheckMode, err = parseCheck(r.Check); err != nil {
		return err
	}
	if j.OnWarning = r.Warn; j.OnWarning == nil {
		j.OnWarning = r.outcome.warn
	}
	if !j.Library.CarriedBy().CarriesMPI() {
		for _, x := range []struct {
			option string
			given  bool
		}{{"Protocol", r.Protocol != ""}, {"Collective", r.Collective != nil}, {"MCA", r.MCA != nil}, {"Genv", r.Genv != nil}, {"Record", r.Record}, {"Profile", r.Profile}, {"Check", r.Check != ""}} {
			if x.given {
				return optionErrorf(x.option, "it is for libraries of MPI, which %s is not", j.Library.Name)
			}
		}
	}
	if r.Collective != nil {
		if j.ForcedRules, err = ParseRules(r.Collective, j.Ranks, j.RanksByNode()); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		option string
		words  []string
	}{{"MCA", r.MCA}, {"Genv", r.Genv}} {
		rules, err := rulesOfSettings(x.option, x.words, j)
		if err != nil {
			return err
		}
		j.ForcedRules = append(j.ForcedRules, rules...)
	}
	if r.Phases != nil && j.Library.Compiled == nil {
		return optionErrorf("Phases", "library %s of %s does not exchange in phases; cc-mpi of cc-cluster does", j.Library.Name, r.Platform)
	}
	for _, s := range r.Phases {
		if last := slices.Max(s.Members); last >= j.Ranks {
			return optionErrorf("Phases", "there is a rank %d, and the run has %d ranks", last, j.Ranks)
		}
	}
	j.StoredSchedules = r.Phases
	if r.Record {
		j.Recorder = &recorder.Recorder{}
	}
	return nil
}

// runRank runs the program's code on a rank that calls MPI.
func (r *programRun) runRank(c *mpi.Comm) error {
	return r.program.Run(c, &r.settings, &r.results[c.Rank()])
}

// runAny runs a program of any library on a world.
func (r *programRun) runAny(w device.World, o mpi.Options) error {
	library := portable.LibrariesOfEngine(r.job.Library, o)[0]
	return library.Run(w, r.settings.Size, func(x portable.Process) error {
		return r.program.RunAny(x, &r.settings, &r.results[x.Rank()])
	})
}

// record runs the program on an emulated machine. If no spans are recorded only traffic shows the
// network.
func (r *programRun) record(ctx context.Context, maxSpans int) (t *model.Timeline, err error) {
	if maxSpans < 0 && !r.program.IsTraffic() {
		maxSpans = job.ProcessorTotalsOnly
	}
	if r.program.RunAny != nil {
		t, err = r.job.RecordWithAnyLibrary(ctx, r.Seed, r.Protocol, maxSpans, r.runAny)
	} else {
		t, err = r.job.RecordProgram(ctx, r.Seed, r.Protocol, maxSpans, r.runRank)
	}
	return t, r.runError(err)
}

// time runs the program on this computer.
func (r *programRun) time(ctx context.Context) (*Execution, error) {
	e := r.outcome
	if r.program.RunAny != nil {
		w, err := r.job.World(ctx, r.Seed)
		if err == nil {
			err = r.runAny(w, r.job.MPIOptions(r.Protocol))
		}
		if err != nil {
			return nil, r.runError(err)
		}
		r.report(e)
		return e, nil
	}
	ends, err := r.job.TimeRanks(ctx, r.Protocol, r.runRank)
	if err != nil {
		return nil, r.runError(err)
	}
	e.ends, e.Time = ends, slices.Max(ends)
	for rank, end := range ends {
		r.results[rank].ScheduleTime = end
	}
	r.report(e)
	return e, r.keepSchedule(e)
}

// runError adds to an error which program failed on which machine.
func (r *programRun) runError(err error) error {
	if err == nil {
		return nil
	}
	name := r.program.Name
	if r.program.IsExecutable {
		name = filepath.Base(name)
	}
	on := r.job.Platform.Machine.Name
	if len(r.Place) > 1 {
		on += fmt.Sprintf(", placed %v", r.job.Platform.Machine.Nodes.Placed)
	}
	return fmt.Errorf("%s on %s: %w", name, on, err)
}

// keepSchedule stores the recorded schedule in the result.
func (r *programRun) keepSchedule(e *Execution) (err error) {
	if !r.Record {
		return nil
	}
	if e.Schedule, err = r.job.Recorder.Schedule(r.job.Ranks); err != nil {
		return &OptionError{"Record", "", err}
	}
	return nil
}
