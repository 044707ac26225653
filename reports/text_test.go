package reports

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/pagetest"
)

// example is a result with everything that a cell can be: exact, weak, only on a line, hidden, not
// to be had, not measured.
func example() *fit.Result {
	r := &fit.Result{}
	add := func(mode, name string, from, to int, value, low, high float64, u, method string, v params.Verdict) {
		r.Parameters = append(r.Parameters, params.Parameter{Platform: "toy", Library: "lib", Place: "inter", Mode: mode, Name: name,
			From: from, To: to, Value: value, Low: low, High: high, Unit: u, Method: method, SampleCount: 1200, Verdict: v})
	}
	draw := func(mode, timer string, at ...curve.Point) {
		r.Curves = append(r.Curves, curve.Curve{Platform: "toy", Library: "lib", Place: "inter", Mode: mode, Protocol: "auto", Timer: timer, Points: at})
	}
	nan := math.NaN()
	add("isend", "o_s", 0, 500, 29.8, 29.7, 29.9, params.UnitMicros, "timer11", params.GoodVerdict)
	add("isend", "o_s", 0, 500, 0.01, 0.0098, 0.0102, params.UnitMicrosPerByte, "timer11", params.GoodVerdict)
	add("isend", "o_s", 700, 20000, 38, 37.8, 38.3, params.UnitMicros, "timer11", params.WeakVerdict)
	add("isend", "o_s", 700, 20000, 0.0099, 0.0097, 0.0101, params.UnitMicrosPerByte, "timer11", params.WeakVerdict)
	add("isend", "g", 16, 16, 29.97, 29.8, 30.1, params.UnitMicros, params.MethodGapAtMostSendOverhead, params.UnidentifiableVerdict)
	add("ssend", "o_s", 0, 20000, 35, 35, 35, params.UnitMicros, "timer11", params.GoodVerdict)
	add("ssend", "o_r", 0, 20000, 18, 17.9, 18.1, params.UnitMicros, "timer12", params.GoodVerdict)
	add("ssend", "L", 16, 16, 40, 39, 41, params.UnitMicros, params.MethodHalfRoundTrip, params.GoodVerdict) // another reading, which never counts
	add("ssend", "L", 16, 16, 3.1, 2.93, 3.22, params.UnitMicros, params.MethodReceiveDifference, params.GoodVerdict)
	add("ssend", "G", 0, 20000, nan, nan, nan, params.UnitMicrosPerByte, params.MethodReceiveLessWaitDifference, params.UnidentifiableVerdict)
	add("message", "G", 0, 20000, 0.0142, 0.01418, 0.01425, params.UnitMicrosPerByte, "rtt/2", params.WeakVerdict)
	draw("isend", "timer11", curve.Point{Bytes: 16, Value: 29.97, Low: 29.91, High: 30.08}, curve.Point{Bytes: 10000, Value: 130.14, Low: 129.9, High: 130.5})
	draw("ssend", "timer11", curve.Point{Bytes: 16, Value: 35.25, Low: 35.25, High: 35.25})
	warn := func(mode, parameter, code, text string) {
		r.Warnings = append(r.Warnings, clean.Warning{Platform: "toy", Library: "lib", Place: "inter", Mode: mode, Parameter: parameter, Code: code, Text: text})
	}
	warn("isend", "timer11", clean.CodeDrift, "later repetitions differ from earlier ones, at 700 bytes")
	warn("ssend", "G", clean.CodeUnidentified, "timer21(blocking)-timer21(non-blocking) is -1 us/B, with an interval from -2 to 1: not identifiable")
	warn("ssend", "timer11", clean.CodeDrift, "later repetitions differ from earlier ones, at 700 bytes")
	return r
}

// toy is a platform as small as can be.
func toy() *platform.Platform {
	l := &model.Library{Name: "lib", Description: "a library with two protocols", Proto: model.ProtoSettings{Fallback: "RTA", Rules: []model.ProtocolRule{
		{Mode: model.StandardMode, MaxBytes: 512, Protocol: "T"}, {Mode: model.StandardMode, MaxBytes: -1, Protocol: "RTA"},
		{Mode: model.SynchronousMode, MaxBytes: -1, Protocol: "RTA"}, {Mode: model.ReadyMode, MaxBytes: -1, Protocol: "T"}, {Mode: model.BufferedMode, MaxBytes: -1, Protocol: "RAT"}}}}
	l.Software[model.ProtoSendCost] = 3 * unit.Microsecond
	return &platform.Platform{File: "toy.yaml",
		Machine: &model.Machine{Name: "toy", Description: "two processors and a wire, of which nothing more is known than what is printed here",
			Ranks: model.RankLimits{Default: 2, Min: 2, Max: 64}, TimerResolution: unit.Nanosecond, Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e9}},
			Network: &model.LogGP{L: 5 * unit.Microsecond, SendOverhead: 2 * unit.Microsecond, RecvOverhead: 3 * unit.Microsecond, Gap: 4 * unit.Microsecond, GapPerByte: 10000}},
		Libraries: []*model.Library{l},
		Numbers: []platform.Number{
			{Path: "machine.loggp.L", Value: "5us", Basis: platform.BasisPublished, Source: "[1] table 1"},
			{Path: "machine.loggp.o_s", Value: "2us", Basis: platform.BasisFitted, Source: "half of what was printed", FittedTo: []string{"table-3 T3D o_s low"}},
			{Path: "libraries[lib].software.send", Value: "3us", Basis: platform.BasisAssumed, Source: "a guess that nobody has looked at twice, and that should be looked at again"},
			{Path: "libraries[lib].window", Value: "64KiB", Basis: platform.BasisDerived, Source: "the other half"},
		},
		References: []string{"A. Author: A title that is quite long, in a journal whose name is longer still, 1999"},
	}
}

