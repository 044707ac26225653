package reports

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// PLogPParameters is the parameterized LogP view: for each mode with round trips the overheads and
// the gap by size, and what they are in the terms of LogGP.
func PLogPParameters(r *fit.Result) *doc.Document {
	d := &doc.Document{Title: "PLogP", Files: []doc.File{{Name: "plogp.csv", Write: func(w io.Writer) error { return params.WritePLogP(w, r.PLogP) }}}}
	for _, v := range r.PLogP {
		d.AddTables("plogp", "PLogP", plogpTable(v))
	}
	return d
}

func plogpTable(v params.PLogP) *doc.Table {
	t := &doc.Table{Name: "plogp", Title: fmt.Sprintf("PLogP of %s, %s", format.PlaceName(v.Platform, v.Library, v.Place), v.Mode),
		Columns: []doc.Column{{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn}, {Heading: "o_s\nus", Kind: doc.NumberColumn}, {Heading: "o_r\nus", Kind: doc.NumberColumn}, {Heading: "g\nus", Kind: doc.NumberColumn}}}
	for _, x := range v.ValuesBySize {
		t.AddRow(doc.BytesCell(x.Bytes), intervalCell(t, x.SendOverhead), intervalCell(t, x.RecvOverhead), intervalCell(t, x.Gap))
	}
	t.AddNote("L is %s: RTT(0)/2 - g(0), of %s; g(m) is (RTT(m) - RTT(0))/2 + g(0), since as many bytes come back.", intervalCell(t, v.Latency).Text, format.Size(v.SmallestBytes))
	x := v.ToLogGP()
	t.AddNote("As LogGP: L' = L + g - o_s - o_r = %s us, o = (o_s + o_r)/2 = %s us, g = %s us, G = g(m)/m = %s us/B.", format.Number(x.LatencyMicros), format.Number(x.OverheadMicros), format.Number(x.GapMicros), format.Number(x.GapMicrosPerByte))
	return t
}

// intervalCell returns a time with its interval.
func intervalCell(t *doc.Table, x params.TimeEstimate) doc.Cell {
	if math.IsNaN(x.Value) {
		t.AddNote("- was not measured, or is not above zero.")
		return doc.EmptyCell
	}
	return measuredCell(t, x.Value, x.Low, x.High, x.FewestSamples)
}

// LogGPSParameters is L, o, g, G and S of the modes that have an eager limit, or at least a
// latency.
func LogGPSParameters(r *fit.Result) *doc.Document {
	d := &doc.Document{Title: "LogGPS"}
	for _, p := range fittedPlaces(r) {
		d.AddTables("loggps", "LogGPS", p.loggpsTable())
	}
	return d
}

func (p *fittedPlace) loggpsTable() *doc.Table {
	t := &doc.Table{Name: "loggps", Title: "LogGPS of " + p.String(), Columns: []doc.Column{{Heading: "mode", IsKey: true}}}
	for _, head := range []string{"L\nus", "o\nus", "g\nus", "G\nus/B"} {
		t.Columns = append(t.Columns, doc.Column{Heading: head, Kind: doc.NumberColumn})
	}
	t.Columns = append(t.Columns, doc.Column{Heading: "S", Field: "S_bytes", Kind: doc.NumberColumn})
	for _, mode := range p.modeNames() {
		l := p.firstRow(mode, "L")
		if l == nil {
			continue
		}
		t.AddRow(doc.TextCell(mode), parameterCell(t, l), p.meanOverheadCell(mode), parameterCell(t, p.firstRow(mode, "g")), parameterCell(t, p.firstRow(mode, "G")), p.eagerLimitCell(t, mode))
	}
	t.AddNote("o is (o_s + o_r)/2 of the smallest messages. S is the largest message that is sent without waiting for the receiver.")
	return t
}

// meanOverheadCell returns o of the smallest messages.
func (p *fittedPlace) meanOverheadCell(mode string) doc.Cell {
	send, ok := params.ValueAt(p.parameters, mode, "o_s", 0)
	receive, both := params.ValueAt(p.parameters, mode, "o_r", 0)
	if !ok || !both {
		return doc.EmptyCell
	}
	return doc.TextCell(format.Number((send + receive) / 2))
}

// eagerLimitCell returns S of a mode.
func (p *fittedPlace) eagerLimitCell(t *doc.Table, mode string) doc.Cell {
	if x := p.eagerLimitRow(mode); x != nil {
		return doc.Cell{Text: format.SizeRange(int(x.Low), int(x.High)), Tone: parameterTone(t, x), Values: []float64{x.Low, x.High}}
	}
	t.AddNote("- no eager limit found: at no size does half a round trip grow by a handshake.")
	return doc.EmptyCell
}

