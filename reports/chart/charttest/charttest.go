// Package charttest checks that charts can be read, in tests alone.
package charttest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/chart"
)

// Label is a text of a picture, with the place that it takes.
type Label struct {
	Text                     string
	Left, Right, Top, Bottom float64
}

// ParseLabels parses an SVG picture and returns its size and its texts.
func ParseLabels(t testing.TB, name, svg string) (width, height float64, labels []Label) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	known := chart.DarkStyleRules("")
	for {
		token, err := d.Token()
		if err == io.EOF {
			return width, height, labels
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		a := map[string]string{}
		for _, x := range e.Attr {
			a[x.Name.Local] = x.Value
		}
		for _, c := range []string{a["fill"], a["stroke"]} {
			if c != "" && c != "none" && !strings.Contains(known, `"`+c+`"`) {
				t.Fatalf("%s: colour %s has nothing that stands for it in the dark", name, c)
			}
		}
		f := func(key string) float64 {
			x, err := strconv.ParseFloat(a[key], 64)
			if err != nil || math.IsNaN(x) {
				t.Fatalf("%s: %s of %s is %q", name, key, e.Name.Local, a[key])
			}
			return x
		}
		switch e.Name.Local {
		case "svg":
			width, height = f("width"), f("height")
		case "text":
			var s string
			if err := d.DecodeElement(&s, &e); err != nil {
				t.Fatal(err)
			}
			y := f("y") + height
			labels = append(labels, Label{s, f("x"), f("x") + f("textLength"), y - 0.72*f("font-size"), y})
		case "path":
			if strings.Contains(a["d"], "NaN") || strings.Contains(a["d"], "Inf") {
				t.Fatalf("%s: path %s", name, a["d"])
			}
		}
	}
}

// CheckLabels fails the test unless in every width all texts lie in the picture, and none on
// another.
func CheckLabels(t testing.TB, c *chart.Chart) {
	t.Helper()
	for width := 260; width <= 900; width += 80 {
		var b bytes.Buffer
		if err := c.SVG(&b, width); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s in %d", c.Name, width)
		w, h, labels := ParseLabels(t, name, b.String())
		if w != float64(width) {
			t.Errorf("%s is %v wide", name, w)
		}
		for i, x := range labels {
			if x.Left < 0 || x.Right > w+0.5 || x.Top < 0 || x.Bottom > h {
				t.Errorf("%s: %q lies outside: %+v of %v × %v", name, x.Text, x, w, h)
			}
			for _, y := range labels[:i] {
				if x.Left < y.Right && y.Left < x.Right && x.Top < y.Bottom && y.Top < x.Bottom {
					t.Errorf("%s: %q lies on %q", name, x.Text, y.Text)
				}
			}
		}
	}
}
