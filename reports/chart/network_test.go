package chart

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/topology"
)

// A picture of a graph has each vertex once and each link once, with its load, within the picture.
func TestNetworkChartShowsEachLink(t *testing.T) {
	graphs := map[string]func() (*topology.Graph, error){
		"star":      func() (*topology.Graph, error) { return topology.NewStar(5) },
		"fattree":   func() (*topology.Graph, error) { return topology.NewFatTree(3, 4, []int{2}) },
		"rails":     func() (*topology.Graph, error) { return topology.NewRails(2, 2, 4, nil) },
		"dragonfly": func() (*topology.Graph, error) { return topology.NewDragonfly(5, 2, 2, 2) },
		"mesh":      func() (*topology.Graph, error) { return topology.NewMesh(6) },
	}
	for name, make := range graphs {
		g, err := make()
		if err != nil {
			t.Fatal(err)
		}
		for _, load := range []map[string]float64{nil, {g.LinkName(0): 1, g.LinkName(3): 0.42}} {
			c := NetworkChart("network", "Network", g, load)
			drawSVG(t, c)
			var b bytes.Buffer
			if err := c.SVG(&b, DefaultWidth); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if n := strings.Count(text, `data-tip="`); n != g.Links()+g.Hosts+g.Switches {
				t.Errorf("%s: %d parts have a text, want %d links and %d vertices", name, n, g.Links(), g.Hosts+g.Switches)
			}
			for link := range int32(g.Links()) {
				tip := g.LinkName(link)
				if load != nil {
					tip += ": busy for " + map[bool]string{true: map[int32]string{0: "100", 3: "42"}[link], false: "0"}[link == 0 || link == 3] + " % of the time"
				}
				if !strings.Contains(text, `data-tip="`+tip+`"`) {
					t.Errorf("%s: no link says %q", name, tip)
				}
			}
		}
	}
}
