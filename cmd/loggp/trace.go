package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/timeline"
)

// trace has the flags of the verb.
type trace struct {
	platform, library, place, protocol, size, late, program, compute, noise, window, output string
	mode                                                                                    *string
	ranks, rounds                                                                           int
	seed                                                                                    uint64
}

// Sizes of what is traced where nothing is said.
const (
	traceBytes   = 1000
	traceCompute = 100 * unit.Microsecond
	traceRanks   = 8 // of programs among all ranks
)

func traceCommand() *cobra.Command {
	var t trace
	var list strings.Builder
	for _, p := range tracePrograms {
		fmt.Fprintf(&list, "\n  %-10s %s", p.name, p.what)
	}
	cmd := &cobra.Command{
		Use:   "trace --platform NAME [--mode CALL | --program NAME]",
		Short: "Show one message, or a small program, step by step",
		Long: `trace runs one message between the first and the last rank of a platform, or a small program, and
shows each step: what the processors do, the messages of the protocol, which parts of the network
are busy, and the calls of the library. Time begins with the sender's call; the receive has been
posted before, unless --late delays it.

Without -o it prints a table. -o writes
  NAME.json  for https://ui.perfetto.dev or chrome://tracing
  NAME.svg   a picture
  DIRECTORY  a page with the picture and where the time went, and the files above

The programs are` + list.String(),
		Example: `  loggp trace --platform t3d --mode ssend --size 2KB
  loggp trace --platform t3d --mode send --size 100 --late 50us
  loggp trace --platform t3d --mode ssend --size 10KB --protocol RAT -o rat.svg
  loggp trace --platform t3d --program exchange --size 4KB -o exchange.json
  loggp trace --platform t3d --program overlap --size 20KB --compute 500us -o overlap`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&t.platform, "platform", "", "machine: a name of 'loggp platforms', a file, or loggp:PARAMETERS")
	f.StringVar(&t.library, "library", "", "library on the machine (default: its first)")
	f.IntVar(&t.ranks, "ranks", 0, fmt.Sprintf("number of ranks (default: the platform's; of programs among all ranks %d)", traceRanks))
	f.StringVar(&t.place, "place", "", usualHelp["place"])
	t.mode = modeFlag(cmd, microbench.Modes(), "call that sends the message")
	f.StringVar(&t.protocol, "protocol", "", "force one protocol: "+strings.Join(model.ProtocolNames(), ", "))
	f.StringVar(&t.size, "size", "", fmt.Sprintf("length of a message (default %d bytes)", traceBytes))
	f.StringVar(&t.late, "late", "", "how long after the sender's call the receive is posted (default: before it)")
	f.StringVar(&t.program, "program", "", "a program instead of one message: "+strings.Join(programNames(), ", "))
	f.IntVar(&t.rounds, "rounds", 1, "repetitions of the program")
	f.StringVar(&t.compute, "compute", "", fmt.Sprintf("how long overlap computes (default %v)", traceCompute))
	f.Uint64Var(&t.seed, "seed", 1, "seed of the random numbers")
	f.StringVar(&t.noise, "noise", "off", "timing noise: on (that of the platform), off, or a relative standard deviation such as 5%")
	f.StringVar(&t.window, "window", "", "part of the time to show, such as 10us..50us (default: all)")
	f.StringVarP(&t.output, "output", "o", "", courseHelp)
	printing(cmd)
	mustComplete(cmd, "platform", platform.Names())
	mustComplete(cmd, "protocol", model.ProtocolNames())
	mustComplete(cmd, "place", places)
	mustComplete(cmd, "program", programNames())
	return cmd
}

func (t *trace) run(cmd *cobra.Command) error {
	if t.platform == "" {
		return misuse(cmd, fmt.Errorf("--platform: say what to trace: %s, a file, or loggp:PARAMETERS", strings.Join(platform.Names(), ", ")))
	}
	if err := errors.Join(t.fit(cmd), courseFormat(t.output)); err != nil {
		return misuse(cmd, err)
	}
	p, err := load(cmd, t.platform)
	if err != nil {
		return err
	}
	todo, job, err := t.plan(p)
	if err != nil {
		return misuse(cmd, err)
	}
	shown, err := todo.record(cmd.Context(), job, t.seed)
	if err != nil {
		return fmt.Errorf("trace on %s: %w", job.Platform.Machine.Name, err)
	}
	if shown.Recording, err = t.cut(shown.Recording); err != nil {
		return misuse(cmd, err)
	}
	shown.Command = recall(cmd)
	return t.write(cmd, shown)
}

