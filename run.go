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
	Platform string  // emulated machine: a name listed by "loggp platforms", such as t3d, a platform file, or a synthetic machine such as loggp:L=5us,o_s=2us
	Library  string  // of the platform; "": its first
	Buffers  string  // BuffersRegistered or BuffersStaged; "": as the platform says
	Ranks    int     // 0: the platform's default
	Protocol string  // protocol of all messages, such as RTA; "": the library chooses
	Noise    float64 // relative standard deviation of every processor step, at most 0.4; 0: none; negative: that of the platform
	Seed     uint64  // seed of the random numbers
	Check    string  // treatment of violations of MPI that other implementations let pass: "" or "warn": the first of each kind in Execution.Warnings; "strict": an error; "off": no checks
	MaxSpans int     // total number of spans, calls and messages to record; 0: 250,000, which a page shows well; does not affect Time
}

// Execution is the result of Run.
type Execution struct {
	Time      unit.Time       // when the last rank ended
	Recording *model.Timeline // activities of ranks and network, and messages; nil: the run was on this computer, or several runs were compared
	Warnings  []mpi.Warning   // violations of MPI, one per kind

	// From RunProgram only:
	Schedule     *schedule.Schedule // of the program, if it was recorded
	Disturbances []string           // what may have disturbed the measurement of computing time
	Picture      *portable.Picture  // picture drawn by the program; nil: none
	Platform     *platform.Platform // for flows: their platform
	LinkLoads    map[string]float64 // for flows: utilization of each part of the network, 0 to 1, by its name
	Notes        []string           // options that had no effect
	Failure      error              // the result of a NAS Parallel Benchmark differs from the published one, or an executable has exited with a nonzero status

	name, title string
	ends        []unit.Time   // end times of ranks on this computer
	document    *doc.Document // nil: the document of Run
}

// Run runs a program on each rank of an emulated machine. Ranks are goroutines of which one runs at
// a time. Communication and Comm.Compute take virtual time; other code takes none. The error is
// that of the first rank that failed, or says why ranks could not continue, or that the context is
// done.
func Run(ctx context.Context, o RunOptions, program func(*mpi.Comm) error) (*Execution, error) {
	if isThisMachine(o.Platform) || o.Platform == probe.PlatformName {
		return nil, optionErrorf("Platform", "Run records programs on emulated machines, and %s is this machine; RunProgram runs programs here", o.Platform)
	}
	if o.Protocol != "" {
		if err := checkProtocol("Protocol", o.Protocol); err != nil {
			return nil, err
		}
	}
	known, err := loadWithBuffers(o.Platform, o.Buffers)
	if err != nil {
		return nil, err
	}
	job, err := newJob(known, o.Library, o.Ranks, o.Noise)
	if err != nil {
		return nil, err
	}
	if err := checkBuffersUsed(o.Buffers, known.Machine, job.Ranks); err != nil {
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

// warn records a warning.
func (e *Execution) warn(w mpi.Warning) { e.Warnings = append(e.Warnings, w) }

// parseCheck reads the option Check.
func parseCheck(text string) (mpi.CheckMode, error) {
	mode, err := mpi.ParseCheckMode(cmp.Or(text, "warn"))
	return mode, badOption("Check", err)
}

// Document shows the statistics of the run: how each rank spent its time, and the calls of the
// ranks.
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

// WritePage writes a directory with a page about the run, index.html: its time line, statistics,
// and every step. It replaces an existing page. The page needs no network access.
func (e *Execution) WritePage(dir string) error {
	return render.WritePage(dir, e.Trace().DocumentOfRun(e.Document()))
}

// Trace returns the run in the form of time line pages and trace viewers. It is empty if Recording
// is nil.
func (e *Execution) Trace() timeline.Trace {
	return timeline.Trace{Name: e.name, Title: e.title, Recording: e.Recording}
}
