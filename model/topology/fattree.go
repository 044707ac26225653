package topology

import "fmt"

// fatTree has the numbers of a fat tree, or of one for each rail.
type fatTree struct {
	rails, arity int
	levels       []treeLevel
	planeCables  int // between switches of a plane
}

// treeLevel describes the switches of a level of a plane. Switches above the same hosts are twins:
// the number of a switch in its level is subtree·twins + twin.
type treeLevel struct {
	twinSwitches int
	cablesUp     int // cables up of a switch
	hostsBelow   int // hosts below a switch
	firstVertex  int // of the switches of plane 0
	firstCable   int // of those up from the level, from the first of a plane on
}

// maxLevels limits the levels of a fat tree.
const maxLevels = 16

// NewStar returns hosts around one switch.
func NewStar(hosts int) (*Graph, error) {
	g, err := newFatTree("star", 1, hosts, nil, 1)
	if err == nil {
		g.Description = fmt.Sprintf("%d hosts around a switch", hosts)
	}
	return g, err
}

// NewFatTree returns an extended generalized fat tree (Öhring, Ibel, Das and Kumar 1995): each
// switch has arity cables down, and arity/taper[l] up to the level above level l+1. A missing taper
// is 1: full bisection bandwidth.
func NewFatTree(levels, arity int, taper []int) (*Graph, error) {
	g, err := newFatTree("fattree", levels, arity, taper, 1)
	if err == nil {
		g.Description = fmt.Sprintf("fat tree of %d levels, %d hosts", levels, g.Hosts)
	}
	return g, err
}

// NewRails returns a fat tree for each rail. Host n·rails + r is interface r of node n, and belongs
// to plane r. Planes have no cables between them: bytes arrive by the rail by which they left.
func NewRails(rails, levels, arity int, taper []int) (*Graph, error) {
	g, err := newFatTree("rails", levels, arity, taper, rails)
	if err == nil {
		g.Description = fmt.Sprintf("%d rails, each a fat tree of %d levels with %d hosts", rails, levels, g.Hosts/rails)
	}
	return g, err
}

func newFatTree(kind string, levels, arity int, taper []int, rails int) (*Graph, error) {
	switch {
	case arity < 2 || levels < 1 || rails < 1:
		return nil, fmt.Errorf("%s of %d levels with arity %d: write at least 1 level and an arity of at least 2", kind, levels, arity)
	case levels > maxLevels:
		return nil, fmt.Errorf("%s of %d levels: write at most %d", kind, levels, maxLevels)
	case len(taper) > levels-1:
		return nil, fmt.Errorf("%d tapers for %d levels: write one for each level but the top, %d at most", len(taper), levels, levels-1)
	}
	t := fatTree{rails: rails, arity: arity, levels: make([]treeLevel, levels)}
	hosts := 1
	for range levels {
		hosts = multiplyCounts(hosts, arity)
	}
	allHosts := multiplyCounts(hosts, rails)
	if allHosts < 0 || allHosts > MaxParts {
		return newGraph(kind, -1, 0, 0)
	}
	twins, below, switches, cables := 1, 1, 0, 0
	for l := range t.levels {
		below *= arity
		v := treeLevel{twinSwitches: twins, hostsBelow: below, firstVertex: allHosts + switches, firstCable: cables}
		if l < levels-1 {
			v.cablesUp = arity
			if l < len(taper) {
				if taper[l] < 1 || arity%taper[l] != 0 {
					return nil, fmt.Errorf("taper %d of level %d: it does not divide the %d cables down of a switch; write a divisor of %d", taper[l], l+1, arity, arity)
				}
				v.cablesUp = arity / taper[l]
			}
		}
		n := multiplyCounts(hosts/below, twins)
		if n < 0 || n > MaxParts {
			return newGraph(kind, 0, -1, 0)
		}
		switches += n
		cables += n * v.cablesUp
		twins = multiplyCounts(twins, v.cablesUp)
		t.levels[l] = v
	}
	t.planeCables = cables
	g, err := newGraph(kind, allHosts, multiplyCounts(switches, rails), multiplyCounts(rails, hosts+cables))
	if err != nil {
		return nil, err
	}
	for h := range allHosts {
		plane := h % rails
		g.addCable(h, plane*switches+t.levels[0].firstVertex+h/rails/arity, HostClass)
	}
	for plane := range rails {
		for l := range levels - 1 {
			v, above := &t.levels[l], &t.levels[l+1]
			for s := range hosts / v.hostsBelow * v.twinSwitches {
				subtree, twin := s/v.twinSwitches, s%v.twinSwitches
				for port := range v.cablesUp {
					parent := subtree/arity*above.twinSwitches + twin*v.cablesUp + port
					g.addCable(plane*switches+v.firstVertex+s, plane*switches+above.firstVertex+parent, TrunkClass)
				}
			}
		}
	}
	if arity%2 == 0 {
		g.Bisection = rails * arity / 2 * t.levels[levels-1].twinSwitches
	}
	g.parameters.fatTree, g.routeKind = t, treeRoutes
	return g, nil
}

// Rails returns how many planes a graph of rails has.
func (g *Graph) Rails() int { return max(1, g.parameters.rails) }

// lowestCommonLevel returns the first level above both hosts of a plane.
func (t *fatTree) lowestCommonLevel(from, to int) int {
	n := 1
	for from, to = from/t.arity, to/t.arity; from != to; n++ {
		from, to = from/t.arity, to/t.arity
	}
	return n
}

// nextInFatTree goes up to the first level above both hosts, and down from there. On the way up,
// another digit of the destination's number selects the cable at each level, so that routes to
// neighbouring hosts separate at once (D-mod-K: Zahavi 2010); or a hash does.
func (g *Graph) nextInFatTree(r *Route) int32 {
	t := &g.parameters.fatTree
	if r.level == 0 {
		from := int(r.position)
		r.level, r.position = 1, int32(from/t.rails/t.arity)
		return int32(2 * from)
	}
	destination := int(r.Destination) / t.rails
	plane := g.Hosts + int(r.Destination)%t.rails*t.planeCables
	v := &t.levels[r.level-1]
	at := int(r.position)
	if r.level == r.topLevel {
		r.topLevel = 0
	}
	if r.topLevel > 0 {
		port := destination / v.twinSwitches % v.cablesUp
		if g.usesHash() {
			port = int(hash64(uint64(r.hash)^uint64(r.level)<<40) % uint64(v.cablesUp))
		}
		above := &t.levels[r.level]
		cable := plane + v.firstCable + at*v.cablesUp + port
		r.position = int32(at/v.twinSwitches/t.arity*above.twinSwitches + at%v.twinSwitches*v.cablesUp + port)
		r.level++
		return int32(2 * cable)
	}
	if r.level == 1 {
		return 2*r.Destination + 1
	}
	under := &t.levels[r.level-2]
	twin := at % v.twinSwitches
	child := destination/under.hostsBelow*under.twinSwitches + twin/under.cablesUp
	cable := plane + under.firstCable + child*under.cablesUp + twin%under.cablesUp
	r.position = int32(child)
	r.level--
	return int32(2*cable + 1)
}
