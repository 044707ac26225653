package loggp

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/flow"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/timeline"
)

// SimulateOptions configure Simulate. The zero value computes the finishing time with the
// parameters of schedule.DefaultParams, by the rules of loggp, without noise.
type SimulateOptions struct {
	Name   string     // of the schedule, in the title of the document; "": "schedule"
	Source *doc.Table // source of the schedule, for the document; nil: none

	// LogGOPS parameters: set at most one of these.
	LogGOPS  *schedule.Params // nil: schedule.DefaultParams
	Params   Parameters       // from a fit to a machine
	Platform string           // machine to which to fit them: emulated, or shm or tcp

	Library string   // of Platform, or of Params if they are of several libraries
	Place   string   // of Params if they are of several places
	Args    []string // arguments of processes started as ranks on shm or tcp; nil: those of this process

	Dialect      schedule.Dialect
	Noise        *schedule.Noise // time that the operating system takes from CPUs; nil: none
	CriticalPath bool            // report the critical path, and sensitivities without noise
	Sweep        string          // values of one of L, o, g, G, O and S for which to report the finishing time, such as L=0..10us/0.5us
	Tolerances   []float64       // relative increases of the time, such as 0.01, for which to report how far L may grow
}

// parameters returns the LogGOPS parameters; the notes list assumptions.
func (o *SimulateOptions) parameters(ctx context.Context) (p schedule.Params, notes []string, err error) {
	given := 0
	for _, is := range []bool{o.LogGOPS != nil, o.Platform != "", len(o.Params.All) > 0} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return p, nil, optionErrorf("Params, LogGOPS, Platform", "give one of them")
	case o.Library != "" && o.Platform == "" && len(o.Params.All) == 0:
		return p, nil, optionErrorf("Library", "it is for --platform and --params")
	case o.Place != "" && len(o.Params.All) == 0:
		return p, nil, optionErrorf("Place", "it is for --params")
	case o.Platform != "":
		j, err := openScheduleJob(o.Platform, o.Library, 0, o.Args)
		if err != nil {
			return p, nil, err
		}
		if p, err = fitLogGOPS(ctx, j); err != nil {
			return p, nil, fmt.Errorf("parameters of %s: %w", o.Platform, err)
		}
		return p.Rounded(o.Dialect), nil, nil
	case len(o.Params.All) > 0:
		p, notes, err = o.Params.logGOPS("", o.Library, o.Place)
		if err == nil && o.Dialect != schedule.LogGP { // whose times are whole nanoseconds
			p = p.Rounded(o.Dialect)
		}
		return p, notes, err
	case o.LogGOPS != nil:
		return *o.LogGOPS, nil, nil
	}
	return schedule.DefaultParams, nil, nil
}

// Simulation is the result of Simulate.
type Simulation struct {
	Result   *schedule.Result
	Notes    []string // assumptions about the parameters
	document *doc.Document
	sweep    *doc.Document // nil: no sweep
	curve    *chart.Chart
}

// SweepDocument has the table of the sweep, and SweepChart its chart; nil: no sweep.
func (s *Simulation) SweepDocument() *doc.Document { return s.sweep }
func (s *Simulation) SweepChart() *chart.Chart     { return s.curve }

// Document shows when the schedule ends, what its critical path consists of, and what the options
// request.
func (s *Simulation) Document() *doc.Document { return s.document }

// WarningTexts returns the assumptions about the parameters, and the warnings of the simulation.
func (s *Simulation) WarningTexts() []string {
	texts := slices.Clone(s.Notes)
	for _, w := range s.Result.Warnings {
		texts = append(texts, w.Text)
	}
	return texts
}

// maxReportedPathSteps is the number of steps at the end of the critical path that are reported.
const maxReportedPathSteps = 1000

