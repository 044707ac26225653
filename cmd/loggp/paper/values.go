package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
)

// PrintedNumber is a number that a paper prints, of one of its subjects, and that a quantity
// answers to.
type PrintedNumber struct {
	Name              string // its name, as in the key to of numbers that were fitted to it: table-3 T3D o_s low
	Platform, Library string
	Unit              string
	Low, High         float64 // what is printed: a number twice, or a range
	Source            string  // where: Table 3
	IsImpossible      bool    // it cannot be right
}

// PrintedNumbers returns the numbers that a paper prints, each name once.
func (p *Paper) PrintedNumbers() []PrintedNumber {
	var all []PrintedNumber
	for _, r := range p.printedRows() {
		all = append(all, PrintedNumber{r.Name, r.Platform, r.Library, r.Unit, r.Low, r.High, r.Source, r.IsImpossible})
	}
	return all
}

// printedRows are the rows of Values.
func (p *Paper) printedRows() []*artefactRow {
	var all []*artefactRow
	for i := range p.Artefacts {
		for j := range p.Artefacts[i].rows {
			r := &p.Artefacts[i].rows[j]
			printed := r.line == nil && r.rule.Cell.parsed != nil && r.rule.Below == nil && !math.IsNaN(r.Low)
			if printed && r.subject != nil && !slices.ContainsFunc(all, func(x *artefactRow) bool { return x.Name == r.Name }) {
				all = append(all, r)
			}
		}
	}
	return all
}

// Measure runs the experiments that the rows of some names need, and no others, and returns what
// answers to each: NaN if that could not be measured. Platforms come from open, by the names that
// the paper has for them; nil is platform.Load.
func (p *Paper) Measure(ctx context.Context, o Options, rows []string, open func(name string) (*platform.Platform, error)) ([]float64, error) {
	x := newReproduction(p, o)
	x.selection = &experimentSelection{map[string]bool{}, map[string]func(int) bool{}, map[string]bool{}}
	if open != nil {
		x.loadPlatform = open
	}
	known := p.printedRows()
	wanted := make([]*artefactRow, len(rows))
	for i, name := range rows {
		at := slices.IndexFunc(known, func(r *artefactRow) bool { return r.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("%s has no row %q", p.Name, name)
		}
		wanted[i] = known[at]
		env := p.environment(quantityValues{})
		env.Number(wanted[i].rule.Cell.parsed, wanted[i].variables)
		for key := range env.Requested {
			x.selection.add(key, p)
		}
	}
	if err := x.openSites(); err != nil {
		return nil, err
	}
	if err := x.measure(ctx); err != nil {
		return nil, err
	}
	values := make([]float64, len(rows))
	for i, r := range wanted {
		values[i] = p.environment(x.measured).Number(r.rule.Cell.parsed, r.variables).Center
	}
	return values, nil
}

// experimentSelection is a part of the experiments: those that give certain quantities. nil is all
// of them.
type experimentSelection struct {
	quantities map[string]bool             // the names of the quantities
	needsSize  map[string]func(k int) bool // of a subject, a mode and a forced protocol, those that count
	keys       map[string]bool             // all
}

// add adds a quantity of a paper by its key. A mode that blocks and the one that does not go
// together, since the fit finds some quantities from both.
func (o *experimentSelection) add(key string, p *Paper) {
	name, list, _ := strings.Cut(strings.TrimSuffix(key, ")"), "(")
	of := append(strings.Split(list, ","), "", "", "") // subject, mode, size, protocol
	counts := func(k int) bool { return of[2] == "" || of[2] == strconv.Itoa(k) }
	if name == "L" && p.Small > 0 {
		counts = func(k int) bool { return k == p.Small }
	}
	mode := strings.TrimPrefix(of[1], "i")
	for _, m := range []string{mode, "i" + mode} {
		of := expr.QuantityKey("", of[0], m, of[3])
		before := o.needsSize[of]
		o.needsSize[of] = func(k int) bool { return counts(k) || before != nil && before(k) }
	}
	o.quantities[name], o.keys[key] = true, true
}

// selectExperiment returns what has to be measured of an experiment, or false if that is nothing.
func (o *experimentSelection) selectExperiment(e Experiment) (Experiment, bool) {
	if o == nil {
		return e, true
	}
	switch e.Benchmark {
	case "patterns":
		return o.selectCells(e, func(e *Experiment) *[]string { return &e.Patterns }, func(name string) string { return name }, []string{"time", "throughput"})
	case "routines":
		if !o.quantities["routine_count"] && !o.quantities["phases"] {
			return o.selectCells(e, func(e *Experiment) *[]string { return &e.Programs }, e.RoutineName, []string{"routine"})
		}
	}
	if e.Benchmark != "timers" {
		for name := range papers.Benchmarks[e.Benchmark].Numbers {
			if o.quantities[name] {
				return e, true
			}
		}
		return e, false
	}
	counts := func(mode string) func(k int) bool {
		return o.needsSize[expr.QuantityKey("", e.Subject, mode, e.Protocol)]
	}
	e.Modes = slices.DeleteFunc(slices.Clone(e.ModeNames()), func(mode string) bool { return counts(mode) == nil })
	e.Sizes = slices.DeleteFunc(slices.Clone(e.Sizes), func(k int) bool {
		return !slices.ContainsFunc(e.Modes, func(mode string) bool { return counts(mode)(k) })
	})
	return e, len(e.Modes) > 0 && len(e.Sizes) > 0
}

// timerNames returns those that the quantities need: the four of the benchmark of the timers, from
// which the fit has most, and those that are asked for by name.
func (o *experimentSelection) timerNames() []string {
	all := []string{sample.Timer11}
	for _, t := range sample.Timers {
		if o.quantities[t.Name] {
			all = append(all, t.Name)
		}
	}
	return all
}

// selectCells returns what has to be measured of an experiment that measures quantities of subject,
// name, ranks and size, or false if that is nothing. names are what the experiment has for the
// name, such as its patterns, and quantityName is what the quantities have for one of them.
func (o *experimentSelection) selectCells(e Experiment, names func(*Experiment) *[]string, quantityName func(string) string, quantities []string) (Experiment, bool) {
	asked := func(name string, ranks, k int) bool {
		of := []string{e.Subject, quantityName(name), strconv.Itoa(ranks), strconv.Itoa(k)}
		return slices.ContainsFunc(quantities, func(q string) bool { return o.keys[expr.QuantityKey(q, of...)] })
	}
	ranks, sizes := e.Ranks, e.Sizes
	if len(sizes) == 0 {
		sizes = []int{0}
	}
	some := func(wanted func(name string, ranks, k int) bool) bool {
		return slices.ContainsFunc(*names(&e), func(name string) bool {
			return slices.ContainsFunc(ranks, func(n int) bool {
				return slices.ContainsFunc(sizes, func(k int) bool { return wanted(name, n, k) && asked(name, n, k) })
			})
		})
	}
	all := e
	*names(&all) = slices.DeleteFunc(slices.Clone(*names(&e)), func(x string) bool { return !some(func(name string, _, _ int) bool { return name == x }) })
	all.Ranks = slices.DeleteFunc(slices.Clone(e.Ranks), func(x int) bool { return !some(func(_ string, n, _ int) bool { return n == x }) })
	all.Sizes = slices.DeleteFunc(slices.Clone(e.Sizes), func(x int) bool { return !some(func(_ string, _, k int) bool { return k == x }) })
	return all, len(*names(&all)) > 0
}
