package loggp

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// measureNCCL times collective operations of NCCL as nccl-tests do: by what NCCL takes, by one
// method, or by all. Each is executed once, as nothing varies.
func (m *measurement) measureNCCL(ctx context.Context, g *ncclGroup) (*Measurement, error) {
	if err := m.checkNCCLOptions(g); err != nil {
		return nil, err
	}
	operations, err := g.operations(m.Collective)
	if err != nil {
		return nil, err
	}
	sizes := m.Sizes
	if sizes == nil {
		sizes = ncclSizes
	}
	key := sample.Key{Platform: g.platform.Machine.Name, Library: g.library.Name, Clock: "virtual", Place: model.IntraNode.String(), Timer: sample.TimerCollLast}
	if g.Nodes > 1 {
		key.Place = model.InterNode.String()
	}
	set := &sample.Set{}
	for _, o := range operations {
		calls, err := g.calls(o, sizes)
		if err != nil {
			return nil, err
		}
		for _, call := range calls {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			methods, err := m.ncclMethods(g, o)
			if err != nil {
				return nil, err
			}
			key.Mode, key.Bytes = o.String(), call.Bytes/g.blocks(o)
			if methods == nil {
				key.Protocol = probe.VendorAlgorithm
				set.Series = append(set.Series, sample.Series{Key: key, Times: []unit.Time{g.Time(call, g.Choice(call))}})
			}
			for _, x := range methods {
				key.Protocol = x.String()
				set.Series = append(set.Series, sample.Series{Key: key, Times: []unit.Time{g.Time(call, x)}})
			}
		}
	}
	set.Facts = append(m.commandFacts(),
		sample.Fact{Key: "platform", Value: g.platform.Machine.Description},
		sample.Fact{Key: sample.PlatformFileFact, Value: m.Platform}, sample.Fact{Key: sample.PlatformSumFact, Value: g.platform.Hash},
		sample.Fact{Key: "library", Value: g.library.Description}, sample.Fact{Key: sample.RanksFact, Value: strconv.Itoa(g.Ranks)},
		sample.Fact{Key: sample.ResolutionFact, Value: g.platform.Machine.TimerResolution.MicrosString()}, sample.Fact{Key: "root", Value: "0"})
	return &Measurement{Samples: set, collective: true, nccl: g}, nil
}

// checkNCCLOptions rejects options without effect.
func (m *measurement) checkNCCLOptions(g *ncclGroup) error {
	if len(m.Collective) == 0 {
		return optionErrorf("Collective", "library %s is measured by its collective operations: name some, or all", g.library.Name)
	}
	for _, x := range []struct {
		option string
		given  bool
	}{{"Noise", m.Noise > 0}, {"Reps", m.Reps != 0}, {"Warmup", m.Warmup != 0}, {"Seed", m.Seed > 1}} {
		if x.given {
			return optionErrorf(x.option, "no effect on library %s: its times do not vary", g.library.Name)
		}
	}
	return nil
}

// ncclMethods are the methods that are asked for; nil: what NCCL takes.
func (m *measurement) ncclMethods(g *ncclGroup, o collective.Operation) ([]nccl.Method, error) {
	methods := g.Methods(o)
	switch m.Algorithm {
	case "":
		return nil, nil
	case "all":
		return methods, nil
	}
	var names []string
	for _, x := range methods {
		if x.String() == m.Algorithm {
			return []nccl.Method{x}, nil
		}
		names = append(names, x.String())
	}
	return nil, optionErrorf("Algorithm", "%v of %s has no %q: it has %s", o, g.describe(), m.Algorithm, strings.Join(names, ", "))
}

// ncclTestsTable shows times as nccl-tests print them.
func (m *Measurement) ncclTestsTable() (*doc.Document, error) {
	times, err := compare.ReadCollectives(m.Samples)
	if err != nil {
		return nil, err
	}
	d := &doc.Document{Title: "Collective operations of " + m.nccl.describe(), Footer: "Made by loggp."}
	t := &doc.Table{Name: "nccl-tests", Title: d.Title, Columns: []doc.Column{
		{Heading: "size\nB", IsKey: true, Kind: doc.NumberColumn}, {Heading: "algorithm"}, {Heading: "time\nus", Kind: doc.NumberColumn},
		{Heading: "algbw\nGB/s", Kind: doc.NumberColumn}, {Heading: "busbw\nGB/s", Kind: doc.NumberColumn},
	}}
	t.AddNote("As nccl-tests: size is that of a rank's larger buffer, with all blocks; algbw is size / time, busbw that of the links. In place, times are the same: NCCL executes the same steps.")
	slices.SortStableFunc(times, func(a, b compare.CollectiveTimes) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), strings.Compare(a.Algorithm, b.Algorithm), cmp.Compare(a.Bytes, b.Bytes))
	})
	operation := ""
	for _, x := range times {
		if x.Operation != operation {
			operation = x.Operation
			t.BeginGroup(operation)
		}
		o, _ := collective.OperationNamed(x.Operation)
		call := nccl.Call{Operation: o, Bytes: x.Bytes * m.nccl.blocks(o)}
		algorithm := x.Algorithm
		if algorithm == probe.VendorAlgorithm {
			algorithm = m.nccl.Choice(call).String()
		}
		micros, _ := x.RankedTime()
		rate := float64(call.Bytes) / micros / 1e3
		t.AddRow(doc.CountCell(call.Bytes), doc.TextCell(algorithm), doc.NumberCell(micros), doc.TextCell(format.WithDecimals(rate, 2)), doc.TextCell(format.WithDecimals(rate*nccl.BusFactor(o, m.nccl.Ranks), 2)))
	}
	d.AddTables("times", "Times", t)
	addExpectedError(d, m.nccl.library, false)
	return d, nil
}