// Simulate computes by LogGOPS when each rank of a schedule finishes.
func Simulate(ctx context.Context, s *schedule.Schedule, o SimulateOptions) (*Simulation, error) {
	params, notes, err := o.parameters(ctx)
	if err != nil {
		return nil, err
	}
	sweep, err := parseSweep(o.Sweep, params)
	if err != nil {
		return nil, &OptionError{"Sweep", o.Sweep, err}
	}
	options := schedule.Options{Params: params, Dialect: o.Dialect, Noise: o.Noise, RecordsPath: true}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	res, err := s.Simulate(options)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	path := res.CriticalPath(maxReportedPathSteps)
	d := &doc.Document{Title: "Simulation of " + cmp.Or(o.Name, "schedule"), Footer: "Made by loggp."}
	d.Answer = describeFinish(res.LastFinish, res.LastRank, s.CountRanks(), longestParts(path))
	d.AddTables("simulation", "Finishing time", resultTable(s, options, res), partsTable(path))
	if o.Source != nil {
		d.AddTables("source", "What was simulated", o.Source)
	}
	if o.CriticalPath {
		d.AddTables("critical-path", "Critical path", stepsTable(path))
		if o.Noise == nil && o.Dialect != schedule.LGS {
			derivatives, err := s.Sensitivity(options)
			if err != nil {
				return nil, fmt.Errorf("simulate: %w", err)
			}
			d.AddTables("sensitivity", "Sensitivity", sensitivityTable(derivatives))
		}
	}
	sim := &Simulation{Result: res, Notes: notes, document: d}
	if len(sweep.params) > 0 {
		points, err := s.Sweep(options, sweep.params)
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		t := sweepTable(sweep.parameter, points)
		sim.curve = finishChart(d.Title, sweep.parameter, points)
		sim.sweep = &doc.Document{Title: d.Title, Footer: d.Footer}
		sim.sweep.AddTables("sweep", "Sweep", t)
		d.AddSection(doc.Section{ID: "sweep", Title: "Sweep", Tables: []*doc.Table{t}, Figures: doc.Figures(doc.FullWidth, sim.curve)})
	}
	if len(o.Tolerances) > 0 {
		t, err := toleranceTable(s, options, o.Tolerances)
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		d.AddTables("tolerance", "Latency tolerance", t)
	}
	return sim, addPlatformError(d, o.Platform, o.Library)
}

// Trace returns the simulation of some ranks in the form of time line pages and trace viewers.
func (s *Simulation) Trace(ranks int) timeline.Trace {
	return timeline.Trace{Name: "schedule", Title: s.document.Title, Recording: s.Result.Timeline(ranks)}
}

// Page returns a document with the time line of a trace, or the view of all ranks if they are many,
// and the finishing time.
func (s *Simulation) Page(t timeline.Trace) *doc.Document {
	d := *s.document
	d.KeyNumbers = append(slices.Clone(d.KeyNumbers), doc.KeyNumber{Name: "Trust", Value: "simulated by LogGOPS", Note: "where messages do not contend for links; 'loggp compare --platform NAME --schedule FILE' says how accurate that is on a machine", IsTrust: true})
	if r := t.Recording; len(r.Ranks) > chart.MaxTracks && len(r.Ranks) == len(s.Result.FinishTimes) {
		d.FrontFigures = doc.Figures(doc.FullWidth, chart.RunChart(format.FileName("run", t.Name), "All ranks", r))
	} else {
		d.FrontFigures = doc.Figures(doc.FullWidth, t.Chart())
	}
	d.Files = append(slices.Clone(d.Files), doc.File{Name: "trace.json", Write: func(w io.Writer) error { return timeline.WriteEvents(w, t) }})
	return &d
}

// WriteFinish writes the finishing time of each rank as CSV: rank,finish_ns.
func (s *Simulation) WriteFinish(w io.Writer) error {
	return writeFinishTimes(w, s.Result.FinishTimes)
}

func writeFinishTimes(w io.Writer, times []unit.Time) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "rank,finish_ns")
	line := []byte{}
	for rank, t := range times {
		line = strconv.AppendInt(line[:0], int64(rank), 10)
		line = append(append(line, ','), formatNanoseconds(t)...)
		b.Write(append(line, '\n'))
	}
	return b.Flush()
}

