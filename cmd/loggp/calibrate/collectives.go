package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// ncclMeasurement is a measured time of a collective operation of NCCL.
type ncclMeasurement struct {
	compare.CollectiveTimes
	operation collective.Operation
	nodes     int // 0: ranks fill nodes
}

// time returns what the operation takes on a platform: by the method that was measured, or by the
// one that NCCL takes.
func (m *ncclMeasurement) time(h *nccl.Hardware) (unit.Time, error) {
	c, err := nccl.NewCommunicator(h, m.Ranks, cmp.Or(m.nodes, (m.Ranks+h.GPUs-1)/h.GPUs))
	if err != nil {
		return 0, err
	}
	call := nccl.Call{Operation: m.operation, Bytes: bytesOfRank(m.operation, m.CollectiveTimes)}
	method, isNamed := nccl.MethodNamed(m.Algorithm)
	switch {
	case !isNamed:
		method = c.Choice(call)
	case !slices.Contains(c.Methods(m.operation), method):
		return 0, fmt.Errorf("NCCL has no %v by %v for %d ranks on %d nodes", m.operation, method, c.Ranks, c.Nodes)
	}
	return c.Time(call, method), nil
}

// bytesOfRank returns the length of the larger buffer of a rank, as nccl-tests count.
func bytesOfRank(o collective.Operation, x compare.CollectiveTimes) int {
	if o.HasBlocks() {
		return x.Bytes * x.Ranks
	}
	return x.Bytes
}

// ncclLibrary returns the library of a platform that is NCCL, if samples are of its collective
// operations: such as nccl-tests and rccl-tests measure. Else it returns nil.
func ncclLibrary(file string, set *sample.Set, p *platform.Platform, library string) (*model.Library, error) {
	if !slices.ContainsFunc(set.Series, func(s sample.Series) bool { return sample.IsCollectiveTimer(s.Timer) }) {
		return nil, nil
	}
	i := slices.IndexFunc(p.Libraries, func(l *model.Library) bool {
		return l.CarriedBy() == model.NCCLEngine && (library == "" || l.Name == library)
	})
	switch {
	case i >= 0:
		return p.Libraries[i], nil
	case slices.ContainsFunc(set.Series, func(s sample.Series) bool { return s.Timer == sample.TimerRTT }):
		return nil, nil // round trips are fitted, and operations compared later
	}
	return nil, fmt.Errorf("%s: it has collective operations alone, and %s has no library that is NCCL: take a template of GPUs, such as dgx-h100, or measure messages between two ranks (loggp measure without --collective)", file, p.Machine.Name)
}

// ncclBench returns a bench of the times of collective operations in a samples file, by a library
// that is NCCL. Operations that it does not have are left out.
func ncclBench(file string, set *sample.Set, l *model.Library, part SampleSelection) (*Bench, error) {
	times, err := compare.ReadCollectives(set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: import it with --ranks", file, err)
	}
	b := &Bench{Libraries: []string{l.Name}, IsQuick: true}
	var measured []ncclMeasurement
	for _, x := range times {
		o, known := collective.OperationNamed(x.Operation)
		micros, _ := x.RankedTime()
		bytes := bytesOfRank(o, x)
		switch {
		case len(part.Modes) > 0 && !slices.Contains(part.Modes, x.Operation), len(part.Sizes) > 0 && !slices.Contains(part.Sizes, bytes):
			continue
		case !known || !slices.Contains(nccl.Operations, o):
			b.Omitted = append(b.Omitted, fmt.Sprintf("%s: %s of %s: %s has no such operation", file, x.Operation, unit.Bytes(x.Bytes), l.Name))
			continue
		case !(micros > 0):
			b.Omitted = append(b.Omitted, fmt.Sprintf("%s: %s of %s: it has no time", file, x.Operation, unit.Bytes(x.Bytes)))
			continue
		}
		name := fmt.Sprintf("%v %s %d ranks", o, unit.Bytes(bytes), x.Ranks)
		if _, isNamed := nccl.MethodNamed(x.Algorithm); isNamed {
			name += " " + x.Algorithm
		}
		nodes := 0
		if text, isKnown := set.Fact(sample.NodesFact(x.Ranks)); isKnown {
			if nodes, err = strconv.Atoi(text); err != nil || nodes < 1 {
				return nil, fmt.Errorf("%s: the fact %q is %q: it has to be a number of nodes", file, sample.NodesFact(x.Ranks), text)
			}
		}
		measured = append(measured, ncclMeasurement{x, o, nodes})
		b.Quantities = append(b.Quantities, Quantity{name, "us", micros, micros, SamplesPrefix + file, l.Name})
	}
	if measured == nil {
		return nil, fmt.Errorf("%s: %w", file, errors.New("it has no times of collective operations that are to be compared"))
	}
	b.Measure = func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		of, err := p.Library(l.Name)
		if err != nil {
			return nil, err
		}
		h, err := nccl.NewHardware(p.Machine, of)
		if err != nil {
			return nil, err
		}
		values := make([]float64, len(measured))
		for i := range measured {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t, err := measured[i].time(h)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			values[i] = t.Micros()
		}
		return values, nil
	}
	return b, nil
}
