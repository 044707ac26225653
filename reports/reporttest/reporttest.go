// Package reporttest has what tests of reports, charts and pages are made from.
package reporttest

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// ThreeTiers returns ranks in three tiers. One rank is alone in its node, one pair is odd, and one
// was not measured.
func ThreeTiers() tiers.Tiers {
	x := tiers.Tiers{Platform: "made up", Library: "mpi", Ranks: []int{0, 1, 2, 3, 4, 5, 106},
		Levels: []tiers.Tier{
			{Place: "tier1", Groups: [][]int{{0, 4}, {1, 5}, {2, 3}, {106}}, Pairs: 3, Times: 1},
			{Place: "tier2", Groups: [][]int{{0, 2, 3, 4}, {1, 5, 106}}, Pairs: 6, Times: 3},
			{Place: "tier3", Groups: [][]int{{0, 1, 2, 3, 4, 5, 106}}, Pairs: 11, Times: 20},
		}}
	together := func(l tiers.Tier, a, b int) bool {
		for _, g := range l.Groups {
			in := map[int]bool{}
			for _, rank := range g {
				in[rank] = true
			}
			if in[a] && in[b] {
				return true
			}
		}
		return false
	}
	for i, a := range x.Ranks {
		for _, b := range x.Ranks[i+1:] {
			tier := 0
			for !together(x.Levels[tier], a, b) {
				tier++
			}
			if a != 0 || b != 1 {
				x.Pairs = append(x.Pairs, tiers.Pair{A: a, B: b, Tier: tier, Times: x.Levels[tier].Times * (1 + float64(a)/100), IsOutlier: a == 2 && b == 5})
			}
		}
	}
	return x
}

// BusyTimeline returns a recording of ranks that each do many short things and send as many packets
// to the next, over as many parts of the network. The later parts are taken for longer.
func BusyTimeline(ranks, things int) *model.Timeline {
	const us = unit.Microsecond
	r := &model.Timeline{}
	for i := range ranks {
		t := model.Track{Name: fmt.Sprintf("rank %d", i), Calls: []model.Span{{Name: "Send", To: unit.Time(things) * us}}}
		n := model.Track{Name: fmt.Sprintf("link %d", i)}
		for j := range things {
			at := unit.Time(j) * us
			t.Spans = append(t.Spans, model.Span{Name: fmt.Sprintf("software.%d", j%3), From: at, To: at + us})
			n.Spans = append(n.Spans, model.Span{Name: "RM", Activity: model.CarryActivity, From: at, To: at + unit.Time(i+1)*us/unit.Time(ranks)})
			r.Flights = append(r.Flights, model.Flight{Name: "RM", From: i, To: (i + 1) % ranks, Initiator: i, Sent: at, Depart: at, Arrive: at + us/2, TakenIn: at + us/2, Bytes: 8})
		}
		r.Ranks, r.Resources = append(r.Ranks, t), append(r.Resources, n)
	}
	slices.SortStableFunc(r.Flights, func(a, b model.Flight) int { return cmp.Compare(a.Depart, b.Depart) })
	return r
}

// ReadFiles returns the contents of the files of a directory and of those in it, by their paths
// there.
func ReadFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
