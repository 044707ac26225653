package calibrate

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/reports/study"
	"github.com/loggp/loggp/testdata"
)

func open(t *testing.T, what string) *edit.Draft {
	t.Helper()
	d, err := edit.Open(what)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// start returns a platform of the catalogue whose numbers of some paths have other values, and are
// free between a tenth and ten times of these.
func start(t *testing.T, name string, values map[string]string) *edit.Draft {
	t.Helper()
	d := open(t, name)
	file, text, err := platform.Text(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for path, v := range values {
		n, err := d.Number(path)
		if err != nil {
			t.Fatal(err)
		}
		x, err := n.Quantity.Parse(v)
		if err != nil {
			t.Fatal(err)
		}
		l := &lines[n.Line-1]
		*l = (*l)[:n.Column-1] + fmt.Sprintf("%s, free: {min: %s, max: %s}", v, n.Quantity.Format(x/10), n.Quantity.Format(10*x)) + (*l)[n.Column-1+len(n.Value):]
	}
	if d, err = edit.New(file, []byte(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	return d
}

// published returns the papers of testdata.
func published(t *testing.T) []*paper.Paper {
	t.Helper()
	p, err := paper.Read(testdata.Published, "altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	return []*paper.Paper{p}
}

// measured returns samples of a platform as loggp measure takes them, with the platform's noise.
func measured(t *testing.T, p *platform.Platform, library string, modes []string, sizes []int) *sample.Set {
	t.Helper()
	job, err := job.New(p, library, 0, job.PlatformNoise)
	if err != nil {
		t.Fatal(err)
	}
	plan := &microbench.Plan{Modes: modes, Sizes: sizes, Reps: 50, WarmupRounds: 10, HasCommonClock: true}
	open := func(ctx context.Context, cell int) (mpi.World, error) { return job.World(ctx, 77+uint64(cell)) }
	series, err := microbench.Sweep(context.Background(), plan, job.MPIOptions(""), open, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Place, k.Protocol = p.Machine.Name, job.Library.Name, "virtual", job.PlaceOfPair(0, job.Ranks-1), chosenProtocol
	}
	return &sample.Set{Series: series, Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}, {Key: sample.ResolutionFact, Value: p.Machine.TimerResolution.MicrosString()}}}
}

// torus are the numbers of the t3d with lean that are to be found, with values to begin with.
var torus = map[string]string{
	"machine.torus.send.start":             "3us",
	"machine.torus.send.bandwidth":         "50MB/s",
	"machine.torus.get.bandwidth":          "200MB/s",
	"libraries[lean].software.standard":    "5us",
	"libraries[lean].software.synchronous": "30us",
	"libraries[lean].software.received":    "10us",
	"libraries[lean].software.posted":      "5us",
	"libraries[lean].software.control":     "5us",
	"libraries[lean].software.pack":        "5ns/B",
}

// A torus is recovered from its own samples: from numbers that are wrong by factors of two to four,
// with the noise of the platform, each to 2 %. The file that is written is the platform.
func TestRecover(t *testing.T) {
	truth := open(t, "t3d")
	set := measured(t, truth.Platform, "lean", []string{"send", "isend", "ssend"}, []int{16, 1000, 3000, 10000, 40000})
	d := start(t, "t3d", torus)
	b, err := SamplesBench(context.Background(), "own.csv", set, d.Platform, SampleSelection{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Calibrate(context.Background(), d, b, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Numbers) != len(torus) || c.RMSAfter > 0.005 || c.RMSBefore < 0.2 {
		t.Errorf("%d numbers, from %.3f to %.3f", len(c.Numbers), c.RMSBefore, c.RMSAfter)
	}
	for _, f := range c.Numbers {
		is, _ := truth.Number(f.Path)
		want, _ := is.Quantity.Parse(is.Value)
		got, err := f.Quantity.Parse(f.FittedValue)
		low, _ := f.Quantity.Parse(f.Low)
		high, _ := f.Quantity.Parse(f.High)
		if err != nil || !(math.Abs(got/want-1) <= 0.02) || !(low <= want && want <= high) || f.IsWithoutEffect || f.IsIntervalWide || f.IsAtBound || f.CombinedWith != nil {
			t.Errorf("%s: %s in %s to %s (%s), want %s, %v", f.Path, f.FittedValue, f.Low, f.High, f.remarkText(), is.Value, err)
		}
		if !slices.Equal(f.FittedTo, []string{"samples own.csv"}) {
			t.Errorf("%s is fitted to %v", f.Path, f.FittedTo)
		}
	}
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	p, err := platform.Parse("t3d.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	_, original, _ := platform.Text("t3d")
	if a, b := comments(string(original)), comments(string(text)); !slices.Equal(a, b) {
		t.Errorf("comments %v, want %v", b, a)
	}
	// So collective operations of more ranks than were measured take as long as they do there.
	const ranks = 32
	want, got := together(t, truth.Platform, "lean", ranks, nil), together(t, p, "lean", ranks, nil)
	for what, x := range want {
		if math.Abs(got[what]/x-1) > 0.02 {
			t.Errorf("%s of %d ranks takes %g us, want %g", what, ranks, got[what], x)
		}
	}
	values, err := b.Measure(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range values {
		if q := b.Quantities[i]; math.Abs(q.Residual(x)) > 0.02 {
			t.Errorf("with the file that was written, %s is %g, want %g", q.Name, x, q.MinTarget)
		}
	}
}

// comments are the lines of a file that are comments.
func comments(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return !strings.HasPrefix(strings.TrimSpace(l), "#") })
}

// What samples cannot tell is named: how send and receive share what they take before a message,
// and numbers on which no sample depends, which keep their values and bases.
func TestUndetermined(t *testing.T) {
	set := measured(t, open(t, "t3d").Platform, "lean", []string{"send"}, []int{16, 500, 1000, 2000})
	d := start(t, "t3d", map[string]string{
		"libraries[lean].software.send": "9us", "libraries[lean].software.standard": "19us",
		"machine.torus.get.start": "2us", "machine.torus.send.bandwidth": "100MB/s",
	})
	b, err := SamplesBench(context.Background(), "own.csv", set, d.Platform, SampleSelection{})
	if err != nil {
		t.Fatal(err)
	}
	b.Quantities, b.Measure = part(b, func(q Quantity) bool { return strings.HasPrefix(q.Name, "timer11") })
	c, err := Calibrate(context.Background(), d, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Numbers {
		switch f.Path {
		case "machine.torus.get.start":
			if !f.IsWithoutEffect || f.FittedValue != f.Value {
				t.Errorf("%+v", f)
			}
		case "libraries[lean].software.send":
			if !slices.Equal(f.CombinedWith, []string{"libraries[lean].software.standard"}) || f.High != "" {
				t.Errorf("%+v", f)
			}
		case "machine.torus.send.bandwidth":
			if f.IsWithoutEffect || f.CombinedWith != nil || f.High == "" {
				t.Errorf("%+v", f)
			}
		}
	}
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	p, err := edit.New("t3d.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := p.Number("machine.torus.get.start"); n.Basis != platform.BasisDerived || n.FittedTo != nil {
		t.Errorf("%+v", n)
	}
}

// part returns a bench's quantities of some kind, and how to measure them.
func part(b *Bench, keep func(Quantity) bool) ([]Quantity, func(context.Context, *platform.Platform) ([]float64, error)) {
	var some []Quantity
	var at []int
	for i, q := range b.Quantities {
		if keep(q) {
			some, at = append(some, q), append(at, i)
		}
	}
	measure := b.Measure
	return some, func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		all, err := measure(ctx, p)
		if err != nil {
			return nil, err
		}
		var values []float64
		for _, i := range at {
			values = append(values, all[i])
		}
		return values, nil
	}
}

// PublishedBench of a paper are targets: the T3D's calls are found again by the rows to which they
// are fitted, and name them. A list of values is tried one by one. However many processors there
// are, the result is the same.
func TestRows(t *testing.T) {
	d := start(t, "t3d", map[string]string{"libraries[chimp].software.standard": "40us", "libraries[chimp].software.synchronous": "5us"})
	_, text, _ := platform.Text("t3d")
	text = []byte(strings.Replace(string(text), "bounce: {value: 1KiB,", "bounce: {value: 4KiB, free: [512B, 1KiB, 4KiB],", 1))
	bounce, err := edit.New("t3d.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	find := func(d *edit.Draft, rows ...string) *Calibration {
		b, err := PublishedBench(published(t), d.Platform, rows)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Calibrate(context.Background(), d, b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := find(d, "table-3 T3D o_s low", "table-3 T3D o_s  sync_low")
	for i, want := range []float64{19.46e6, 13.46e6} {
		f := c.Numbers[i]
		if x, err := f.Quantity.Parse(f.FittedValue); err != nil || math.Abs(x/want-1) > 0.01 || len(f.FittedTo) != 1 {
			t.Errorf("%s is %s, want %g ps, and fitted to %v", f.Path, f.FittedValue, want, f.FittedTo)
		}
	}
	if to := c.Numbers[1].FittedTo; !slices.Equal(to, []string{"table-3 T3D o_s sync_low"}) {
		t.Errorf("fitted to %v", to)
	}
	if f := find(bounce, "table-3 T3D G low").Numbers[0]; f.FittedValue == "4KiB" || f.IsWithoutEffect || !slices.Equal(f.FittedTo, []string{"table-3 T3D G low"}) {
		t.Errorf("%+v", f)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := find(d, "table-3 T3D o_s low", "table-3 T3D o_s sync_low"); !reflect.DeepEqual(again.Numbers, c.Numbers) || !reflect.DeepEqual(again.Targets, c.Targets) {
		t.Errorf("on one processor %+v, on several %+v", again.Numbers, c.Numbers)
	}
}

// What cannot be done is an error that says why.
func TestWrong(t *testing.T) {
	t3d := open(t, "t3d")
	set := measured(t, t3d.Platform, "lean", []string{"send"}, []int{16})
	free := start(t, "t3d", map[string]string{"machine.torus.get.start": "2us"})
	chimp := start(t, "t3d", map[string]string{"libraries[chimp].software.posted": "9us"})
	rows := func(d *edit.Draft, patterns ...string) error {
		b, err := PublishedBench(published(t), d.Platform, patterns)
		if err == nil {
			_, err = Calibrate(context.Background(), d, b, Options{})
		}
		return err
	}
	samples := func(d *edit.Draft, set *sample.Set, part SampleSelection) error {
		b, err := SamplesBench(context.Background(), "own.csv", set, d.Platform, part)
		if err == nil {
			_, err = Calibrate(context.Background(), d, b, Options{})
		}
		return err
	}
	two := *set
	two.Series = append(slices.Clone(set.Series), sample.Series{Key: sample.Key{Platform: "now", Library: "chimp", Clock: "virtual"}})
	for want, err := range map[string]error{
		"t3d.yaml: no number is free: mark those":                                                rows(t3d, "table-3 T3D o_s low"),
		"no target depends on a free number (machine.torus.get.start)":                           rows(free, "table-3 T3D o_s low"),
		`row "table-3 NOW o_s low": it is of platform now, not of t3d`:                           rows(free, "table-3 NOW o_s low"),
		`row "table-9*": no paper prints it of platform t3d, whose rows are: table-3 T3D L low,`: rows(free, "table-9*"),
		`row "[": `: rows(free, "["),
		"no paper prints a row of platform loggp":                 rows(open(t, "loggp"), "table-3 T3D o_s low"),
		"own.csv: samples of platform t3d, not of now":            samples(open(t, "now"), set, SampleSelection{}),
		"own.csv: samples of t3d, lean and of now, chimp":         samples(free, &two, SampleSelection{}),
		"own.csv: samples of library lean":                        samples(free, set, SampleSelection{Library: "chimp"}),
		"own.csv: it has no samples of timers":                    samples(free, set, SampleSelection{Modes: []string{"bsend"}}),
		"own.csv: it has no samples":                              samples(free, &sample.Set{}, SampleSelection{}),
		"libraries[chimp].software.posted is free, and no target": samples(chimp, set, SampleSelection{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if _, err := VaryNumbers(context.Background(), t3d, &Bench{}, Options{}); err == nil {
		t.Error("nothing is measured")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b, err := ParameterBench(t3d.Platform, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VaryNumbers(ctx, t3d, b, Options{}); err == nil {
		t.Error("an interrupt is ignored")
	}
}

// Of the LogGP machine it is known what its numbers move: o_s alone o_s, and G the gap.
func TestVary(t *testing.T) {
	d := open(t, "loggp")
	b, err := ParameterBench(d.Platform, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := VaryNumbers(context.Background(), d, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		number          string
		halved, doubled float64
	}{
		"o_s send 16 B":    {"machine.loggp.o_s", -0.5, 1},
		"o_r send 10000 B": {"machine.loggp.o_r", -0.5, 1},
		"G send":           {"machine.loggp.G", -0.5, 1},
	} {
		i := slices.IndexFunc(s.Quantities, func(q Quantity) bool { return q.Name == name })
		all := s.DecidingNumbers(i, DecisiveChange)
		if len(all) != 1 || all[0].Path != want.number || math.Abs(s.Change(all[0].Halved, i)-want.halved) > 1e-6 || math.Abs(s.Change(all[0].Doubled, i)-want.doubled) > 1e-6 {
			t.Errorf("%s: %+v", name, all)
		}
	}
	for _, n := range s.Numbers {
		if strings.HasPrefix(n.Path, "libraries[queue]") {
			t.Errorf("%s is varied, of a library that is not measured", n.Path)
		}
	}
}

// manual returns the platform of docs/calibrate.md.
func manual(t *testing.T) *edit.Draft {
	t.Helper()
	text, err := os.ReadFile("../../../docs/here.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := edit.New("here.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Published values that assumed numbers decide are marked, with the numbers; those to which some
// number was fitted, and counts, are not.
func TestDecide(t *testing.T) {
	finding := func(row, unit, basis string) study.Finding {
		return study.Finding{PublishedRow: row, Platform: "convex", Unit: unit, Low: 1, High: 1, Basis: basis, Note: "Read so."}
	}
	s := &study.Study{Artefacts: []study.Artefact{{Rows: []study.Finding{
		finding("table-4 Convex o high", "us", compare.ValidationBasis), finding("table-4 Convex o low", "us", compare.CalibrationBasis), finding("table-4 Convex H low", "", compare.ValidationBasis),
	}}, {Rows: []study.Finding{finding("table-4 Convex o high", "us", compare.ValidationBasis)}}}}
	if err := MarkAssumptionDependentValues(context.Background(), published(t)[0], s); err != nil {
		t.Fatal(err)
	}
	const note = "Read so. Decided by assumptions: machine.hypernodes.inter.send.bandwidth (71MB/s)."
	for i, want := range []study.Finding{
		{Basis: study.BasisAssumed, Note: note}, {Basis: compare.CalibrationBasis, Note: "Read so."}, {Basis: compare.ValidationBasis, Note: "Read so."},
	} {
		if r := s.Artefacts[0].Rows[i]; r.Basis != want.Basis || r.Note != want.Note {
			t.Errorf("%s: %s, %s", r.PublishedRow, r.Basis, r.Note)
		}
	}
	if r := s.Artefacts[1].Rows[0]; r.Basis != study.BasisAssumed {
		t.Errorf("%s is %s where it stands again", r.PublishedRow, r.Basis)
	}
}

// unzipped reads samples that are compressed.
func unzipped(t *testing.T, name string) *sample.Set {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	set, err := sample.Read(in, name)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A platform that was fitted to pairs of ranks on a real machine predicts collective operations
// there. The samples are of a machine with two processors that had other work as well. Two ranks
// have a processor each, as on the platform. Four have not: so they take many times as long as on a
// machine with four, which is what the platform is.
func TestHere(t *testing.T) {
	d := manual(t)
	b, err := SamplesBench(context.Background(), "shm.csv", unzipped(t, "shm.csv.gz"), d.Platform, SampleSelection{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Calibrate(context.Background(), d, b, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d targets, %d platforms, from %.3f to %.3f; left out %v", len(c.Targets), c.PlatformsTried, c.RMSBefore, c.RMSAfter, c.OmittedTargets)
	if c.RMSAfter > 0.1 || c.RMSBefore < 0.25 {
		t.Errorf("deviations of %.3f, and %.3f before", c.RMSAfter, c.RMSBefore)
	}
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	p, err := platform.Parse("here.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for ranks, within := range map[int][2]float64{2: {0.8, 1.3}, 4: {10, 100}} {
		ratios := predicted(t, p, ranks, unzipped(t, fmt.Sprintf("collectives-%d.csv.gz", ranks)))
		slices.Sort(ratios)
		t.Logf("%d ranks: measured over predicted %.2f in the median of %d, from %.2f to %.2f", ranks, ratios[len(ratios)/2], len(ratios), ratios[0], ratios[len(ratios)-1])
		if middle := ratios[len(ratios)/2]; middle < within[0] || middle > within[1] {
			t.Errorf("%d ranks: the median is %g", ranks, middle)
		}
	}
}

// predicted returns measured over predicted times of the collective operations of a set.
func predicted(t *testing.T, p *platform.Platform, ranks int, set *sample.Set) []float64 {
	t.Helper()
	times, err := compare.ReadCollectives(set)
	if err != nil {
		t.Fatal(err)
	}
	emulated := together(t, p, "", ranks, times)
	var ratios []float64
	for _, x := range times {
		e, ok := emulated[fmt.Sprint(x.Operation, " ", x.Algorithm, " ", x.Bytes)]
		if !ok {
			t.Fatalf("%s %s was not emulated", x.Operation, x.Algorithm)
		}
		ratios = append(ratios, x.Max/e)
	}
	return ratios
}

// together returns the times of collective operations on a platform, in microseconds, by operation,
// algorithm and size: those of some measurements, or a few.
func together(t *testing.T, p *platform.Platform, library string, ranks int, of []compare.CollectiveTimes) map[string]float64 {
	t.Helper()
	if of == nil {
		for _, k := range []int{16, 1000, 20000} {
			of = append(of, compare.CollectiveTimes{Operation: "bcast", Algorithm: "binomial", Bytes: k}, compare.CollectiveTimes{Operation: "alltoall", Algorithm: "pairwise", Bytes: k})
		}
	}
	job, err := job.New(p, library, ranks, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := &microbench.Experiment{Plan: microbench.Plan{Reps: 5, WarmupRounds: 2, HasCommonClock: true}}
	for _, x := range of {
		o, _ := collective.OperationNamed(x.Operation)
		e.Collectives = append(e.Collectives, microbench.CollectiveCell{Algorithm: collective.AlgorithmNamed(o, x.Algorithm), Job: o.StandardJob(ranks, x.Bytes, nil)})
	}
	open := func(ctx context.Context, cell int) (mpi.World, error) { return job.World(ctx, uint64(cell)) }
	out, err := microbench.SweepCollectives(context.Background(), e, job.MPIOptions(""), open, nil)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]float64{}
	for _, s := range out.Series {
		if s.Timer == sample.TimerCollMax {
			times[fmt.Sprint(s.Mode, " ", s.Protocol, " ", s.Bytes)] = s.Times[len(s.Times)/2].Micros()
		}
	}
	return times
}
