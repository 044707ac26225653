package loggp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/timeline"
)

// TraceOptions say what Trace records step by step: one message, or a small program. Only Platform
// is required.
type TraceOptions struct {
	Platform string // an emulated machine
	Library  string // on it; "": its first
	Ranks    int    // 0: the platform's default, or 8 for programs among all ranks
	Place    string // pair of ranks: intra, inter, or two ranks such as 0,3; "": the first and the last
	Protocol string // of all messages; "": as the library chooses
	Size     int    // of a message in bytes; 0: 1000; EmptyMessage: no data
	Noise    float64
	Seed     uint64
	Window   string // part of the time to show, such as 10us..50us; "": all

	// For one message:
	Mode string     // send call; "": send
	Late *unit.Time // when the receive is posted, after the sender's call; nil: before it

	// For a program:
	Program string     // one of program.SmallPrograms
	Rounds  int        // repetitions; 0: one
	Compute *unit.Time // computing time of the program overlap; nil: 100 us
}

// EmptyMessage is the size of messages without data.
const EmptyMessage = -1

// Defaults of Trace.
const (
	DefaultTraceBytes   = 1000
	DefaultTraceCompute = 100 * unit.Microsecond
	DefaultTraceRanks   = 8 // for programs among all ranks
)

// Trace runs one message between two ranks of an emulated machine, or a small program, and records
// each step. Time starts at the sender's call.
func Trace(ctx context.Context, o TraceOptions) (*timeline.Trace, error) {
	if o.Platform == "" {
		return nil, optionErrorf("Platform", "say what to trace: %s, a file, or loggp:PARAMETERS", strings.Join(platform.Names(), ", "))
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	p, err := LoadPlatform(o.Platform)
	if err != nil {
		return nil, err
	}
	subject, err := o.newSubject(p)
	if err != nil {
		return nil, err
	}
	recording, err := subject.job.RecordProgram(ctx, o.Seed, o.Protocol, 0, subject.run)
	if err != nil {
		return nil, fmt.Errorf("trace on %s: %w", p.Machine.Name, err)
	}
	recording = recording.Window(subject.begin, recording.End())
	if o.Window != "" {
		if recording, err = cutWindow(recording, o.Window); err != nil {
			return nil, &OptionError{"Window", o.Window, err}
		}
	}
	return &timeline.Trace{Name: p.Machine.Name + "-" + subject.name, Title: subject.title, Recording: recording}, nil
}

// check rejects options that exclude each other, and sets defaults.
func (o *TraceOptions) check() error {
	switch {
	case o.Program != "" && (o.Mode != "" || o.Late != nil):
		return optionErrorf("Mode, Late", "they are for one message; a program chooses its own calls")
	case o.Program == "" && o.Rounds != 0:
		return optionErrorf("Rounds", "it needs a program; one message has no rounds")
	case o.Program != "overlap" && o.Compute != nil:
		return optionErrorf("Compute", "it needs program overlap")
	case o.Program == "barrier" && o.Size != 0:
		return optionErrorf("Size", "a barrier has no data")
	case o.Late != nil && *o.Late < 0, o.Compute != nil && *o.Compute < 0:
		return optionErrorf("Late, Compute", "they may not be negative")
	case o.Size > MaxMessageBytes:
		return optionErrorf("Size", "a message of %s is too long: at most %s", unit.Bytes(o.Size), unit.Bytes(MaxMessageBytes))
	}
	if o.Protocol != "" {
		if err := checkProtocol("Protocol", o.Protocol); err != nil {
			return err
		}
	}
	switch {
	case o.Size == 0:
		o.Size = DefaultTraceBytes
	case o.Size < 0:
		o.Size = 0
	}
	if o.Program == "" {
		if o.Mode == "" {
			o.Mode = SendCalls[model.StandardMode]
		}
		return nil
	}
	if o.Rounds == 0 {
		o.Rounds = 1
	}
	return checkRange("Rounds", o.Rounds, 1, 10_000)
}

// traceSubject is what Trace records of a job.
type traceSubject struct {
	job         *job.Job
	name, title string
	begin       unit.Time // start of the recorded part
	run         func(c *mpi.Comm) error
}

// newSubject sets up what is traced.
func (o *TraceOptions) newSubject(p *platform.Platform) (*traceSubject, error) {
	var small program.SmallProgram
	ranks := o.Ranks
	if o.Program != "" {
		var err error
		if small, err = program.SmallProgramNamed(o.Program); err != nil {
			return nil, badOption("Program", err)
		}
		if !small.IsPair && o.Place != "" {
			return nil, optionErrorf("Place", "%s runs among all ranks", small.Name)
		}
		if r := p.Machine.Ranks; !small.IsPair && ranks == 0 {
			ranks = min(max(DefaultTraceRanks, r.Min), r.Max)
		}
	}
	j, err := newJob(p, o.Library, ranks, o.Noise)
	if err != nil {
		return nil, err
	}
	if j.Ranks < 2 {
		return nil, &OptionError{"Ranks", fmt.Sprint(j.Ranks), errors.New("it takes two to communicate")}
	}
	pair, err := pairOf(j, o.Place)
	if err != nil {
		return nil, err
	}
	if o.Program == "" {
		return o.messageSubject(j, pair)
	}
	return o.programSubject(j, small, pair), nil
}

// programSubject is a small program.
func (o *TraceOptions) programSubject(j *job.Job, p program.SmallProgram, pair [2]int) *traceSubject {
	w := program.SmallWorkload{Pair: pair, Bytes: o.Size, Rounds: o.Rounds, Compute: DefaultTraceCompute}
	if o.Compute != nil {
		w.Compute = *o.Compute
	}
	ranks := fmt.Sprintf("%d ranks", j.Ranks)
	if p.IsPair {
		ranks = fmt.Sprintf("ranks %d and %d of %d", pair[0], pair[1], j.Ranks)
	}
	title := fmt.Sprintf("%s on %s, %s: %s, %s", p.Name, j.Platform.Machine.Name, j.Library.Name, ranks, format.PluralInWords(w.Rounds, "round"))
	if p.Name != "barrier" {
		title += fmt.Sprintf(" of messages of %d bytes", w.Bytes)
	}
	return &traceSubject{job: j, name: p.Name, title: title, run: func(c *mpi.Comm) error {
		p.Run(c, w)
		return nil
	}}
}

// cutWindow returns the part of a recording in a window of time, such as 10us..50us.
func cutWindow(r *model.Timeline, window string) (*model.Timeline, error) {
	first, last, ok := strings.Cut(window, "..")
	from, err := unit.ParseTime(first)
	to := r.End()
	if err == nil && ok && last != "" {
		to, err = unit.ParseTime(last)
	}
	switch {
	case err != nil || !ok:
		return nil, errors.New("it must be two times, such as 10us..50us")
	case from < 0 || from >= to || from >= r.End():
		return nil, fmt.Errorf("it must begin before it ends, and before %v, when all is over", r.End())
	}
	return r.Window(from, to), nil
}
