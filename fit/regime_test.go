package fit

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// launchesIn returns launches of 16 bytes, each with its cache lines and a time in us that all its samples have.
func launchesIn(lines string, times ...float64) *sample.Set {
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Lines, Value: lines}}}
	for i, x := range times {
		s := series("send", sample.Timer11, slices.Repeat([]float64{x}, 40)...)
		s.Launch = i
		set.Series = append(set.Series, s)
	}
	return set
}

func TestMachineModes(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		times       []float64
		want        float64 // the median of the launches that count
		texts       []string
	}{
		{"one mode", "113/120 118/115 110/111", []float64{10, 11, 12}, 11, nil},
		{"one of another", "57/60 113/120 118/115 250/251 110/111", []float64{1, 10, 11, 90, 12}, 11, []string{"launches 0, 3 were in another mode of the machine than 3 of 5", "57 to 251 ns in them, and 110 to 120 ns"}},
		{"as many: the quicker", "57/57 250/250 250/250 57/57", []float64{1, 9, 9, 2}, 1.5, []string{"launches 1, 2"}},
		{"none has half", "57/57 110/110 250/250", []float64{1, 2, 9}, 2, []string{"none of which has half of them: all count"}},
		{"changed within", "57/57 57/250 58/58", []float64{1, 9, 3}, 2, []string{"during launch 1: a cache line took 57 ns before it and 250 ns after", "launches 1 were"}},
		{"not probed", "57/57 - 58/58", []float64{1, 9, 3}, 3, nil},
	} {
		r := mustFit(t, launchesIn(c.lines, c.times...), Options{})
		if got := r.Curves[0].Points[0].Value; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		var texts []string
		for _, w := range r.Warnings {
			if w.Code == ModeMixed || w.Code == ModeChanged {
				texts = append(texts, w.Text)
			}
		}
		if all := strings.Join(texts, "\n"); (len(texts) == 0) != (c.texts == nil) || slices.ContainsFunc(c.texts, func(s string) bool { return !strings.Contains(all, s) }) {
			t.Errorf("%s: %q, want %q", c.name, texts, c.texts)
		}
	}
	for _, bad := range []string{"57/57", "57/57 x/1", "57/57 0/1", "57/57 1e99/1", "57/57 1", "57/57 NaN/1"} {
		if _, err := Fit(launchesIn(bad, 1, 2), Options{}); err == nil || !strings.Contains(err.Error(), "line_ns") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What moves a whole launch bends no curve, and is all in the interval: of two launches one that is twice as slow at all sizes.
func TestLaunchesBendNothing(t *testing.T) {
	set := trips(1, func(k float64) float64 { return 1 + 0.001*k })
	for i, s := range set.Series {
		if s.Launch >= 3 {
			for j := range s.Times {
				set.Series[i].Times[j] *= 2
			}
		}
	}
	c := mustFit(t, set, Options{}).Curves[0]
	if len(c.Pieces) != 1 {
		t.Fatalf("%+v", c.Pieces)
	}
	if p := c.Pieces[0]; p.High < 1.9 || p.Low > 1.1 {
		t.Errorf("%+v", p)
	}
}

// The samples of a file that is named twice are there once, and so is what its launches were like.
func TestFileTwice(t *testing.T) {
	set := launchesIn("113/120 118/115", 10, 12)
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := sample.Save(path, func(w io.Writer) error { return sample.Write(w, set) }); err != nil {
		t.Fatal(err)
	}
	twice, err := sample.ReadFile(path, path)
	if err != nil {
		t.Fatal(err)
	}
	if got := mustFit(t, twice, Options{}).Curves[0].Points[0].Value; got != 11 {
		t.Errorf("the median is %v, want 11", got)
	}
}
