package loggp

import (
	"context"
	"fmt"
	"io"
	"os"
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
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// ProgramOptions say which program RunProgram runs, on which machine, and how. Platform and Program
// are required; Platform may also be shm or tcp, which are this machine. An option that has no
// effect on the program or on the machine is an error.
type ProgramOptions struct {
	RunOptions

	Program    string            // a name in program.Programs, such as cg; a schedule, such as x.goal; or the path of an executable, such as ./hello
	Parameters map[string]string // of the program, by names in program.Parameters; "size": "64KiB"
	Arguments  []string          // of an executable

	Place      []string           // how many ranks each node has, such as 4+4 or 2x4; of several placements what each costs is compared
	Collective []string           // algorithms of collective operations, such as bcast=binomial
	Phases     []*phases.Schedule // by which MPI_Alltoallv exchanges, by a library that can
	Record     bool               // record the schedule of the program
	Profile    bool               // also report how often each call was made, and its time

	Warn           func(mpi.Warning)                        // is told of warnings of Check when they occur; nil: Execution.Warnings has them
	Stdout, Stderr io.Writer                                // of an executable; nil: those of this process
	RankOutput     *os.File                                 // standard output of ranks that run as processes of this machine; nil: it is lost
	Args           []string                                 // of a process that is started as a rank on shm or tcp; nil: those of this process
	Open           func(file string) (io.ReadCloser, error) // opens a schedule; nil: a file, packed by gzip or not
}

// RunProgram runs a program of the table program.Programs, or of a file, on an emulated machine or
// on this one.
func RunProgram(ctx context.Context, o ProgramOptions) (*Execution, error) {
	p, known, settings, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(o.Place) > 1 {
		return o.comparePlacements(ctx, p, known, settings)
	}
	r, err := o.newRun(ctx, &p, known, settings, append(slices.Clone(o.Place), "")[0])
	if err != nil {
		return nil, err
	}
	defer r.close()
	if r.job.IsLocal() {
		return r.time(ctx)
	}
	recording, err := r.record(ctx, o.MaxSpans)
	if err != nil {
		return nil, err
	}
	e := r.outcome
	e.Recording, e.Time, e.name = recording, lastEnd(recording), known.Machine.Name+"-"+filepath.Base(p.Name)
	for _, rule := range r.job.ForcedRules {
		if !makesCall(recording, rule.Operation.String()) {
			e.Notes = append(e.Notes, fmt.Sprintf("algorithm %v=%s has no effect: %s makes no such call", rule.Operation, rule.Algorithm, p.Name))
		}
	}
	if o.Protocol != "" && !sendsMessages(recording) {
		e.Notes = append(e.Notes, fmt.Sprintf("protocol %s has no effect: %s sends no messages but those of collective operations", o.Protocol, p.Name))
	}
	if o.Phases != nil && !makesCall(recording, "alltoallv") {
		e.Notes = append(e.Notes, fmt.Sprintf("phases have no effect: %s makes no call of MPI_Alltoallv", p.Name))
	}
	r.report(e)
	return e, r.keepSchedule(e)
}

// UsesSeed reports whether the run draws random numbers.
func (o ProgramOptions) UsesSeed() (bool, error) {
	p, known, _, err := o.resolve()
	if err != nil {
		return false, err
	}
	m := known.Machine
	random := isEthernet(m.Network) || m.Nodes != nil && isEthernet(m.Nodes.Inside) // stations wait at random
	return p.UsesSeed || !isThisMachine(o.Platform) && (o.Noise != 0 || random), nil
}

func isEthernet(n model.Network) bool {
	_, is := n.(*model.Ethernet)
	return is
}

// resolve finds the program and the machine, and checks what can be known before the run.
func (o *ProgramOptions) resolve() (p program.Program, known *platform.Platform, s program.Settings, err error) {
	p, ok := program.Named(o.Program)
	if !ok {
		return p, nil, s, optionErrorf("", "there is no program %q: there are %s", o.Program, strings.Join(program.Names(), ", "))
	}
	if err = o.check(p); err != nil {
		return p, nil, s, err
	}
	known = &platform.Platform{Machine: &model.Machine{Name: o.Platform}}
	if !isThisMachine(o.Platform) {
		if known, err = LoadPlatform(o.Platform); err != nil {
			return p, nil, s, err
		}
	}
	s, err = p.ParseSettings(o.Parameters, known.Machine.Processor)
	s.Seed, s.Arguments = o.Seed, o.Arguments
	return p, known, s, parameterOption(err)
}

// parameterOption makes the error of a parameter one of the option of that name.
func parameterOption(err error) error {
	if x, ok := err.(*program.ParameterError); ok {
		return &OptionError{x.Parameter, x.Value, x.Err}
	}
	return badOption("", err)
}

// check returns an error for an option that has no effect on the program or the machine.
func (o *ProgramOptions) check(p program.Program) error {
	if o.Platform == "" {
		return missingPlatformError()
	}
	isHere, several := isThisMachine(o.Platform), len(o.Place) > 1
	_, compute := o.Parameters["compute"]
	emulated := "it is for emulated machines, and " + o.Platform + " is this one"
	onlyMPI := "it is for programs of MPI, and " + p.Name + " runs by any library"
	noCollective := p.Name + " makes no calls of collective operations"
	const oneRun = "it is of one run; name one placement"
	for _, x := range []struct {
		option  string
		refused bool
		why     string
	}{
		{"Noise", isHere && o.Noise != 0, emulated},
		{"Place", isHere && o.Place != nil, emulated},
		{"Profile", isHere && o.Profile, emulated},
		{"Seed", isHere && o.Seed != 0 && !p.UsesSeed, emulated},
		{"compute", isHere && compute && p.Executable, emulated + ": computing takes its own time"},
		{"Arguments", len(o.Arguments) > 0 && !p.Executable, p.Name + " takes none"},
		{"Collective", o.Collective != nil && p.PointToPoint, noCollective},
		{"Phases", o.Phases != nil && p.PointToPoint, noCollective},
		{"Phases", o.Phases != nil && p.RunAny != nil, onlyMPI},
		{"Record", isHere && o.Record && p.RunAny != nil, "on " + o.Platform + " " + onlyMPI},
		{"Check", o.Check != "" && p.PointToPoint, "each message of a schedule has memory of its own"},
		{"Profile", several && o.Profile, oneRun},
		{"Record", several && o.Record, oneRun},
		{"Phases, Record", o.Phases != nil && o.Record, "what is recorded are messages without phases: leave one of them out"},
	} {
		if x.refused {
			return optionErrorf(x.option, "%s", x.why)
		}
	}
	if o.Protocol != "" {
		return checkProtocol("Protocol", o.Protocol)
	}
	return nil
}

// missingPlatformError says which platforms there are.
func missingPlatformError() error {
	return optionErrorf("Platform", "say on what to run: %s, %s, a file, or loggp:PARAMETERS", strings.Join(platform.Names(), ", "), strings.Join(job.LocalPlatforms, ", "))
}

// programRun is one run of a program on a job.
type programRun struct {
	*ProgramOptions
	program  program.Program
	settings program.Settings
	job      *job.Job
	outcome  *Execution
	results  []program.Result // by rank, of the ranks in this process
	close    func()
}

// newRun sets up a run with a placement; "" is that of the platform. It leaves the program with
// what was read of its file, so that it is read once.
func (o *ProgramOptions) newRun(ctx context.Context, p *program.Program, known *platform.Platform, s program.Settings, placement string) (*programRun, error) {
	read := o.Open
	if read == nil {
		read = func(file string) (io.ReadCloser, error) { return input.Open(file) }
	}
	e := program.Environment{Context: ctx, IsThisMachine: isThisMachine(o.Platform), Stdout: o.Stdout, Stderr: o.Stderr, ReadSchedule: func(file string) (*schedule.Schedule, error) {
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
	if loaded.Ranks > 0 {
		*p = loaded
	}
	r := &programRun{ProgramOptions: o, program: loaded, settings: s, close: closing, outcome: &Execution{}}
	if r.job, err = o.openJob(known, loaded, placement); err == nil {
		err = r.setUpJob()
	}
	if err != nil {
		closing()
		return nil, err
	}
	r.results = make([]program.Result, r.job.Ranks)
	return r, nil
}

// openJob sets up the job of a run.
func (o *ProgramOptions) openJob(known *platform.Platform, p program.Program, placement string) (*job.Job, error) {
	ranks, err := o.Ranks, error(nil)
	if p.Ranks > 0 {
		if ranks != 0 && ranks != p.Ranks {
			return nil, &OptionError{"Ranks", fmt.Sprint(ranks), fmt.Errorf("%s has %d ranks: leave it out", p.Name, p.Ranks)}
		}
		ranks = p.Ranks
	}
	if placement != "" {
		if known, ranks, err = placeRanks(known, ranks, placement); err != nil {
			return nil, err
		}
	}
	var j *job.Job
	switch {
	case isThisMachine(o.Platform):
		j, err = job.NewLocal(o.Library, ranks, job.LocalOptions{Platform: o.Platform, Pin: true, AnyLibrary: p.RunAny != nil, Output: o.RankOutput, Command: o.Args})
	case p.RunAny != nil:
		j, err = job.NewAny(known, o.Library, ranks, o.Noise)
	default:
		j, err = job.New(known, o.Library, ranks, o.Noise)
	}
	if err != nil && placement != "" {
		err = &OptionError{"Place", placement, err}
	}
	return j, badOption("", err)
}

// placeRanks returns a platform with a placement of ranks on its nodes, and their number.
func placeRanks(known *platform.Platform, ranks int, placement string) (*platform.Platform, int, error) {
	x, err := model.ParsePlacement(strings.TrimSpace(placement))
	if err != nil {
		return nil, 0, badOption("Place", err)
	}
	if ranks != 0 && ranks != x.Ranks() {
		return nil, 0, &OptionError{"Place", x.String(), fmt.Errorf("it has %d ranks, and the run has %d", x.Ranks(), ranks)}
	}
	placed := *known
	placed.Machine, err = known.Machine.Place(x)
	return &placed, x.Ranks(), badOption("Place", err)
}

// setUpJob checks the program and the options against the job, and sets the job's options.
func (r *programRun) setUpJob() (err error) {
	j := r.job
	if err := r.program.Check(r.settings, j.Ranks); err != nil {
		return parameterOption(err)
	}
	if j.Check, err = parseCheck(r.Check); err != nil {
		return err
	}
	if j.Warn = r.Warn; j.Warn == nil {
		j.Warn = r.outcome.warn
	}
	if !j.Library.CarriedBy().MPI() {
		for _, x := range []struct {
			option string
			given  bool
		}{{"Protocol", r.Protocol != ""}, {"Collective", r.Collective != nil}, {"Record", r.Record}, {"Profile", r.Profile}, {"Check", r.Check != ""}} {
			if x.given {
				return optionErrorf(x.option, "it is for libraries of MPI, which %s is not", j.Library.Name)
			}
		}
	}
	if r.Collective != nil {
		if j.ForcedRules, err = ParseRules(r.Collective, j.Ranks, j.Nodes()); err != nil {
			return err
		}
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

// runRank runs the program's code for a rank that calls MPI.
func (r *programRun) runRank(c *mpi.Comm) (err error) {
	r.results[c.Rank()], err = r.program.Run(c, r.settings)
	return err
}

// runAny runs a program for any library on a world.
func (r *programRun) runAny(w device.World, o mpi.Options) error {
	library := portable.ByEngine(r.job.Library.CarriedBy(), r.job.Library.Name, o)[0]
	return library.Run(w, r.settings.Size, func(x portable.Process) (err error) {
		r.results[x.Rank()], err = r.program.RunAny(x, r.settings)
		return err
	})
}

// record runs the program on an emulated machine.
func (r *programRun) record(ctx context.Context, maxSpans int) (t *model.Timeline, err error) {
	if r.program.RunAny != nil {
		t, err = r.job.RecordAny(ctx, r.Seed, r.Protocol, maxSpans, r.runAny)
	} else {
		t, err = r.job.Record(ctx, r.Seed, r.Protocol, maxSpans, r.runRank)
	}
	return t, r.runError(err)
}

// time runs the program on this machine.
func (r *programRun) time(ctx context.Context) (*Execution, error) {
	e := r.outcome
	if r.program.RunAny != nil {
		w, err := r.job.World(ctx, r.Seed)
		if err == nil {
			err = r.runAny(w, r.job.Options(r.Protocol))
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
		r.results[rank].Time = end
	}
	r.report(e)
	return e, r.keepSchedule(e)
}

// runError says which program failed on which machine.
func (r *programRun) runError(err error) error {
	if err == nil {
		return nil
	}
	name := r.program.Name
	if r.program.Executable {
		name = filepath.Base(name)
	}
	on := r.job.Platform.Machine.Name
	if len(r.Place) > 1 {
		on += fmt.Sprintf(", placed %v", r.job.Platform.Machine.Nodes.Placed)
	}
	return fmt.Errorf("%s on %s: %w", name, on, err)
}

// keepSchedule puts the schedule that was recorded into the outcome.
func (r *programRun) keepSchedule(e *Execution) (err error) {
	if !r.Record {
		return nil
	}
	if e.Schedule, err = r.job.Recorder.Schedule(r.job.Ranks); err != nil {
		return &OptionError{"Record", "", err}
	}
	return nil
}

// ReadSchedule reads a communication schedule, in GOAL text or packed. It is an error if it would
// take more memory than this machine has.
func ReadSchedule(r io.Reader, name string) (*schedule.Schedule, error) {
	return schedule.Read(r, name, max(host.AvailableMemory()/simulationMemoryFactor, 0))
}

// simulationMemoryFactor is how many times as much memory a simulation takes as its schedule,
// about.
const simulationMemoryFactor = 6

// makesCall reports whether a program calls a collective operation.
func makesCall(r *model.Timeline, operation string) bool {
	name := strings.ReplaceAll(operation, "-", "")
	for call := range r.Called {
		if strings.EqualFold(call, name) {
			return true
		}
	}
	return false
}

// sendsMessages reports whether a program sends messages by point-to-point calls.
func sendsMessages(r *model.Timeline) bool {
	for call := range r.Called {
		if name := strings.ToLower(call); strings.Contains(name, "send") || strings.HasPrefix(name, "start") {
			return true
		}
	}
	return false
}

// lastEnd returns when the last rank ended, also if its spans were not recorded. Ranks have no
// gaps.
func lastEnd(t *model.Timeline) (last unit.Time) {
	for _, rank := range t.Ranks {
		var end unit.Time
		for _, total := range rank.Totals {
			end += total
		}
		last = max(last, end)
	}
	return last
}
