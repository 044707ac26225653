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

// collectiveModel predicts collective operations from the costs of messages and the placement of
// ranks.
type collectiveModel struct {
	collective.Machine
	nodes      *collective.Nodes // nil: all ranks are equally far apart
	source     string            // of the parameters, for titles
	isPlatform bool              // parameters are those of an emulated platform
	calibrated *model.Library    // the calibrated library of that platform

	measuredOn   string           // the platform of parameters
	libraryTitle string           // the library whose choices are known, or not
	choose       algorithmChooser // nil: not known

	call   string               // the call whose parameters were measured
	params [][]params.Parameter // by place; nil: those of a platform, which are valid for all sizes
}

// callParameters returns the parameters of a call at a place, from the first platform that has
// them.
func (m *collectiveModel) callParameters(p Parameters, call, place string) (model.Parameters, error) {
	selected := params.ParametersOfPlace(p.All, "", "", place)
	if i := slices.IndexFunc(selected, func(x params.Parameter) bool { return x.Mode == call }); i >= 0 {
		selected = params.ParametersOfPlace(selected, selected[i].Platform, selected[i].Library, selected[i].Place)
		m.source = fmt.Sprintf("%s on %s, %s, %s", call, selected[0].Platform, selected[0].Library, selected[0].Place)
		m.measuredOn, m.libraryTitle = selected[0].Platform, selected[0].Library
	}
	m.call, m.params = call, append(m.params, selected)
	x, err := params.BlockingCallParametersBySize(selected, call)
	if err != nil {
		err = fmt.Errorf("predict from %s: %w", p.From, err)
	}
	m.Copying = copyOfReceives(x)
	return x, err
}

// copyOfReceives returns the time of a copy, as far as receives show it: the receive of an arrived
// message copies it, so its time grows with each byte.
func copyOfReceives(x model.Parameters) model.Curve {
	if x.EagerLimit == 0 {
		return nil
	}
	perByte := x.RecvOverhead.Time(x.EagerLimit) - x.RecvOverhead.Time(0)
	return model.Curve{{PerByte: unit.PerByte(max(perByte, 0)) / unit.PerByte(x.EagerLimit)}}
}

// checkSize reports whether a size is outside of the measured range. It fails if the size is too
// far outside.
func (m collectiveModel) checkSize(bytes int) (outside bool, err error) {
	for _, ps := range m.params {
		beyond, far := params.IsExtrapolatedSize(ps, m.call, bytes)
		if far != nil {
			return false, far
		}
		outside = outside || beyond
	}
	return outside, nil
}

// rangeOf returns the position of a message size relative to the measured range.
func (m collectiveModel) rangeOf(bytes int) reports.SizePosition {
	switch outside, err := m.checkSize(bytes); {
	case err != nil:
		return reports.NotPredictable
	case outside:
		return reports.OutsideRanges
	}
	return reports.InsideRange
}

// predict adds the predicted time to a measured one.
func (m collectiveModel) predict(x *compare.CollectiveComparison) error {
	o, known := collective.OperationNamed(x.Operation)
	a := collective.AlgorithmNamed(o, x.Algorithm)
	j := o.StandardJob(x.Ranks, x.Bytes, m.nodes)
	if !known || a == nil || x.Ranks > maxPredictedRanks || !a.Serves(j) || a.HasMoreMessages(j, maxComparedMessages) {
		return fmt.Errorf("there is no model of %s by %s of %d ranks and %d bytes", x.Operation, x.Algorithm, x.Ranks, x.Bytes)
	}
	x.Predicted, x.Model = m.Cost(a, j).LastEnd.Micros(), m.source
	return nil
}

// MessageModel sets up a job on an emulated machine. It returns the job and the costs of its
// low-level messages between the first and the last rank, for exchanges in phases.
func MessageModel(p *platform.Platform, library string, ranks int) (*job.Job, collective.Machine, error) {
	if ranks != 0 {
		ranks = min(max(ranks, p.Machine.Ranks.Min), p.Machine.Ranks.Max)
	}
	j, err := newJob(p, library, ranks, 0)
	if err != nil {
		return nil, collective.Machine{}, err
	}
	x := model.LowLevelParameters(p.Machine, j.Library, p.Machine.PathBetweenRanks(j.Ranks, 0, j.Ranks-1))
	return j, collective.Machine{Parameters: x}, nil
}