// fit refuses flags that do not fit together.
func (t *trace) fit(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	for _, f := range []string{"mode", "late"} {
		if t.program != "" && changed(f) {
			return fmt.Errorf("--%s: it is of one message, and a program chooses its own calls", f)
		}
	}
	if t.program == "" && changed("rounds") {
		return errors.New("--rounds: one message has none; it goes with --program")
	}
	if t.program != "overlap" && changed("compute") {
		return errors.New("--compute: it goes with --program overlap")
	}
	if t.protocol != "" {
		if err := protocol(t.protocol); err != nil {
			return err
		}
	}
	return inRange("--rounds", t.rounds, 1, 10_000)
}

// todo is what to trace.
type todo struct {
	program  string // "": one message
	title    string
	protocol string
	message  *message
	run      func(c *mpi.Comm) error
}

// message is one message between two ranks.
type message struct {
	pair  [2]int
	call  string
	bytes int
	late  unit.Time // negative: the receiver has posted its receive before
}

// plan makes of the flags what to trace, on which job.
func (t *trace) plan(p *platform.Platform) (todo, *job.Job, error) {
	fail := func(err error) (todo, *job.Job, error) { return todo{}, nil, err }
	noise, err := parseNoise(t.noise)
	if err != nil {
		return fail(err)
	}
	work, err := t.workload()
	if err != nil {
		return fail(err)
	}
	var pr traceProgram
	ranks := t.ranks
	if t.program != "" {
		if pr, err = programNamed(t.program); err != nil {
			return fail(err)
		}
		if !pr.pair && t.place != "" {
			return fail(fmt.Errorf("--place: %s runs among all ranks", pr.name))
		}
		if !pr.pair && ranks == 0 {
			r := p.Machine.Ranks
			ranks = min(max(traceRanks, r.Min), r.Max)
		}
	}
	job, err := job.New(p, t.library, ranks, noise)
	if err == nil && job.Ranks < 2 {
		err = fmt.Errorf("--ranks %d: it takes two to communicate", job.Ranks)
	}
	if err != nil {
		return fail(err)
	}
	if work.pair, err = pairOf(job, t.place); err != nil {
		return fail(err)
	}
	if t.program != "" {
		return pr.todo(job, work, t.protocol), job, nil
	}
	m := &message{work.pair, *t.mode, work.bytes, -1}
	if t.late != "" {
		m.late, err = duration("late", t.late)
	}
	if err == nil {
		err = m.check(t.protocol)
	}
	if err != nil {
		return fail(err)
	}
	return m.todo(job, t.protocol), job, nil
}

// workload reads how much there is to do.
func (t *trace) workload() (w workload, err error) {
	w = workload{bytes: traceBytes, rounds: t.rounds, compute: traceCompute}
	if t.size != "" {
		if w.bytes, err = unit.ParseSize(t.size); err != nil {
			return w, fmt.Errorf("--size: %w", err)
		}
		if w.bytes > loggp.MaxMessage {
			return w, fmt.Errorf("--size: a message of %s is too long: at most %s", unit.Bytes(w.bytes), unit.Bytes(loggp.MaxMessage))
		}
	}
	if t.compute != "" {
		w.compute, err = duration("compute", t.compute)
	}
	return w, err
}

// duration reads a flag that is a time from 0 up.
func duration(flag, s string) (unit.Time, error) {
	d, err := unit.ParseTime(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--%s: %w", flag, err)
	case d < 0:
		return 0, fmt.Errorf("--%s %s: it may not be negative", flag, s)
	}
	return d, nil
}

