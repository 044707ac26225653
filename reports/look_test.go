package reports

import (
	"fmt"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"os"
	"testing"
)

func TestDraw(t *testing.T) {
	_, r := t3d()
	os.MkdirAll("/tmp/charts", 0o755)
	for _, c := range Charts(r, nil) {
		for _, w := range []struct {
			n string
			w int
		}{{"wide", 640}, {"narrow", 340}} {
			f, _ := os.Create("/tmp/charts/" + c.Name + "-" + w.n + ".png")
			if err := c.PNG(f, w.w); err != nil {
				t.Fatal(err)
			}
			f.Close()
			f, _ = os.Create("/tmp/charts/" + c.Name + "-" + w.n + ".svg")
			if err := c.SVG(f, w.w); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
}

func TestLines(t *testing.T) {
	all, _ := platform.Catalogue()
	os.MkdirAll("/tmp/charts", 0o755)
	for _, k := range []int{16, 3000, 60000} {
		for _, p := range model.Protocols {
			if k > 1000 && p.Eager() {
				continue
			}
			for _, m := range all[:2] {
				tr := model.Transfer{Machine: m.Machine, Library: m.Libraries[0], Protocol: p, Bytes: k, Path: model.Path{Hops: 1}}
				c := Timeline(p.Name, fmt.Sprintf("Time line of %s, %s, %s", p.Name, size(k), m.Machine.Name), tr.Timeline())
				for _, w := range []int{640, 340} {
					f, _ := os.Create(fmt.Sprintf("/tmp/charts/tl-%s-%s-%d-%d.png", m.Machine.Name, p.Name, k, w))
					if err := c.PNG(f, w); err != nil {
						t.Fatal(err)
					}
					f.Close()
				}
			}
		}
	}
}
