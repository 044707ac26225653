// Package loggp runs message-passing programs in Go on emulated machines, and shows where their
// time goes:
//
//	result, err := loggp.Run("t3d", 8, func(c *mpi.Comm) error {
//		…
//	})
//
// Time is virtual: a program takes the same time on any computer. Communication takes time, and so
// does Comm.Compute; other code takes none. Package impl/library/mpi has the functions that
// programs call. The command loggp measures, models and compares the same machines.
package loggp

import (
	"context"
	"fmt"
	"io"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/timeline"
)

// Options say how a program is run. The zero value is what Run uses.
type Options struct {
	Library  string  // message-passing library of the platform; "": its first
	Protocol string  // for all messages, such as RTA; "": as the library chooses
	Noise    float64 // relative standard deviation of every processor step, up to 0.4; 0: none
	Seed     uint64  // of the random numbers
	Most     int     // spans, calls and messages that are kept; 0: as many as a page shows well
}

// Result is the outcome of a run.
type Result struct {
	Time      unit.Time       // when the last rank ended, in picoseconds
	Recording *model.Timeline // what ranks and the network did, and the messages

	title string
	ranks int
}

// Run runs a program on ranks of an emulated machine. Ranks are goroutines; one runs at a time.
// platform is a name that "loggp platforms" lists, such as t3d, the path of a platform file, or a
// synthetic machine such as loggp:L=5us,o_s=2us. The error is that of the first rank that failed,
// or says why the ranks could not go on; then there is no result.
func Run(platform string, ranks int, program func(*mpi.Comm) error) (Result, error) {
	return Options{}.Run(context.Background(), platform, ranks, program)
}

// Run is the function Run with options. When the context ends, so does the run, with its error.
func (o Options) Run(ctx context.Context, platform string, ranks int, program func(*mpi.Comm) error) (Result, error) {
	job, err := job.Open(platform, o.Library, ranks, o.Noise)
	if err != nil {
		return Result{}, err
	}
	if job.Real() {
		return Result{}, fmt.Errorf("run on %s: only emulated machines record what a program does; package impl/job runs programs on this machine", platform)
	}
	job.Check = true
	r, err := job.Record(ctx, o.Seed, o.Protocol, o.Most, program)
	if err != nil {
		return Result{}, fmt.Errorf("run on %s: %w", job.Platform.Machine.Name, err)
	}
	result := Result{Recording: r, ranks: job.Ranks, title: fmt.Sprintf("%d ranks on %s, %s", job.Ranks, job.Platform.Machine.Name, job.Library.Name)}
	for _, t := range r.Ranks {
		result.Time = max(result.Time, t.End())
	}
	return result, nil
}

// WriteStatistics writes tables for a terminal: where the time of each rank went, and the calls
// that ranks made.
func (r Result) WriteStatistics(w io.Writer) error {
	return render.WriteText(w, timeline.RunTimes(r.title, "", r.Recording, true), render.Style{})
}

// WriteTrace writes the run as JSON for trace viewers, such as
// https://ui.perfetto.dev.
func (r Result) WriteTrace(w io.Writer) error { return timeline.WriteEvents(w, r.trace()) }

// WritePage writes a directory with a page of the run, index.html: its time line, where the time
// went, and every step. It replaces a page that is there. The page needs no network.
func (r Result) WritePage(dir string) error {
	return render.WritePage(dir, r.trace().Page(timeline.RunTimes(r.title, "", r.Recording, true)))
}

func (r Result) trace() timeline.Trace {
	return timeline.Trace{Name: "program", Title: r.title, Ranks: r.ranks, Recording: r.Recording}
}