// predictions are those of the toy.
func predictions() []Prediction {
	p := toy()
	var ps []Prediction
	for _, x := range []*model.Protocol{model.ProtocolT, model.ProtocolRTA} {
		for _, k := range []int{16, 1000} {
			c := model.Transfer{Machine: p.Machine, Library: p.Libraries[0], Protocol: x, Bytes: k}.Cost()
			ps = append(ps, Prediction{Mode: "standard", Protocol: x.Name, Bytes: k, SenderTime: PredictedTime{Time: c.Sender.Sum()}, DeliveryTime: PredictedTime{Time: c.Delivery.Sum()}, Terms: c,
				EquationText: "T_s = " + x.Equations().Sender.String()})
		}
	}
	return ps[:3] // one is missing
}

// comparisons are two, of which one says nothing.
func comparisons() []compare.Comparison {
	return []compare.Comparison{
		{Platform: "toy", Library: "lib", Place: "inter", Protocol: "RTA", Bytes: 16, Quantity: "T_s", Predicted: 47.1, Measured: 50, Error: -5.8, Basis: compare.ValidationBasis},
		{Platform: "toy", Library: "lib", Place: "inter", Protocol: "RTA", Bytes: 10000, Quantity: "T_s", Predicted: 1234.5, Measured: 1, Error: 123350, Basis: compare.ValidationBasis},
		{Platform: "toy", Library: "lib", Place: "inter", Protocol: "auto", Bytes: 0, Quantity: "o_s(send)", Predicted: 30, Measured: 0, Error: math.NaN(), Basis: compare.CalibrationBasis},
	}
}

// broadcasts are two algorithms at two lengths, of which one time is weak, and one was measured
// behind barriers alone.
func broadcasts() []compare.CollectiveComparison {
	of := func(algorithm string, bytes int, took, half, predicted float64) compare.CollectiveComparison {
		c := compare.CollectiveTimes{Platform: "toy", Library: "lib", Place: "inter", Clock: "real", Operation: "bcast", Algorithm: algorithm, Ranks: 4, Bytes: bytes,
			Min: took / 2, Median: took - 1, Max: took, LastRankEnd: took + 1, Low: took + 1 - half, High: took + 1 + half, SampleCount: 50}
		return compare.CollectiveComparison{CollectiveTimes: c, Predicted: predicted, Model: "messages"}
	}
	all := []compare.CollectiveComparison{of("linear", 8, 12, 0.03, 11), of("linear", 10000, 2000, 900, 500), of("scatter-allgather", 8, 30, 1, 9), of("scatter-allgather", 10000, 1500, 3, 1400)}
	all[1].LastRankEnd, all[1].Low, all[1].High = math.NaN(), 1100, 2900
	return all
}

// texts are all that is printed.
var texts = []pagetest.NamedDocument{
	{Name: "parameters", Document: func() *doc.Document { return Parameters(example()) }},
	{Name: "pieces", Document: func() *doc.Document {
		d := &doc.Document{}
		for _, p := range fittedPlaces(example()) {
			d.AddTables("pieces", "Pieces", p.pieceTable())
		}
		return d
	}},
	{Name: "predictions", Document: func() *doc.Document { return Predictions("Predicted times", predictions(), false) }},
	{Name: "terms", Document: func() *doc.Document { return Predictions("Terms", predictions()[2:], true) }},
	{Name: "comparisons", Document: func() *doc.Document { return PredictionErrors(comparisons()) }},
	{Name: "collectives", Document: func() *doc.Document { return CollectiveTimes(broadcasts()) }},
	{Name: "comparison", Document: func() *doc.Document { return SubjectComparison(contrasted(), nil) }},
	{Name: "platforms", Document: func() *doc.Document { return PlatformList([]*platform.Platform{toy(), toy()}) }},
	{Name: "platform", Document: func() *doc.Document { return Platform(toy()) }},
	{Name: "published", Document: func() *doc.Document {
		p, r := toy(), example()
		for i := range r.Parameters {
			r.Parameters[i].Platform, r.Parameters[i].Library = "t3d", "chimp"
		}
		for i := range r.Curves {
			r.Curves[i].Platform, r.Curves[i].Library = "t3d", "chimp"
		}
		d := &doc.Document{}
		for _, x := range fittedPlaces(r) {
			d.AddTables("published", "Published", x.publishedTable(papers(), p))
		}
		return d
	}},
}

