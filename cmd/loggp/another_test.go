package main

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
	"github.com/loggp/loggp/fit/params"
)

// A machine of a kind that there is needs no program, only a file. These are two: a torus like the
// T3D with another processor and other wires, and the Convex with its processors in other
// hypernodes.

// measured returns the parameters of a platform, as the command line measures and fits them.
func measured(t *testing.T, platform, reps, flags string) []params.Parameter {
	t.Helper()
	mustRun(t, strings.Fields("measure --platform "+platform+" -o samples.csv --reps "+reps+" "+flags)...)
	mustRun(t, "fit", "samples.csv", "-o", "params.csv")
	p, err := readParameters("params.csv")
	if err != nil {
		t.Fatal(err)
	}
	return p.All
}

// ratio is how a parameter of one set is to that of another.
func ratio(t *testing.T, a, b []params.Parameter, mode, name string, bytes int) float64 {
	t.Helper()
	value := func(ps []params.Parameter) float64 {
		if v, ok := params.ValueAt(ps, mode, name, bytes); ok {
			return v
		}
		p, ok := params.FindParameter(ps, mode, params.KindOf(name, params.UnitMicros), bytes) // a bound
		if !ok {
			t.Fatalf("no %s of %s", name, mode)
		}
		return p.Value
	}
	return value(a) / value(b)
}

// Software of half the cost makes half the overhead, and copies and wires that are about three
// times as fast make long messages that are more than twice as fast: nothing takes its time twice.
func TestAnotherTorus(t *testing.T) {
	long(t)
	file := commandtest.AbsolutePath(t, "testdata/t3e.yaml")
	t.Chdir(t.TempDir())
	t3d, t3e := measured(t, "t3d", "20", ""), measured(t, file, "20", "")
	for _, c := range []struct {
		mode, name string
		bytes      int
		low, high  float64
	}{
		{"isend", "o_s", 16, 0.45, 0.55},
		{"isend", "o_r", 16, 0.45, 0.55},
		{"send", "o_r", 16, 0.45, 0.55},
		{"ssend", "L", 16, 0.3, 0.7},
		{"isend", "o_s", 10000, 0.3, 0.55},
		{"send", "G", 0, 0.15, 0.5},
	} {
		if x := ratio(t, t3e, t3d, c.mode, c.name, c.bytes); !(c.low <= x && x <= c.high) {
			t.Errorf("%s of %s at %d B is %.3f times that of the T3D, not %g to %g", c.name, c.mode, c.bytes, x, c.low, c.high)
		}
	}
	const wire = 1 / 350.0 // us/B
	if g, _ := params.ValueAt(t3e, "send", "G", 0); g < wire {
		t.Errorf("G is %g us/B, which is faster than the wire", g)
	}
}

// Hypernodes of other sizes are found from the times of pairs, and a message between two of them
// costs what it costs on the Convex: its ring has two more stations, of which a message there and
// its confirmation pass all.
func TestOtherHypernodes(t *testing.T) {
	long(t)
	file := commandtest.AbsolutePath(t, "testdata/exemplar.yaml")
	t.Chdir(t.TempDir())
	tiers := measured(t, file, "2", "--pairs all --level message")
	for name, want := range map[string]float64{"H": 4, "P": 4} {
		found := math.NaN()
		for _, p := range tiers {
			if p.Name == name {
				found = p.Value
			}
		}
		if found != want {
			t.Errorf("%s is %g, want %g", name, found, want)
		}
	}
	convex, exemplar := measured(t, "convex", "20", "--place inter"), measured(t, file, "20", "--place inter")
	if x := ratio(t, exemplar, convex, "isend", "o_s", 100); math.Abs(x-1) > 0.02 {
		t.Errorf("o_s is %.3f times that of the Convex", x)
	}
	if x := ratio(t, exemplar, convex, "ssend", "L", 16); x < 1.005 || x > 1.5 {
		t.Errorf("L is %.3f times that of the Convex, whose ring is shorter", x)
	}
}
