package job_test

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// Expected by hand: the T3D has two ranks a node, the hypernodes here three, one and two.
func TestPair(t *testing.T) {
	torus, err := platform.Load("t3d")
	if err != nil {
		t.Fatal(err)
	}
	flat, err := platform.Load("loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B")
	if err != nil {
		t.Fatal(err)
	}
	nodes := *torus
	nodes.Machine = &model.Machine{Name: "nodes", Network: &model.Hypernodes{Sizes: []int{1, 3, 2}}}
	for _, c := range []struct {
		of    *platform.Platform
		ranks int
		place string
		want  [2]int
		says  string // of the error
	}{
		{torus, 8, "", [2]int{0, 7}, ""},
		{torus, 8, "intra", [2]int{0, 1}, ""},
		{torus, 8, "inter", [2]int{0, 7}, ""},
		{torus, 8, "6,3", [2]int{6, 3}, ""},
		{torus, 2, "inter", [2]int{}, "t3d has all of 2 ranks in one node: measure intra"},
		{flat, 4, "intra", [2]int{}, "has no two of 4 ranks in one node: measure inter"},
		{&nodes, 6, "intra", [2]int{1, 2}, ""},
		{&nodes, 6, "inter", [2]int{0, 5}, ""},
		{&nodes, 4, "", [2]int{0, 3}, ""},
		{torus, 8, "8,0", [2]int{}, "0 to 7, no rank 8"},
		{torus, 8, "0,-1", [2]int{}, "no rank -1"},
		{torus, 8, "3,3", [2]int{}, "name two"},
		{torus, 8, "near", [2]int{}, `"near" is neither intra nor inter nor two ranks`},
		{torus, 8, "3", [2]int{}, `"3" is neither`},
		{torus, 8, "1,2,3", [2]int{}, `"1,2,3" is neither`},
	} {
		j := &job.Job{Platform: c.of, Ranks: c.ranks}
		got, err := j.PairToMeasure(c.place)
		switch {
		case c.says == "" && (err != nil || got != c.want):
			t.Errorf("%s, %d ranks, %q: got %v, %v, want %v", c.of.Machine.Name, c.ranks, c.place, got, err, c.want)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s, %d ranks, %q: the error is %v, want %q", c.of.Machine.Name, c.ranks, c.place, err, c.says)
		}
	}
}

// Ranks of a node are found whatever their order is: as if each looked for the first rank near it.
func TestRanksByNode(t *testing.T) {
	for platform, ranks := range map[string]int{"convex": 16, "t3d": 7, "smp-torus": 10, "loggp": 3} {
		j, err := job.Open(platform, "", ranks, 0)
		if err != nil {
			t.Fatal(err)
		}
		nodes := j.RanksByNode()
		for a := range ranks {
			for b := range ranks {
				if near := j.PlaceOfPair(a, b) == model.IntraNode.String(); nodes.AreOnOneNode(a, b) != near {
					t.Errorf("%s: ranks %d and %d share a node: %v", platform, a, b, !near)
				}
			}
		}
	}
}
