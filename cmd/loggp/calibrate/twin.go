package calibrate

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// validationParts is into how many parts targets are divided. Each is left out once.
const validationParts = 3

// CrossValidation says how well targets are predicted that a calibration does not see.
type CrossValidation struct {
	Targets    []Quantity
	Deviations []float64 // of each target when it was left out, in the sense of Quantity.Residual
	Median     float64   // of their sizes as parts: 0.05 is 5 %
	NineInTen  float64   // nine of ten are no larger
	Largest    float64
}

// CrossValidate divides the targets of a bench into three parts, every third in turn, calibrates to
// two of them and predicts the third, for each.
func CrossValidate(ctx context.Context, d *edit.Draft, b *Bench, o Options) (*CrossValidation, error) {
	o.onlyParameters = true
	x := &CrossValidation{}
	var targets []int
	for i, q := range b.Quantities {
		if q.MinTarget > 0 {
			targets = append(targets, i)
		}
	}
	if len(targets) < 2*validationParts {
		return nil, fmt.Errorf("%d targets: too few to leave a third of them out; at least %d are needed", len(targets), 2*validationParts)
	}
	for part := range validationParts {
		seen := *b
		seen.Quantities = slices.Clone(b.Quantities)
		for k, i := range targets {
			if k%validationParts == part {
				seen.Quantities[i].MinTarget, seen.Quantities[i].MaxTarget = math.NaN(), math.NaN()
			}
		}
		search, err := searchNumbers(ctx, d, &seen, o.withProgressOf(part, validationParts+1))
		var measured []float64
		if err == nil {
			measured, _, err = search.residuals(search.numberValues(search.solution.X, search.chosen))
		}
		if err != nil {
			return nil, fmt.Errorf("with the targets %d, %d, ... left out: %w", part+1, part+1+validationParts, err)
		}
		for k, i := range targets {
			if k%validationParts == part {
				x.Targets = append(x.Targets, b.Quantities[i])
				x.Deviations = append(x.Deviations, b.Quantities[i].Residual(measured[i]))
			}
		}
	}
	x.summarize()
	return x, nil
}

// ofLibrary returns the part of a cross-validation that is of a library; nil: none is.
func (x *CrossValidation) ofLibrary(name string) *CrossValidation {
	of := &CrossValidation{}
	for i, q := range x.Targets {
		if q.Library == name {
			of.Targets, of.Deviations = append(of.Targets, q), append(of.Deviations, x.Deviations[i])
		}
	}
	if of.Targets == nil {
		return nil
	}
	of.summarize()
	return of
}

// withProgressOf returns the options of one of several calibrations, of which the progress is a
// part of that of all.
func (o Options) withProgressOf(index, count int) Options {
	if report := o.Progress; report != nil {
		o.Progress = func(done, total int) { report(index*total+done, count*total) }
	}
	return o
}

// summarize sets the quantiles of the deviations.
func (x *CrossValidation) summarize() {
	sizes := make([]float64, len(x.Deviations))
	for i, r := range x.Deviations {
		sizes[i] = math.Expm1(math.Abs(r))
		if math.IsNaN(sizes[i]) {
			sizes[i] = math.Inf(1)
		}
	}
	slices.Sort(sizes)
	n := len(sizes)
	x.Median, x.NineInTen, x.Largest = sizes[n/2], sizes[min(n-1, (9*n+9)/10-1)], sizes[n-1]
}

// Twin is a platform file that was made of a template for a machine of which there are samples.
type Twin struct {
	*Calibration
	Validation *CrossValidation
	Libraries  []TwinLibrary
	text       []byte
}

// TwinLibrary is a library of a twin that has targets.
type TwinLibrary struct {
	Name       string
	IsNCCL     bool // its targets are collective operations, and else single messages
	Validation *CrossValidation
}

// whatWasPredicted names the targets.
func (l TwinLibrary) whatWasPredicted() string {
	if l.IsNCCL {
		return "collective operations"
	}
	return "single messages"
}

// TwinOptions say what a template is resized to.
type TwinOptions struct {
	Name         string // of the new platform
	Nodes        int    // of the machine; 0: as many as the template has
	RanksPerNode int    // 0: as the template has
}

