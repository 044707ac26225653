package loggp

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/flow"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/training"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// FlowOptions say on which machine SimulateFlows simulates a workload. The zero value takes the
// parameters of schedule.DefaultParams, and a machine in which ranks share nothing.
type FlowOptions struct {
	Name     string           // of the workload, in the title of the document; "": "workload"
	LogGOPS  *schedule.Params // of all messages; nil: schedule.DefaultParams, if there is no Platform
	Platform string           // an emulated machine, whose links are shared
	Library  string           // on it; "": its first
	MachineChanges
	Tolerances []float64 // report how far the latency of links between nodes may grow until the time grows by these parts

	Progress func(done, total int) // called after each of several simulations, of which the number is estimated; may be nil

	hostLatency unit.Time // of links of hosts between nodes, in place of the platform's; 0: that
}

// FlowSimulation is the outcome of SimulateFlows.
type FlowSimulation struct {
	Result   *flow.Result
	document *doc.Document
}

// Document says when the workload ends, and where the time of its critical path went.
func (s *FlowSimulation) Document() *doc.Document { return s.document }

// WriteFinish writes the finishing time of each rank as CSV: rank,finish_ns.
func (s *FlowSimulation) WriteFinish(w io.Writer) error {
	return writeFinishTimes(w, s.Result.RankFinish)
}

// SimulateFlows computes when a workload ends, without packets: messages and collective operations
// share the links and interfaces of a machine by max-min fairness, as package flow says. Collective
// operations are in place: a rank does not copy its own data.
func SimulateFlows(ctx context.Context, w *Workload, o FlowOptions) (*FlowSimulation, error) {
	res, machine, err := o.simulate(ctx, w, "", "")
	if err != nil {
		return nil, err
	}
	path := res.CriticalPath()
	d := &doc.Document{Title: "Simulation of " + cmp.Or(o.Name, "workload"), Footer: "Made by loggp."}
	d.Answer = describeFinish(res.Finish, res.LastRank, len(res.RankFinish), path)
	d.AddTables("simulation", "Finishing time", o.resultTable(w, res), flowPartsTable(res, path), rankTimesTable(res), o.partLoadsTable(machine, res))
	t := w.CollectiveTable()
	if _, library, _ := ncclLibrary(o.Platform, o.Library); library != nil {
		t = w.collectiveTable(func(o collective.Operation) string { return cmp.Or(w.expansion.Algorithms[o], "NCCL's choice") })
	}
	if t.CountRows() > 0 {
		d.AddTables("collectives", "Collective operations", t)
	}
	if len(o.Tolerances) > 0 {
		t, err := o.toleranceTable(ctx, w, res.Finish)
		if err != nil {
			return nil, err
		}
		d.AddTables("tolerance", "Latency tolerance", t)
	}
	return &FlowSimulation{res, d}, addPlatformError(d, o.Platform, o.Library)
}

// simulate simulates a workload on the machine, with another value of one of its quantities; "":
// of none.
func (o *FlowOptions) simulate(ctx context.Context, w *Workload, quantity, value string) (*flow.Result, *model.Machine, error) {
	m, machine, err := o.machine(ctx, len(w.Ranks), quantity, value)
	if err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("simulate: %w", err)
	}
	res, err := flow.Simulate(w.Workload, w.expansion, m)
	if err != nil {
		return nil, nil, fmt.Errorf("simulate: %w", err)
	}
	return res, machine, nil
}

