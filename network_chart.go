package loggp

import (
	"fmt"

	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/reports/chart"
)

// NetworkChart returns a chart of a platform's network, which must be a graph, with the load of
// each link, such as Execution.LinkLoads; nil: without loads. The error says which networks can be
// drawn.
func NetworkChart(p *platform.Platform, load map[string]float64) (*chart.Chart, error) {
	n, ok := p.Machine.Network.(interface{ Topology() *topology.Graph })
	if !ok {
		return nil, fmt.Errorf("the network of %s is no graph: only one of kind fabric is, see docs/fabric.md", p.Machine.Name)
	}
	g := n.Topology()
	if cables := g.Links() / 2; cables > chart.MaxDrawnCables {
		return nil, fmt.Errorf("the network of %s has %d cables: one with at most %d can be drawn", p.Machine.Name, cables, chart.MaxDrawnCables)
	}
	return chart.NetworkChart("network-"+p.Machine.Name, fmt.Sprintf("Network of %s", p.Machine.Name), g, load), nil
}