func TestText(t *testing.T) { pagetest.CheckTextStyles(t, texts) }

// TestMeanings: every warning that fit gives is explained.
func TestMeanings(t *testing.T) {
	source, err := os.ReadFile("../fit/clean/warning.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\t\w+ += "([a-z-]+)"$`).FindAllSubmatch(source, -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes found in fit/warning.go", len(codes))
	}
	for _, c := range codes {
		if warningMeanings[string(c[1])] == "" {
			t.Errorf("warning %s is not explained", c[1])
		}
	}
}

// TestModes: predictions of several modes say which.
func TestModes(t *testing.T) {
	ps := predictions()
	head := func() string { return predictionTable("", ps).Columns[1].Heading }
	if got := head(); got != "T\nT_s us" {
		t.Errorf("of one mode: %q", got)
	}
	ps[2].Mode = "ready"
	if got := head(); got != "standard T\nT_s us" {
		t.Errorf("of two modes: %q", got)
	}
}

// A prediction is marked outside of the measured sizes, and if its parameter is uncertain.
func TestPredictedCell(t *testing.T) {
	for r, want := range map[SizePosition]doc.CellTone{InsideRange: doc.NormalTone, BetweenRanges: doc.DoubtfulTone, OutsideRanges: doc.DoubtfulTone, InsideWideInterval: doc.DoubtfulTone} {
		x := &doc.Table{}
		if c := (PredictedTime{unit.Microsecond, r}).cell(x); c.Tone != want || c.Text != "1.000" || (len(x.Notes) == 1) != (r != InsideRange) {
			t.Errorf("%q: %+v, %v", r, c, x.Notes)
		}
	}
}

// Of a gap that the receiver hides there is a bound, which no one takes for a number.
func TestBound(t *testing.T) {
	x := &doc.Table{}
	p := &params.Parameter{Name: "g", Value: 29.9, Low: 29.8, High: 30, Unit: params.UnitMicros, Method: params.MethodGapAtMostTrain, Verdict: params.UnidentifiableVerdict}
	if c := parameterCell(x, p); !c.Equal(doc.Cell{Text: "≤30.00", Tone: doc.FaintTone}) || len(x.Notes) != 1 {
		t.Errorf("%+v, %v", c, x.Notes)
	}
	p.Low, p.High = math.NaN(), math.NaN() // of fewer than five samples
	if c := parameterCell(x, p); !c.Equal(doc.Cell{Text: "≤29.90", Tone: doc.FaintTone}) || len(x.Notes) != 2 {
		t.Errorf("without an interval: %+v, %v", c, x.Notes)
	}
	p.FewestSamples = 3
	if c := parameterCell(x, p); c.Text != "≤29.90"+format.NonBreakingSpace+"n=3" {
		t.Errorf("of three samples: %+v", c)
	}
	p.Method, p.Verdict = params.MethodTrain, params.WeakVerdict
	if c := parameterCell(x, p); c.Text != "29.90"+format.NonBreakingSpace+"n=3" || c.Tone != doc.DoubtfulTone {
		t.Errorf("of three samples: %+v", c)
	}
}

// What is said in the same words of several is said once, with each place once; of many texts it is
// said where.
func TestWarnings(t *testing.T) {
	var ws []clean.Warning
	for _, place := range []string{"inter", "intra"} {
		for _, mode := range []string{"send", "isend"} {
			ws = append(ws, clean.Warning{Platform: "x", Library: "y", Place: place, Mode: mode, Parameter: "o_s", Code: clean.CodeDrift, Text: "later"})
		}
	}
	for n, want := range map[int]string{4: "send o_s, isend o_s (x, y, between nodes); send o_s, isend o_s (x, y, within a node): later", 2: "send o_s, isend o_s: later"} {
		s := warningSection(ws[:n])
		if len(s.Warnings) != 1 || s.Warnings[0].Count != n || len(s.Warnings[0].Cases) != 1 || s.Warnings[0].Cases[0].String() != want {
			t.Errorf("%d warnings: %+v, want %q", n, s.Warnings, want)
		}
	}
	ws = append(ws, clean.Warning{Code: clean.CodeDisturbed, Mode: "send", Parameter: "rtt", Text: "long"})
	for i := range 12 {
		ws = append(ws, clean.Warning{Platform: "x", Library: "y", Place: "intra", Mode: "send", Parameter: fmt.Sprintf("t%d", i), Code: clean.CodeHeavyTail, Text: fmt.Sprint(i)})
	}
	all := warningSection(ws).Warnings
	if len(all) != 3 || all[0].Code != clean.CodeDisturbed || all[1].Code != clean.CodeDrift {
		t.Errorf("the gravest does not come first: %+v", all)
	}
	if want := "send t0, send t1, send t2, send t3, send t4, send t5, send t6, send t7 and 4 more (x, y, within a node)"; all[2].Count != 12 || len(all[2].Cases) != 1 || all[2].Cases[0].String() != want {
		t.Errorf("%+v, want %q", all[2], want)
	}
}
