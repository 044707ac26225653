package loggp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/trace"
	"github.com/loggp/loggp/model/workload"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// ExecutionTraceOptions say how ReadExecutionTrace makes a schedule of a trace. The zero value
// takes the trace as it was recorded, and expands collective operations by
// workload.DefaultAlgorithms.
type ExecutionTraceOptions struct {
	trace.Options
	Collective []string // algorithms of collective operations, such as allreduce=ring
}

// ExecutionTrace is the schedule of a trace.
type ExecutionTrace struct {
	*schedule.Schedule
	Report      *trace.Report
	collectives []workload.CollectiveUse
	expansion   workload.Expansion
}

// ReadExecutionTrace reads execution traces, one file a rank, and expands their collective
// operations into messages.
func ReadExecutionTrace(names []string, o ExecutionTraceOptions) (*ExecutionTrace, error) {
	x, err := parseAlgorithms(o.Collective)
	if err != nil {
		return nil, &OptionError{"Collective", strings.Join(o.Collective, ","), err}
	}
	var files []trace.File
	for _, name := range names {
		f, err := input.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		files = append(files, trace.File{Name: name, Reader: f})
	}
	w, report, err := trace.Read(files, o.Options)
	if err != nil {
		return nil, err
	}
	ops, err := w.EstimateOps(x)
	if err != nil {
		return nil, err
	}
	if most := int(min(max(host.AvailableMemory()/simulationMemoryFactor, 0)/schedule.BytesPerOp, schedule.MaxOps)); ops > most {
		return nil, fmt.Errorf("%s: about %d operations after collective operations are expanded, and this machine can simulate %d: use fewer ranks, or algorithms with fewer steps", names[0], ops, most)
	}
	s, err := w.Schedule(x)
	if err != nil {
		return nil, err
	}
	return &ExecutionTrace{s, report, w.Collectives(), x}, nil
}

// parseAlgorithms reads algorithms such as allreduce=ring.
func parseAlgorithms(words []string) (workload.Expansion, error) {
	x := workload.Expansion{Algorithms: map[collective.Operation]string{}}
	for _, word := range words {
		name, algorithm, ok := strings.Cut(word, "=")
		o, known := collective.OperationNamed(name)
		switch {
		case !ok || algorithm == "":
			return x, errors.New("write an operation and an algorithm, as in allreduce=ring")
		case !known:
			return x, fmt.Errorf("there is no operation %q: there are %s", name, strings.Join(CollectiveNames(), ", "))
		case collective.Named(o, algorithm) == nil:
			return x, fmt.Errorf("%v has no algorithm %q: it has %s", o, algorithm, strings.Join(collective.Forms(o), ", "))
		}
		x.Algorithms[o] = algorithm
	}
	return x, nil
}

// Table says which collective operations the trace has, and by which algorithms they are executed.
func (t *ExecutionTrace) Table() *doc.Table {
	table := &doc.Table{Name: "collectives", Title: "Collective operations of the trace", Columns: []doc.Column{
		{Heading: "operation", IsKey: true}, {Heading: "ranks", Kind: doc.NumberColumn, IsKey: true}, {Heading: "groups", Kind: doc.NumberColumn}, {Heading: "count", Kind: doc.NumberColumn},
		{Heading: "least\nbytes", Kind: doc.NumberColumn}, {Heading: "most\nbytes", Kind: doc.NumberColumn}, {Heading: "all\nbytes", Kind: doc.NumberColumn}, {Heading: "algorithm"},
	}}
	for _, use := range t.collectives {
		table.AddRow(doc.TextCell(use.Operation.String()), doc.CountCell(use.Ranks), doc.CountCell(use.Groups), doc.CountCell(use.Count),
			sizeCell(use.MinBytes), sizeCell(use.MaxBytes), sizeCell(use.Bytes), doc.TextCell(t.expansion.AlgorithmName(use.Operation)))
	}
	table.AddNote("Bytes are the input of each rank")
	if r := t.Report; r.Nodes > 0 {
		table.AddNote("%s with %d nodes, %d of them on the host, in %d threads and streams", format.Plural(r.Files, "file"), r.Nodes, r.HostOps, r.Streams)
	}
	return table
}

func sizeCell(bytes uint64) doc.Cell {
	return doc.Cell{Text: format.Size(int(bytes)), Values: []float64{float64(bytes)}}
}

// WarningTexts returns what was added, dropped or assumed.
func (t *ExecutionTrace) WarningTexts() []string { return slices.Clone(t.Report.Warnings()) }
