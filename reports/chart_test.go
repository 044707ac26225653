package reports

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/chart/charttest"
)

// pictures are charts of all kinds.
func pictures(t *testing.T) []*chart.Chart {
	x := t3d(t)
	all := placeCharts(fittedPlaces(x.result), x.compare)
	for _, p := range model.Protocols {
		for _, k := range []int{0, 1000, 20000} {
			if p.IsEager() && k > 1000 {
				continue
			}
			d := model.Transfer{Machine: x.machine.Machine, Library: x.machine.Libraries[0], Protocol: p, Bytes: k, Path: model.Path{Hops: 1}}.Timeline()
			all = append(all, chart.TransferChart(fmt.Sprintf("%s-%d", p.Name, k), "Time line of "+p.Name, d))
			d = model.Transfer{Machine: toy().Machine, Protocol: p, Bytes: k}.Timeline()
			all = append(all, chart.TransferChart(fmt.Sprintf("toy-%s-%d", p.Name, k), "Time line of "+p.Name, d))
		}
	}
	return all
}

// TestLabels: in every width all texts lie in the picture, and none on another.
func TestLabels(t *testing.T) {
	for _, c := range pictures(t) {
		charttest.CheckLabels(t, c)
	}
}

// TestBandwidth: 1000 bytes that come back in 20 us take 10 us one way, which is 100 MB/s.
func TestBandwidth(t *testing.T) {
	p := &fittedPlace{curves: []curve.Curve{{Mode: "send", Protocol: "auto", Timer: "rtt", Points: []curve.Point{
		{Bytes: 0, Value: 5, Low: 4, High: 6}, {Bytes: 1, Value: 5, Low: -1, High: 6}, {Bytes: 1000, Value: 20, Low: 10, High: 40}}}}}
	x := p.bandwidthChart()
	if len(x.Series) != 1 || !slices.Equal(x.Series[0].Points, []chart.Point{{X: 1000, Y: 100, Low: 50, High: 200}}) {
		t.Errorf("%+v", x.Series)
	}
}

// TestOverlap: what is shaded is between the calls where the blocking one takes longer.
func TestOverlap(t *testing.T) {
	a := chart.Series{Points: []chart.Point{{X: 1, Y: 10}, {X: 2, Y: 30}}}
	b := chart.Series{Points: []chart.Point{{X: 1, Y: 20}, {X: 2, Y: 25}}}
	if over := overlapChart(a, b, "").Series[0].ShadedUpTo; !slices.Equal(over, []chart.Point{{X: 1, Y: 10}, {X: 2, Y: 25}}) {
		t.Errorf("%+v", over)
	}
}

func TestCharts(t *testing.T) {
	x := t3d(t)
	var names []string
	for _, c := range placeCharts(fittedPlaces(x.result), x.compare) {
		names = append(names, c.Name)
	}
	want := strings.Fields("send-blocking send-nonblocking overlap-standard overlap-synchronous overlap-ready overlap-buffered receive bandwidth-by-mode bursts messages protocol-T_s protocol-T_sr")
	if !slices.Equal(names, want) {
		t.Errorf("charts %v, want %v", names, want)
	}
	if all := placeCharts(fittedPlaces(&fit.Result{Parameters: x.result.Parameters}), nil); len(all) != 0 {
		t.Errorf("%d charts without curves", len(all))
	}
	two := *x.result
	for _, c := range x.result.Curves {
		c.Place = "intra"
		two.Curves = append(two.Curves, c)
	}
	if all := placeCharts(fittedPlaces(&two), nil); len(all) != 2*len(want) || all[0].Name != "t3d-chimp-inter-send-blocking" || all[len(want)].Name != "t3d-chimp-intra-send-blocking" {
		t.Errorf("charts of two places: %d, the first is %s", len(all), all[0].Name)
	}
}

// TestPixels: a PNG has two pixels a point, and shows something.
func TestPixels(t *testing.T) {
	for _, c := range pictures(t)[:2] {
		var b bytes.Buffer
		if err := c.PNG(&b, 300); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		colours := map[string]bool{}
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, img.Bounds().Dy()/2).RGBA()
			colours[fmt.Sprint(r, g, b)] = true
		}
		if img.Bounds().Dx() != 600 || len(colours) < 3 {
			t.Errorf("%s: %v, %d colours", c.Name, img.Bounds(), len(colours))
		}
	}
}

// TestStrange: charts of one size, of none but zero, of nothing positive, of a huge range.
func TestStrange(t *testing.T) {
	nan := math.NaN()
	for name, points := range map[string][]curve.Point{
		"one":      {{Bytes: 16, Value: 3, Low: 2, High: 4}},
		"zero":     {{Bytes: 0, Value: 3, Low: -2, High: 4}},
		"nothing":  {{Bytes: 1, Value: 0}, {Bytes: 2, Value: -3}, {Bytes: 4, Value: nan, Low: nan, High: nan}},
		"huge":     {{Bytes: 1, Value: 1e-6, Low: 1e-6, High: 1e-6}, {Bytes: 1 << 30, Value: 1e9, Low: 1e8, High: 1e10}},
		"constant": {{Bytes: 1, Value: 1, Low: 1, High: 1}, {Bytes: 100, Value: 1, Low: 1, High: 1}},
	} {
		r := &fit.Result{Curves: []curve.Curve{{Platform: "p", Place: "inter", Mode: "send", Protocol: "auto", Timer: "timer11", Points: points,
			Pieces: []curve.Piece{{From: points[0].Bytes, To: points[len(points)-1].Bytes, Value: points[0].Value}}}}}
		for _, c := range placeCharts(fittedPlaces(r), nil) {
			var b bytes.Buffer
			if err := c.SVG(&b, 320); err != nil {
				t.Fatal(err)
			}
			charttest.ParseLabels(t, name, b.String())
			charttest.CheckLabels(t, c)
			if hidden := strings.Contains(c.Text, "left out"); hidden != (name == "nothing") {
				t.Errorf("%s: %s", name, c.Text)
			}
		}
	}
}

