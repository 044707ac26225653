package loggp

import (
	"context"
	"errors"
	"io"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// FitOptions say which samples Fit uses, and how it shows the result.
type FitOptions struct {
	Samples *sample.Set // nil: those of Files
	Files   []string    // of samples
	View    string      // ViewLogGPS or ViewPLogP; "": LogGP
}

// Views of fitted parameters.
const (
	ViewLogGP  = "loggp"
	ViewLogGPS = "loggps" // with the eager limit S
	ViewPLogP  = "plogp"  // overheads and gap as functions of the size
)

// FitResult has the parameters fitted to samples.
type FitResult struct {
	*fit.Result
	view string
}

// Fit fits LogGP parameters to samples.
func Fit(ctx context.Context, o FitOptions) (*FitResult, error) {
	set, err := o.read()
	if err != nil {
		return nil, err
	}
	r, err := fit.Fit(set, clean.Options{})
	if err != nil {
		return nil, err
	}
	if len(r.Parameters) == 0 && len(r.PLogP) == 0 {
		return nil, errors.New("fit: the samples have no timer that shows a parameter, such as rtt, timer11 or timer12 (docs/glossary.md)")
	}
	return &FitResult{r, o.View}, ctx.Err()
}

func (o FitOptions) read() (*sample.Set, error) {
	if o.Samples != nil {
		return o.Samples, nil
	}
	return sample.ReadFile(o.Files...)
}

// Parameters returns the parameters for Predict and Compare.
func (r *FitResult) Parameters() Parameters {
	return Parameters{All: r.Result.Parameters, Tiers: r.Tiers, From: "the parameters"}
}

// Document shows the parameters of the view.
func (r *FitResult) Document() *doc.Document {
	switch r.view {
	case ViewPLogP:
		return reports.PLogPParameters(r.Result)
	case ViewLogGPS:
		return reports.LogGPSParameters(r.Result)
	}
	return reports.Parameters(r.Result)
}

// WriteCSV writes the parameters, preceded by the tiers of ranks, for ReadParameters. For the view
// PLogP it writes the functions.
func (r *FitResult) WriteCSV(w io.Writer) error {
	if r.view == ViewPLogP {
		return params.WritePLogP(w, r.PLogP)
	}
	return params.WriteParameters(w, r.Result.Parameters, tiers.GroupFacts(r.Tiers)...)
}

// HoldOut fits every other size, predicts half round trips at the sizes in between, and shows the
// errors.
func HoldOut(o FitOptions) (*doc.Document, error) {
	set, err := o.read()
	if err != nil {
		return nil, err
	}
	held, err := compare.HoldOut(set, clean.Options{})
	if err != nil {
		return nil, err
	}
	return reports.HoldOutErrors(held), nil
}
