package fattree

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// level describes the switches of one level of the tree. Switches above the same ends are twins:
// their down links lead to the same subtrees, to different twins there. The number of a switch in
// its level is subtree·twins + twin.
type level struct {
	firstOutput     int32 // index of the level's first output: the down outputs of each switch, then its up outputs
	switches        int
	twinSwitches    int
	upLinks         int // up links per switch
	interfacesBelow int // ends below a switch
}

// levels returns the levels of a tree with a number of ends. It omits switches without ends below.
func levels(t *model.FatTree, ends int) []level {
	all := make([]level, t.Levels())
	first, twins, below := 0, 1, 1
	for i := range all {
		below *= t.Arity
		v := level{firstOutput: int32(first), twinSwitches: twins, interfacesBelow: below}
		if i < len(t.UpLinks) {
			v.upLinks = t.UpLinks[i]
		}
		v.switches = (ends + below - 1) / below * twins
		all[i] = v
		first += v.switches * (t.Arity + v.upLinks)
		twins *= v.upLinks
		if below >= ends { // no route goes higher
			all = all[:i+1]
			all[i].upLinks = 0
			break
		}
	}
	return all
}

// route is the position of a chunk and its destination.
type route struct {
	destination int32 // an end
	atSwitch    int32 // number, in its level, of the switch that the chunk is in
	level       int8  // level of that switch; 0: the chunk has not entered the tree
	topLevel    int8  // level at which the route turns down
	goesDown    bool
	toItself    bool // from an end to itself, through its interface and switch
}

// RouteBetween implements core.Router: a route goes up to the lowest level above both ends.
func (n *network) RouteBetween(from, to int) (route, unit.Time) {
	top := n.TopLevelBetween(from, to)
	r := route{destination: int32(to), atSwitch: int32(from / n.Arity), topLevel: int8(top)}
	if top == 0 {
		r.topLevel, r.toItself = 1, true
		return r, n.Deliver
	}
	return r, n.FatTree.Latency(2*top - 1)
}

// AdvanceRoute implements core.Router. On the way up, a digit of the destination's number selects
// the link, another digit at each level, so that packets to neighbouring ends separate at once
// (D-mod-K: Zahavi 2010). All packets to an end come down through the same switches, in order.
func (n *network) AdvanceRoute(r *route) (out int32, step unit.Time, last bool) {
	if r.level == 0 {
		r.level = 1
	}
	if !r.toItself {
		step = n.HopLatency
	}
	v := &n.levels[r.level-1]
	base := v.firstOutput + r.atSwitch*int32(n.Arity+v.upLinks)
	if r.level == r.topLevel {
		r.goesDown = true
	}
	if !r.goesDown {
		link := r.destination / int32(v.twinSwitches) % int32(v.upLinks)
		out = base + int32(n.Arity) + link
		subtree, twin := r.atSwitch/int32(v.twinSwitches), r.atSwitch%int32(v.twinSwitches)
		above := &n.levels[r.level]
		r.atSwitch = subtree/int32(n.Arity)*int32(above.twinSwitches) + twin*int32(v.upLinks) + link
		r.level++
		return out, step, false
	}
	below := v.interfacesBelow / n.Arity
	child := int(r.destination) / below
	out = base + int32(child%n.Arity)
	if r.level == 1 {
		return out, step, true
	}
	under := &n.levels[r.level-2]
	twin := r.atSwitch % int32(v.twinSwitches)
	r.atSwitch = int32(child)*int32(under.twinSwitches) + twin/int32(under.upLinks)
	r.level--
	return out, step, false
}
