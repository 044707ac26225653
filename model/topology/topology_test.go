package topology

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// example is a graph with what formulas say of it.
type example struct {
	name                                 string
	graph                                *Graph
	hosts, switches, cables, maxLinks    int // maxLinks: of a route without detour
	bisection                            int
	routesAreShortest, hostsAreConnected bool
}

// power returns a to the power of n.
func power(a, n int) int {
	p := 1
	for range n {
		p *= a
	}
	return p
}

func must(t *testing.T, g *Graph, err error) *Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// examples returns graphs of each kind. The formulas are those of the papers, not of the code.
func examples(t *testing.T) (all []example) {
	add := func(name string, g *Graph, err error, x example) {
		x.name, x.graph = name, must(t, g, err)
		all = append(all, x)
	}
	for _, n := range []int{2, 3, 8} {
		g, err := NewStar(n)
		add(fmt.Sprint("star ", n), g, err, example{hosts: n, switches: 1, cables: n, maxLinks: 2, bisection: n / 2 * (1 - n%2), routesAreShortest: true, hostsAreConnected: true})
		g, err = NewMesh(n)
		add(fmt.Sprint("mesh ", n), g, err, example{hosts: n, cables: n * (n - 1) / 2, maxLinks: 1, bisection: n * n / 4 * (1 - n%2), routesAreShortest: true, hostsAreConnected: true})
	}
	for _, k := range []int{2, 4, 6} {
		for levels := 1; levels <= 3; levels++ {
			n := power(k, levels)
			g, err := NewFatTree(levels, k, nil)
			add(fmt.Sprintf("fattree %d %d", levels, k), g, err, example{hosts: n, switches: levels * n / k, cables: levels * n, maxLinks: 2 * levels, bisection: n / 2, routesAreShortest: true, hostsAreConnected: true})
		}
	}
	// Two cables down for each up, and then four: of 16 hosts' cables 8 and 2 are left.
	g, err := NewFatTree(3, 4, []int{2, 4})
	add("tapered", g, err, example{hosts: 64, switches: 16 + 4*2 + 1*2*1, cables: 64 + 32 + 8, maxLinks: 6, bisection: 4, routesAreShortest: true, hostsAreConnected: true})
	g, err = NewRails(3, 2, 4, nil)
	add("rails", g, err, example{hosts: 48, switches: 24, cables: 96, maxLinks: 4, bisection: 24, routesAreShortest: true})
	for _, d := range [][4]int{{5, 2, 1, 2}, {4, 3, 2, 1}, {9, 4, 2, 2}, {2, 2, 3, 1}, {3, 4, 4, 2}} {
		groups, routers, hosts, global := d[0], d[1], d[2], d[3]
		parallel := routers * global / (groups - 1)
		x := example{hosts: groups * routers * hosts, switches: groups * routers, maxLinks: 5, hostsAreConnected: true,
			cables: groups*routers*hosts + groups*routers*(routers-1)/2 + groups*(groups-1)/2*parallel}
		if groups%2 == 0 {
			x.bisection = groups * groups / 4 * parallel
		}
		g, err := NewDragonfly(groups, routers, hosts, global)
		add(fmt.Sprint("dragonfly ", d), g, err, x)
	}
	// A ring of five switches with a host on each.
	var ring []Edge
	for i := range 5 {
		ring = append(ring, Edge{i, 5 + i, HostClass}, Edge{5 + i, 5 + (i+1)%5, TrunkClass})
	}
	g, err = NewEdges(5, 5, ring)
	add("ring", g, err, example{hosts: 5, switches: 5, cables: 10, maxLinks: 4, routesAreShortest: true, hostsAreConnected: true})
	return all
}

