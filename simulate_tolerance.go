package loggp

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// withHostLatency returns a platform with another latency of the links of hosts between nodes,
// which its network has. Its buffers stay, though they may be too small for it to be busy all the
// time.
func withHostLatency(p *platform.Platform, latency unit.Time) *platform.Platform {
	changed, machine, fabric := *p, *p.Machine, *p.Machine.Network.(*model.Fabric)
	fabric.Links[topology.HostClass].Latency = latency
	machine.Network = &fabric
	changed.Machine = &machine
	return &changed
}

// maxToleratedLatency is how far a latency is raised; longer ones count as any.
const maxToleratedLatency = unit.Second

// simulationsOfTolerance is about how many simulations find a tolerance, for progress.
const simulationsOfTolerance = 8

// tolerance returns how long the latency of the links of hosts may be until the workload takes
// longer than a time. ok is false if it may be any. base is the latency of the platform, with which
// the workload takes less.
// After each simulation it calls simulated with their number.
func (o *FlowOptions) tolerance(ctx context.Context, w *Workload, base, baseFinish, longest unit.Time, simulated func(n int)) (latency unit.Time, ok bool, err error) {
	n := 0
	finish := func(latency unit.Time) (unit.Time, error) {
		other := *o
		other.hostLatency = latency
		res, _, err := other.simulate(ctx, w, "", "")
		n++
		simulated(n)
		if err != nil {
			return 0, err
		}
		return res.Finish, nil
	}
	low, lowFinish := base, baseFinish
	high, highFinish := max(4*base, unit.Microsecond), unit.Time(0)
	for {
		if highFinish, err = finish(high); err != nil {
			return 0, false, err
		}
		if highFinish > longest {
			break
		}
		if high >= maxToleratedLatency {
			return 0, false, nil
		}
		low, lowFinish, high = high, highFinish, min(8*high, maxToleratedLatency)
	}
	for high-low > max(high/50, unit.Nanosecond) {
		width := float64(high - low)
		part := float64(longest-lowFinish) / float64(max(highFinish-lowFinish, 1)) // on a straight line
		middle := low + unit.Time(width*min(max(part, 0.05), 0.95))
		t, err := finish(middle)
		switch {
		case err != nil:
			return 0, false, err
		case t > longest:
			high, highFinish = middle, t
		default:
			low, lowFinish = middle, t
		}
	}
	return low, true, nil
}

// toleranceTable says how far the latency of links may grow.
func (o *FlowOptions) toleranceTable(ctx context.Context, w *Workload, finish unit.Time) (*doc.Table, error) {
	var base unit.Time
	if o.Platform != "" {
		p, err := LoadPlatform(o.Platform)
		if err != nil {
			return nil, err
		}
		if f, isFabric := p.Machine.Network.(*model.Fabric); isFabric {
			base = max(f.Links[topology.HostClass].Latency, 1)
		}
	}
	if base == 0 {
		return nil, optionErrorf("Tolerance", "flows tell it of a platform whose network between nodes is a fabric of links: name one, or leave out what asks for flows")
	}
	t := &doc.Table{Name: "tolerance", Title: "How far the latency between nodes may grow", Columns: []doc.Column{
		{Heading: "longer by\n%", Kind: doc.NumberColumn, IsKey: true}, {Heading: "latency of a link\nus", Kind: doc.NumberColumn}, {Heading: "growth of one way\nus", Kind: doc.NumberColumn}}}
	for i, part := range o.Tolerances {
		most, ok, err := o.tolerance(ctx, w, base, finish, finish+unit.Time(part*float64(finish)), func(n int) {
			if o.Progress != nil {
				o.Progress(i*simulationsOfTolerance+min(n, simulationsOfTolerance), len(o.Tolerances)*simulationsOfTolerance)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("tolerance: %w", err)
		}
		if !ok {
			t.AddRow(doc.NumberCell(100*part), doc.TextCell("any"), doc.TextCell("any"))
			continue
		}
		t.AddRow(doc.NumberCell(100*part), microsCell(most), microsCell(2*(most-base)))
	}
	t.AddNote("A message between nodes passes two links of hosts, which have %v", base)
	return t, nil
}
