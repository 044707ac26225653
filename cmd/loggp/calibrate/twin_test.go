package calibrate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// importedSamples returns what the OSU benchmarks would print of a machine: round trips, and
// windows of sends in one direction and in both.
func importedSamples(t *testing.T, machine string) *sample.Set {
	t.Helper()
	p, err := platform.Load(machine)
	if err != nil {
		t.Fatal(err)
	}
	all := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "1"}}}
	for mode, timers := range map[string][]string{"send": {sample.TimerRTT, sample.Timer11}, "isend": {sample.TimerStream, sample.TimerStreamBoth}} {
		set, err := measureEmulated(t.Context(), p, "", "", &microbench.Plan{Modes: []string{mode}, Sizes: []int{8, 1 << 10, 8 << 10}, Timers: timers})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range set.Series {
			if s.Timer == sample.TimerRTT || mode == "isend" {
				s.Platform, s.Library, s.Clock, s.Place, s.Times = "osu", "", "real", "inter", s.Times[:1]
				all.Series = append(all.Series, s)
			}
		}
	}
	return all
}

// A window of the LogGP machine takes a gap and the gaps of the bytes for each message but the
// last, which is followed by its flight and that of the answer.
func TestWindows(t *testing.T) {
	const l, os, or, g, bigG, window = 5., 2., 3., 4., 0.01, microbench.MessagesPerStreamWindow
	set := importedSamples(t, "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B")
	for _, s := range set.Series {
		if s.Timer != sample.TimerStream {
			continue
		}
		each := max(os, or, g+float64(s.Bytes-1)*bigG)
		whole := os + (window-1)*each + float64(s.Bytes-1)*bigG + l + or + os + l + or + 3*bigG
		if got := s.Times[0].Micros() * window; math.Abs(got-whole) > 0.02*whole {
			t.Errorf("%d B: a window takes %g us, by hand %g", s.Bytes, got, whole)
		}
	}
}

// A twin of a template with wrong numbers has the numbers of the machine that was measured, the
// name and the size that were asked for, and the error to expect. It reads again.
func TestMakeTwin(t *testing.T) {
	template := start(t, "loggp", map[string]string{"machine.loggp.L": "9us", "machine.loggp.G": "30ns/B", "machine.loggp.g": "7us"})
	d, err := Resize(template, TwinOptions{Name: "mine", Nodes: 48})
	if err != nil {
		t.Fatal(err)
	}
	b, err := SamplesBench(t.Context(), "osu.csv", importedSamples(t, "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B"), d.Platform, SampleSelection{AllSizes: true})
	if err != nil {
		t.Fatal(err)
	}
	measure, atStart := b.Measure, atomic.Int64{}
	b.Measure = func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		if *p.Machine.Network.(*model.LogGP) == *d.Machine.Network.(*model.LogGP) {
			atStart.Add(1)
		}
		return measure(ctx, p)
	}
	twin, err := MakeTwin(t.Context(), d, b, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := atStart.Load(); n > 2 { // as the file has them, and as the search formats them
		t.Errorf("the numbers at which all four searches begin were measured %d times", n)
	}
	var text strings.Builder
	if err := twin.WritePlatform(&text); err != nil {
		t.Fatal(err)
	}
	p, err := platform.Parse("mine.yaml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if p.Machine.Name != "mine" || p.Machine.Ranks.Max != 48 {
		t.Errorf("%s with %d ranks", p.Machine.Name, p.Machine.Ranks.Max)
	}
	if e := p.Libraries[0].ExpectedError; !(e > 0) || e > 0.05 || math.Abs(e-twin.Validation.NineInTen) > 0.001 {
		t.Errorf("the file expects errors of %g, the validation of %g", e, twin.Validation.NineInTen)
	}
	if n := len(twin.Validation.Deviations); n != len(b.Quantities) {
		t.Errorf("%d of %d targets were left out once", n, len(b.Quantities))
	}
	for _, n := range twin.Numbers {
		want := map[string]float64{"machine.loggp.L": 5, "machine.loggp.G": 0.01, "machine.loggp.g": 4}[n.Path]
		x, err := n.Quantity.Parse(n.FittedValue)
		if unit := map[platform.Quantity]float64{platform.TimeQuantity: 1e6, platform.PerByteQuantity: 1e6}[n.Quantity]; err != nil || unit == 0 || math.Abs(x/unit-want) > 0.02*want {
			t.Errorf("%s = %s, %v; the machine has %g", n.Path, n.FittedValue, err, want)
		}
	}
}

// A twin may be made of samples of its template, which is an emulated machine of another name.
func TestTwinOfEmulatedSamples(t *testing.T) {
	template := open(t, "loggp")
	set, err := measureEmulated(t.Context(), template.Platform, "", "", &microbench.Plan{Modes: []string{"send"}, Sizes: []int{8, 1 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Resize(template, TwinOptions{Name: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := SamplesBench(t.Context(), "own.csv", set, d.Platform, SampleSelection{Template: "loggp"}); err != nil {
		t.Error(err)
	}
	for _, template := range []string{"", "t3d"} {
		if _, err := SamplesBench(t.Context(), "own.csv", set, d.Platform, SampleSelection{Template: template}); err == nil || !strings.Contains(err.Error(), "samples of platform loggp, not of") {
			t.Errorf("template %q: %v", template, err)
		}
	}
}

// The error to expect comes from targets that the calibration did not see: of a machine that the
// template cannot be, it is large though each fit is as good as it can be.
func TestCrossValidationSeesWrongTemplates(t *testing.T) {
	d := start(t, "loggp", map[string]string{"machine.loggp.L": "9us"})
	b, err := SamplesBench(t.Context(), "osu.csv", importedSamples(t, "loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.1us/B"), d.Platform, SampleSelection{AllSizes: true})
	if err != nil {
		t.Fatal(err)
	}
	v, err := CrossValidate(t.Context(), d, b, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if v.NineInTen < 0.5 || v.Median > v.NineInTen || v.NineInTen > v.Largest {
		t.Errorf("errors of %g, %g and at most %g for a tenth of the bandwidth", v.Median, v.NineInTen, v.Largest)
	}
}

// A template may have several libraries. The numbers of those that were not measured stay.
func TestTwinKeepsOtherLibraries(t *testing.T) {
	d := open(t, "c5n-efa")
	b := &Bench{Libraries: []string{"openmpi-4"}}
	for i := range 6 {
		b.Quantities = append(b.Quantities, Quantity{Name: fmt.Sprint("time ", i), Unit: "us", MinTarget: 0.5 + float64(i), MaxTarget: 0.5 + float64(i), FittingKey: "samples osu.csv"})
	}
	b.Measure = func(_ context.Context, p *platform.Platform) (times []float64, err error) {
		for i := range b.Quantities {
			times = append(times, p.Libraries[0].Software[model.ProtoSendCost].Micros()+float64(i))
		}
		return times, nil
	}
	twin, err := MakeTwin(t.Context(), d, b, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range twin.Numbers {
		if strings.HasPrefix(n.Path, "libraries[mpich-4]") {
			t.Errorf("%s was searched for", n.Path)
		}
	}
}