// machine returns what messages take and share, and the machine of the platform if there is one.
func (o *FlowOptions) machine(ctx context.Context, ranks int, quantity, value string) (flow.Machine, *model.Machine, error) {
	if o.Platform == "" {
		for _, x := range []struct {
			option string
			given  bool
		}{{"Nodes", o.Nodes != 0}, {"Fail", len(o.Fail) > 0}, {"Buffers", o.Buffers != ""}, {"Library", o.Library != ""}} {
			if x.given {
				return flow.Machine{}, nil, optionErrorf(x.option, "it needs a platform")
			}
		}
		p := schedule.DefaultParams
		if o.LogGOPS != nil {
			p = *o.LogGOPS
		}
		overhead := model.Curve{{ValueAtFrom: p.Overhead, PerByte: p.OverheadPerByte}}
		m := flow.Machine{Machine: collective.Machine{Parameters: model.Parameters{L: p.L, Gap: p.Gap, GapPerByte: p.GapPerByte, SendOverhead: overhead, RecvOverhead: overhead}}}
		m.ProcessorTimes = func(_, _, bytes int) (sender, receiver unit.Time) {
			return overhead.Time(bytes), overhead.Time(bytes)
		}
		return m, nil, nil
	}
	if o.LogGOPS != nil {
		return flow.Machine{}, nil, optionErrorf("LogGOPS, Platform", "give one of them")
	}
	p, err := o.change(o.Platform, quantity, value)
	if err != nil {
		return flow.Machine{}, nil, err
	}
	if o.hostLatency > 0 {
		p = withHostLatency(p, o.hostLatency)
	}
	if most := p.Machine.Ranks.Max; ranks > most {
		return flow.Machine{}, nil, fmt.Errorf("the workload has %d ranks, and %s has at most %d: name a machine of more nodes, as --nodes does", ranks, o.Platform, most)
	}
	if library, err := newNCCLFlows(p, o.Library); library != nil || err != nil {
		if err == nil && o.Buffers != "" {
			err = optionErrorf("Buffers", "it is for libraries of MPI: key gpudirect of library %s says whether interfaces access the memory of GPUs", o.Library)
		}
		return flow.Machine{Library: library}, p.Machine, err
	}
	if err := checkBuffersUsed(o.Buffers, p.Machine, ranks); err != nil {
		return flow.Machine{}, nil, err
	}
	m, _, err := CollectiveOptions{Platform: o.Platform, Library: o.Library, Ranks: ranks, changed: p}.model(ctx)
	m.Copying = nil // collective operations of training are in place
	return flow.Machine{Machine: m.Machine, Nodes: m.nodes, ProcessorTimes: processorTimes(p.Machine, m.calibrated, ranks), ArrivalRail: arrivalRail(p.Machine)}, p.Machine, err
}

// arrivalRail returns by which rail messages between nodes arrive: that by which they left. nil:
// the machine has no rails.
func arrivalRail(m *model.Machine) func(from, to int) int {
	f, isFabric := m.Network.(*model.Fabric)
	if !isFabric || f.Graph.Rails() == 1 {
		return nil
	}
	return func(from, _ int) int { return m.EndOfRank(from) % f.Graph.Rails() }
}

// processorTimes returns for how long standard messages of a library occupy processors; nil: that
// is not known. It remembers them.
func processorTimes(m *model.Machine, lib *model.Library, ranks int) func(from, to, bytes int) (sender, receiver unit.Time) {
	if lib == nil || lib.ClosedForm() != nil {
		return nil
	}
	type key struct {
		path  model.Path
		bytes int
	}
	known := map[key][2]unit.Time{}
	return func(from, to, bytes int) (sender, receiver unit.Time) {
		k := key{m.PathBetweenRanks(ranks, from, to), bytes}
		times, ok := known[k]
		if !ok {
			times[0], times[1] = model.Transfer{Machine: m, Library: lib, Mode: model.StandardMode, Bytes: bytes, Path: k.path, IsNonblocking: true}.ProcessorTimes()
			known[k] = times
		}
		return times[0], times[1]
	}
}

