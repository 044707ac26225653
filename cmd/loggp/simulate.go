package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/export"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/timeline"
)

// simulate has the flags of the verb.
type simulate struct {
	params, library, place, loggops, finish, sweep, noise, output, platform string
	dialect                                                                 *string
	path                                                                    bool
	tolerance                                                               []string
	seed                                                                    uint64
}

// Ranks of large schedules that are shown: in a time line, and in files for viewers of trace
// events.
const (
	lineRanks  = chart.MaxTracks
	eventRanks = 1024
)

// pathSteps is how many steps of the critical path are printed, its last ones.
const pathSteps = 1000

func simulateCommand() *cobra.Command {
	var s simulate
	cmd := &cobra.Command{
		Use:   "simulate FILE.goal|-",
		Short: "Compute when a communication schedule ends, by LogGOPS",
		Long: `simulate reads a schedule, in GOAL text or in the format of LogGOPSim's txt2bin, also compressed by gzip, and computes by LogGOPS when each
rank finishes. It prints the finishing time and where the time of the critical path went.

Dialect loggp follows the rules of this program; loggopsim and lgs reproduce the results of LogGOPSim and of the LogGOPSim of ATLAHS. See docs/schedule.md.`,
		Example: `  loggp schedule bcast --algorithm binomial -n 64 --size 4KiB -o bcast.goal
  loggp simulate bcast.goal --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns,S=65535
  loggp simulate bcast.goal --dialect loggopsim --finish finish.csv
  loggp simulate bcast.goal --platform t3d
  loggp simulate bcast.goal --critical-path --tolerance 1%,5%
  loggp simulate bcast.goal --sweep L=0..10us/0.5us --format csv
  loggp simulate bcast.goal --noise period=1ms,length=20us -o bcast.svg`,
		Args: one("file of a schedule, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.params, "params", "", "file of parameters, as 'loggp fit -o' keeps them")
	f.StringVar(&s.platform, "platform", "", "take the parameters of this machine, fitted to small schedules that it runs: a name of 'loggp platforms', a file, shm or tcp")
	f.StringVar(&s.library, "library", "", "library of the machine, or of the parameters if the file has several")
	f.StringVar(&s.place, "place", "", "place of the parameters if the file has several")
	f.StringVar(&s.loggops, "loggops", schedule.Default.String(), "parameters; omitted ones are 0, and without S no message waits for its receive")
	s.dialect = chosen(cmd, "dialect", schedule.Dialects, schedule.LogGP.String(), "rules by which a schedule takes time")
	f.StringVar(&s.finish, "finish", "", "file for the finishing time of each rank: rank,finish_ns")
	f.BoolVar(&s.path, "critical-path", false, "print the critical path, and how the finishing time changes with each parameter")
	f.StringVar(&s.sweep, "sweep", "", "print finishing times for values of a parameter: L=FROM..TO/STEP, or the same of o, g, G, O or S")
	f.StringSliceVar(&s.tolerance, "tolerance", nil, "print how far L may grow until the finishing time grows by 1%, or by each of 1%,2%,5%")
	f.StringVar(&s.noise, "noise", "", "time that an operating system takes from CPUs: period=1ms,length=20us, or a file of detours (docs/schedule.md)")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the noise")
	f.StringVarP(&s.output, "output", "o", "", courseHelp)
	printing(cmd)
	return cmd
}

func (s *simulate) run(cmd *cobra.Command, name string) error {
	o, err := s.options(cmd)
	if err != nil {
		return err
	}
	plan, err := sweepPlan(s.sweep, o.Params)
	var tolerances []float64
	for _, t := range s.tolerance {
		x, wrong := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(t), "%"), 64)
		if wrong != nil || !strings.HasSuffix(strings.TrimSpace(t), "%") || !(x >= 0 && x <= 1000) {
			err = errors.Join(err, fmt.Errorf("--tolerance %s: it is a percentage such as 1%%, up to 1000%%", t))
		}
		tolerances = append(tolerances, x/100)
	}
	if err := errors.Join(err, courseFormat(s.output), output(s.finish)); err != nil {
		return misuse(cmd, err)
	}
	sched, err := readSchedule(cmd, name)
	if err != nil {
		return err
	}
	o.Explain = true
	res, err := sched.Simulate(o)
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	for _, w := range res.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "loggp: warning:", w.Text)
	}
	if s.finish != "" {
		if err := keep(cmd, s.finish, func(w io.Writer) error { return writeFinish(w, res.Finish) }, "finishing times of %d ranks", len(res.Finish)); err != nil {
			return err
		}
	}
	path := res.Path(pathSteps)
	d := &doc.Document{Title: "Simulation of " + filepath.Base(name), Footer: "Made by loggp."}
	d.AddTables("simulation", "Finishing time", simulated(sched, o, res), partsTable(path))
	if s.path {
		d.AddTables("critical-path", "Critical path", stepsTable(path))
		if o.Noise == nil && o.Dialect != schedule.LGS {
			ds, err := sched.Sensitivity(o)
			if err != nil {
				return fmt.Errorf("simulate: %w", err)
			}
			d.AddTables("sensitivity", "Sensitivity", sensitivityTable(ds))
		}
	}
	if len(plan) > 0 {
		points, err := sched.Sweep(o, plan)
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		d.AddTables("sweep", "Sweep", sweepTable(s.sweep, points))
	}
	if len(tolerances) > 0 {
		t, err := toleranceTable(sched, o, tolerances)
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		d.AddTables("tolerance", "Latency tolerance", t)
	}
	return s.write(cmd, d, res)
}

