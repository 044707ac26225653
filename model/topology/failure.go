package topology

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// failedCables are the cables of a graph that carry nothing, and the routes round them.
//
// A pair whose route takes a failed cable goes by a shortest way through what is left; of several
// the destination's number chooses, or the hash. All other pairs keep their routes. This is what a
// subnet manager does that moves as few routes as it can.
type failedCables struct {
	hasFailed []bool
	firstOut  []int32 // the links out of each vertex: outs[firstOut[v]:firstOut[v+1]]
	linksOut  []int32

	lock      sync.Mutex
	distances map[int32][]uint16 // of each switch from the one of a destination, by that one
}

// FailedPartError is the error of a link or switch that cannot fail.
type FailedPartError struct {
	Index int // in the list of parts
	Text  string
}

func (e *FailedPartError) Error() string { return e.Text }

// PartsNamed returns the cables of links and switches: link 3, switch 2, or the name of a link such
// as host 3 to switch 0. With a link its whole cable fails. The words may be joined by a colon. An
// error is a *FailedPartError.
func (g *Graph) PartsNamed(names []string) (cables []int32, err error) {
	for i, name := range names {
		wrong := func(format string, args ...any) error {
			return &FailedPartError{i, fmt.Sprintf("%q: ", name) + fmt.Sprintf(format, args...)}
		}
		words := strings.Fields(strings.ReplaceAll(name, ":", " "))
		if len(words) != 2 {
			link, ok := g.linkNamed(name)
			if !ok {
				return nil, wrong("there is no such link: write link and its number, switch and its number, or a name such as %s", g.LinkName(int32(g.Links()-1)))
			}
			cables = append(cables, link/2)
			continue
		}
		n, err := strconv.Atoi(words[1])
		kinds := map[string]struct {
			count int
			all   string
		}{"link": {g.Links(), "links"}, "switch": {g.Switches, "switches"}}
		switch kind, isKind := kinds[words[0]]; {
		case !isKind || err != nil:
			return nil, wrong("write link or switch and a number, or the name of a link such as %s", g.LinkName(int32(g.Links()-1)))
		case n < 0 || n >= kind.count:
			return nil, wrong("the %s has %d %s, counted from 0", g.Kind, kind.count, kind.all)
		case words[0] == "link":
			cables = append(cables, int32(n/2))
		default:
			for c := range int32(len(g.classes)) {
				if at := int32(g.Hosts + n); g.From(2*c) == at || g.To(2*c) == at {
					cables = append(cables, c)
				}
			}
		}
	}
	return cables, nil
}

// linkNamed returns the link of a name of LinkNames.
func (g *Graph) linkNamed(name string) (int32, bool) {
	name, number, isParallel := strings.Cut(strings.Join(strings.Fields(name), " "), " by cable ")
	skip := 0
	if n, err := strconv.Atoi(number); isParallel && (err != nil || n < 2) {
		return 0, false
	} else if isParallel {
		skip = n - 1
	}
	for link := range int32(g.Links()) {
		if g.LinkName(link) != name {
			continue
		}
		if skip == 0 {
			return link, true
		}
		skip--
	}
	return 0, false
}

// Fail lets links and switches fail, as PartsNamed names them. It is an error if hosts that a route
// joined have none any more.
func (g *Graph) Fail(names []string) error {
	failed, err := g.PartsNamed(names)
	if err != nil || len(failed) == 0 {
		return err
	}
	f := &failedCables{hasFailed: make([]bool, len(g.classes)), distances: map[int32][]uint16{}}
	for _, c := range failed {
		f.hasFailed[c] = true
	}
	if err := g.checkConnected(f.hasFailed); err != nil {
		return err
	}
	f.firstOut, f.linksOut = g.adjacency(f.hasFailed)
	g.failures, g.usesVirtualChannels, g.Bisection = f, true, 0
	g.Description += fmt.Sprintf(" with %d failed cables", countTrue(f.hasFailed))
	return nil
}

