package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/timeline"
)

// runs has the flags of the verb.
type runs struct {
	platform, library, protocol, noise, operation string
	class, picture, size, record, phases          string
	course                                        string // file or directory to write the course of the run to
	place                                         []string
	collective                                    []string
	ranks, rounds, stride, root                   int
	seed                                          uint64
	profile                                       bool
	check                                         *string
	c                                             cprogram
	errors                                        io.Writer // standard error
	output                                        *os.File  // of the ranks that are started on this machine; nil: it is lost
}

// largest is the largest size of a problem.
const largest = 1 << 20

// mostThings is how much of a run is recorded for a profile: it takes some hundreds of megabytes
// then.
const mostThings = 10_000_000

func runCommand() *cobra.Command {
	var r runs
	var list strings.Builder
	var names []string
	for _, p := range program.All {
		fmt.Fprintf(&list, "\n  %-8s %s (--size: %s, %d unless given)", p.Name, p.What, p.Size, p.Usual.Size)
		names = append(names, p.Name)
	}
	for _, p := range portable.Programs {
		fmt.Fprintf(&list, "\n  %-8s %s (--size: %s, %d unless given)", p.Name, p.What, p.Size, p.Usual.Size)
		names = append(names, p.Name)
	}
	for _, b := range npb.All {
		fmt.Fprintf(&list, "\n  %-8s %s (--class: %s)", b.Name, b.What, strings.Join(strings.Split(b.Classes, ""), ", "))
		names = append(names, b.Name)
	}
	for _, t := range program.Patterns {
		fmt.Fprintf(&list, "\n  %-8s %s (--size: bytes of a message)", t.Name, t.What)
		names = append(names, t.Name)
	}
	cmd := &cobra.Command{
		Use:   "run --platform NAME -n RANKS PROGRAM | FILE.goal | ./PROGRAM [ARGUMENTS]",
		Short: "Run a parallel program on an emulated machine, or on this one",
		Long: `run executes a program that ships with loggp on an emulated machine, with real data, checks its
result, and prints where the time of each rank went: computing, processor time for communication
(overhead), and waiting. Computing is charged by the number of operations, at the platform's time
for one, or at --operation. Collective operations use the library's table of algorithms, or those of
--collective; docs/collectives.md lists them.

shift, incast and permutation are traffic without computing: they print the throughput of each flow
and the busiest parts of the network.

A name that ends in .goal is a schedule ('loggp schedule' makes some), which the ranks execute
through MPI; 'loggp simulate' computes its time by LogGOPS. --record writes the schedule of any
program: docs/schedule.md.

On platforms shm and tcp, which are this machine, ranks are processes and times are real.

A path such as ./hello is a C or Fortran program that 'loggp cc' or 'loggp fc' has compiled:
docs/c.md. Its output goes to standard output, the times to standard error. Put flags before the
path and the program's arguments after it.

The programs that ship with loggp are` + list.String(),
		Example: `  loggp run --platform t3d -n 16 stencil
  loggp run --platform now -n 8 --size 24 --rounds 10 cg
  loggp run --platform convex -n 16 --operation 0s sort
  loggp run --platform convex -n 12 --collective allreduce=ring,alltoall=bruck cg
  loggp run --platform t3d -n 8 --profile matmul
  loggp run --platform start-x --place 8,4+4,3+3+2 --size 64KiB broadcasts
  loggp run --platform t3d -n 8 --class W npb-is
  loggp run --platform t3d -n 32 --stride 4 --size 64KiB shift
  loggp run --platform t3d -n 16 --library aclmpl --picture volume.png volume
  loggp schedule bcast -n 8 --size 4KiB -o bcast.goal
  loggp run --platform t3d bcast.goal
  loggp run --platform shm bcast.goal
  loggp run --platform t3d -n 8 --record cg.goal cg
  loggp run --platform cc-cluster --library cc-mpi -n 8 --record is.goal npb-is
  loggp schedule alltoallv --from is.goal -o phases.csv
  loggp run --platform cc-cluster --library cc-mpi -n 8 --phases phases.csv npb-is
  loggp run --platform t3d -n 8 -o stencil stencil
  loggp run --platform t3d -n 8 --stride 2 -o shift.json shift
  loggp run --platform t3d -n 4 ./hello`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && strings.Contains(args[0], "/") && !isGoal(args[0]) {
				return nil
			}
			if len(args) > 1 && strings.HasPrefix(args[1], "-") { // flags behind the name of a program that ships with loggp
				if err := cmd.Flags().Parse(args[1:]); err != nil {
					return err
				}
				args = append(args[:1:1], cmd.Flags().Args()...)
			}
			if len(args) != 1 {
				return fmt.Errorf("say which program: %s", strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.errors = cmd.ErrOrStderr()
			if isGoal(args[0]) {
				return r.goal(cmd, args[0])
			}
			if strings.Contains(args[0], "/") {
				return r.runC(cmd, args)
			}
			return r.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.platform, "platform", "", "machine: a name of 'loggp platforms', a file, or loggp:PARAMETERS; or shm or tcp: this one")
	f.StringVar(&r.library, "library", "", "library on the machine (default: its first)")
	f.IntVarP(&r.ranks, "ranks", "n", 0, "number of ranks (default: the platform's)")
	f.StringSliceVar(&r.place, "place", nil, "how many ranks each node has, such as 4+4, on a platform of nodes; of a list such as 8,4+4 what each costs is compared")
	f.StringVar(&r.protocol, "protocol", "", "force one protocol")
	f.StringArrayVar(&r.collective, "collective", nil, "force algorithms of collective operations: a list such as bcast=binomial,allreduce=ring; may be given more than once")
	f.StringVar(&r.size, "size", "", "size of the problem, or of a message such as 64KiB (default: the program's)")
	f.IntVar(&r.rounds, "rounds", 0, "repetitions (default: the program's)")
	f.IntVar(&r.stride, "stride", program.UsualLoad.Stride, "shift: distance from each rank to the rank that it sends to; negative: backwards")
	f.IntVar(&r.root, "root", program.UsualLoad.Root, "incast: the rank that all others send to")
	f.StringVar(&r.class, "class", "", "size of a NAS Parallel Benchmark: S, W or A (default: S)")
	f.StringVar(&r.picture, "picture", "", "write the picture of volume or spheres to this file, as PNG")
	f.StringVar(&r.operation, "operation", "", "time of an operation of the program (default: the platform's)")
	f.StringVar(&r.noise, "noise", "off", "timing noise: on (that of the platform), off, or a relative standard deviation such as 5%")
	f.Uint64Var(&r.seed, "seed", 1, "seed of the random numbers")
	f.StringVar(&r.record, "record", "", "write what the program sends, receives and computes to this file, as a schedule that 'loggp simulate' and 'loggp run' take")
	f.StringVar(&r.phases, "phases", "", "file of 'loggp schedule alltoallv': the calls of MPI_Alltoallv exchange in these phases, by library cc-mpi")
	f.StringVarP(&r.course, "output", "o", "", "of a run on an emulated machine: "+courseHelp)
	f.BoolVar(&r.profile, "profile", false, "also print how often each call was made, and its time")
	r.check = chosen(cmd, "check", []string{"warn", "strict", "off"}, "warn", "what MPI forbids and other implementations let pass, such as receives into one buffer: a warning of the first, an error, or not looked for")
	r.c.flags(f)
	printing(cmd)
	mustComplete(cmd, "platform", platform.Names())
	mustComplete(cmd, "collective", algorithmRules())
	return cmd
}

func (r *runs) run(cmd *cobra.Command, name string) error {
	for flag, of := range map[string]string{"stride": "shift", "root": "incast"} {
		if cmd.Flags().Changed(flag) && name != of {
			return misuse(cmd, fmt.Errorf("--%s is for %s, not for %s", flag, of, name))
		}
	}
	if p, ok := portable.Named(name); ok {
		return r.portable(cmd, p)
	}
	if r.picture != "" {
		return misuse(cmd, fmt.Errorf("--picture: %s makes no picture", name))
	}
	p, ok := program.Named(name)
	b, benchmark := npb.Named(name)
	traffic := program.PatternNamed(name)
	switch {
	case traffic != nil && (r.class != "" || r.operation != ""):
		return misuse(cmd, fmt.Errorf("--class and --operation are not for %s, which computes nothing", name))
	case traffic != nil:
		p = program.Program{Name: name, Usual: program.Settings{Size: program.UsualLoad.Size, Rounds: program.UsualLoad.Rounds}}
	case benchmark && (r.size != "" || r.rounds != 0):
		return misuse(cmd, fmt.Errorf("--size and --rounds are not for %s: its problem is a --class", name))
	case benchmark:
		p = program.Program{Name: b.Name, Usual: program.Settings{Size: 1, Rounds: 1}} // which it does not use
	case ok && r.class != "":
		return misuse(cmd, fmt.Errorf("--class is for the NAS Parallel Benchmarks: %s has --size and --rounds", name))
	case !ok:
		return misuse(cmd, fmt.Errorf("there is no program %q: there are %s", name, strings.Join(cmd.ValidArgs, ", ")))
	}
	known, open, err := r.machine(cmd, false)
	if err != nil {
		return err
	}
	most := largest
	if p.Most > 0 {
		most = p.Most
	}
	if traffic != nil {
		most = unit.MaxSize
	}
	jobs, s, err := r.placed(known, p.Usual, most, open)
	if err != nil {
		return misuse(cmd, err)
	}
	if err := errors.Join(r.recorder(cmd, jobs...), r.courseOf(cmd, jobs...)); err != nil {
		return err
	}
	job := jobs[0]
	begin := time.Now()
	var result npb.Result
	var flows []model.Flow
	load := program.Load{Size: s.Size, Rounds: s.Rounds, Stride: r.stride, Root: r.root, Seed: r.seed}
	if traffic != nil {
		if err := traffic.Check(load, job.Ranks); err != nil {
			return misuse(cmd, err)
		}
	}
	code := func(c *mpi.Comm) error {
		switch {
		case traffic != nil:
			got, err := traffic.Run(c, load)
			if c.Rank() == 0 {
				flows = got
			}
			return err
		case !benchmark:
			return p.Run(c, s)
		}
		got, err := b.Run(c, npb.Settings{Class: r.class, Operation: s.Operation})
		if c.Rank() == 0 {
			result = got
		}
		return err
	}
	if len(jobs) > 1 {
		return r.compare(cmd, p, s, jobs, code)
	}
	if job.Real() {
		ends, err := r.timed(cmd, p.Name, job, code)
		if err != nil {
			return err
		}
		const note = "What programs compute takes its own time."
		switch {
		case traffic != nil:
			return show(cmd, timeline.FlowThroughput(trafficTitle(name, s, job), flows, &model.Timeline{}))
		case benchmark:
			document := timeline.EndTimes(fmt.Sprintf("%s, class %s, on %s, %s", b.Name, result.Class, r.platform, job.Library.Name), note, ends)
			document.AddTables("npb", "NAS Parallel Benchmark "+b.Name, benchmarkTable(b, result, job.Ranks))
			return errors.Join(show(cmd, document), verified(b, result, job))
		}
		return show(cmd, timeline.EndTimes(programTitle(p, s, job), note, ends))
	}
	record, err := job.Record(cmd.Context(), r.seed, r.protocol, r.most(), code)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", p.Name, job.Platform.Machine.Name, err)
	}
	title := programTitle(p, s, job)
	if benchmark {
		title = fmt.Sprintf("%s, class %s, on %s, %s", b.Name, result.Class, job.Platform.Machine.Name, job.Library.Name)
	}
	note := fmt.Sprintf("One operation takes %v.", s.Operation)
	for _, f := range job.Forced {
		if note += fmt.Sprintf(" %v uses %s.", f.Operation, f.Algorithm); !makes(record, f.Operation) {
			fmt.Fprintf(cmd.ErrOrStderr(), "--collective %v=%s has no effect: %s makes no such call\n", f.Operation, f.Algorithm, p.Name)
		}
	}
	document := timeline.RunTimes(title, note, record, r.profile)
	if traffic != nil {
		document = timeline.FlowThroughput(trafficTitle(name, s, job), flows, record)
		if r.profile {
			document.AddTables("calls", "Calls of all ranks", timeline.CallTable(record))
		}
	}
	if benchmark {
		document.AddTables("npb", "NAS Parallel Benchmark "+b.Name, benchmarkTable(b, result, job.Ranks))
	}
	if err := show(cmd, document); err != nil {
		return err
	}
	if benchmark {
		if err := verified(b, result, job); err != nil {
			return err
		}
	}
	if err := errors.Join(r.keep(cmd, job), r.writeRun(cmd, []string{name}, job, record, document)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return nil
}

func programTitle(p program.Program, s program.Settings, job *job.Job) string {
	return fmt.Sprintf("%s, %s %d, rounds %d, on %s, %s: result correct", p.Name, p.Size, s.Size, s.Rounds, job.Platform.Machine.Name, job.Library.Name)
}

func trafficTitle(name string, s program.Settings, job *job.Job) string {
	return fmt.Sprintf("%s of %s, %s each, on %s, %s", name, format.Plural(s.Rounds, "message"), format.Size(s.Size), job.Platform.Machine.Name, job.Library.Name)
}

// verified complains of a benchmark with a wrong result.
func verified(b npb.Benchmark, result npb.Result, job *job.Job) error {
	if b.Skeleton || result.Verified {
		return nil
	}
	return fmt.Errorf("%s, class %s, on %s: verification unsuccessful: the result differs from the published one", b.Name, result.Class, job.Platform.Machine.Name)
}

// benchmarkTable has the lines that NPB prints at the end.
func benchmarkTable(b npb.Benchmark, r npb.Result, ranks int) *doc.Table {
	verified := "UNSUCCESSFUL"
	if r.Verified {
		verified = "SUCCESSFUL"
	} else if b.Skeleton {
		verified = "NOT PERFORMED"
	}
	t := &doc.Table{Name: "npb", Title: b.Name, Columns: []doc.Column{{Head: "result", Key: true, Kind: doc.Text}, {Head: "value", Kind: doc.Text}}}
	for _, line := range [][2]string{
		{"Class", r.Class},
		{"Size", r.Size},
		{"Iterations", strconv.Itoa(r.Iterations)},
		{"Time in seconds", fmt.Sprintf("%.6f", r.Time.Micros()/1e6)},
		{"Total processes", strconv.Itoa(ranks)},
		{"Mop/s total", fmt.Sprintf("%.2f", r.Mops())},
		{"Mop/s/process", fmt.Sprintf("%.2f", r.Mops()/float64(ranks))},
		{"Operation type", r.Kind},
		{"Verification", verified},
	} {
		t.AddRow(doc.TextCell(line[0]), doc.TextCell(line[1]))
	}
	return t
}

// set makes a job and the settings of a program of the flags, whose size is at most so large.
func (r *runs) set(known *platform.Platform, s portable.Settings, most int, open opener) (*job.Job, portable.Settings, error) {
	var err error
	if r.size != "" {
		if s.Size, err = unit.ParseSize(r.size); err != nil {
			return nil, s, fmt.Errorf("--size: %w", err)
		}
	}
	if r.rounds != 0 {
		s.Rounds = r.rounds
	}
	s = s.Rated(known.Machine.Processor)
	noise, wrong := parseNoise(r.noise)
	err = errors.Join(err, wrong, inRange("--size", s.Size, 1, most), inRange("--rounds", s.Rounds, 1, 1_000_000))
	if r.protocol != "" {
		err = errors.Join(err, protocol(r.protocol))
	}
	if r.operation != "" {
		var wrong error
		if s.Operation, wrong = unit.ParseTime(r.operation); wrong != nil || s.Operation < 0 {
			err = errors.Join(err, fmt.Errorf("--operation %s: it is a time such as 50ns, not below zero", r.operation))
		}
	}
	if err != nil {
		return nil, s, err
	}
	job, err := open(known, r.library, r.ranks, noise)
	if err != nil {
		return nil, s, err
	}
	if job.Check, err = mpi.ParseCheckMode(*r.check); err != nil {
		return nil, s, err
	}
	job.Warn = r.printWarning
	if r.collective == nil {
		return job, s, nil
	}
	job.Forced, err = loggp.ParseRules(words(strings.Join(r.collective, ",")), job.Ranks, job.Nodes())
	return job, s, flagText(err)
}

// algorithmRules returns all that can be forced, one at a time.
func algorithmRules() []string {
	var all []string
	for _, a := range collective.Algorithms {
		all = append(all, a.Operation.String()+"="+a.Name)
	}
	return all
}

// printWarning prints a warning of the check of a program.
func (r *runs) printWarning(w mpi.Warning) {
	fmt.Fprintf(r.errors, "loggp: warning: %v; --check=strict makes this an error, --check=off silences it\n", w)
}

// makes says whether a program calls a collective operation.
func makes(r *model.Timeline, o collective.Operation) bool {
	name := strings.ReplaceAll(o.String(), "-", "")
	for call := range r.Called {
		if strings.EqualFold(call, name) {
			return true
		}
	}
	return false
}
