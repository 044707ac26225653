package loggp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/loggp/loggp/model/flow"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/training"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// FlowSweep is what SweepFlows has simulated.
type FlowSweep struct {
	Quantity string
	Points   []FlowSweepPoint
	document *doc.Document
}

// FlowSweepPoint is a simulation for one value of the quantity.
type FlowSweepPoint struct {
	Value       string
	Ranks       int
	Finish      unit.Time
	Times       flow.RankTimes
	BusiestPart string  // of the machine, "" if ranks share nothing
	BusyShare   float64 // of the time, for that part

	perRank float64 // operations a second of a GPU, of a training step
}

// Document has a row for each value.
func (s *FlowSweep) Document() *doc.Document { return s.document }

// Chart draws the time and its parts over the values.
func (s *FlowSweep) Chart() *chart.Chart {
	var values []string
	time, computing, exposed := sweepCurve{name: "time"}, sweepCurve{name: "computing"}, sweepCurve{name: "exposed communication"}
	for _, p := range s.Points {
		values = append(values, p.Value)
		time.times, computing.times, exposed.times = append(time.times, p.Finish), append(computing.times, p.Times.Computing), append(exposed.times, p.Times.ExposedCommunication())
	}
	return sweepChart(s.document.Title, s.Quantity, values, time, exposed, computing)
}

// SweepFlows simulates a workload by flows, as SimulateFlows does, for each value of a quantity
// such as taper=1,2,4: a number of the platform, the parameters of LogGOPS, or a key of the
// workload's step file.
func SweepFlows(ctx context.Context, w *Workload, o FlowOptions, sweep string) (*FlowSweep, error) {
	wrong := func(err error) error { return &OptionError{"Sweep", sweep, err} }
	variants, quantity, err := o.variants(w, sweep)
	if err != nil {
		return nil, wrong(err)
	}
	s := &FlowSweep{Quantity: quantity}
	for i, v := range variants {
		p, err := v.simulate(ctx, w, o)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", quantity, v.value, err)
		}
		s.Points = append(s.Points, p)
		if o.Progress != nil {
			o.Progress(i+1, len(variants))
		}
	}
	s.document = &doc.Document{Title: fmt.Sprintf("Simulation of %s by %s", cmp.Or(o.Name, "workload"), quantity), Footer: "Made by loggp."}
	s.document.AddTables("sweep", "Sweep", s.table())
	return s, addPlatformError(s.document, o.Platform, o.Library)
}

// flowVariant is a value of a quantity that is swept.
type flowVariant struct {
	value   string
	step    string           // the key of the step file that it is of
	machine string           // the quantity of the platform that it is of
	params  *schedule.Params // LogGOPS parameters with it
}

// variants returns the values of a sweep, and the name of what is swept.
func (o *FlowOptions) variants(w *Workload, text string) (all []flowVariant, quantity string, err error) {
	if IsParameterSweep(text) {
		if o.Platform != "" {
			return nil, "", fmt.Errorf("with --platform messages cost what its file says: sweep a number of that file, such as links.latency, or leave out --platform")
		}
		p := schedule.DefaultParams
		if o.LogGOPS != nil {
			p = *o.LogGOPS
		}
		s, err := parseSweep(text, p)
		for _, x := range s.params {
			all = append(all, flowVariant{value: parameterText(s.parameter, x), params: &x})
		}
		return all, s.parameter, err
	}
	quantity, values, err := parseValueSweep(text)
	if err != nil {
		return nil, "", err
	}
	var p *platform.Platform
	inMachine := false
	if o.Platform != "" {
		if p, err = LoadPlatform(o.Platform); err != nil {
			return nil, "", err
		}
		if inMachine, err = isMachineQuantity(p, quantity); err != nil {
			return nil, "", err
		}
	}
	key := ""
	if w.Step != nil {
		if key, err = training.FindKey(quantity); err != nil {
			return nil, "", err
		}
	}
	switch {
	case key != "" && inMachine:
		return nil, "", fmt.Errorf("%s is a quantity of the platform, and %s one of the step file: write more of its path", quantity, key)
	case key == "" && !inMachine:
		var keys []string
		if w.Step != nil {
			keys = training.Keys()
		}
		return nil, "", unknownQuantityError(quantity, p, keys)
	case inMachine && quantity == nodesQuantity && o.Nodes != 0:
		return nil, "", fmt.Errorf("the number of nodes is an option as well: give one of them")
	}
	for _, v := range values {
		x := flowVariant{value: v, step: key}
		if inMachine {
			x.machine = quantity
		}
		all = append(all, x)
	}
	return all, quantity, nil
}

