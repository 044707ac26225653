package topology

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// linksOf returns the links of the route between two hosts, at most as many as the graph has.
func linksOf(t *testing.T, g *Graph, from, to int) (links []int32) {
	t.Helper()
	r := g.RouteBetween(from, to)
	for at := int32(from); at != r.Destination; {
		link := g.NextLink(&r)
		if g.From(link) != at || len(links) > g.Links() {
			t.Fatalf("%s: the route from %d to %d leaves %s by %s", g.Description, from, to, g.VertexName(at), g.LinkName(link))
		}
		links, at = append(links, link), g.To(link)
	}
	return links
}

// Whatever fails, as long as all hosts are connected: routes arrive, take nothing that has failed,
// and stay as they were if they did not take it. The graph says if hosts are cut off.
func TestRoutesAvoidFailures(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	before, failing := examples(t), examples(t)
	for round := range 6 {
		for i := range failing {
			intact := before[i].graph
			routing := []Routing{DeterministicRouting, HashRouting}[round%2]
			g := examples(t)[i].graph
			intact.Routing, g.Routing = routing, routing
			failed := map[int32]bool{}
			var names []string
			for range 1 + random.IntN(3) {
				link := int32(random.IntN(g.Links()))
				names = append(names, intact.LinkNames()[link])
				failed[link/2] = true
			}
			cables := make([]bool, len(g.classes))
			for c := range failed {
				cables[c] = true
			}
			areConnected := g.checkConnected(cables) == nil
			if err := g.Fail(names); (err == nil) != areConnected {
				t.Fatalf("%s: %v fail: error %v", before[i].name, names, err)
			}
			if !areConnected {
				continue
			}
			for range 300 {
				from, to := random.IntN(g.Hosts), random.IntN(g.Hosts)
				was, is := linksOf(t, intact, from, to), linksOf(t, g, from, to)
				wasBroken := false
				for _, l := range was {
					wasBroken = wasBroken || failed[l/2]
				}
				for k, l := range is {
					if failed[l/2] {
						t.Fatalf("%s: %v fail, and the route from %d to %d takes %s", before[i].name, names, from, to, g.LinkName(l))
					}
					if !wasBroken && l != was[k] {
						t.Fatalf("%s: %v fail, and the route from %d to %d is another", before[i].name, names, from, to)
					}
				}
			}
		}
	}
}

// A fat tree with two levels loses one of its top switches: the routes that took it have as many
// links as before.
func TestTreeWithoutATopSwitch(t *testing.T) {
	g, err := NewFatTree(2, 4, nil)
	if err = must(t, g, err).Fail([]string{"switch:5"}); err != nil {
		t.Fatal(err)
	}
	uses := map[int32]int{}
	for from := range g.Hosts {
		for to := range g.Hosts {
			links := linksOf(t, g, from, to)
			if from/4 != to/4 && len(links) != 4 {
				t.Errorf("from %d to %d there are %d links", from, to, len(links))
			}
			for _, l := range links {
				uses[g.To(l)]++
			}
		}
	}
	if top := int32(g.Hosts + 5); uses[top] > 0 || uses[top-1] == 0 {
		t.Errorf("routes use %v", uses)
	}
}

func TestFailuresThatCutOff(t *testing.T) {
	star := func() *Graph { g, err := NewStar(3); return must(t, g, err) }
	mesh := func() *Graph { g, err := NewMesh(4); return must(t, g, err) }
	for _, c := range []struct {
		g    *Graph
		name string
		want string
	}{
		{star(), "link 2", "no route between the other hosts and host 1"},
		{star(), "switch 0", "no route between the other hosts and host 1, host 2"},
		{mesh(), "host 1 to host 3", "no route between host 1 and host 3: a mesh has one cable"},
		{star(), "link 6", "has 6 links"},
		{star(), "switch 1", "has 1 switches"},
		{star(), "cable 1", "write link or switch and a number"},
		{star(), "host 1 to host 2", "there is no such link"},
	} {
		if err := c.g.Fail([]string{c.name}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