// The numbers of hosts, switches and cables are those of the formulas, and every link has two ends.
func TestCounts(t *testing.T) {
	for _, x := range examples(t) {
		g := x.graph
		if g.Hosts != x.hosts || g.Switches != x.switches || g.Links() != 2*x.cables {
			t.Errorf("%s: %d hosts, %d switches, %d links; want %d, %d, %d", x.name, g.Hosts, g.Switches, g.Links(), x.hosts, x.switches, 2*x.cables)
		}
		for link := range int32(g.Links()) {
			if g.From(link) == g.To(link) || g.From(link) != g.To(link^1) || int(g.To(link)) >= g.Hosts+g.Switches {
				t.Fatalf("%s: link %d is %s", x.name, link, g.LinkName(link))
			}
		}
		names := map[string]bool{}
		for _, name := range g.LinkNames() {
			names[name] = true
		}
		if len(names) != g.Links() {
			t.Errorf("%s: %d links have %d names", x.name, g.Links(), len(names))
		}
	}
}

// distancesFrom searches a graph in breadth, by its links alone. Hosts do not pass bytes on.
func distancesFrom(g *Graph, host int) []int {
	distance := make([]int, g.Hosts+g.Switches)
	for i := range distance {
		distance[i] = -1
	}
	distance[host] = 0
	for queue := []int32{int32(host)}; len(queue) > 0; queue = queue[1:] {
		if g.IsHost(queue[0]) && int(queue[0]) != host {
			continue
		}
		for link := range int32(g.Links()) {
			if to := g.To(link); g.From(link) == queue[0] && distance[to] < 0 {
				distance[to] = distance[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return distance
}

// A route leads from its beginning to its destination over links that follow each other, is no
// longer than the diameter, and is as short as any where the routing is minimal. Channels rise
// where cycles are possible. This holds for routes by hashes, too.
func TestRoutes(t *testing.T) {
	for _, x := range examples(t) {
		g := x.graph
		longest := 0
		for _, routing := range []Routing{DeterministicRouting, HashRouting} {
			if g.Routing = routing; routing == HashRouting && g.Kind == "dragonfly" {
				continue
			}
			for from := range g.Hosts {
				distance := distancesFrom(g, from)
				for to := range g.Hosts {
					if from == to || !x.hostsAreConnected && from%3 != to%3 {
						continue
					}
					at, channel := int32(from), int16(-1)
					r := g.RouteBetween(from, to)
					links := g.LinksLeft(r)
					for n := 0; at != int32(to); n++ {
						link := g.NextLink(&r)
						if g.From(link) != at || n >= x.maxLinks {
							t.Fatalf("%s: route from %d to %d is at %s and takes %s as link %d", x.name, from, to, g.VertexName(at), g.LinkName(link), n)
						}
						if c := g.Channel(&r); g.usesVirtualChannels && c <= channel {
							t.Fatalf("%s: route from %d to %d takes channel %d after %d", x.name, from, to, c, channel)
						} else {
							channel = c
						}
						at = g.To(link)
					}
					longest = max(longest, int(r.Links))
					if int(r.Links) != links || distance[to] < 0 || x.routesAreShortest && int(r.Links) != distance[to] {
						t.Errorf("%s: route from %d to %d has %d links, %d were announced, and the distance is %d", x.name, from, to, r.Links, links, distance[to])
					}
				}
			}
		}
		if longest != x.maxLinks && !strings.Contains(x.name, "[2 2 3 1]") && !strings.Contains(x.name, "[3 4 4 2]") {
			t.Errorf("%s: the longest route has %d links, want %d", x.name, longest, x.maxLinks)
		}
		g.Routing = DeterministicRouting
	}
}

// Bytes of another plane stay in the plane of their sender's rail.
func TestRailsStayInTheirPlane(t *testing.T) {
	g, err := NewRails(4, 1, 8, nil)
	must(t, g, err)
	for from := range g.Hosts {
		for to := range g.Hosts {
			if from/4 == to/4 {
				continue
			}
			r := g.RouteBetween(from, to)
			if int(r.Destination)/4 != to/4 || int(r.Destination)%4 != from%4 {
				t.Fatalf("from %d to %d arrives at %d", from, to, r.Destination)
			}
		}
	}
}

// maxFlow returns how many cables' worth of bytes get from the first half of the hosts to the
// second, by augmenting paths (Ford and Fulkerson 1956). Each cable carries one in each direction.
func maxFlow(g *Graph) int {
	used := make([]int, g.Links())
	half := g.Hosts / 2
	isSink := func(v int32) bool { return g.IsHost(v) && int(v) >= half }
	for flow := 0; ; flow++ {
		by := make([]int32, g.Hosts+g.Switches) // the link by which a vertex was reached, and 1
		var queue []int32
		for h := range half {
			by[h] = -1
			queue = append(queue, int32(h))
		}
		var end int32 = -1
		for ; len(queue) > 0 && end < 0; queue = queue[1:] {
			for link := range int32(g.Links()) {
				to := g.To(link)
				if g.From(link) != queue[0] || by[to] != 0 || used[link]-used[link^1] >= 1 {
					continue
				}
				if by[to] = link + 1; isSink(to) {
					end = to
					break
				}
				queue = append(queue, to)
			}
		}
		if end < 0 {
			return flow
		}
		for by[end] > 0 {
			link := by[end] - 1
			used[link]++
			end = g.From(link)
		}
	}
}

// The bisection is what the maximum flow between the halves of the hosts is.
func TestBisection(t *testing.T) {
	for _, x := range examples(t) {
		want := x.bisection
		if x.graph.Bisection != want {
			t.Errorf("%s: bisection of %d, the formula says %d", x.name, x.graph.Bisection, want)
		}
		if want > 0 && x.hostsAreConnected {
			if got := maxFlow(x.graph); got != want {
				t.Errorf("%s: maximum flow of %d between halves, bisection of %d", x.name, got, want)
			}
		}
	}
}

// By D-mod-K each shift of a tree with full bisection uses each link once at most. A hash does not.
func TestShiftsOfFatTreesShareNoLink(t *testing.T) {
	g, err := NewFatTree(3, 4, nil)
	must(t, g, err)
	for _, routing := range []Routing{DeterministicRouting, HashRouting} {
		g.Routing = routing
		most := 0
		for by := 1; by < g.Hosts; by++ {
			users := make([]int, g.Links())
			for from := range g.Hosts {
				r := g.RouteBetween(from, (from+by)%g.Hosts)
				for at := int32(from); at != r.Destination; {
					link := g.NextLink(&r)
					users[link]++
					most = max(most, users[link])
					at = g.To(link)
				}
			}
		}
		if (most == 1) != (routing == DeterministicRouting) {
			t.Errorf("routing %d: %d flows share a link", routing, most)
		}
	}
}

// Another seed is another hash; the same is the same.
func TestHashRoutingDependsOnItsSeed(t *testing.T) {
	g, err := NewFatTree(2, 8, nil)
	must(t, g, err)
	g.Routing = HashRouting
	path := func(seed uint64) string {
		g.Seed = seed
		text := ""
		for to := 8; to < 64; to++ {
			r := g.RouteBetween(0, to)
			g.NextLink(&r)
			text += fmt.Sprint(g.NextLink(&r), " ")
		}
		return text
	}
	if first := path(1); first != path(1) || first == path(2) {
		t.Error("routes are not a function of the seed")
	}
}

// A detour leads through another group and to the destination, in at most three local and two
// global links.
func TestDetours(t *testing.T) {
	g, err := NewDragonfly(9, 4, 2, 2)
	must(t, g, err)
	g.Routing = AdaptiveRouting
	random := rand.New(rand.NewPCG(1, 0))
	for range 5000 {
		from, to := random.IntN(g.Hosts), random.IntN(g.Hosts)
		if from == to {
			continue
		}
		r := g.RouteBetween(from, to)
		at := g.To(g.NextLink(&r))
		if here, there := from/8, to/8; g.IsTurn(&r) != (here != there) {
			t.Fatalf("from group %d to %d: a turn is %v", here, there, g.IsTurn(&r))
		} else if here == there {
			continue
		}
		r, ok := g.Detour(r, random.Uint64())
		if !ok {
			t.Fatal("no detour in nine groups")
		}
		via, globals, visited := int(r.viaGroup), 0, false
		for at != int32(to) {
			link := g.NextLink(&r)
			if g.From(link) != at {
				t.Fatalf("link %s from %s", g.LinkName(link), g.VertexName(at))
			}
			at = g.To(link)
			if g.Class(link) == GlobalClass {
				globals++
			}
			visited = visited || !g.IsHost(at) && (int(at)-g.Hosts)/4 == via
		}
		if globals != 2 || r.Links > 7 || !visited || via == from/8 || via == to/8 {
			t.Fatalf("from group %d to %d via %d: %d global links, %d in all, visited %v", from/8, to/8, via, globals, r.Links, visited)
		}
	}
	two, err := NewDragonfly(2, 2, 1, 1)
	must(t, two, err)
	r := two.RouteBetween(0, 3)
	if _, ok := two.Detour(r, 1); ok {
		t.Error("a detour between two groups")
	}
}

// Graphs that cannot be are errors, which say why, and take no memory.
func TestBadGraphs(t *testing.T) {
	graph := func(g *Graph, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{graph(NewStar(1)), "arity of at least 2"},
		{graph(NewStar(1_000_000_000)), "more than 262144 hosts"},
		{graph(NewMesh(1)), "at least 2"},
		{graph(NewMesh(2000)), "more than 262144 cables"},
		{graph(NewFatTree(0, 4, nil)), "at least 1 level"},
		{graph(NewFatTree(17, 2, nil)), "at most 16"},
		{graph(NewFatTree(16, 1000, nil)), "more than 262144 hosts"},
		{graph(NewFatTree(3, 64, nil)), "more than 262144 cables"},
		{graph(NewFatTree(2, 6, []int{4})), "taper 4 of level 1: it does not divide the 6 cables"},
		{graph(NewFatTree(2, 6, []int{0})), "taper 0"},
		{graph(NewFatTree(2, 6, []int{1, 1})), "2 tapers for 2 levels"},
		{graph(NewRails(1_000_000_000, 2, 6, nil)), "more than 262144 hosts"},
		{graph(NewDragonfly(6, 3, 1, 2)), "6 global links of a group do not divide among 5 other groups"},
		{graph(NewDragonfly(4, 1, 1, 1)), "do not divide"},
		{graph(NewDragonfly(1, 3, 1, 2)), "at least 2 groups"},
		{graph(NewDragonfly(2, 1_000_000_000, 1, 1)), "more than 262144"},
		{graph(NewEdges(2, 1_000_000_000, nil)), "at most 1024"},
		{graph(NewEdges(2, 1, []Edge{{0, 2, HostClass}})), "no route to host 1"},
		{graph(NewEdges(2, 2, []Edge{{0, 2, HostClass}, {1, 3, HostClass}})), "no route from switch 0 to switch 1"},
		{graph(NewEdges(2, 2, []Edge{{0, 2, HostClass}, {0, 3, HostClass}})), "host 0 has an edge already"},
		{graph(NewEdges(2, 1, []Edge{{0, 1, HostClass}})), "joins two hosts"},
		{graph(NewEdges(2, 1, []Edge{{2, 2, HostClass}})), "with itself"},
		{graph(NewEdges(2, 1, []Edge{{0, 3, HostClass}})), "no vertex 3"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}

// A route is found without allocating.
func TestRoutesAllocateNothing(t *testing.T) {
	for _, x := range examples(t) {
		g := x.graph
		to := g.Hosts - 1
		if n := testing.AllocsPerRun(100, func() {
			r := g.RouteBetween(0, to)
			for at := int32(0); at != r.Destination; {
				at = g.To(g.NextLink(&r))
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", x.name, n)
		}
	}
}
