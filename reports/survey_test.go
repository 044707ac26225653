package reports

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/chart/charttest"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/pagetest"
	"github.com/loggp/loggp/reports/render"
)

// surveyed is four transports by formula: one that changes its protocol and has trains, one like it
// whose clock's cost is taken out, one with all that may be missing, and one of low-level messages
// alone. Times scatter by three percent, and by ten percent between launches.
func surveyed(t testing.TB) *Report {
	t.Helper()
	type call struct {
		mode, timer string
		us          func(k float64) float64
	}
	constant := func(us float64) func(float64) float64 { return func(float64) float64 { return us } }
	way := func(us, slope float64) func(float64) float64 {
		return func(k float64) float64 {
			if k > 4096 {
				return 2*us + k*slope/2
			}
			return us + k*slope
		}
	}
	scaled := func(f func(float64) float64, by, more float64) func(float64) float64 {
		return func(k float64) float64 { return by*f(k) + more }
	}
	all := func(us float64) []call {
		w := way(us, 1e-4)
		return []call{{"send", "rtt", scaled(w, 2, 0)}, {"send", "timer11", scaled(w, 0.5, 0)}, {"send", "timer12", scaled(w, 0.4, 0)}, {"send", "timer21", scaled(w, 0.9, 0)},
			{"isend", "timer11", constant(us / 6)}, {"isend", "timer12", constant(us / 5)}, {"isend", "timer21", constant(us / 8)}, {"send", "train", scaled(w, 0.7, 0)},
			{"ssend", "timer11", scaled(w, 1.1, 0)}, {"ssend", "timer12", scaled(w, 0.4, 0)}, {"ssend", "timer21", scaled(w, 1.2, 0)}}
	}
	trains := []call{{"isend", "rtt", scaled(way(0.3, 1e-4), 2, 0)}, {"isend", "prtt10-d", scaled(way(0.3, 1e-4), 2, 9*0.09)}, {"isend", "prtt10", scaled(way(0.3, 1e-4), 5, 0)}}
	s := &Report{}
	for i, m := range []struct {
		platform, library string
		launches          int
		calls             []call
		facts             []sample.Fact
	}{
		{"shm", "loggp", 5, append(all(0.3), trains...), []sample.Fact{{Key: "command", Value: "loggp measure --platform shm"}, {Key: "timer_cost_us", Value: "0.03"}, {Key: sample.WaitFact, Value: "spin"},
			{Key: "processor", Value: "A processor"}, {Key: "kernel", Value: "6.1"}}},
		{"mpi", "Open MPI 4.1.4", 3, all(0.4), []sample.Fact{{Key: "command", Value: "loggp measure --platform mpi --mpicc mpicc.openmpi"}, {Key: "timer_cost_us", Value: "0.02"}, {Key: "timer_cost", Value: "taken out"},
			{Key: "p1_processor", Value: "A processor"}, {Key: "eager_limits", Value: "btl_tcp_eager_limit=65536 btl_vader_eager_limit=4096 odd"}, {Key: "library_version", Value: strings.Repeat("Open MPI v4.1.4, package: of somebody, ", 8)}}},
		{"mpi", "MPICH 4.0.2", 1, all(0.5)[:2], nil},
		{"tcp", "loggp", 2, []call{{"message", "rtt", scaled(way(9, 3e-4), 2, 0)}, {"message", "timer11", way(3, 1e-4)}, {"message", "timer12", way(2, 1e-4)}}, []sample.Fact{{Key: sample.WaitFact, Value: "block"}}},
	} {
		set := &sample.Set{Facts: m.facts}
		for _, c := range m.calls {
			for launch := range m.launches {
				for _, k := range []int{0, 8, 64, 256, 1024, 2048, 4096, 8192, 16384, 65536, 1 << 20} {
					x := sample.Series{Key: sample.Key{Platform: m.platform, Library: m.library, Clock: "real", Place: "intra", Mode: c.mode, Protocol: "auto", Timer: c.timer, Bytes: k, Launch: launch}}
					for rep := range 40 {
						noise := 1 + 0.03*math.Sin(float64(rep*7+k+i)) + 0.1*math.Sin(float64(launch*3+i))
						x.Times = append(x.Times, unit.FromMicros(c.us(float64(k))*noise))
					}
					set.Series = append(set.Series, x)
				}
			}
		}
		if i == 0 {
			disturb(set, 0.3)
		}
		s.Machines = append(s.Machines, sample.Machine{Files: []string{fmt.Sprintf("%d.csv", i)}, Set: set})
		r, err := fit.Fit(set, clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Results = append(s.Results, r)
	}
	return s.only(t, 0, 1, 2, 3)
}

// disturb adds disturbed samples, so that they are this part of all.
func disturb(set *sample.Set, part float64) {
	for _, x := range set.Series {
		x.Disturbed = true
		x.Times = slices.Repeat(x.Times, 2)[:int(math.Round(float64(len(x.Times))*part/(1-part)))]
		for j := range x.Times {
			x.Times[j] *= 2
		}
		set.Series = append(set.Series, x)
	}
}

// only returns the report of some of its machines.
func (s *Report) only(t testing.TB, machines ...int) *Report {
	t.Helper()
	out := &Report{}
	for _, i := range machines {
		out.Machines, out.Results = append(out.Machines, s.Machines[i]), append(out.Results, s.Results[i])
	}
	var err error
	if out.SideBySide, err = compare.CompareSubjects(out.Machines, clean.Options{}, 0.2, true); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSurveyPage: the page has what it should, of whatever transports, and can be read in a
// browser. Its charts stand in halves, and its tables are slim.
func TestSurveyPage(t *testing.T) {
	s := surveyed(t)
	for _, of := range [][]int{{2}, {3, 2}} {
		pagetest.Write(t, s.only(t, of...).Document())
	}
	p := pagetest.Write(t, s.Document())
	p.CheckFiles(t, "transports.csv", "parameters.csv", "non-blocking.csv", "free.csv", "launches.csv", "tails.csv", "settings.csv", "facts.csv", "warnings.csv", "ways.svg", "bandwidth.png", "launches.png")
	p.CheckText(t, "Message passing measured: shm, Open MPI 4.1.4, MPICH 4.0.2, tcp", "<code>loggp measure --platform shm</code>", "MPICH 4.0.2: of one launch only", "is in each time of shm (0.03 us), and taken out of those of Open MPI 4.1.4", "Ranks wait differently: spin (shm), block (tcp).", "A processor, kernel 6.1.")
	p.CheckAppearance(t,
		pagetest.NewFault("both widths at once", pagetest.AddStyleRules("svg.half{display:block!important}"), 380, false, "overheads: 4 charts, want 2"),
		pagetest.NewFault("no width at all, and too light a colour", pagetest.AddStyleRules("svg.half{display:none!important}.doubt{color:#fc9!important}"), 1400, false, "overheads: 0 charts, want 2", "contrast: T"),
		pagetest.NewFault("halves that need a wide window", pagetest.AddStyleRules(".halves{grid-template-columns:34rem 34rem!important}"), 380, true, "pixels wider than the window"),
	)
	p.CheckSizeRanges(t)
}

// TestHostileSurvey: whatever stands in names and facts, the page shows it as text, and files have
// names.
func TestHostileSurvey(t *testing.T) {
	const evil = pagetest.InjectedMarkup
	s := surveyed(t).only(t, 1, 2)
	for i, m := range s.Machines {
		for j := range m.Series {
			m.Series[j].Library = evil + fmt.Sprint(i)
		}
		for j := range m.Facts {
			m.Facts[j].Value += evil
		}
		r, err := fit.Fit(m.Set, clean.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Results[i] = r
	}
	s = s.only(t, 0, 1)
	pagetest.Write(t, s.Document())
}

// TestSurveyText: in a terminal it says the same as on the page, in lines that fit.
func TestSurveyText(t *testing.T) {
	s := surveyed(t)
	var b bytes.Buffer
	if err := render.WriteText(&b, s.Document(), render.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), format.NonBreakingSpace, " ")
	for _, want := range []string{"Parameters side by side", "half round trip, 8 B, ns", "best", "From which size on", "half of the way may be free", "S, eager limit of LogGPS", "Launches", "p99/p50", "How each transport was measured",
		"How far to trust it", "(--verbose lists all "} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing is said of %q", want)
		}
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// TestSurveyCharts: in every width the labels of charts lie in the picture, none on another.
func TestSurveyCharts(t *testing.T) {
	s := surveyed(t)
	for _, of := range [][]int{{0, 1, 2, 3}, {2}} {
		x := s.only(t, of...)
		for _, c := range charts(x.Document()) {
			charttest.CheckLabels(t, c)
		}
	}
}

// charts are all that a document has.
func charts(d *doc.Document) []*chart.Chart {
	var out []*chart.Chart
	for _, s := range d.Sections {
		for _, f := range s.Figures {
			out = append(out, f.Chart)
		}
	}
	return out
}

// A limit is shown of the transport that carries the messages, and of a library that has but one.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		place, text string
		want        []float64
	}{
		{"intra", "btl_tcp_eager_limit=65536 btl_vader_eager_limit=4096 btl_vader_rndv_eager_limit=32768", []float64{4096}},
		{"inter", "btl_tcp_eager_limit=65536 btl_vader_eager_limit=4096", nil},
		{"intra", "device=16384 other=x =5 alone", []float64{16384}},
		{"intra", "unknown", nil},
		{"intra", "", nil},
	} {
		s := reportSubject{fittedPlace: &fittedPlace{place: c.place}, facts: [][]sample.Fact{{{Key: "eager_limits", Value: c.text}}}}
		if got := s.protocolLimits(); !slices.Equal(got, c.want) {
			t.Errorf("%s, %q: %v, want %v", c.place, c.text, got, c.want)
		}
	}
}

