package reports

import (
	"fmt"
	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/testdata"
	"io/fs"
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

func TestPageLook(t *testing.T) {
	set, r := t3d()
	all, _ := platform.Catalogue()
	dir, _ := fs.Sub(testdata.Published, "published/altawil-moritz")
	pub, err := ReadPublished(dir)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := fit.Compare(set, r.Parameters, fit.Predict)
	if err != nil {
		t.Fatal(err)
	}
	rep := Report{Samples: set, Result: r, Platforms: all[:1], Published: pub, Comparisons: cs}
	for _, p := range model.Protocols {
		tr := model.Transfer{Machine: all[0].Machine, Library: all[0].Libraries[0], Protocol: p, Bytes: 1000, Path: model.Path{Hops: 1}}
		rep.Charts = append(rep.Charts, Timeline(p.Name, fmt.Sprintf("Time line of %s, %s", p.Name, size(1000)), tr.Timeline()))
	}
	if err := Page("/tmp/page", rep); err != nil {
		t.Fatal(err)
	}
}
