package loggp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// PredictOptions say what Predict predicts, and from which platform or parameters.
type PredictOptions struct {
	Platform string // emulated machine whose steps are added up
	Library  string // on the platform; "": its first
	Ranks    int    // of the platform; 0: its default
	Params   Parameters

	Place    string   // intra, inter, or two ranks such as 0,3; "": the first and the last, or the first place of the parameters
	Mode     string   // send call: send, ssend, rsend or bsend; "": send, or all calls with parameters
	Protocol []string // nil: all that support the mode, or whole calls with parameters
	Sizes    []int    // in bytes; nil: microbench.DefaultSizes, without those too far from all measured sizes
	Explain  bool     // show the terms of every sum
}

// Predictions are predicted costs of messages.
type Predictions struct {
	Messages []reports.Prediction
	Warnings []string

	source  predictionSource
	explain bool
}

// Predict predicts the sender time T_s and the delivery time T_s-r of messages. For a platform it
// adds up every step of machine and library; this is exact if the receive is posted and nothing
// contends. From parameters it predicts calls by ranges of sizes or, with Protocol, the protocols
// by equations (1) to (7) of Al-Tawil and Moritz.
func Predict(ctx context.Context, o PredictOptions) (*Predictions, error) {
	hasParams := len(o.Params.All) > 0
	if hasParams == (o.Platform != "") {
		return nil, optionErrorf("Params, Platform", "give exactly one of them to predict from")
	}
	if err := checkMessageSizes(o.Sizes); err != nil {
		return nil, err
	}
	newSource := o.platformSource
	if hasParams {
		newSource = o.parameterSource
	}
	source, err := newSource()
	if err != nil {
		return nil, err
	}
	p := &Predictions{source: source, explain: o.Explain, Warnings: source.warnings}
	sizes := o.Sizes
	if sizes == nil {
		sizes = microbench.DefaultSizes(source.machine)
	}
	first := p.predict(sizes)
	if o.Sizes == nil {
		p.dropUnknownSizes()
	}
	if !slices.ContainsFunc(p.Messages, isPredicted) {
		return nil, first
	}
	unknown := 0
	for _, x := range p.Messages {
		for _, y := range []reports.PredictedTime{x.SenderTime, x.DeliveryTime} {
			if y.Position == reports.NotPredictable {
				unknown++
			}
		}
	}
	if unknown > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d of %s cannot be predicted, the first: %v", unknown, format.Plural(2*len(p.Messages), "value"), first))
	}
	return p, ctx.Err()
}

// predict predicts all names and sizes, and returns the error of the first unknown value.
func (p *Predictions) predict(sizes []int) (first error) {
	for _, name := range p.source.names {
		for _, k := range sizes {
			x, err := p.source.predict(name, k)
			for _, y := range []*reports.PredictedTime{&x.SenderTime, &x.DeliveryTime} {
				if y.Time < 0 {
					err = cmp.Or(err, fmt.Errorf("the parameters give a time below zero, %v", y.Time))
					y.Position = reports.NotPredictable
				}
			}
			if first == nil && err != nil {
				first = fmt.Errorf("predict %s of %d bytes: %w", name, k, err)
			}
			p.Messages = append(p.Messages, x)
		}
	}
	return first
}

// isPredicted reports whether a message has a time.
func isPredicted(x reports.Prediction) bool {
	return x.SenderTime.Position != reports.NotPredictable || x.DeliveryTime.Position != reports.NotPredictable
}

// dropUnknownSizes removes the sizes without any prediction.
func (p *Predictions) dropUnknownSizes() {
	all := p.Messages
	p.Messages = slices.DeleteFunc(slices.Clone(all), func(x reports.Prediction) bool {
		return !slices.ContainsFunc(all, func(y reports.Prediction) bool { return y.Bytes == x.Bytes && isPredicted(y) })
	})
}

// Document shows the predictions.
func (p *Predictions) Document() *doc.Document {
	d := reports.Predictions(p.source.title, p.Messages, p.explain)
	addExpectedError(d, p.source.calibrated, false)
	d.Files = []doc.File{{Name: "predictions.csv", Write: p.WriteCSV}}
	return d
}

// Timeline draws the steps of the first predicted message. It fails if the source does not know the
// steps, as for calls predicted from parameters.
func (p *Predictions) Timeline() (*chart.Chart, reports.Prediction, error) {
	first := p.Messages[max(0, slices.IndexFunc(p.Messages, func(x reports.Prediction) bool { return x.SenderTime.Position != reports.NotPredictable }))]
	if p.source.transfer == nil {
		return nil, first, errors.New("parameters do not know the steps of calls: name a protocol")
	}
	title := fmt.Sprintf("%s: %s of %d bytes", p.source.title, first.Protocol, first.Bytes)
	return chart.TransferChart(first.Protocol, title, p.source.transfer(first.Protocol, first.Bytes).Timeline()), first, nil
}

// predictionSource predicts messages.
type predictionSource struct {
	platform, library, place string
	title                    string
	basis                    string
	names                    []string // protocols; by ranges of calls
	call                     string   // the call that the protocols carry
	warnings                 []string
	predict                  func(name string, bytes int) (reports.Prediction, error)
	transfer                 func(name string, bytes int) model.Transfer // for time lines; nil: unknown
	machine                  *model.Machine                              // emulated machine, or nil
	calibrated               *model.Library                              // calibrated library of that machine
}

// Bases of predictions.
const (
	basisSteps     = "steps"
	basisEquations = "equations"
	basisRanges    = "ranges"
)

// predictionRow is a row of a prediction file.
type predictionRow struct {
	platform, library, place, mode, protocol string
	bytes                                    int
	quantity, micros, basis                  string
	within                                   reports.SizePosition
}

var predictionSchema = table.Schema[predictionRow]{
	Name: "predictions",
	Columns: []table.Column[predictionRow]{
		table.Name("platform", func(p *predictionRow) *string { return &p.platform }, nil),
		table.Name("library", func(p *predictionRow) *string { return &p.library }, nil),
		table.Name("place", func(p *predictionRow) *string { return &p.place }, nil),
		table.Name("mode", func(p *predictionRow) *string { return &p.mode }, nil),
		table.Name("protocol", func(p *predictionRow) *string { return &p.protocol }, nil),
		table.Whole("bytes", func(p *predictionRow) *int { return &p.bytes }, "a number of bytes", math.MaxInt32),
		table.Name("quantity", func(p *predictionRow) *string { return &p.quantity }, nil),
		table.Name("predicted_us", func(p *predictionRow) *string { return &p.micros }, nil),
		table.Name("basis", func(p *predictionRow) *string { return &p.basis }, nil),
		table.Name("range", func(p *predictionRow) *reports.SizePosition { return &p.within }, nil),
	},
}

// WriteCSV writes the predictions, with two rows for each.
func (p *Predictions) WriteCSV(w io.Writer) error {
	s := p.source
	var rows []predictionRow
	for _, m := range p.Messages {
		call, protocol := s.call, m.Protocol
		if s.basis == basisRanges {
			call, protocol = m.Protocol, "auto"
		}
		for _, x := range []struct {
			quantity string
			time     reports.PredictedTime
		}{{sample.TimerSender, m.SenderTime}, {sample.TimerOneWay, m.DeliveryTime}} {
			micros := x.time.MicrosString()
			if x.time.Position == reports.NotPredictable {
				micros = ""
			}
			rows = append(rows, predictionRow{s.platform, s.library, s.place, call, protocol, m.Bytes, x.quantity, micros, s.basis, x.time.Position})
		}
	}
	return predictionSchema.Write(w, nil, rows)
}
