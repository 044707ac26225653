package loggp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// ProgramOptions say which program RunProgram runs, on which machine, and how. Platform and Program
// are required; Platform may also be shm or tcp, which are this computer. An option without effect
// on the program or the machine is an error.
type ProgramOptions struct {
	RunOptions

	Program    string            // a name in program.Programs, such as cg; a schedule, such as x.goal; or the path of an executable, such as ./hello
	Parameters map[string]string // of the program, by name in program.Parameters; "size": "64KiB"
	Arguments  []string          // command-line arguments of an executable

	Place      []string           // ranks per node, such as 4+4 or 2x4; several placements are compared
	Collective []string           // selects algorithms of collective operations, such as bcast=binomial
	MCA        []string           // Open MPI variables that force algorithms, such as coll_tuned_bcast_algorithm=6
	Genv       []string           // the same for MPICH, such as MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial
	Phases     []*phases.Schedule // phases of the exchanges by MPI_Alltoallv, if the library supports them
	Record     bool               // record the schedule of the program
	Profile    bool               // also report the number and the time of each call

	Warn           func(mpi.Warning)                        // called for each warning of Check when it occurs; nil: they are in Execution.Warnings
	Stdout, Stderr io.Writer                                // for an executable; nil: those of this process
	RankOutput     *os.File                                 // standard output of ranks that run as processes of this computer; nil: discarded
	Args           []string                                 // arguments of processes started as ranks on shm or tcp; nil: those of this process
	Open           func(file string) (io.ReadCloser, error) // opens a schedule; nil: opens a file, compressed by gzip or not
}

// RunProgram runs a program of the table program.Programs, or of a file, on an emulated machine or
// on this computer.
func RunProgram(ctx context.Context, o ProgramOptions) (*Execution, error) {
	p, known, settings, err := o.resolve()
	if err != nil {
		return nil, err
	}
	var disturbances []string
	if settings.ComputeCharge.IsMeasured() {
		disturbances = quickWarnings(ctx, 1) // ranks compute one at a time
	}
	e, err := o.run(ctx, p, known, settings)
	if err != nil {
		return e, err
	}
	e.addDisturbances(disturbances)
	return e, nil
}

// run runs a program with its settings, once for each placement.
func (o *ProgramOptions) run(ctx context.Context, p program.Program, known *platform.Platform, settings program.Settings) (*Execution, error) {
	if len(o.Place) > 1 {
		return o.comparePlacements(ctx, p, known, settings)
	}
	placement := ""
	if len(o.Place) == 1 {
		placement = o.Place[0]
	}
	r, err := o.newRun(ctx, &p, known, settings, placement)
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
	random := isEthernet(m.Network) || m.Nodes != nil && isEthernet(m.Nodes.Inside) // stations wait for random times
	return p.UsesSeed || !isThisMachine(o.Platform) && (o.Noise != 0 || random), nil
}

func isEthernet(n model.Network) bool {
	_, is := n.(*model.Ethernet)
	return is
}

// resolve finds the program and the machine, and checks everything that does not need the run.
func (o *ProgramOptions) resolve() (p program.Program, known *platform.Platform, s program.Settings, err error) {
	p, ok := program.ProgramNamed(o.Program)
	if !ok {
		return p, nil, s, optionErrorf("", "%s", noProgramError(o.Program))
	}
	if err = o.check(p); err != nil {
		return p, nil, s, err
	}
	known = &platform.Platform{Machine: &model.Machine{Name: o.Platform}}
	if !isThisMachine(o.Platform) {
		if known, err = loadWithBuffers(o.Platform, o.Buffers); err != nil {
			return p, nil, s, err
		}
	}
	s, err = p.ParseSettings(o.Parameters, known.Machine.Processor)
	s.Seed, s.Arguments = o.Seed, o.Arguments
	return p, known, s, parameterOption(err)
}

