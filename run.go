package loggp

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/timeline"
)

// RunOptions say on which machine Run runs a program, and how. Only Platform is required.
type RunOptions struct {
	Platform string  // an emulated machine: a name that "loggp platforms" lists, such as t3d, a platform file, or a synthetic machine such as loggp:L=5us,o_s=2us
	Library  string  // of the platform; "": its first
	Ranks    int     // 0: the platform's default
	Protocol string  // of all messages, such as RTA; "": as the library chooses
	Noise    float64 // relative standard deviation of every processor step, up to 0.4; 0: none; negative: that of the platform
	Seed     uint64  // of the random numbers
	Check    string  // of what MPI forbids and other implementations let pass: "" or "warn": Execution.Warnings has the first of each kind; "strict": an error; "off": not looked for
	MaxSpans int     // how many spans, calls and messages are recorded, together; 0: a quarter of a million, as many as a page shows well; Time does not depend on it
}

// Execution is the outcome of Run.
type Execution struct {
	Time      unit.Time       // when the last rank ended, in picoseconds
	Recording *model.Timeline // what ranks and network did, and the messages; nil: the run was on this machine, or several were compared
	Warnings  []mpi.Warning   // what the program does and MPI forbids, once for each kind

	// Of RunProgram only:
	Schedule     *schedule.Schedule // of the program, if it was to be recorded
	Disturbances []string           // what may have disturbed the processor time that computing is charged by
	Picture      *portable.Picture  // that the program has drawn; nil: none
	Platform     *platform.Platform // of flows: the one that they ran on
	LinkLoads    map[string]float64 // of flows: for which share of their time each part of the network was busy, by its name
	Notes        []string           // of options that turned out to have no effect
	Failure      error              // the result of a NAS Parallel Benchmark differs from the published one, or an executable has ended with a status other than 0

	name, title string
	ends        []unit.Time   // of ranks on this machine
	document    *doc.Document // nil: that of Run
}

// Run runs a program on each rank of an emulated machine. Ranks are goroutines; one runs at a time.
// Communication takes virtual time, and so does Comm.Compute; other code takes none. The error is
// that of the first rank that failed, or says why the ranks could not continue, or that the context
// ended.
func Run(ctx context.Context, o RunOptions, program func(*mpi.Comm) error) (*Execution, error) {
	if isThisMachine(o.Platform) || o.Platform == probe.PlatformName {
		return nil, optionErrorf("Platform", "Run records programs on emulated machines, and %s is this machine; RunProgram runs programs here", o.Platform)
	}
	if o.Protocol != "" {
		if err := checkProtocol("Protocol", o.Protocol); err != nil {
			return nil, err
		}
	}
	known, err := LoadPlatform(o.Platform)
	if err != nil {
		return nil, err
	}
	job, err := newJob(known, o.Library, o.Ranks, o.Noise)
	if err != nil {
		return nil, err
	}
	e := &Execution{name: "program", title: fmt.Sprintf("%d ranks on %s, %s", job.Ranks, known.Machine.Name, job.Library.Name)}
	if job.CheckMode, err = parseCheck(o.Check); err != nil {
		return nil, err
	}
	job.OnWarning = e.warn
	recording, err := job.RecordProgram(ctx, o.Seed, o.Protocol, o.MaxSpans, program)
	if err != nil {
		return nil, fmt.Errorf("run on %s: %w", known.Machine.Name, err)
	}
	e.Recording, e.Time = recording, lastEnd(recording)
	return e, nil
}

// warn keeps a warning.
func (e *Execution) warn(w mpi.Warning) { e.Warnings = append(e.Warnings, w) }

// parseCheck reads the option Check.
func parseCheck(text string) (mpi.CheckMode, error) {
	mode, err := mpi.ParseCheckMode(cmp.Or(text, "warn"))
	return mode, badOption("Check", err)
}

// Document has the statistics of the run: where the time of each rank went, and the calls that
// ranks made.
func (e *Execution) Document() *doc.Document {
	if e.document != nil {
		return e.document
	}
	return timeline.RunTimes(e.title, "", e.Recording, true)
}

// WriteStatistics writes the document as text for a terminal.
func (e *Execution) WriteStatistics(w io.Writer) error {
	return render.WriteText(w, e.Document(), render.Style{})
}

// WriteTrace writes the run as JSON for trace viewers, such as https://ui.perfetto.dev.
func (e *Execution) WriteTrace(w io.Writer) error { return timeline.WriteEvents(w, e.Trace()) }

// WritePage writes a directory with a page of the run, index.html: its time line, where the time
// went, and every step. An existing page is replaced. The page needs no network.
func (e *Execution) WritePage(dir string) error {
	return render.WritePage(dir, e.Trace().DocumentOfRun(e.Document()))
}

// Trace is the run as time line pages and trace viewers take it. There is none if Recording is nil.
func (e *Execution) Trace() timeline.Trace {
	return timeline.Trace{Name: e.name, Title: e.title, Recording: e.Recording}
}