// simulate simulates a workload, or what it is with the value.
func (v flowVariant) simulate(ctx context.Context, w *Workload, o FlowOptions) (FlowSweepPoint, error) {
	var err error
	if v.step != "" {
		if w, err = w.WithStepValue(v.step, v.value); err != nil {
			return FlowSweepPoint{}, err
		}
	}
	if v.params != nil {
		o.LogGOPS = v.params
	}
	res, m, err := o.simulate(ctx, w, v.machine, v.value)
	if err != nil {
		return FlowSweepPoint{}, err
	}
	p := FlowSweepPoint{Value: v.value, Ranks: len(w.Ranks), Finish: res.Finish, Times: res.MeanTimes()}
	if loads := res.PartLoads(); len(loads) > 0 {
		p.BusiestPart, p.BusyShare = partName(m, loads[0].Component), busyShare(loads[0].Busy, res.Finish)
	}
	if w.Step != nil {
		p.perRank = w.Step.StepOps() / (res.Finish.Micros() / 1e6) / float64(p.Ranks)
	}
	return p, nil
}

func busyShare(busy, of unit.Time) float64 { return float64(busy) / float64(max(of, 1)) }

// percentText is a share as a percentage.
func percentText(share float64) string { return format.WithDecimals(100*share, 1) }

func (s *FlowSweep) table() *doc.Table {
	t := &doc.Table{Name: "sweep", Title: "Time by " + s.Quantity, Columns: []doc.Column{
		{Heading: s.Quantity, Kind: doc.NumberColumn, IsKey: true}, {Heading: "ranks", Kind: doc.NumberColumn}, {Heading: "time\nms", Kind: doc.NumberColumn}, {Heading: "computing\nms", Kind: doc.NumberColumn},
		{Heading: "exposed\nms", Kind: doc.NumberColumn}, {Heading: "waiting\nms", Kind: doc.NumberColumn}}}
	isStep, sharesParts := s.Points[0].perRank > 0, false
	for _, p := range s.Points {
		sharesParts = sharesParts || p.BusiestPart != ""
	}
	if isStep {
		t.Columns = append(t.Columns, doc.Column{Heading: "of a GPU\nTop/s", Kind: doc.NumberColumn}, doc.Column{Heading: "efficiency\n%", Kind: doc.NumberColumn})
		t.AddNote("Efficiency is what a GPU computes in a second, to that of the first row")
	}
	if sharesParts {
		t.Columns = append(t.Columns, doc.Column{Heading: "busiest part"}, doc.Column{Heading: "busy\n%", Kind: doc.NumberColumn})
	}
	millis := func(t unit.Time) doc.Cell { return doc.NumberCell(t.Micros() / 1000) }
	for _, p := range s.Points {
		row := []doc.Cell{doc.TextCell(p.Value), doc.CountCell(p.Ranks), millis(p.Finish), millis(p.Times.Computing), millis(p.Times.ExposedCommunication()), millis(p.Times.WaitingTime())}
		if isStep {
			row = append(row, doc.NumberCell(p.perRank/1e12), doc.TextCell(percentText(p.perRank/s.Points[0].perRank)))
		}
		if sharesParts {
			row = append(row, doc.TextCell(p.BusiestPart), doc.TextCell(percentText(p.BusyShare)))
		}
		t.AddRow(row...)
	}
	t.AddNote("Computing, exposed communication and waiting are means over ranks")
	return t
}

// parameterText is the value of a parameter of LogGOPS.
func parameterText(name string, p schedule.Params) string {
	switch name {
	case "L":
		return p.L.String()
	case "o":
		return p.Overhead.String()
	case "g":
		return p.Gap.String()
	case "G":
		return p.GapPerByte.String()
	case "O":
		return p.OverheadPerByte.String()
	}
	return unit.Bytes(int(p.EagerLimit))
}