func countTrue(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// adjacency returns the links out of each vertex, without those of failed cables; nil: none failed.
func (g *Graph) adjacency(failed []bool) (firstOut, outs []int32) {
	n := g.Hosts + g.Switches
	firstOut = make([]int32, n+2)
	works := func(link int32) bool { return failed == nil || !failed[link/2] }
	for link := range int32(g.Links()) {
		if works(link) {
			firstOut[g.From(link)+2]++
		}
	}
	for v := 2; v < len(firstOut); v++ {
		firstOut[v] += firstOut[v-1]
	}
	outs = make([]int32, firstOut[n+1])
	for link := range int32(g.Links()) {
		if works(link) {
			at := &firstOut[g.From(link)+1]
			outs[*at] = link
			*at++
		}
	}
	return firstOut[:n+1], outs
}

// checkConnected returns an error that names hosts that have no route to others any more.
func (g *Graph) checkConnected(failed []bool) error {
	if g.routeKind == meshRoutes { // hosts pass nothing on
		for c, is := range failed {
			if link := int32(2 * c); is {
				return fmt.Errorf("no route between %s and %s: a %s has one cable between two hosts, and that has failed", g.VertexName(g.From(link)), g.VertexName(g.To(link)), g.Kind)
			}
		}
		return nil
	}
	before, after := g.components(nil), g.components(failed)
	sizes := map[int32]int{}
	for h := range g.Hosts {
		sizes[after[h]]++
	}
	largest := map[int32]int32{} // component without failures to the largest part of it
	for h := range g.Hosts {
		if part, known := largest[before[h]]; !known || sizes[after[h]] > sizes[part] {
			largest[before[h]] = after[h]
		}
	}
	var cut []string
	others := 0
	const maxNamed = 8
	for h := range g.Hosts {
		if after[h] == largest[before[h]] {
			continue
		}
		if len(cut) < maxNamed {
			cut = append(cut, g.VertexName(int32(h)))
		} else {
			others++
		}
	}
	switch {
	case len(cut) == 0:
		return nil
	case others > 0:
		cut = append(cut, fmt.Sprintf("%d more", others))
	}
	return fmt.Errorf("no route between the other hosts and %s: let parts fail beside which there is another way", strings.Join(cut, ", "))
}

// components returns a number for each vertex, the same for those that a way joins.
func (g *Graph) components(failed []bool) []int32 {
	of := make([]int32, g.Hosts+g.Switches)
	for v := range of {
		of[v] = int32(v)
	}
	find := func(v int32) int32 {
		for of[v] != v {
			of[v] = of[of[v]]
			v = of[v]
		}
		return v
	}
	for c := range int32(len(g.classes)) {
		if failed == nil || !failed[c] {
			of[find(g.From(2*c))] = find(g.To(2 * c))
		}
	}
	for v := range of {
		of[v] = find(int32(v))
	}
	return of
}

// avoidFailures makes a route that has not begun, or is at a router of a dragonfly, one round the
// failures if it would take a failed cable.
func (g *Graph) avoidFailures(r *Route) {
	if g.failures != nil && !g.avoidsFailedCables(*r) {
		r.avoidsFailures = true
	}
}

// avoidsFailedCables reports whether a route takes no failed cable.
func (g *Graph) avoidsFailedCables(r Route) bool {
	for at := int32(-1); at != r.Destination; {
		link := g.nextLink(&r)
		r.Links++
		if g.failures.hasFailed[link/2] {
			return false
		}
		at = g.endOfLink[link]
	}
	return true
}

// nextRoundFailures takes a link to a switch that is nearer to the destination's.
func (g *Graph) nextRoundFailures(r *Route) int32 {
	f := g.failures
	out := func(v int32) []int32 { return f.linksOut[f.firstOut[v]:f.firstOut[v+1]] }
	if g.IsHost(r.position) {
		link := out(r.position)[0]
		r.position = g.endOfLink[link]
		return link
	}
	down := out(r.Destination)[0] ^ 1
	if g.From(down) == r.position {
		r.position = r.Destination
		return down
	}
	distances := f.distancesTo(g, g.From(down))
	here := distances[int(r.position)-g.Hosts]
	return g.selectLink(r, out(r.position), func(link int32) bool {
		to := int(g.endOfLink[link]) - g.Hosts
		return to >= 0 && distances[to] < here
	})
}

// distancesTo returns how many links each switch is from one. It searches in breadth and remembers.
func (f *failedCables) distancesTo(g *Graph, end int32) []uint16 {
	f.lock.Lock()
	defer f.lock.Unlock()
	if known := f.distances[end]; known != nil {
		return known
	}
	distances := make([]uint16, g.Switches)
	for i := range distances {
		distances[i] = unreachable
	}
	distances[int(end)-g.Hosts] = 0
	for queue := []int32{end}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, link := range f.linksOut[f.firstOut[v]:f.firstOut[v+1]] {
			if to := int(g.endOfLink[link]) - g.Hosts; to >= 0 && distances[to] == unreachable {
				distances[to] = distances[int(v)-g.Hosts] + 1
				queue = append(queue, g.endOfLink[link])
			}
		}
	}
	f.distances[end] = distances
	return distances
}