// todo makes of a program what to trace.
func (p traceProgram) todo(job *job.Job, w workload, protocol string) todo {
	who := fmt.Sprintf("%d ranks", job.Ranks)
	if p.pair {
		who = fmt.Sprintf("ranks %d and %d of %d", w.pair[0], w.pair[1], job.Ranks)
	}
	title := fmt.Sprintf("%s on %s, %s: %s, %s", p.name, job.Platform.Machine.Name, job.Library.Name, who, count(w.rounds, "round"))
	if p.name != "barrier" {
		title += fmt.Sprintf(" of messages of %d bytes", w.bytes)
	}
	return todo{program: p.name, title: title, protocol: protocol, run: func(c *mpi.Comm) error {
		p.run(c, w)
		return nil
	}}
}

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// check refuses a message that cannot be.
func (m *message) check(protocol string) error {
	mode, _ := loggp.SendMode(m.call)
	if mode == model.Ready && m.late >= 0 {
		return fmt.Errorf("--late: %s may only be called when the receive has been posted", m.call)
	}
	if p := model.Named(protocol); p != nil && mode == model.Synchronous && !p.Synchronous() {
		return fmt.Errorf("--protocol %s: it cannot serve synchronous sends, whose receiver must say that a receive was found", protocol)
	}
	return nil
}

// lead is when the sender of one message calls: long after whatever began the job, and after the
// receive was posted.
const lead = 100 * unit.Millisecond

// todo makes of a message what to trace.
func (m *message) todo(job *job.Job, protocol string) todo {
	by := ""
	if protocol != "" {
		by = " by " + protocol
	}
	title := fmt.Sprintf("%s of %d bytes on %s, %s, from rank %d to rank %d%s", m.call, m.bytes, job.Platform.Machine.Name, job.Library.Name, m.pair[0], m.pair[1], by)
	if m.late >= 0 {
		title += fmt.Sprintf(", whose receiver is %v late", m.late)
	}
	return todo{title: title, protocol: protocol, message: m, run: func(c *mpi.Comm) error {
		switch c.Rank() {
		case m.pair[0]:
			m.send(c)
		case m.pair[1]:
			m.receive(c)
		}
		return nil
	}}
}

func (m *message) send(c *mpi.Comm) {
	b := make([]byte, m.bytes)
	if mode, _ := loggp.SendMode(m.call); mode == model.Buffered {
		c.AttachBuffer(make([]byte, m.bytes+mpi.BsendOverhead))
	}
	c.Compute(lead)
	send := map[string]func(mpi.Buffer, int, int){"send": c.Send, "ssend": c.Ssend, "rsend": c.Rsend, "bsend": c.Bsend}
	isend := map[string]func(mpi.Buffer, int, int) mpi.Request{"isend": c.Isend, "issend": c.Issend, "irsend": c.Irsend, "ibsend": c.Ibsend}
	if f := send[m.call]; f != nil {
		f(mpi.Of(b), m.pair[1], 0)
		return
	}
	r := isend[m.call](mpi.Of(b), m.pair[1], 0)
	r.Wait()
}

func (m *message) receive(c *mpi.Comm) {
	b := make([]byte, m.bytes)
	if m.late < 0 {
		r := mpi.Irecv(c, b, m.pair[0], 0)
		r.Wait()
		return
	}
	c.Compute(lead + m.late)
	mpi.Recv(c, b, m.pair[0], 0)
}

// record runs what is to be traced.
func (x todo) record(ctx context.Context, job *job.Job, seed uint64) (timeline.Trace, error) {
	r, err := job.Record(ctx, seed, x.protocol, 0, x.run)
	if err != nil {
		return timeline.Trace{}, err
	}
	name, begin := x.program, unit.Time(0)
	if x.message != nil {
		name, begin = x.message.call, lead
	}
	r = r.Window(begin, r.End())
	return timeline.Trace{Name: job.Platform.Machine.Name + "-" + name, Title: x.title, Recording: r}, nil
}

// cut returns what --window says of a recording.
func (t *trace) cut(r *model.Timeline) (*model.Timeline, error) {
	if t.window == "" {
		return r, nil
	}
	first, last, ok := strings.Cut(t.window, "..")
	from, err := unit.ParseTime(first)
	to := r.End()
	if err == nil && ok && last != "" {
		to, err = unit.ParseTime(last)
	}
	switch {
	case err != nil || !ok:
		return nil, fmt.Errorf("--window %s: it must be two times, such as 10us..50us", t.window)
	case from < 0 || from >= to || from >= r.End():
		return nil, fmt.Errorf("--window %s: it must begin before it ends, and before %v, when all is over", t.window, r.End())
	}
	return r.Window(from, to), nil
}

// write writes what was recorded, or prints it.
func (t *trace) write(cmd *cobra.Command, shown timeline.Trace) error {
	if t.output == "" {
		return show(cmd, shown.Document())
	}
	return writeCourse(cmd, t.output, shown.Title, shown, shown.Document())
}