// options makes of the flags how to simulate.
func (s *simulate) options(cmd *cobra.Command) (o schedule.Options, err error) {
	o.Dialect = schedule.Dialect(slices.Index(schedule.Dialects, *s.dialect))
	switch {
	case len(slices.DeleteFunc([]string{"params", "loggops", "platform"}, func(flag string) bool { return !cmd.Flags().Changed(flag) })) > 1:
		return o, misuse(cmd, errors.New("--params, --loggops and --platform: give one of them"))
	case s.platform != "":
		job, err := openJob(cmd, s.platform, s.library, 0)
		if err != nil {
			return o, err
		}
		if o.Params, err = fitted(cmd, job); err != nil {
			return o, fmt.Errorf("parameters of %s: %w", s.platform, err)
		}
		o.Params = o.Params.Rounded(o.Dialect)
	case s.params != "":
		if o.Params, err = logGOPS(cmd, s.params, export.Options{Library: s.library, Place: s.place}); err != nil {
			return o, err
		}
		if o.Dialect != schedule.LogGP { // these have whole nanoseconds
			o.Params = o.Params.Rounded(o.Dialect)
		}
	default:
		if o.Params, err = schedule.ParseParams(s.loggops); err != nil {
			return o, misuse(cmd, fmt.Errorf("--loggops: %w", err))
		}
	}
	switch f, wrong := open(cmd, s.noise); {
	case s.noise == "":
	case wrong == nil:
		defer f.Close()
		o.Noise, err = schedule.ReadNoise(f, s.noise, s.seed)
	default:
		if o.Noise, err = schedule.ParseNoise(s.noise, s.seed); err != nil {
			err = misuse(cmd, fmt.Errorf("--noise: %w", err))
		}
	}
	return o, err
}

// logGOPS reads the parameters of a simulation from a file, and says what it assumes.
func logGOPS(cmd *cobra.Command, file string, o export.Options) (schedule.Params, error) {
	ps, err := readParameters(file)
	if err != nil {
		return schedule.Params{}, err
	}
	p, notes, err := export.LogGOPSParameters(ps, o)
	if err != nil {
		return p, about(file, err)
	}
	for _, note := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "loggp: warning: %s: %s\n", file, note)
	}
	return p, nil
}

// readSchedule reads a schedule from a file or standard input.
func readSchedule(cmd *cobra.Command, name string) (*schedule.Schedule, error) {
	f, err := open(cmd, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if name == standard {
		name = "standard input"
	}
	return schedule.Read(f, name, max(host.AvailableMemory()/simulationMemory, 0))
}

// simulationMemory is how many times as much memory a simulation takes as its schedule, about.
const simulationMemory = 6

// writeFinish writes when each rank has finished.
func writeFinish(w io.Writer, finish []unit.Time) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "rank,finish_ns")
	line := []byte{}
	for rank, t := range finish {
		line = strconv.AppendInt(line[:0], int64(rank), 10)
		line = append(append(line, ','), nanos(t)...)
		b.Write(append(line, '\n'))
	}
	return b.Flush()
}