// Of calls that do not block, a burst is no bandwidth: the calls return long before the messages
// arrive.
func TestBurst(t *testing.T) {
	of := func(mode, timer string) curve.Curve { return curve.Curve{Mode: mode, Protocol: "auto", Timer: timer} }
	for _, c := range []struct {
		curves []curve.Curve
		want   string
	}{
		{nil, ""},
		{[]curve.Curve{of("isend", "train")}, ""},
		{[]curve.Curve{of("isend", "train"), of("send", "train")}, "send train"},
		{[]curve.Curve{of("send", "train"), of("isend", "(prtt10-rtt)/9")}, "isend (prtt10-rtt)/9"},
		{[]curve.Curve{of("isend", "(prtt10-d-rtt)/9"), of("send", "stream")}, "send stream"},
	} {
		got := ""
		if x := (&reportSubject{fittedPlace: &fittedPlace{curves: c.curves}}).burstCurve(); x != nil {
			got = x.Mode + " " + x.Timer
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.curves, got, c.want)
		}
	}
}

// Units fit the numbers.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{0.292, params.UnitMicros, "292.0 ns"}, {3.5, params.UnitMicros, "3.500 us"}, {4.4e-5, params.UnitMicrosPerByte, "0.04400 ns/B"}, {22500, compare.MegabytesPerSecond, "22.50 GB/s"}, {999, compare.MegabytesPerSecond, "999.0 MB/s"},
	} {
		if got := format.SingleLine(formatAmount(c.value, c.unit)); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.value, c.unit, got, c.want)
		}
	}
	if got := displayUnitOf(params.UnitMicros, 0.5, math.NaN(), 20); got != (displayUnit{"ns", 1e3}) {
		t.Errorf("%+v", got)
	}
	if got := displayUnitOf(compare.MegabytesPerSecond); got.unit != compare.MegabytesPerSecond {
		t.Errorf("of nothing: %+v", got)
	}
}

