package topology

import "fmt"

// dragonfly has the numbers of a dragonfly.
type dragonfly struct {
	groups, routers, hostsPerRouter, globalPorts int
	cablesBetweenGroups                          int // cables between two groups
	groupCables                                  int // local ones of a group
	globalLinks                                  []int32
}

// NewDragonfly returns groups of routers (Kim, Dally, Scott and Abts 2008): the routers of a group
// are joined with each other, and each has hosts and global cables to other groups. Groups have the
// same number of cables between each two.
func NewDragonfly(groups, routers, hosts, global int) (*Graph, error) {
	if groups < 2 || routers < 1 || hosts < 1 || global < 1 {
		return nil, fmt.Errorf("dragonfly of %d groups of %d routers with %d hosts and %d global links: write at least 2 groups, and at least 1 of the others", groups, routers, hosts, global)
	}
	ports := multiplyCounts(routers, global)
	if ports > 0 && ports%(groups-1) != 0 {
		return nil, fmt.Errorf("%d global links of a group do not divide among %d other groups: write routers and global so that their product is a multiple of %d", ports, groups-1, groups-1)
	}
	all := multiplyCounts(groups, routers)
	globalCables := multiplyCounts(groups, ports)
	if globalCables > 0 {
		globalCables /= 2
	}
	local := multiplyCounts(routers, routers-1)
	if local > 0 {
		local /= 2
	}
	localCables := multiplyCounts(groups, local)
	cables := -1
	if n := multiplyCounts(all, hosts); n >= 0 && globalCables >= 0 && localCables >= 0 {
		cables = n + globalCables + localCables
	}
	g, err := newGraph("dragonfly", multiplyCounts(all, hosts), all, cables)
	if err != nil {
		return nil, err
	}
	d := dragonfly{groups: groups, routers: routers, hostsPerRouter: hosts, globalPorts: global, cablesBetweenGroups: ports / (groups - 1), groupCables: local,
		globalLinks: make([]int32, groups*ports)}
	for h := range g.Hosts {
		g.addCable(h, g.Hosts+h/hosts, HostClass)
	}
	for group := range groups {
		for a := range routers {
			for b := a + 1; b < routers; b++ {
				g.addCable(g.Hosts+group*routers+a, g.Hosts+group*routers+b, LocalClass)
			}
		}
	}
	for group := range groups {
		for port := range ports {
			distance := port/d.cablesBetweenGroups + 1
			peer := (group + distance) % groups
			if group > peer {
				continue
			}
			back := (groups-distance-1)*d.cablesBetweenGroups + port%d.cablesBetweenGroups
			c := g.addCable(g.Hosts+group*routers+port/global, g.Hosts+peer*routers+back/global, GlobalClass)
			d.globalLinks[group*ports+port], d.globalLinks[peer*ports+back] = int32(2*c), int32(2*c+1)
		}
	}
	if groups%2 == 0 {
		g.Bisection = min(groups/2*groups/2*d.cablesBetweenGroups, g.Hosts/2)
	}
	g.Description = fmt.Sprintf("dragonfly of %d groups of %d routers, %d hosts", groups, routers, g.Hosts)
	g.parameters.dragonfly, g.routeKind, g.usesVirtualChannels = d, dragonflyRoutes, true
	return g, nil
}

// groupOf returns the group of a router.
func (d *dragonfly) groupOf(router int) int { return router / d.routers }

// groupOfHost returns the group of a host.
func (d *dragonfly) groupOfHost(host int) int { return host / d.hostsPerRouter / d.routers }

// nextInDragonfly goes by at most one local link, a global one, and a local one to each group on
// its way: that of the destination, or another one first.
func (g *Graph) nextInDragonfly(r *Route) int32 {
	d := &g.parameters.dragonfly
	if r.Links == 0 {
		from := r.position
		r.position = g.endOfLink[2*from]
		return 2 * from
	}
	router, end := int(r.position)-g.Hosts, int(r.Destination)/d.hostsPerRouter
	group, target := router/d.routers, end/d.routers
	if int(r.viaGroup) == group {
		r.viaGroup = -1
	}
	if r.viaGroup >= 0 {
		target = int(r.viaGroup)
	}
	var link int32
	switch {
	case group != target:
		distance := (target - group + d.groups) % d.groups
		port := (distance-1)*d.cablesBetweenGroups + int(r.Destination)%d.cablesBetweenGroups
		if at := port / d.globalPorts; at != router%d.routers {
			link = g.localLink(group, router%d.routers, at)
		} else {
			link = d.globalLinks[group*d.routers*d.globalPorts+port]
		}
	case router != end:
		link = g.localLink(group, router%d.routers, end%d.routers)
	default:
		return 2*r.Destination + 1
	}
	r.position = g.endOfLink[link]
	return link
}

// localLink returns the link between two routers of a group.
func (g *Graph) localLink(group, from, to int) int32 {
	d := &g.parameters.dragonfly
	a, b := min(from, to), max(from, to)
	cable := g.Hosts + group*d.groupCables + pairNumber(d.routers, a, b)
	if from == a {
		return int32(2 * cable)
	}
	return int32(2*cable + 1)
}

// pairNumber returns the number of the pair a < b among those of n, in order of a and then b.
func pairNumber(n, a, b int) int { return a*(2*n-a-1)/2 + b - a - 1 }
