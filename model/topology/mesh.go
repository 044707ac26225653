package topology

import "fmt"

// NewMesh returns hosts of which each two are joined by a cable, without switches, such as GPUs of
// a node.
func NewMesh(hosts int) (*Graph, error) {
	if hosts < 2 {
		return nil, fmt.Errorf("mesh of %d hosts: write at least 2", hosts)
	}
	cables := multiplyCounts(hosts, hosts-1)
	if cables > 0 {
		cables /= 2
	}
	g, err := newGraph("mesh", hosts, 0, cables)
	if err != nil {
		return nil, err
	}
	for a := range hosts {
		for b := a + 1; b < hosts; b++ {
			g.addCable(a, b, HostClass)
		}
	}
	if hosts%2 == 0 {
		g.Bisection = hosts / 2 * hosts / 2
	}
	g.Description, g.routeKind = fmt.Sprintf("full mesh of %d hosts", hosts), meshRoutes
	return g, nil
}

// nextInMesh takes the cable to the destination.
func (g *Graph) nextInMesh(r *Route) int32 {
	from, to := int(r.position), int(r.Destination)
	r.position = r.Destination
	if from < to {
		return int32(2 * pairNumber(g.Hosts, from, to))
	}
	return int32(2*pairNumber(g.Hosts, to, from) + 1)
}