// HoldOutErrors is how well one half of the sizes predicts the other: a row a mode, and one of all
// modes of a platform, library and place.
func HoldOutErrors(hs []compare.HoldOutError) *doc.Document {
	t := &doc.Table{Name: "heldout", Title: "Half round trips, predicted from every other size", Columns: []doc.Column{
		{Heading: "mode", IsKey: true}, {Heading: "sizes\nfitted", Kind: doc.NumberColumn}, {Heading: "sizes\npredicted", Kind: doc.NumberColumn}, {Heading: "median error\n%", Kind: doc.NumberColumn}, {Heading: "largest\n%", Kind: doc.NumberColumn}}}
	row := func(mode string, fitted, others int, median, largest float64) {
		t.AddRow(doc.TextCell(mode), doc.CountCell(fitted), doc.CountCell(others), doc.TextCell(fmt.Sprintf("%.1f", median)), doc.TextCell(fmt.Sprintf("%.1f", largest)))
	}
	var errors []float64 // of the place, without their signs
	modes, fitted := 0, 0
	for i, h := range hs {
		of := format.PlaceName(h.Platform, h.Library, h.Place)
		t.BeginGroup(of)
		row(h.Mode, h.FittedSizeCount, len(h.HeldOutSizes), h.MedianError, h.LargestError)
		modes, fitted = modes+1, fitted+h.FittedSizeCount
		for _, x := range h.HeldOutSizes {
			errors = append(errors, math.Abs(x.Error))
		}
		if i+1 < len(hs) && format.PlaceName(hs[i+1].Platform, hs[i+1].Library, hs[i+1].Place) == of {
			continue
		}
		if modes > 1 {
			row("all", fitted, len(errors), quantile.Median(errors), slices.Max(errors))
		}
		errors, modes, fitted = nil, 0, 0
	}
	if len(hs) == 0 {
		t.AddNote("No mode has round trips of six sizes, which it needs.")
	}
	t.AddNote("The largest error is often next to a protocol change, where a size is predicted from the wrong side.")
	d := &doc.Document{Title: t.Title}
	d.AddSection(doc.Section{ID: "heldout", Title: t.Title, Tables: []*doc.Table{t}})
	return d
}

// MeasurementSummary is what a fit found, below what a message costs, in a sentence and as the
// table that everybody knows.
func MeasurementSummary(set *sample.Set, r *fit.Result) *doc.Document {
	d := Parameters(r)
	var tables []*doc.Table
	var all []reportSubject
	ps := fittedPlaces(r)
	for i, p := range ps {
		name := strings.TrimPrefix(p.String(), format.PlaceName(ps[0].platform, ps[0].library, "")+", ") // places of one library differ by their rest
		tables, all = append(tables, p.performanceTable(set)), append(all, reportSubject{fittedPlace: p, name: name, colorIndex: i, launches: 1})
	}
	d.Answer = costSentence(all)
	if tables = nonEmptyTables(tables...); len(tables) > 0 {
		d.Files = append([]doc.File{render.TableFile(tables...)}, d.Files...)
		d.Sections = append([]doc.Section{{ID: "messages", Title: "Latency and bandwidth", Tables: tables}}, d.Sections...)
	}
	return d
}

// performanceTable is the table that everybody knows: latency by half round trips, and bandwidth
// and message rate of messages that follow each other.
func (p *fittedPlace) performanceTable(set *sample.Set) *doc.Table {
	t := &doc.Table{Name: format.FileName("messages", p.platform, p.library, p.place), DataName: "messages", Title: "Latency and bandwidth, " + p.String(), Columns: []doc.Column{
		{Heading: "size", IsKey: true, Kind: doc.NumberColumn}, {Heading: "latency\nus", Kind: doc.NumberColumn}, {Heading: "p99\nus", Kind: doc.NumberColumn}, {Heading: "bandwidth\nMB/s", Kind: doc.NumberColumn}, {Heading: "messages/s", Kind: doc.NumberColumn}}}
	mode := "send"
	if p.timerCurve(mode, sample.TimerRTT) == nil {
		mode = "message"
	}
	trips := map[int][]unit.Time{}
	for i := range set.Series {
		s := &set.Series[i]
		if p.containsSeries(s) && s.Mode == mode && s.Timer == sample.TimerRTT && (s.Protocol == "auto" || s.Protocol == "" || mode == "message") {
			trips[s.Bytes] = append(trips[s.Bytes], s.Times...)
		}
	}
	stream := (&reportSubject{fittedPlace: p}).burstCurve()
	for _, k := range slices.Sorted(maps.Keys(trips)) {
		times := trips[k]
		slices.Sort(times)
		half, tail := clean.SampleQuantile(times, 0.5)/2, math.NaN()
		if len(times) >= 100 { // fewer have none
			tail = clean.SampleQuantile(times, 0.99) / 2
		}
		latency := doc.NumberCell(half)
		if c := p.timerCurve(mode, sample.TimerRTT); c != nil {
			if x := c.HalfRoundTrip().CellOf(k); x != nil { // without what was disturbed
				half = x.Value
				if latency = doc.NumberCell(half); x.High > x.Low {
					latency = measuredCell(t, x.Value, x.Low, x.High, x.SampleCount)
				}
			}
		}
		each := half
		if stream != nil {
			each = math.NaN()
			if c := stream.CellOf(k); c != nil && c.Value > 0 { // a difference of times may be none, or less
				each = c.Value
			}
		}
		bandwidth := float64(k) / each
		if k == 0 {
			bandwidth = math.NaN()
		}
		t.AddRow(doc.BytesCell(k), latency, doc.NumberCell(tail), doc.NumberCell(bandwidth), doc.NumberCell(1e6/each))
	}
	t.AddNote("Latency is the median of half a round trip of %s; p99 is its 99th percentile, if there are at least 100 round trips.", mode)
	if stream != nil {
		t.AddNote("Bandwidth and message rate are of consecutive messages: %s of %s.", stream.Timer, stream.Mode)
	} else {
		t.AddNote("Bandwidth and message rate are of half round trips: consecutive messages were not measured.")
	}
	return t
}

// containsSeries says whether a series was measured in the place, or on a pair of ranks of it.
func (p *fittedPlace) containsSeries(s *sample.Series) bool {
	return s.Platform == p.platform && s.Library == p.library && s.Place == p.place
}
