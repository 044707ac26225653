package topology

// Route is the position of bytes on their way and what decides where they go next.
type Route struct {
	Destination    int32 // a host
	Links          int16 // how many it has taken
	level          int8  // of a fat tree: of the switch where it is; 0: the host
	topLevel       int8  // of a fat tree: the level where it turns down; 0: it turns down here
	position       int32 // where it is: a vertex; in a fat tree the number of the switch in its level and plane
	viaGroup       int32 // of a dragonfly: the group through which it goes first; −1: none
	hash           uint32
	avoidsFailures bool // it goes round failed cables, by vertices
}

// RouteBetween returns the route from a host to another. On rails it stays in the plane of the
// first, so its destination is the host of that plane in the other's node.
func (g *Graph) RouteBetween(from, to int) Route {
	if n := g.parameters.rails; n > 1 {
		to = to/n*n + from%n
	}
	r := Route{Destination: int32(to), position: int32(from), viaGroup: -1}
	if g.parameters.arity > 0 {
		r.topLevel = int8(g.parameters.lowestCommonLevel(from/g.parameters.rails, to/g.parameters.rails))
	}
	if g.usesHash() {
		r.hash = uint32(hash64(g.Seed ^ hash64(uint64(from)<<32|uint64(to))))
	}
	g.avoidFailures(&r)
	return r
}

// usesHash reports whether a hash chooses among equally short routes.
func (g *Graph) usesHash() bool { return g.Routing == HashRouting || g.Routing == SprayRouting }

// Spray gives a route that has not begun the hash of a random number.
func (g *Graph) Spray(r *Route, random uint64) {
	r.hash, r.avoidsFailures = uint32(hash64(random)), false
	g.avoidFailures(r)
}

// NextLink advances a route that has not ended by a link, and returns the link.
func (g *Graph) NextLink(r *Route) int32 {
	link := g.nextLink(r)
	r.Links++
	return link
}

func (g *Graph) nextLink(r *Route) (link int32) {
	if r.avoidsFailures {
		return g.nextRoundFailures(r)
	}
	switch g.routeKind {
	case treeRoutes:
		link = g.nextInFatTree(r)
	case dragonflyRoutes:
		link = g.nextInDragonfly(r)
	case meshRoutes:
		link = g.nextInMesh(r)
	case shortestRoutes:
		link = g.nextByDistance(r)
	}
	return link
}

// Channel returns the virtual channel of the link that a route has just taken.
//
// Where routes may close a cycle, a route takes a higher channel with each link, so that buffers of
// a channel are freed by buffers of higher ones only (structured buffer pool: Merlin and Schweitzer
// 1980; for dragonflies Kim et al. 2008). Routes of a fat tree go up and then down, which no cycle
// does: one channel is enough.
func (g *Graph) Channel(r *Route) int16 {
	if g.usesVirtualChannels {
		return r.Links - 1
	}
	return 0
}

// IsTurn reports whether the route is where adaptive routing chooses: at the first router, on the
// way to another group.
func (g *Graph) IsTurn(r *Route) bool {
	return g.Routing == AdaptiveRouting && r.Links == 1 && !r.avoidsFailures && g.parameters.groupOf(int(r.position)-g.Hosts) != g.parameters.groupOfHost(int(r.Destination))
}

// Detour returns the route that goes first to the group that a random number selects, which is
// neither that where it is nor that of its destination. It returns false if there is no such group,
// or if a cable on the way has failed.
func (g *Graph) Detour(r Route, random uint64) (Route, bool) {
	d := &g.parameters.dragonfly
	if d.groups < 3 {
		return r, false
	}
	here, there := d.groupOf(int(r.position)-g.Hosts), d.groupOfHost(int(r.Destination))
	group := int(random % uint64(d.groups-2))
	for _, other := range []int{min(here, there), max(here, there)} {
		if group >= other {
			group++
		}
	}
	r.viaGroup = int32(group)
	return r, g.failures == nil || g.avoidsFailedCables(r)
}

// LinksLeft returns how many links a route has before it.
func (g *Graph) LinksLeft(r Route) int {
	n := 0
	for at := int32(-1); at != r.Destination; n++ {
		at = g.endOfLink[g.NextLink(&r)]
	}
	return n
}

// hash64 returns a hash of a number: the finalizer of SplitMix64, Steele, Lea and Flood 2014.
func hash64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