// What is below the half round trips is by how much they are off, on the same sizes; and sizes
// stand at the same places in both.
func TestWayPanels(t *testing.T) {
	_, all := surveyed(t).subjects()
	p, declared := oneWayPanels(all)
	if len(p.Upper.Series) != 4 || len(p.Lower.Series) != 4 || len(p.Lanes) != 4 || !declared {
		t.Fatalf("%d and %d series, %d lanes", len(p.Upper.Series), len(p.Lower.Series), len(p.Lanes))
	}
	for i, u := range p.Upper.Series {
		for j, q := range p.Lower.Series[i].Points {
			if u.Points[j].X != q.X || math.Abs(q.Y) > 2 {
				t.Errorf("%s: %+v below %+v", u.Name, q, u.Points[j])
			}
		}
	}
	if l := p.Lanes[1]; !slices.Equal(l.DeclaredLimits, []float64{4096}) || len(l.SizeRanges) != 2 || l.SizeRanges[0] != [2]float64{0, 4096} {
		t.Errorf("%+v", l)
	}
	aligned := func(width int) {
		var b bytes.Buffer
		if err := p.Chart("ways", "", "").SVG(&b, width); err != nil {
			t.Fatal(err)
		}
		_, _, labels := charttest.ParseLabels(t, "ways", b.String())
		at := map[string][]float64{}
		for _, l := range labels {
			at[format.SingleLine(l.Text)] = append(at[format.SingleLine(l.Text)], l.Left)
		}
		if x := at["1 MB"]; len(x) != 2 || x[0] != x[1] {
			t.Errorf("in %d: 1 MB stands at %v", width, x)
		}
		if x := at["0"]; len(x) != 3 || x[0] != x[1] { // and that of the axis of percents
			t.Errorf("in %d: 0 stands at %v", width, x)
		}
	}
	for width := 300; width <= 900; width += 200 {
		aligned(width)
	}
	for _, x := range p.Lower.Series { // its axis has wider numbers
		for i := range x.Points {
			x.Points[i].Y = 99
		}
	}
	aligned(400)
}

