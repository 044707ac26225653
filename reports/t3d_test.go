package reports

import (
	"context"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/testdata"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// run measures a platform of the catalogue as the command does, in small.
func run(t testing.TB, platform string, ranks int, noise float64, plans ...*microbench.Plan) *sample.Set {
	t.Helper()
	j, err := world.Open(platform, "", ranks, noise)
	if err != nil {
		t.Fatal(err)
	}
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}, {Key: "command", Value: "loggp measure --platform " + platform}}}
	for _, p := range plans {
		for i, cell := range p.Cells() {
			series, err := measureCell(j, p, i, cell)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range series {
				s.Platform, s.Library, s.Clock, s.Place = j.Platform.Machine.Name, j.Library.Name, j.Clock(), j.Place(0, ranks-1)
				if s.Protocol = p.Protocol; s.Protocol == "" {
					s.Protocol = "auto"
				}
				set.Series = append(set.Series, s)
			}
		}
	}
	return set
}

// measureCell measures a cell in a job of its own.
func measureCell(j *world.Job, p *microbench.Plan, i int, cell microbench.Cell) (series []sample.Series, err error) {
	w, err := j.World(context.Background(), uint64(i))
	if err != nil {
		return nil, err
	}
	err = mpi.Run(w, j.Options(p.Protocol), func(c *mpi.Comm) error {
		if s := p.Measure(c, []microbench.Cell{cell}); c.Rank() == 0 {
			series = s
		}
		return nil
	})
	return series, err
}

// t3d is the T3D with noise, fitted.
var t3d = sync.OnceValues(func() (*sample.Set, *fit.Result) {
	t := &testing.T{}
	plans := []*microbench.Plan{{Modes: append(microbench.Modes(), microbench.Message), Sizes: microbench.DefaultSizes, Reps: 30, Warmup: 2, Common: true}}
	for _, p := range []string{"T", "TA", "RTA", "RAT"} {
		plans = append(plans, &microbench.Plan{Modes: []string{"isend"}, Sizes: microbench.DefaultSizes, Protocol: p, Reps: 10, Warmup: 2, Common: true})
	}
	set := run(t, "t3d", 4, -1, plans...)
	r, err := fit.Fit(set, fit.Options{})
	if err != nil {
		panic(err)
	}
	return set, r
})

func TestLook(t *testing.T) {
	_, r := t3d()
	all, err := platform.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	pub, err := ReadPublished(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Style{Plain, {60, true, false}, {80, true, false}} {
		Platforms(os.Stdout, all, s)
		Platform(os.Stdout, all[0], s)
		Against(os.Stdout, pub, r, all[0], s)
		var ps []Prediction
		for _, x := range model.Protocols {
			for _, k := range []int{0, 16, 1000} {
				tr := model.Transfer{Machine: all[0].Machine, Library: all[0].Libraries[0], Protocol: x, Bytes: k, Path: model.Path{Hops: 1}}
				c := tr.Cost()
				ps = append(ps, Prediction{Protocol: x.Name, Bytes: k, Sender: c.Sender.Sum(), Delivery: c.Delivery.Sum(), Terms: c, Equations: "T_s = " + x.Equations().Sender.String()})
			}
		}
		Predictions(os.Stdout, "Predicted times of t3d, chimp", ps, s)
		Explained(os.Stdout, ps[5:6], s)
	}
}
