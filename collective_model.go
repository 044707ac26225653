package loggp

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// collectiveModel predicts collective operations: it knows what messages take, and where ranks are.
type collectiveModel struct {
	collective.Machine
	nodes      *collective.Nodes // of the ranks; nil: all are equally far apart
	source     string            // of the parameters, for titles
	isLowLevel bool              // parameters are those of low-level messages, not of calls

	call   string               // whose parameters were measured
	params [][]params.Parameter // by place; nil: those of a platform, which hold for all sizes
}

// useMessages takes the parameters of a library's low-level messages: of a place or, without one,
// within nodes and between them. Ranks beyond those that the platform has are as far apart as its
// own.
func (m *collectiveModel) useMessages(known *platform.Platform, library, place string, ranks int) (*job.Job, error) {
	if ranks != 0 {
		ranks = min(max(ranks, known.Machine.Ranks.Min), known.Machine.Ranks.Max)
	}
	job, err := newJob(known, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	pair, err := pairOf(job, place)
	if err != nil {
		return nil, err
	}
	machine := known.Machine
	view := func(pair [2]int) model.Parameters {
		return model.MessageView(machine, job.Library, machine.Path(job.Ranks, pair[0], pair[1]))
	}
	m.Parameters = view(pair)
	m.Fold = unit.PerByte(machine.Processor.Operation) / 8 // of elements as Float64, which are what is measured
	m.isLowLevel = true
	m.source = "low-level messages on " + machine.Name + ", " + job.Library.Name
	near, err := job.Pair(model.Intra.String())
	if place == "" && err == nil && machine.Tier(pair[0], pair[1]) == model.Inter {
		x := view(near)
		m.Near = &x
	}
	return job, nil
}

// callParameters returns the parameters of a call at a place, on the first platform that has them.
func (m *collectiveModel) callParameters(p Parameters, call, place string) (model.Parameters, error) {
	selected := params.SelectParameters(p.All, "", "", place)
	if i := slices.IndexFunc(selected, func(x params.Parameter) bool { return x.Mode == call }); i >= 0 {
		selected = params.SelectParameters(selected, selected[i].Platform, selected[i].Library, selected[i].Place)
		m.source = fmt.Sprintf("%s on %s, %s, %s", call, selected[0].Platform, selected[0].Library, selected[0].Place)
	}
	m.call, m.params = call, append(m.params, selected)
	x, err := params.CallParametersBySize(selected, call)
	if err != nil {
		err = fmt.Errorf("predict from %s: %w", p.From, err)
	}
	return x, err
}

// checkSize reports whether a size is outside of those that were measured. It is an error if the
// size is too far from them.
func (m collectiveModel) checkSize(bytes int) (outside bool, err error) {
	for _, ps := range m.params {
		beyond, far := params.OutsideRange(ps, m.call, bytes)
		if far != nil {
			return false, far
		}
		outside = outside || beyond
	}
	return outside, nil
}

// rangeOf says how the size of a message lies to those that were measured.
func (m collectiveModel) rangeOf(bytes int) reports.Range {
	switch outside, err := m.checkSize(bytes); {
	case err != nil:
		return reports.Unknown
	case outside:
		return reports.Outside
	}
	return reports.Inside
}

// caveat says what a prediction leaves out, and how to learn its error.
func (m collectiveModel) caveat() string {
	omitted := "contention on links, receivers that are late for a rendezvous, combining and copying. For 16 ranks of an emulated T3D the median error of an operation is 0 to 17 %, the largest 62 % where data are combined"
	if m.isLowLevel {
		omitted = "the overheads of MPI calls, rendezvous, contention on links and copying, so that times may be several times as long"
	}
	return "The model leaves out " + omitted + ". Measure the near ties before you choose: 'loggp measure --collective NAME -o FILE', and 'loggp compare --samples FILE' prints the error of the model and whether it finds the fastest algorithm."
}

// predict adds the model's time to a measured one.
func (m collectiveModel) predict(x *compare.CollectiveComparison) error {
	o, known := collective.OperationNamed(x.Operation)
	a := collective.Named(o, x.Algorithm)
	j := o.Job(x.Ranks, x.Bytes, m.nodes)
	if !known || a == nil || x.Ranks*(1+x.Bytes>>10) > maxPredictedMessages || !a.Serves(j) {
		return fmt.Errorf("there is no model of %s by %s of %d ranks and %d bytes", x.Operation, x.Algorithm, x.Ranks, x.Bytes)
	}
	x.Predicted, x.Model = m.Cost(a, j).Last.Micros(), m.source
	return nil
}

// MessageModel sets up a job on an emulated machine, and returns with it what its low-level
// messages take, from which the costs of collective algorithms follow.
func MessageModel(p *platform.Platform, library string, ranks int) (*job.Job, collective.Machine, error) {
	var m collectiveModel
	j, err := m.useMessages(p, library, "", ranks)
	return j, m.Machine, err
}