// The best is who it is, and where a call takes as long as the way nothing is free.
func TestRows(t *testing.T) {
	of := func(subject int, v, ratio float64) compare.Value {
		return compare.Value{SubjectIndex: subject, Parameter: params.Parameter{Value: v, Low: v, High: v, Verdict: params.GoodVerdict}, Ratio: ratio, RatioLow: ratio, RatioHigh: ratio, Outcome: compare.WorseOutcome}
	}
	row := &compare.Row{Quantity: compare.Quantity{Name: "o_s", Mode: "send", Bytes: 8, Unit: params.UnitMicros}, Values: []compare.Value{of(0, 0.3, 1.5), of(2, 0.2, math.NaN())}, ReferenceIndex: 1}
	c := &compare.Table{Subjects: make([]compare.Subject, 3), RatiosToBest: true}
	table := subjectColumnsTable(c, "", "", doc.Column{IsKey: true})
	addSubjectsRow(table, c, row, displayUnitOf(row.Unit, 0.3, 0.2), doc.TextCell(rowName(row)))
	var got []string
	for _, c := range table.Groups[0].Rows[0] {
		got = append(got, format.SingleLine(c.Text))
	}
	if want := []string{"o_s of send, 8 B", "300.0 ±0", "-", "200.0 ±0", "1.500 ±0", "-", "best"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p := func(v float64) curve.Point { return curve.Point{Bytes: 8, Value: v, Low: v, High: v} }
	for free, want := range map[float64]string{-0.5: "none", 0: "none", 0.5: "≤0.5000 ±0"} {
		cells := overlapShareRow(&doc.Table{}, "a", compare.OverlapShare{Bytes: 8, OneWayTime: p(1), NonBlockingOverhead: p(1 - free), FreeTime: p(free), FreeShare: p(100 * free), IsUpperBound: true})
		if got := cells[5].Text; got != want {
			t.Errorf("free %v: %q, want %q", free, got, want)
		}
	}
}
