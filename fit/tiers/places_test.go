package tiers_test

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
)

// Samples of pairs give the parameters of both tiers, H and P, and these come back from a file.
func TestParametersOfTiers(t *testing.T) {
	inside, between := fittest.ConvexMachines()
	h := fittest.Hierarchy{Group: [][]int{fittest.GroupOfRanks(4, 3)}, Times: []fittest.Machine{inside, between}, Pair: 0.02}
	set := h.Samples(7, 1)
	pooled, _, err := tiers.AssignTiers(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Write(io.Discard, pooled); err != nil { // each pair is a launch of its own
		t.Error(err)
	}
	r, err := fit.Fit(set, clean.Options{ReplicateCount: 60})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tiers) != 1 || len(r.Tiers[0].Levels) != 2 || len(r.Tiers[0].Pairs) != 21 {
		t.Fatalf("tiers %+v", r.Tiers)
	}
	if l := r.Tiers[0].Levels; l[0].Pairs != 9 || l[1].Pairs != 12 || l[0].Times != 1 || l[1].Times < 5 {
		t.Errorf("levels %+v", l)
	}
	var file bytes.Buffer
	if err := params.WriteParameters(&file, r.Parameters); err != nil {
		t.Fatal(err)
	}
	ps, _, err := params.ReadParameters(&file, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		place, name string
		m           fittest.Machine
	}{{"intra", "P", fittest.Machine{}}, {"inter", "H", fittest.Machine{}}, {"intra", "", inside}, {"inter", "", between}} {
		here := params.ParametersOfPlace(ps, "", "", c.place)
		switch c.name {
		case "P":
			if p := parameterOf(here, "P"); p == nil || p.Value != 4 || p.Low != 3 || p.High != 4 || p.Unit != params.UnitCount || p.SampleCount != 21 || p.From >= 0 {
				t.Errorf("P is %+v", p)
			}
			continue
		case "H":
			if p := parameterOf(here, "H"); p == nil || p.Value != 2 || p.Low != 2 || p.High != 2 {
				t.Errorf("H is %+v", p)
			}
			continue
		}
		for name, want := range map[string]float64{"o_s": c.m.SendO + 16*c.m.SendSlope, "o_r": c.m.RecvO + 16*c.m.RecvSlope} {
			if got, ok := params.ValueAt(here, "send", name, 16); !ok || math.Abs(got-want) > 0.05*want {
				t.Errorf("%s of %s is %v, found %v", name, c.place, want, got)
			}
		}
		want := c.m.G + c.m.SendSlope // the sender's bytes are on the way of a receive that waits
		if got, ok := params.ValueAt(here, "send", "G", 0); !ok || math.Abs(got-want) > 0.1*want {
			t.Errorf("G of %s is %v, found %v", c.place, want, got)
		}
	}
	if g := parameterOf(params.ParametersOfPlace(ps, "", "", "intra"), "G"); g == nil {
		t.Error("no G inside")
	}
}

func parameterOf(ps []params.Parameter, name string) *params.Parameter {
	for i := range ps {
		if ps[i].Name == name {
			return &ps[i]
		}
	}
	return nil
}

// The pairs of emulated machines show their nodes: of four processors each, or of one.
func TestNodesOfMachines(t *testing.T) {
	for machine, want := range map[string][][]int{
		"smp-torus":          {{0, 1, 2, 3}, {4, 5, 6, 7}},
		"smp-ethernet-pairs": {{0, 1, 2, 3}, {4, 5, 6, 7}},
		"t3d-pairs":          {{0, 1, 2, 3, 4, 5}},
	} {
		_, found, err := tiers.AssignTiers(fitcheck.ReadSet(t, "../testdata/reference/"+machine+".samples.csv.gz"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if levels := found[0].Exported().Levels; !reflect.DeepEqual(levels[0].Groups, want) || len(levels) != min(len(want), 2) {
			t.Errorf("%s: %+v", machine, levels)
		}
	}
}

// Places that were measured for themselves are not mixed with the pairs, of which H and P remain.
func TestOwnPlaces(t *testing.T) {
	inside, between := fittest.ConvexMachines()
	h := fittest.Hierarchy{Group: [][]int{fittest.GroupOfRanks(3, 3)}, Times: []fittest.Machine{fittest.SmallMachine(inside), fittest.SmallMachine(between)}}
	set := h.Samples(6, 1)
	own := between
	own.SendO = 100
	set.Series = append(set.Series, own.Samples(3, fittest.PairPlan).Series...)
	r, err := fit.Fit(set, clean.Options{ReplicateCount: 20})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := params.ValueAt(params.ParametersOfPlace(r.Parameters, "", "", "inter"), "send", "o_s", 16); !ok || math.Abs(v-100) > 5 {
		t.Errorf("o_s is %v, of the samples of place inter it is 100", v)
	}
	if p := parameterOf(r.Parameters, "H"); p == nil || p.Value != 2 {
		t.Errorf("H is %+v", p)
	}
}

// One tier has neither H nor P, and says so.
func TestOneTierHasNoGroups(t *testing.T) {
	_, m := fittest.ConvexMachines()
	r, err := fit.Fit(fittest.Hierarchy{Times: []fittest.Machine{fittest.SmallMachine(m)}}.Samples(5, 1), clean.Options{ReplicateCount: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"H", "P"} {
		if p := parameterOf(r.Parameters, name); p == nil || p.Value == p.Value || p.Verdict != params.UnidentifiableVerdict || p.Place != "inter" {
			t.Errorf("%s is %+v", name, p)
		}
	}
	if !slices.ContainsFunc(r.Warnings, func(w clean.Warning) bool { return w.Code == clean.CodeOneTier }) {
		t.Errorf("warnings %v", r.Warnings)
	}
	if _, ok := params.ValueAt(params.ParametersOfPlace(r.Parameters, "", "", "inter"), "send", "o_s", 16); !ok {
		t.Error("no o_s of place inter")
	}
	near := fittest.Hierarchy{Times: []fittest.Machine{fittest.SmallMachine(m)}}.Samples(5, 1)
	near.Facts = append(near.Facts, sample.Fact{Key: sample.OnePlaceFact, Value: "intra"})
	if r, err = fit.Fit(near, clean.Options{ReplicateCount: 20}); err != nil || len(params.ParametersOfPlace(r.Parameters, "", "", "inter")) > 0 || r.Tiers[0].Levels[0].Place != "intra" {
		t.Errorf("all in one node: %v, %+v", err, r.Parameters)
	}
	near.Facts[len(near.Facts)-1].Value = "near"
	if _, err = fit.Fit(near, clean.Options{}); err == nil || !strings.Contains(err.Error(), "neither intra nor inter") {
		t.Errorf("a place that is none: %v", err)
	}
	if r, err = fit.Fit(fittest.Hierarchy{Times: []fittest.Machine{fittest.SmallMachine(m)}}.Samples(2, 1), clean.Options{ReplicateCount: 20}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Warnings, func(w clean.Warning) bool {
		return w.Code == clean.CodeOneTier && strings.Contains(w.Text, "measure more ranks")
	}) {
		t.Errorf("of one pair: warnings %v", r.Warnings)
	}
}
