package loggp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/chart"
)

// The picture of a run has the load of each link: in an incast the link to the root is busy all the
// time, and the links of the senders have equal shares of it.
func TestNetworkChartHasTheLoadOfARun(t *testing.T) {
	e, err := RunProgram(t.Context(), ProgramOptions{RunOptions: RunOptions{Platform: "docs/fabric-star.yaml", Ranks: 5, MaxSpans: -1}, Program: "incast"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NetworkChart(e.Platform, e.LinkLoads)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := c.SVG(&b, chart.DefaultWidth); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"switch 0 to host 0: busy for 9", "host 1 to switch 0: busy for 2", "host 4 to switch 0: busy for 2", "host 6 to switch 0: busy for 0 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	if root := e.LinkLoads["switch 0 to host 0"]; root < 0.95 || root > 1 {
		t.Errorf("the link to the root is busy for %.3f of the time", root)
	}
	if sender := e.LinkLoads["host 3 to switch 0"]; sender < 0.23 || sender > 0.25 {
		t.Errorf("the link of a sender is busy for %.3f of the time", sender)
	}
}

// A network that is no graph, and one that is too large, cannot be drawn.
func TestNetworkChartOfOtherNetworks(t *testing.T) {
	p, err := LoadPlatform("t3d")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NetworkChart(p, nil); err == nil || !strings.Contains(err.Error(), "is no graph") {
		t.Errorf("the picture of a torus: %v", err)
	}
}