// nanos prints a time in nanoseconds, exactly.
func nanos(t unit.Time) string {
	if t%unit.Nanosecond == 0 {
		return strconv.FormatInt(int64(t/unit.Nanosecond), 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%03d", t/unit.Nanosecond, t%unit.Nanosecond), "0")
}

// microsCell is a time in microseconds.
func microsCell(t unit.Time) doc.Cell { return doc.NumberCell(t.Micros()) }

// simulated sums up a simulation.
func simulated(s *schedule.Schedule, o schedule.Options, res *schedule.Result) *doc.Table {
	t := &doc.Table{Name: "simulation", Title: "Result", Columns: []doc.Column{{Head: "quantity", Key: true}, {Head: "value", Kind: doc.Prose}}}
	add := func(name, format string, args ...any) {
		t.AddRow(doc.TextCell(name), doc.TextCell(fmt.Sprintf(format, args...)))
	}
	add("finishing time", "%s ns", nanos(res.Last))
	add("last rank", "%d of %d", res.LastRank, s.Ranks())
	add("operations", "%d", s.Ops())
	add("messages", "%d", res.Messages)
	add("events", "%d", res.Events)
	add("dialect", "%v", o.Dialect)
	add("parameters", "%v", o.Params)
	return t
}

// partsTable says where the time of the critical path went.
func partsTable(p *schedule.Path) *doc.Table {
	t := &doc.Table{Name: "parts", Title: "Time of the critical path", Columns: []doc.Column{{Head: "part", Key: true}, {Head: "time\nus", Kind: doc.Number}, {Head: "share\n%", Kind: doc.Number}}}
	sum := p.Parts.Sum()
	for part, time := range p.Parts {
		if schedule.Part(part) == schedule.Detour && time == 0 {
			continue
		}
		t.AddRow(doc.TextCell(schedule.Part(part).String()), microsCell(time), doc.TextCell(format.Fixed(100*time.Micros()/math.Max(sum.Micros(), 1e-12), 1)))
	}
	return t
}

// stepsTable lists the critical path.
func stepsTable(p *schedule.Path) *doc.Table {
	t := &doc.Table{Name: "critical-path", Title: fmt.Sprintf("Critical path, %d steps", p.Count), Terse: 40, Columns: []doc.Column{
		{Head: "from\nus", Kind: doc.Number}, {Head: "to\nus", Kind: doc.Number}, {Head: "rank", Kind: doc.Number, Key: true}, {Head: "step"},
		{Head: "operation"}, {Head: "line", Kind: doc.Number}, {Head: "waited for"}, {Head: "parts, us", Kind: doc.Prose},
	}}
	for _, st := range p.Steps {
		line := doc.EmptyCell
		if st.Line > 0 {
			line = doc.CountCell(st.Line)
		}
		var parts []string
		for part, time := range st.Parts {
			if time > 0 {
				parts = append(parts, schedule.Part(part).String()+" "+format.Number(time.Micros()))
			}
		}
		t.AddRow(microsCell(st.From), microsCell(st.To), doc.CountCell(st.Rank), doc.TextCell(st.What), doc.TextCell(st.Op.String()), line, doc.TextCell(st.Why), doc.TextCell(strings.Join(parts, ", ")))
	}
	if more := p.Count - len(p.Steps); more > 0 {
		t.AddNote("%d steps before these are left out", more)
	}
	return t
}

// sensitivityTable lists derivatives.
func sensitivityTable(ds []schedule.Derivative) *doc.Table {
	t := &doc.Table{Name: "sensitivity", Title: "Change of the finishing time", Columns: []doc.Column{
		{Head: "parameter", Key: true}, {Head: "if it grows", Kind: doc.Number}, {Head: "if it falls", Kind: doc.Number}, {Head: "unit"}}}
	for _, d := range ds {
		cell := func(x float64) doc.Cell {
			if math.IsNaN(x) {
				return doc.EmptyCell
			}
			return doc.CountCell(int(x))
		}
		unit := "times the change"
		if d.Name == "G" || d.Name == "O" {
			unit = "bytes"
		}
		t.AddRow(doc.TextCell(d.Name), cell(d.Right), cell(d.Left), doc.TextCell(unit))
	}
	return t
}

// sweepPlan reads which parameters to simulate with.
func sweepPlan(s string, p schedule.Params) ([]schedule.Params, error) {
	if s == "" {
		return nil, nil
	}
	wrong := func(why string) error {
		return fmt.Errorf("--sweep %s: %s; write L=0..10us/0.5us, with one of L, o, g, G, O and S", s, why)
	}
	name, rest, _ := strings.Cut(s, "=")
	ends, by, ok := strings.Cut(rest, "/")
	first, last, also := strings.Cut(ends, "..")
	if !ok || !also {
		return nil, wrong("it has no range and no step")
	}
	var values [3]float64 // bytes, picoseconds, or picoseconds a byte
	for i, text := range []string{first, last, by} {
		var err error
		switch name {
		case "S":
			var n int
			n, err = unit.ParseSize(text)
			values[i] = float64(n)
		case "G", "O":
			var g unit.PerByte
			g, err = unit.ParsePerByte(strings.TrimSuffix(text, "/B") + "/B")
			values[i] = float64(g)
		case "L", "o", "g":
			var t unit.Time
			t, err = unit.ParseTime(text)
			values[i] = float64(t)
		default:
			err = fmt.Errorf("there is no parameter %q", name)
		}
		if err != nil {
			return nil, wrong(err.Error())
		}
	}
	if values[2] <= 0 || values[0] < 0 || values[1] < values[0] {
		return nil, wrong("the range is empty, or its step is not above 0")
	}
	steps := math.Floor((values[1]-values[0])/values[2]*(1+1e-12) + 1e-9)
	if steps >= unit.MaxSizes {
		return nil, wrong(fmt.Sprintf("these are more than %d values", unit.MaxSizes))
	}
	var all []schedule.Params
	for i := 0.0; i <= steps; i++ {
		switch x := values[0] + i*values[2]; name {
		case "L":
			p.L = unit.Time(x)
		case "o":
			p.O = unit.Time(x)
		case "g":
			p.Gap = unit.Time(x)
		case "G":
			p.BigG = unit.PerByte(x)
		case "O":
			p.BigO = unit.PerByte(x)
		case "S":
			p.S = uint64(x)
		}
		all = append(all, p)
	}
	return all, nil
}

// sweepTable lists the results of a sweep.
func sweepTable(sweep string, points []schedule.Point) *doc.Table {
	name, _, _ := strings.Cut(sweep, "=")
	head := map[string]string{"G": "\nns/B", "O": "\nns/B", "S": "\nB"}
	unitOf, ok := head[name]
	if !ok {
		unitOf = "\nus"
	}
	t := &doc.Table{Name: "sweep", Title: "Finishing time by " + name, Columns: []doc.Column{
		{Head: name + unitOf, Kind: doc.Number, Key: true}, {Head: "finishing time\nus", Kind: doc.Number}, {Head: "last rank", Kind: doc.Number}}}
	for _, p := range points {
		x := doc.Cell{}
		switch name {
		case "L":
			x = microsCell(p.Params.L)
		case "o":
			x = microsCell(p.Params.O)
		case "g":
			x = microsCell(p.Params.Gap)
		case "G":
			x = doc.NumberCell(float64(p.Params.BigG) / 1000)
		case "O":
			x = doc.NumberCell(float64(p.Params.BigO) / 1000)
		case "S":
			x = doc.CountCell(int(p.Params.S))
		}
		t.AddRow(x, microsCell(p.Last), doc.CountCell(p.LastRank))
	}
	return t
}

// toleranceTable says how far L may grow.
func toleranceTable(s *schedule.Schedule, o schedule.Options, parts []float64) (*doc.Table, error) {
	t := &doc.Table{Name: "tolerance", Title: "How far L may grow", Columns: []doc.Column{
		{Head: "longer by\n%", Kind: doc.Number, Key: true}, {Head: "L up to\nus", Kind: doc.Number}, {Head: "growth of L\nus", Kind: doc.Number}}}
	for _, part := range parts {
		most, ok, err := s.Tolerance(o, part)
		if err != nil {
			return nil, err
		}
		if !ok {
			t.AddRow(doc.NumberCell(100*part), doc.TextCell("any"), doc.TextCell("any"))
			continue
		}
		t.AddRow(doc.NumberCell(100*part), microsCell(most), microsCell(most-o.Params.L))
	}
	return t, nil
}

// write writes what was simulated, or prints it.
func (s *simulate) write(cmd *cobra.Command, d *doc.Document, res *schedule.Result) error {
	if s.output == "" {
		return show(cmd, d)
	}
	ranks := lineRanks
	if filepath.Ext(s.output) == ".json" {
		ranks = eventRanks
	}
	t := timeline.Trace{Name: "schedule", Title: d.Title, Ranks: len(res.Finish), Command: recall(cmd), Recording: res.Timeline(ranks)}
	last := slices.Max(res.Finish)
	d.Answer = fmt.Sprintf("The schedule ends after %s: rank %d of %d is the last.", format.MicrosWithUnit(last.Micros()), slices.Index(res.Finish, last), len(res.Finish))
	d.Sections = append([]doc.Section{{ID: "time-line", Title: "Time line", Figures: doc.Figures(doc.Across, t.Chart())}}, d.Sections...)
	d.Files = append(d.Files, doc.File{Name: "trace.json", Write: func(w io.Writer) error { return timeline.WriteEvents(w, t) }})
	return writeCourse(cmd, s.output, "the simulation of "+strings.TrimPrefix(d.Title, "Simulation of "), t, d)
}
