package loggp

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/trace"
	"github.com/loggp/loggp/model/training"
	"github.com/loggp/loggp/model/workload"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// WorkloadOptions configure ReadWorkload. The zero value uses a trace as it was recorded, and
// expands collective operations by workload.DefaultAlgorithms.
type WorkloadOptions struct {
	trace.Options          // of a trace
	Collective    []string // selects algorithms of collective operations, such as allreduce=ring
}

// Workload is what the ranks of a job do, one level above messages.
type Workload struct {
	*workload.Workload
	Report    *trace.Report  // of a trace; nil: not from a trace
	Step      *training.Step // of a training step; nil: not from a step file
	name      string
	expansion workload.Expansion
	stepText  []byte // the file of Step
}

// StepFileSuffixes are the suffixes of files that describe training steps.
var StepFileSuffixes = []string{".yaml", ".yml"}

// workloadFilePattern matches the names of files of traces and training steps.
var workloadFilePattern = regexp.MustCompile(`\.(et|json)(\.gz)?$|-\d+\.txt(\.gz)?$|\.ya?ml$`)

// IsWorkloadFile reports whether a file is for ReadWorkload by its name, and not a schedule.
func IsWorkloadFile(name string) bool { return workloadFilePattern.MatchString(name) }

// ReadWorkload reads execution traces, one file per rank, or one file that describes a training
// step.
func ReadWorkload(names []string, o WorkloadOptions) (*Workload, error) {
	x, err := parseAlgorithms(o.Collective)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("a workload without files")
	}
	w := &Workload{name: names[0], expansion: x}
	var files []trace.File
	for _, name := range names {
		f, err := input.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		files = append(files, trace.File{Name: name, Reader: f})
	}
	if !slices.Contains(StepFileSuffixes, filepath.Ext(names[0])) {
		w.Workload, w.Report, err = trace.Read(files, o.Options)
		return w, err
	}
	switch {
	case len(names) > 1:
		return nil, fmt.Errorf("%s and %s: a training step is one file", names[0], names[1])
	case o.Ranks != 0 || o.Groups != nil || o.ComputeRate != 0:
		return nil, optionErrorf("Ranks, Groups, ComputeRate", "%s says them itself: they are for traces", names[0])
	}
	if w.stepText, err = training.ReadText(files[0], names[0]); err != nil {
		return nil, err
	}
	return w, w.makeStep()
}

// makeStep creates the workload of the step described by stepText.
func (w *Workload) makeStep() (err error) {
	if w.Step, err = training.Parse(w.stepText, w.name); err == nil {
		w.Workload, err = w.Step.Workload()
	}
	return err
}

// WithStepValue returns the workload of a step file with another value for one of its keys, such as
// parallel.data.
func (w *Workload) WithStepValue(key, value string) (*Workload, error) {
	text, err := training.SetValue(w.stepText, key, value)
	if err != nil {
		return nil, err
	}
	other := &Workload{name: fmt.Sprintf("%s with %s: %s", w.name, key, value), expansion: w.expansion, stepText: text}
	return other, other.makeStep()
}

// Schedule expands the collective operations into messages.
func (w *Workload) Schedule() (*schedule.Schedule, error) {
	ops, err := w.EstimateOps(w.expansion)
	if err != nil {
		return nil, err
	}
	if most := int(min(memoryForSchedule()/schedule.BytesPerOp, schedule.MaxOps)); ops > most {
		return nil, fmt.Errorf("%s: about %d operations after collective operations are expanded, and this machine can simulate %d: simulate flows, or fewer ranks", w.name, ops, most)
	}
	return w.Workload.Schedule(w.expansion)
}

// WorkloadOfSchedule converts a schedule to a workload, for SimulateFlows.
func WorkloadOfSchedule(s *schedule.Schedule, name string) (*Workload, error) {
	w, err := workload.FromSchedule(s, name)
	if err != nil {
		return nil, err
	}
	return &Workload{Workload: w, name: name}, nil
}

// parseAlgorithms parses rules such as allreduce=ring.
func parseAlgorithms(words []string) (workload.Expansion, error) {
	x := workload.Expansion{Algorithms: map[collective.Operation]string{}}
	for _, word := range words {
		o, algorithm, err := splitAlgorithmWord(word)
		switch _, twice := x.Algorithms[o]; {
		case err != nil:
			return x, err
		case twice:
			return x, optionErrorf("Collective", "%v is named twice", o)
		case collective.AlgorithmNamed(o, algorithm) == nil:
			return x, optionErrorf("Collective", "%v has no algorithm %q%s", o, algorithm, table.NameChoices(algorithm, collective.NameForms(o)))
		}
		x.Algorithms[o] = algorithm
	}
	return x, nil
}

// CollectiveTable lists the collective operations of the workload, with their algorithms.
func (w *Workload) CollectiveTable() *doc.Table {
	return w.collectiveTable(w.expansion.AlgorithmName)
}

// collectiveTable is CollectiveTable with the algorithms of a library.
func (w *Workload) collectiveTable(algorithm func(collective.Operation) string) *doc.Table {
	table := &doc.Table{Name: "collectives", Title: "Collective operations", Columns: []doc.Column{
		{Heading: "operation", IsKey: true}, {Heading: "ranks", Kind: doc.NumberColumn, IsKey: true}, {Heading: "groups", Kind: doc.NumberColumn}, {Heading: "count", Kind: doc.NumberColumn},
		{Heading: "min\nbytes", Kind: doc.NumberColumn}, {Heading: "max\nbytes", Kind: doc.NumberColumn}, {Heading: "all\nbytes", Kind: doc.NumberColumn}, {Heading: "algorithm"},
	}}
	for _, use := range w.Collectives() {
		table.AddRow(doc.TextCell(use.Operation.String()), doc.CountCell(use.Ranks), doc.CountCell(use.Groups), doc.CountCell(use.Count),
			doc.BytesCell(int(use.MinBytes)), doc.BytesCell(int(use.MaxBytes)), doc.BytesCell(int(use.Bytes)), doc.TextCell(algorithm(use.Operation)))
	}
	table.AddNote("Bytes are the input of each rank")
	if r := w.Report; r != nil {
		table.AddNote("%s with %d nodes, %d of them on the host, in %d threads and streams", format.Plural(r.Files, "file"), r.Nodes, r.HostOps, r.Streams)
	}
	return table
}

// WarningTexts returns what was added, dropped or assumed.
func (w *Workload) WarningTexts() []string {
	if w.Report == nil {
		return nil
	}
	return w.Report.Warnings()
}