// noProgramError is the error for an unknown program name, which may be the name of a file in this
// directory.
func noProgramError(name string) string {
	text := fmt.Sprintf("there is no program %q", name)
	if file, err := os.Stat(name); err == nil && file.Mode().IsRegular() {
		return fmt.Sprintf("%s that ships with loggp; did you mean ./%[2]s, the file of that name?", text, name)
	}
	return text + table.NameChoices(name, program.Names())
}

// parameterOption turns the error of a parameter into one of the option with that name.
func parameterOption(err error) error {
	if x, ok := err.(*program.ParameterError); ok {
		return &OptionError{x.Parameter, x.Value, x.Err}
	}
	return badOption("", err)
}

// check returns an error for an option without effect on the program or the machine.
func (o *ProgramOptions) check(p program.Program) error {
	if o.Platform == "" {
		return missingPlatformError()
	}
	isHere, several := isThisMachine(o.Platform), len(o.Place) > 1
	_, compute := o.Parameters["compute"]
	_, operation := o.Parameters["operation"]
	emulated := "it is for emulated machines, and " + o.Platform + " is this machine"
	onlyMPI := "it is for programs of MPI, and " + p.Name + " runs by any library"
	noCollective := p.Name + " makes no calls of collective operations"
	const oneRun = "it is for a single run: name one placement"
	for _, x := range []struct {
		option  string
		refused bool
		why     string
	}{
		{"Noise", isHere && o.Noise != 0, emulated},
		{"Place", isHere && o.Place != nil, emulated},
		{"Buffers", isHere && o.Buffers != "", emulated},
		{"Profile", isHere && o.Profile, emulated},
		{"Seed", isHere && o.Seed != 0 && !p.UsesSeed, emulated},
		{"data", isHere && o.Parameters["data"] == "none", emulated},
		{"compute", isHere && compute && p.IsExecutable, emulated + ": computing takes its own time"},
		{"operation", isHere && operation, emulated + ": computing takes its own time"},
		{"Arguments", len(o.Arguments) > 0 && !p.IsExecutable, p.Name + " takes none"},
		{"Collective", o.Collective != nil && p.HasNoCollectives, noCollective},
		{"MCA", o.MCA != nil && p.HasNoCollectives, noCollective},
		{"Genv", o.Genv != nil && p.HasNoCollectives, noCollective},
		{"Phases", o.Phases != nil && p.HasNoCollectives, noCollective},
		{"Phases", o.Phases != nil && p.RunAny != nil, onlyMPI},
		{"Record", isHere && o.Record && p.RunAny != nil, "on " + o.Platform + " " + onlyMPI},
		{"Check", o.Check != "" && p.HasNoCollectives, "each message of a schedule has memory of its own"},
		{"Profile", several && o.Profile, oneRun},
		{"Record", several && o.Record, oneRun},
		{"Phases, Record", o.Phases != nil && o.Record, "a recording has messages without phases: leave one of them out"},
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

// missingPlatformError lists the available platforms.
func missingPlatformError() error {
	return optionErrorf("Platform", "say on what to run: %s, %s, a file, or loggp:PARAMETERS", strings.Join(platform.Names(), ", "), strings.Join(job.LocalPlatforms, ", "))
}

// makesCall reports whether a program calls a collective operation.
func makesCall(r *model.Timeline, operation string) bool {
	for _, x := range r.Profile.Calls {
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(x.Name, "MPI_"), "_c"), "_", "-")
		if strings.EqualFold(name, operation) {
			return true
		}
	}
	return false
}

// sendsMessages reports whether a program sends messages by point-to-point calls.
func sendsMessages(r *model.Timeline) bool {
	for _, x := range r.Profile.Calls {
		if name := strings.ToLower(x.Name); strings.Contains(name, "send") || strings.HasPrefix(name, "mpi_start") {
			return true
		}
	}
	return false
}

// lastEnd returns when the last rank ended, even if its spans were not recorded. Ranks have no
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