// TestArrows: messages go the way that they go, and what a remote access sends beside the data is
// named for what it does.
func TestArrows(t *testing.T) {
	strokes := regexp.MustCompile(`<path fill="none" stroke="` + "#1f2328" + `" stroke-width="1.4" d="M[0-9.-]+ ([0-9.-]+)L[0-9.-]+ ([0-9.-]+)"/>`)
	draw := func(m *model.Machine, p *model.Protocol) (directions string, names []string) {
		var b bytes.Buffer
		if err := chart.TransferChart(p.Name, "Time line of "+p.Name, model.Transfer{Machine: m, Protocol: p, Bytes: 1000, Path: model.Path{Hops: 1}}.Timeline()).SVG(&b, chart.DefaultWidth); err != nil {
			t.Fatal(err)
		}
		for _, s := range strokes.FindAllStringSubmatch(b.String(), -1) {
			from, _ := strconv.ParseFloat(s[1], 64)
			to, _ := strconv.ParseFloat(s[2], 64)
			directions += map[bool]string{true: "↓", false: "↑"}[to > from]
		}
		_, _, labels := charttest.ParseLabels(t, p.Name, b.String())
		for _, l := range labels {
			names = append(names, l.Text)
		}
		return directions, names
	}
	torus := t3d(t).machine.Machine
	for _, x := range []struct {
		protocol   *model.Protocol
		want       string
		has, hasnt string
	}{
		{model.ProtocolT, "↓", "RM", "done"},
		{model.ProtocolTA, "↓↑", "ACK", "done"},
		{model.ProtocolRTA, "↓↑", "get", "done"},
		{model.ProtocolRAT, "↓↑↓", "done", "get"},
		{model.ProtocolPTAT, "↓↑↓", "M", "done"},
	} {
		directions, names := draw(torus, x.protocol)
		if directions != x.want || !slices.Contains(names, x.has) || slices.Contains(names, x.hasnt) {
			t.Errorf("%s: %s, want %s; names %q", x.protocol.Name, directions, x.want, names)
		}
		if directions, _ := draw(toy().Machine, x.protocol); directions != x.want {
			t.Errorf("%s on the LogGP machine: %s, want %s", x.protocol.Name, directions, x.want)
		}
	}
}

// TestLines: a piece is drawn from its first size to its last, on its line.
func TestLines(t *testing.T) {
	c := &curve.Curve{Pieces: []curve.Piece{{From: 0, To: 1000, Value: 3, Slope: 0.01}, {From: 1400, To: 1400, Value: 50}}}
	all := pieceLines(c)
	if len(all) != 2 || len(all[1]) != 1 || all[1][0] != (chart.Point{X: 1400, Y: 50}) {
		t.Fatalf("%+v", all)
	}
	l := all[0]
	if l[0] != (chart.Point{X: 0, Y: 3}) || l[len(l)-1].X != 1000 {
		t.Errorf("from %v to %v", l[0], l[len(l)-1])
	}
	for i, p := range l {
		if math.Abs(p.Y-3-0.01*p.X) > 1e-9 || i > 0 && p.X <= l[i-1].X {
			t.Errorf("point %v after %v", p, l[max(i-1, 0)])
		}
	}
}

// TestProtocolLines: of the predictions only those of the place are drawn, each to its protocol.
func TestProtocolLines(t *testing.T) {
	drawn := func(protocol string) curve.Curve {
		return curve.Curve{Platform: "p", Library: "l", Place: "inter", Mode: "send", Protocol: protocol, Timer: "T_s", Points: []curve.Point{{Bytes: 1, Value: 2}}}
	}
	p := &fittedPlace{platform: "p", library: "l", place: "inter", curves: []curve.Curve{drawn("RTA"), drawn("T")}}
	var cs []compare.Comparison
	for _, platform := range []string{"p", "q"} {
		for _, protocol := range []string{"T", "RTA"} {
			for _, quantity := range []string{"T_s(send)", "T_sr(send)", "T_s(isend)"} {
				cs = append(cs, compare.Comparison{Platform: platform, Library: "l", Place: "inter", Protocol: protocol, Quantity: quantity, Bytes: 1, Predicted: float64(len(cs))})
			}
		}
	}
	x, predicted := p.protocolChart("T_s", cs)
	if !predicted || len(x.Series) != 2 || x.Series[0].Name != "T" {
		t.Fatalf("%v, %+v", predicted, x.Series)
	}
	for i, want := range []float64{0, 3} {
		if l := x.Series[i].Lines; len(l) != 1 || !slices.Equal(l[0], []chart.Point{{X: 1, Y: want}}) {
			t.Errorf("%s: %+v, want %v", x.Series[i].Name, l, want)
		}
	}
}