// Resize returns the draft of a template as a platform of another name and size.
func Resize(d *edit.Draft, o TwinOptions) (*edit.Draft, error) {
	file := o.Name + ".yaml"
	text, err := d.Rename(o.Name, "A machine to whose samples loggp calibrate has fitted the template "+d.Machine.Name)
	if err != nil {
		return nil, err
	}
	renamed, err := edit.New(file, text)
	if err != nil || o.Nodes == 0 && o.RanksPerNode == 0 {
		return renamed, err
	}
	perNode := 1
	if d.Machine.Nodes != nil {
		perNode = d.Machine.Nodes.Ranks
	}
	nodes := (d.Machine.Ranks.Max + perNode - 1) / perNode
	switch {
	case o.RanksPerNode > 0 && d.Machine.Nodes == nil:
		return nil, fmt.Errorf("--ranks-per-node: template %s has one rank a node", d.Machine.Name)
	case o.RanksPerNode > 0:
		perNode = o.RanksPerNode
	}
	if o.Nodes > 0 {
		nodes = o.Nodes
	}
	resized, err := renamed.Scale(nodes, perNode, fmt.Sprintf("%d nodes of %d ranks, by the options of loggp calibrate", nodes, perNode))
	if err != nil {
		return nil, fmt.Errorf("template %s with %d nodes of %d ranks: %w", d.Machine.Name, nodes, perNode, err)
	}
	return resized, nil
}

// MakeTwin calibrates the resized draft of a template to a bench, after it has been
// cross-validated. The file that it makes has the error to expect. Each search begins at the
// template's numbers, which are near, and where measuring is quick from others as well. Numbers of
// the template's other libraries stay.
func MakeTwin(ctx context.Context, d *edit.Draft, b *Bench, o Options) (*Twin, error) {
	t := &Twin{}
	o.Starts, o.measured, o.keepsOtherLibraries = 1, &measurements{}, true
	if b.IsQuick {
		o.Starts = maxSearchStarts
	}
	var err error
	if t.Validation, err = CrossValidate(ctx, d, b, o); err != nil {
		return nil, fmt.Errorf("cross-validation: %w", err)
	}
	if t.Calibration, err = Calibrate(ctx, d, b, o.withProgressOf(validationParts, validationParts+1)); err != nil {
		return nil, err
	}
	if t.text, err = t.Calibration.Text(); err != nil {
		return nil, err
	}
	for _, name := range b.Libraries {
		l, err := d.Library(name)
		if err != nil {
			return nil, err
		}
		of := TwinLibrary{name, l.CarriedBy() == model.NCCLEngine, t.Validation.ofLibrary(name)}
		if of.Validation == nil {
			continue
		}
		t.Libraries = append(t.Libraries, of)
		if err := t.writeExpectedError(d.File, of); err != nil {
			return nil, err
		}
	}
	_, err = platform.Parse(d.File, t.text)
	return t, err
}

// writeExpectedError writes the error to expect of a library into the file.
func (t *Twin) writeExpectedError(file string, l TwinLibrary) error {
	fitted, err := edit.New(file, t.text)
	if err != nil {
		return err
	}
	v := l.Validation
	t.text, err = fitted.SetExpectedError(l.Name, platform.ShareQuantity.Format(min(math.Ceil(1000*v.NineInTen)/1000, maxExpectedError)),
		fmt.Sprintf("%d times of %s, each left out of the calibration once: half of them were predicted within %s %%, nine in ten within %s %%", len(v.Deviations), l.whatWasPredicted(), unit.Rounded(100*v.Median, 3), unit.Rounded(100*v.NineInTen, 3)))
	return err
}

// maxExpectedError is the largest expected error that a platform file can have.
const maxExpectedError = 10

// Document returns the calibration as a report that begins with what to expect.
func (t *Twin) Document() *doc.Document {
	d := t.Calibration.Document()
	var all []string
	comparesCollectives := false
	for _, l := range t.Libraries {
		v := l.Validation
		comparesCollectives = comparesCollectives || l.IsNCCL
		all = append(all, fmt.Sprintf("Expect errors of up to %s %% for %s by %s: nine in ten of %d times that were left out of the calibration, a third at a time, were predicted within that, half within %s %%, and all within %s %%.",
			unit.Rounded(100*v.NineInTen, 2), l.whatWasPredicted(), l.Name, len(v.Deviations), unit.Rounded(100*v.Median, 2), unit.Rounded(100*v.Largest, 2)))
	}
	d.Answer = strings.Join(all, " ")
	if names := t.undeterminedNumbers(); len(names) > 0 {
		d.Answer += fmt.Sprintf(" The samples do not determine %d of %d free numbers, which stay near the template's: results that depend on them are its guesses.", len(names), len(t.Numbers))
	}
	if comparesCollectives {
		d.Answer += " Other numbers of ranks and nodes were not compared."
	} else {
		d.Answer += " Collective operations were not compared: measure one at a size that you have to see whether it holds there."
	}
	return d
}

// undeterminedNumbers returns the free numbers of which the samples say nothing, or nothing alone.
func (t *Twin) undeterminedNumbers() []string {
	var all []string
	for _, n := range t.Numbers {
		if n.IsWithoutEffect || len(n.CombinedWith) > 0 {
			all = append(all, n.Path)
		}
	}
	return all
}

// WritePlatform writes the platform's file.
func (t *Twin) WritePlatform(w io.Writer) error {
	_, err := w.Write(t.text)
	return err
}