// resultTable sums up a simulation.
func (o *FlowOptions) resultTable(w *Workload, res *flow.Result) *doc.Table {
	t := &doc.Table{Name: "simulation", Title: "Result", IsRecord: true, Columns: []doc.Column{{Heading: "quantity", IsKey: true}, {Heading: "value", Kind: doc.ProseColumn}}}
	add := func(name, format string, args ...any) {
		t.AddRow(doc.TextCell(name), doc.TextCell(fmt.Sprintf(format, args...)))
	}
	t.AddRow(doc.TextCell("finishing time"), finishTimeCell(res.Finish))
	t.AddRow(doc.TextCell("last rank"), doc.QuantityCell(fmt.Sprintf("%d of %d", res.LastRank, len(res.RankFinish)), float64(res.LastRank), ""))
	t.AddRow(doc.TextCell("operations"), doc.CountCell(w.CountOps()))
	t.AddRow(doc.TextCell("messages and collective operations"), doc.CountCell(res.Activities))
	var computing unit.Time
	for rank := range res.RankFinish {
		computing = max(computing, res.ComputingTime(rank))
	}
	t.AddRow(doc.TextCell("the busiest rank computes"), doc.QuantityCell(format.MicrosWithUnit(computing.Micros()), computing.Micros(), "us"))
	if w.Step != nil {
		perSecond := w.Step.StepOps() / (res.Finish.Micros() / 1e6) / float64(len(res.RankFinish))
		if tokens := w.Step.Inference.Tokens; tokens > 0 {
			first := res.LastEnd(training.FirstTokenName)
			further := (res.Finish - first).Micros() / float64(tokens)
			add("generated", "%s", w.Step.InferenceText())
			t.AddRow(doc.TextCell("the last prompt has its first token after"), doc.QuantityCell(format.MicrosWithUnit(first.Micros()), first.Micros(), "us"))
			t.AddRow(doc.TextCell("a further token of all sequences takes"), doc.QuantityCell(format.MicrosWithUnit(further), further, "us"))
		}
		text := fmt.Sprintf("%.4g, %.1f %% of its rate", perSecond, 100*perSecond/w.Step.Rate)
		t.AddRow(doc.TextCell("operations a second of a GPU"), doc.QuantityCell(text, perSecond, ""))
	}
	switch {
	case o.Platform != "":
		add("machine", "%s", o.Platform)
	case o.LogGOPS != nil:
		add("parameters", "%v", *o.LogGOPS)
	default:
		add("parameters", "%v", schedule.DefaultParams)
	}
	return t
}

// flowPartsTable says where the time of the critical path went.
func flowPartsTable(res *flow.Result, path []flow.PathPart) *doc.Table {
	t := &doc.Table{Name: "parts", Title: "Time of the critical path", Columns: []doc.Column{{Heading: "part", IsKey: true}, {Heading: "count", Kind: doc.NumberColumn}, {Heading: "time\nus", Kind: doc.NumberColumn}, {Heading: "share\n%", Kind: doc.NumberColumn}}}
	for _, p := range path {
		t.AddRow(doc.TextCell(p.Name), doc.CountCell(p.Count), microsCell(p.Time), doc.TextCell(format.WithDecimals(100*p.Time.Micros()/max(res.Finish.Micros(), 1e-12), 1)))
	}
	return t
}

// rankTimesTable says how ranks spend their time.
func rankTimesTable(res *flow.Result) *doc.Table {
	t := &doc.Table{Name: "ranks", Title: "Time of ranks, mean", Columns: []doc.Column{{Heading: "part", IsKey: true}, {Heading: "time\nus", Kind: doc.NumberColumn}, {Heading: "share\n%", Kind: doc.NumberColumn}}}
	add := func(name string, time unit.Time) {
		t.AddRow(doc.TextCell(name), microsCell(time), doc.TextCell(percentText(busyShare(time, res.Finish))))
	}
	times := res.MeanTimes()
	add("computing", times.Computing)
	for _, p := range times.Communication {
		add("exposed: "+p.Name, p.Time)
	}
	for _, p := range times.Waiting {
		add("waiting: "+p.Name, p.Time)
	}
	t.AddNote("Communication is exposed while its rank does not compute. A rank that neither computes nor communicates waits")
	return t
}

// shownPartLoads is how many parts of a machine are listed.
const shownPartLoads = 5

// partLoadsTable lists the busiest parts of a machine.
func (o *FlowOptions) partLoadsTable(m *model.Machine, res *flow.Result) *doc.Table {
	t := &doc.Table{Name: "loads", Title: "Busiest parts of the machine", Columns: []doc.Column{{Heading: "part", IsKey: true}, {Heading: "busy\nus", Kind: doc.NumberColumn}, {Heading: "share\n%", Kind: doc.NumberColumn}}}
	loads := res.PartLoads()
	for _, p := range loads[:min(len(loads), shownPartLoads)] {
		t.AddRow(doc.TextCell(partName(m, p.Component)), microsCell(p.Busy), doc.TextCell(percentText(busyShare(p.Busy, res.Finish))))
	}
	if more := len(loads) - shownPartLoads; more > 0 {
		t.AddNote("Other parts, used for less of the time: %d", more)
	}
	return t
}