// formatNanoseconds prints a time in nanoseconds, exactly.
func formatNanoseconds(t unit.Time) string {
	if t%unit.Nanosecond == 0 {
		return strconv.FormatInt(int64(t/unit.Nanosecond), 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%03d", t/unit.Nanosecond, t%unit.Nanosecond), "0")
}

// microsCell is the cell of a time in microseconds.
func microsCell(t unit.Time) doc.Cell { return doc.NumberCell(t.Micros()) }

// finishTimeCell is the cell of a finishing time: in a unit that is easy to read, and for programs
// in nanoseconds.
func finishTimeCell(t unit.Time) doc.Cell {
	return doc.QuantityCell(format.MicrosWithUnit(t.Micros()), float64(t)/float64(unit.Nanosecond), "ns")
}

// resultTable sums up a simulation.
func resultTable(s *schedule.Schedule, o schedule.Options, res *schedule.Result) *doc.Table {
	t := &doc.Table{Name: "simulation", Title: "Result", IsRecord: true, Columns: []doc.Column{{Heading: "quantity", IsKey: true}, {Heading: "value", Kind: doc.ProseColumn}}}
	add := func(name, format string, args ...any) {
		t.AddRow(doc.TextCell(name), doc.TextCell(fmt.Sprintf(format, args...)))
	}
	t.AddRow(doc.TextCell("finishing time"), finishTimeCell(res.LastFinish))
	t.AddRow(doc.TextCell("last rank"), doc.QuantityCell(fmt.Sprintf("%d of %d", res.LastRank, s.CountRanks()), float64(res.LastRank), ""))
	t.AddRow(doc.TextCell("operations"), doc.CountCell(s.CountOps()))
	t.AddRow(doc.TextCell("messages"), doc.CountCell(res.Messages))
	t.AddRow(doc.TextCell("events"), doc.CountCell(res.Events))
	add("dialect", "%v", o.Dialect)
	add("parameters", "%v", o.Params)
	return t
}

// describeFinish is the answer of a simulation: when it ends, and what the two longest parts of its
// critical path are.
func describeFinish(finish unit.Time, lastRank, ranks int, path []flow.PathPart) string {
	text := fmt.Sprintf("It ends after %s: rank %d of %d is the last.", format.MicrosWithUnit(finish.Micros()), lastRank, ranks)
	var parts []string
	for _, p := range path[:min(2, len(path))] {
		if p.Time > 0 {
			parts = append(parts, fmt.Sprintf("%s%s%% %s", format.WithDecimals(100*p.Time.Micros()/finish.Micros(), 1), format.NonBreakingSpace, p.Name))
		}
	}
	if len(parts) > 0 {
		text += " The critical path is " + strings.Join(parts, ", ") + "."
	}
	return text
}

// parameterMeanings say in a word what the parameters of LogGOPS are times of.
var parameterMeanings = map[schedule.PathPart]string{
	schedule.OverheadPart: "overhead", schedule.LatencyPart: "latency", schedule.GapPart: "gaps between messages", schedule.GapPerBytePart: "bytes", schedule.OverheadPerBytePart: "overhead of bytes",
}

// longestParts returns the parts of a critical path, the longest first.
func longestParts(p *schedule.CriticalPath) []flow.PathPart {
	var parts []flow.PathPart
	for i, time := range p.Parts {
		part := schedule.PathPart(i)
		name := part.String()
		if meaning := parameterMeanings[part]; meaning != "" {
			name = fmt.Sprintf("%s (%s)", meaning, name)
		}
		parts = append(parts, flow.PathPart{Name: name, Time: time})
	}
	slices.SortStableFunc(parts, func(a, b flow.PathPart) int { return cmp.Compare(b.Time, a.Time) })
	return parts
}

// partsTable says where the time of the critical path went.
func partsTable(p *schedule.CriticalPath) *doc.Table {
	t := &doc.Table{Name: "parts", Title: "Time of the critical path", Columns: []doc.Column{{Heading: "part", IsKey: true}, {Heading: "time\nus", Kind: doc.NumberColumn}, {Heading: "share\n%", Kind: doc.NumberColumn}}}
	sum := p.Parts.Sum()
	for part, time := range p.Parts {
		if schedule.PathPart(part) == schedule.DetourPart && time == 0 {
			continue
		}
		t.AddRow(doc.TextCell(schedule.PathPart(part).String()), microsCell(time), doc.TextCell(format.WithDecimals(100*time.Micros()/math.Max(sum.Micros(), 1e-12), 1)))
	}
	return t
}

// stepsTable lists the critical path.
func stepsTable(p *schedule.CriticalPath) *doc.Table {
	t := &doc.Table{Name: "critical-path", Title: fmt.Sprintf("Critical path, %d steps", p.Count), TerminalRows: 40, Columns: []doc.Column{
		{Heading: "from\nus", Kind: doc.NumberColumn}, {Heading: "to\nus", Kind: doc.NumberColumn}, {Heading: "rank", Kind: doc.NumberColumn, IsKey: true}, {Heading: "step"},
		{Heading: "operation"}, {Heading: "line", Kind: doc.NumberColumn}, {Heading: "waited for"}, {Heading: "parts, us", Kind: doc.ProseColumn},
	}}
	for _, st := range p.Steps {
		line := doc.EmptyCell
		if st.Line > 0 {
			line = doc.CountCell(st.Line)
		}
		var parts []string
		for part, time := range st.Parts {
			if time > 0 {
				parts = append(parts, schedule.PathPart(part).String()+" "+format.Number(time.Micros()))
			}
		}
		t.AddRow(microsCell(st.From), microsCell(st.To), doc.CountCell(st.Rank), doc.TextCell(st.Action), doc.TextCell(st.Op.String()), line, doc.TextCell(st.Cause), doc.TextCell(strings.Join(parts, ", ")))
	}
	if more := p.Count - len(p.Steps); more > 0 {
		t.AddNote("%d steps before these are left out", more)
	}
	return t
}

// sensitivityTable lists derivatives.
func sensitivityTable(ds []schedule.Derivative) *doc.Table {
	t := &doc.Table{Name: "sensitivity", Title: "Change of the finishing time", Columns: []doc.Column{
		{Heading: "parameter", IsKey: true}, {Heading: "if it grows", Kind: doc.NumberColumn}, {Heading: "if it falls", Kind: doc.NumberColumn}, {Heading: "unit"}}}
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

// sweepTable lists the finishing times of a sweep of the named parameter.
func sweepTable(name string, points []schedule.SweepPoint) *doc.Table {
	head := map[string]string{"G": "\nns/B", "O": "\nns/B", "S": "\nB"}
	unitOf, ok := head[name]
	if !ok {
		unitOf = "\nus"
	}
	t := &doc.Table{Name: "sweep", Title: "Finishing time by " + name, Columns: []doc.Column{
		{Heading: name + unitOf, Kind: doc.NumberColumn, IsKey: true}, {Heading: "finishing time\nus", Kind: doc.NumberColumn}, {Heading: "last rank", Kind: doc.NumberColumn}}}
	for _, p := range points {
		x := doc.NumberCell(sweptValue(name, p.Params))
		if name == "S" {
			x = doc.CountCell(int(p.Params.EagerLimit))
		}
		t.AddRow(x, microsCell(p.LastFinish), doc.CountCell(p.LastRank))
	}
	return t
}

// sweptValue is a parameter in the unit of the tables.
func sweptValue(name string, p schedule.Params) float64 {
	switch name {
	case "L":
		return p.L.Micros()
	case "o":
		return p.Overhead.Micros()
	case "g":
		return p.Gap.Micros()
	case "G":
		return float64(p.GapPerByte) / 1000
	case "O":
		return float64(p.OverheadPerByte) / 1000
	}
	return float64(p.EagerLimit)
}

// finishChart draws the finishing times of a sweep of the named parameter.
func finishChart(title, name string, points []schedule.SweepPoint) *chart.Chart {
	var values []string
	curve := sweepCurve{name: "finishing time"}
	for _, p := range points {
		values, curve.times = append(values, parameterText(name, p.Params)), append(curve.times, p.LastFinish)
	}
	return sweepChart(title, name, values, curve)
}

// toleranceTable says how far L may grow.
func toleranceTable(s *schedule.Schedule, o schedule.Options, parts []float64) (*doc.Table, error) {
	t := &doc.Table{Name: "tolerance", Title: "How far L may grow", Columns: []doc.Column{
		{Heading: "longer by\n%", Kind: doc.NumberColumn, IsKey: true}, {Heading: "L up to\nus", Kind: doc.NumberColumn}, {Heading: "growth of L\nus", Kind: doc.NumberColumn}}}
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

// ReadSchedule reads a communication schedule as GOAL text, or packed. It fails if the schedule
// would need more memory than this computer has.
func ReadSchedule(r io.Reader, name string) (*schedule.Schedule, error) {
	return schedule.Read(r, name, memoryForSchedule())
}

// simulationMemoryFactor is the approximate ratio of a simulation's memory to that of its schedule.
const simulationMemoryFactor = 6

// memoryForSchedule returns the largest size in bytes of a schedule that can be simulated.
func memoryForSchedule() int64 { return max(host.AvailableMemory()/simulationMemoryFactor, 0) }
