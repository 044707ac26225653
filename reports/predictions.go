package reports

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Prediction is what a model says of a message. Terms need not be known.
type Prediction struct {
	Mode, Protocol           string // the mode may be empty
	Bytes                    int
	SenderTime, DeliveryTime PredictedTime // T_s and T_s-r; of a call, o_s and T of half a round trip
	IsOfCall                 bool
	Terms                    model.Cost // what they are made of, if more is known than equations (1) to (7)
	EquationText             string     // the sums as the source prints them, or empty
}

// PredictedTime is a time, and how it lies to the sizes that were measured.
type PredictedTime struct {
	unit.Time
	Position SizePosition
}

// SizePosition says how a size lies to those that were measured.
type SizePosition string

// The ranges.
const (
	InsideRange        SizePosition = ""
	BetweenRanges      SizePosition = "between" // two ranges: behaviour there was not measured
	OutsideRanges      SizePosition = "outside" // of all ranges, by no more than a factor of two
	InsideWideInterval SizePosition = "wide"    // the size is inside, but the interval of the parameter is wide, or its line fits badly
	NotPredictable     SizePosition = "unknown" // too far, or without a parameter: there is no time
	TooManyMessages    SizePosition = "skipped" // to add up: there is no time
)

// HasTime reports whether there is a predicted time.
func (p SizePosition) HasTime() bool { return p != NotPredictable && p != TooManyMessages }

func (x PredictedTime) cell(t *doc.Table) doc.Cell {
	switch x.Position {
	case TooManyMessages: // the table has a note of the algorithms
		return doc.EmptyCell
	case NotPredictable:
		t.AddNote("- cannot be predicted: the size is too far from measured sizes, or a parameter is missing.")
		return doc.EmptyCell
	case InsideRange:
		return doc.NumberCell(x.Micros())
	}
	if x.Position == InsideWideInterval {
		t.AddNote("! is for a parameter whose interval is wide, half of it more than a fifth of the value, or whose line fits badly.")
	} else {
		t.AddNote("! is for a size between two ranges or outside of all, where nothing was measured.")
	}
	return doc.NumberCell(x.Micros()).WithTone(doc.DoubtfulTone)
}

// Predictions is a table of T_s and T_s-r, or of o_s and T of calls, a row a size and two columns
// a protocol; explained, also the terms of each.
func Predictions(title string, ps []Prediction, explained bool) *doc.Document {
	d := &doc.Document{Title: title}
	d.AddTables("predictions", title, predictionTable(title, ps))
	for _, p := range ps {
		if explained {
			d.AddTables("terms", "Terms", p.termTable("T_s: the sender may go on", p.Terms.Sender, p.SenderTime.Time), p.termTable("T_s-r: the receiver has the message", p.Terms.Delivery, p.DeliveryTime.Time))
		}
	}
	return d
}

// title is the protocol, with the mode if there is one.
func (p Prediction) title() string { return strings.TrimSpace(p.Mode + " " + p.Protocol) }

// dropCommonMode returns predictions without their mode, if all have the same.
func dropCommonMode(ps []Prediction) []Prediction {
	out := slices.Clone(ps)
	for i := range out {
		if out[i].Mode != ps[0].Mode {
			return ps
		}
	}
	for i := range out {
		out[i].Mode = ""
	}
	return out
}

func predictionTable(title string, ps []Prediction) *doc.Table {
	t := &doc.Table{Name: "predictions", Title: title, Columns: []doc.Column{{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn}}}
	var names, sums []string
	of := map[string][]string{} // names by sum
	var sizes []int
	at := map[string]map[int]Prediction{}
	for _, p := range dropCommonMode(ps) {
		n := p.title()
		if at[n] == nil {
			at[n] = map[int]Prediction{}
			names = append(names, n)
			send, delivery := "T_s", "T_s-r"
			if p.IsOfCall {
				send, delivery = "o_s", "T"
			}
			t.Columns = append(t.Columns, doc.Column{Heading: n + "\n" + send + " us", Kind: doc.NumberColumn}, doc.Column{Heading: n + "\n" + delivery + " us", Kind: doc.NumberColumn})
			if of[p.EquationText] == nil {
				sums = append(sums, p.EquationText)
			}
			of[p.EquationText] = append(of[p.EquationText], n)
		}
		at[n][p.Bytes] = p
		sizes = append(sizes, p.Bytes)
	}
	for _, sum := range sums {
		if sum != "" {
			t.AddNote("%s: %s.", strings.Join(of[sum], ", "), sum)
		}
	}
	slices.Sort(sizes)
	for _, k := range slices.Compact(sizes) {
		row := []doc.Cell{doc.CountCell(k)}
		for _, n := range names {
			p, ok := at[n][k]
			if !ok {
				row = append(row, doc.EmptyCell, doc.EmptyCell)
				continue
			}
			row = append(row, p.SenderTime.cell(t), p.DeliveryTime.cell(t))
		}
		t.AddRow(row...)
	}
	return t
}

// termTable is the table of a sum.
func (p Prediction) termTable(what string, sum model.Terms, total unit.Time) *doc.Table {
	t := &doc.Table{Name: "terms", Title: fmt.Sprintf("%s, %s, %s", what, p.title(), format.Size(p.Bytes)), Columns: []doc.Column{
		{Heading: "message", IsKey: true}, {Heading: "what", IsKey: true}, {Heading: "us", Kind: doc.NumberColumn}, {Heading: "whose time"}, {Heading: "how"}}}
	times := []string{total.MicrosString()}
	for _, x := range sum {
		times = append(times, x.Time.MicrosString())
	}
	alignDecimals(times)
	for i, x := range sum {
		step := string(x.Step)
		if step == "" {
			step = "the call"
		}
		t.AddRow(doc.TextCell(step), doc.TextCell(x.Name), doc.TextCell(times[i+1]), doc.TextCell(x.Side.String()), doc.TextCell(x.String()))
	}
	if len(sum) > 0 {
		t.AddRow(doc.TextCell(""), doc.TextCell("sum").WithTone(doc.StrongTone), doc.TextCell(times[0]).WithTone(doc.StrongTone), doc.TextCell(""), doc.TextCell(""))
	}
	return t
}

// alignDecimals adds zeros, so that all numbers have as many places.
func alignDecimals(numbers []string) {
	places := func(s string) int {
		_, frac, _ := strings.Cut(s, ".")
		return len(frac)
	}
	most := 0
	for _, s := range numbers {
		most = max(most, places(s))
	}
	for i, s := range numbers {
		if most > 0 && !strings.Contains(s, ".") {
			numbers[i] += "."
		}
		numbers[i] += strings.Repeat("0", most-places(s))
	}
}

// PredictionErrors is predictions beside measurements.
func PredictionErrors(cs []compare.Comparison) *doc.Document {
	d := &doc.Document{Title: "Predicted and measured times", Files: []doc.File{comparisonFile(cs)}}
	d.AddTables("comparisons", d.Title, comparisonTables(cs)...)
	if s, ok := compare.Summarize(cs); ok {
		d.AddSection(doc.Section{ID: "use", Title: "How far the predictions are off", Text: []string{s.String()}})
	}
	return d
}

func comparisonFile(cs []compare.Comparison) doc.File {
	return doc.File{Name: "comparisons.csv", Write: func(w io.Writer) error { return compare.WriteComparisons(w, cs) }}
}

// predictionErrorNote says what an error is.
const predictionErrorNote = "error is (predicted − measured) / measured."

// comparisonTables are one for each platform, library and place, with a group for each quantity of
// a protocol.
func comparisonTables(cs []compare.Comparison) []*doc.Table {
	var all doc.TablesByTitle
	for _, c := range cs {
		t := all.FindOrAdd("Predicted and measured times of "+format.PlaceName(c.Platform, c.Library, c.Place), func() *doc.Table {
			return &doc.Table{Name: "comparisons", Notes: []string{predictionErrorNote}, Columns: []doc.Column{
				{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn}, {Heading: "predicted\nus", Kind: doc.NumberColumn}, {Heading: "measured\nus", Kind: doc.NumberColumn},
				{Heading: "error\n%", Kind: doc.NumberColumn}, {Heading: "basis"}}}
		})
		t.BeginGroup(c.Quantity + protocolSuffix(c.Protocol))
		if q, _, _ := strings.Cut(c.Quantity, "("); q == sample.TimerSender || q == sample.TimerOneWay {
			if strings.HasSuffix(c.Quantity, StepsQuantitySuffix) {
				t.AddNote("Rows by steps add up every step in the platform file.")
			} else if c.Protocol == "" || c.Protocol == "auto" {
				t.AddNote("T_s and T_sr of calls whose protocol the library chose are predicted by o_s and T of the call.")
			} else {
				t.AddNote("T_s and T_sr are predicted by equations (1) to (7), which leave out what calls, matching and copies cost.")
			}
		}
		tone := doc.NormalTone
		if c.Basis == compare.CalibrationBasis {
			tone = doc.FaintTone
			t.AddNote("calibration: the prediction uses a number that was fitted to this one, so agreement proves nothing.")
		}
		t.AddRow(doc.CountCell(c.Bytes), doc.TextCell(format.Number(c.Predicted)).WithTone(tone), doc.TextCell(format.Number(c.Measured)).WithTone(tone), doc.TextCell(format.Percent(c.Error)).WithTone(tone), doc.TextCell(c.Basis).WithTone(tone))
	}
	return all
}

func protocolSuffix(protocol string) string {
	if protocol == "" || protocol == "auto" {
		return ""
	}
	return " of " + protocol
}

// PredictedCollective is what the algorithms of an operation take.
type PredictedCollective struct {
	Operation          string
	Sizes              []int // bytes
	Algorithms         []PredictedAlgorithm
	UnsuitedAlgorithms []*collective.Algorithm // which cannot serve these ranks
	MessageLimit       int                     // an algorithm with more messages is not computed

	Library  string    // that chooses algorithms
	Choices  []int     // the algorithm that it takes, by size; nil: not known
	Measured []float64 // what its choice took in us, by size; NaN: not measured; nil: nothing was
}

// HasTimes reports whether any time was predicted.
func (c PredictedCollective) HasTimes() bool {
	return slices.ContainsFunc(c.Algorithms, func(a PredictedAlgorithm) bool { return slices.ContainsFunc(a.Positions, SizePosition.HasTime) })
}

// PredictedAlgorithm is what one takes, by size.
type PredictedAlgorithm struct {
	Name          string
	ReordersRanks bool // for operations that commute only
	Costs         []collective.Cost
	Positions     []SizePosition // how the longest message lies to the sizes that were measured
}

// timeAt returns the time at a size.
func (a PredictedAlgorithm) timeAt(i int) PredictedTime {
	return PredictedTime{a.Costs[i].LastEnd, a.Positions[i]}
}

// PredictedCollectives is what a model says of algorithms: a table of each operation, a row a size
// and a column an algorithm, the fastest of each row marked. caveats say how far to trust the
// model.
func PredictedCollectives(title string, all []PredictedCollective, caveats ...string) *doc.Document {
	d := &doc.Document{Title: "Collective operations of " + title}
	d.Answer = predictedChoiceSentence(all)
	for _, c := range all {
		d.AddTables(c.Operation, c.Operation, c.table(title))
	}
	d.AddSection(doc.Section{ID: "trust", Title: "How far to trust it", Items: caveats})
	return d
}

func (c PredictedCollective) table(title string) *doc.Table {
	t := &doc.Table{Name: c.Operation, Title: c.Operation + " of " + title, Columns: []doc.Column{{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn}, {Heading: "fastest"}, {Heading: "near ties", Kind: doc.ProseColumn}}}
	t.AddNote("Near ties are at most %d %% slower than the fastest by the model.", maxModelError)
	c.addChoiceColumns(t)
	for _, a := range c.Algorithms {
		name := a.Name
		if a.ReordersRanks {
			name += "*"
			t.AddNote("* combines in another order than that of ranks: for commutative operations only.")
		}
		t.Columns = append(t.Columns, doc.Column{Heading: name + "\nus", Kind: doc.NumberColumn})
	}
	for i, k := range c.Sizes {
		known := c.rankedAt(i)
		var best string
		var ties []string
		for n, a := range known {
			if n == 0 {
				best = a.Name
			} else if 100*a.Costs[i].LastEnd <= (100+maxModelError)*known[0].Costs[i].LastEnd {
				ties = append(ties, a.Name)
			}
		}
		row := []doc.Cell{doc.BytesCell(k), doc.TextCell(cmp.Or(best, format.NoNumber)), doc.TextCell(cmp.Or(strings.Join(ties, ", "), format.NoNumber))}
		row = append(row, c.choiceCells(i, known)...)
		for _, a := range c.Algorithms {
			x := a.timeAt(i).cell(t)
			if a.Name == best && a.Positions[i] == InsideRange {
				x.Tone = doc.StrongTone
			}
			row = append(row, x)
		}
		t.AddRow(row...)
	}
	for _, a := range c.UnsuitedAlgorithms {
		var names []string
		for _, b := range c.UnsuitedAlgorithms {
			if b.RankRequirement() == a.RankRequirement() {
				names = append(names, b.Name)
			}
		}
		t.AddNote("Only for %s: %s.", a.RankRequirement(), strings.Join(names, ", "))
	}
	c.addSkippedNote(t)
	addBlockNote(t, c.Operation)
	return t
}

// addSkippedNote names the algorithms that are not computed for all sizes.
func (c PredictedCollective) addSkippedNote(t *doc.Table) {
	var names []string
	for _, a := range c.Algorithms {
		if slices.Contains(a.Positions, TooManyMessages) {
			names = append(names, a.Name)
		}
	}
	if names != nil {
		t.AddNote("- is not computed for %s: the schedules have more than %d messages, where 64 copies or combinations count as one. The fastest is that of the others.", strings.Join(names, ", "), c.MessageLimit)
	}
}

// addChoiceColumns adds what the library takes, how much slower that is than the fastest, and how
// it compares with what was measured.
func (c PredictedCollective) addChoiceColumns(t *doc.Table) {
	if c.Choices == nil {
		return
	}
	t.Columns = append(t.Columns, doc.Column{Heading: "library takes"}, doc.Column{Heading: "slower\n%", Kind: doc.NumberColumn})
	if c.Measured != nil {
		t.Columns = append(t.Columns, doc.Column{Heading: "measured\nus", Kind: doc.NumberColumn}, doc.Column{Heading: "error\n%", Kind: doc.NumberColumn})
		t.AddNote("The error is that of the predicted time of what the library takes. %s", c.describeErrors())
	}
}

// choiceCells are the cells of a size in these columns. known are the algorithms, the fastest
// first.
func (c PredictedCollective) choiceCells(i int, known []PredictedAlgorithm) []doc.Cell {
	if c.Choices == nil {
		return nil
	}
	taken := c.Algorithms[c.Choices[i]]
	t := taken.Costs[i].LastEnd.Micros()
	percent := func(reference float64) doc.Cell {
		return doc.TextCell(format.WithDecimals(100*(timeRatio(t, reference)-1), 1))
	}
	cells := []doc.Cell{doc.TextCell(taken.Name), doc.EmptyCell}
	if taken.Positions[i].HasTime() {
		if cells[1] = percent(known[0].Costs[i].LastEnd.Micros()); taken.Name != known[0].Name {
			cells[0].Tone = doc.StrongTone
		}
	}
	switch {
	case c.Measured == nil:
	case math.IsNaN(c.Measured[i]):
		cells = append(cells, doc.EmptyCell, doc.EmptyCell)
	default:
		cells = append(cells, doc.NumberCell(c.Measured[i]), percent(c.Measured[i]))
	}
	return cells
}

// describeErrors says how large the errors are.
func (c PredictedCollective) describeErrors() string {
	var factors []float64
	for i, m := range c.Measured {
		if p := c.Algorithms[c.Choices[i]].Costs[i].LastEnd.Micros(); !math.IsNaN(m) {
			factors = append(factors, max(p/m, m/p))
		}
	}
	if len(factors) == 0 {
		return "None of these sizes was measured."
	}
	slices.Sort(factors)
	return fmt.Sprintf("Half of %d times are within a factor of %.2f, all within %.2f.", len(factors), factors[len(factors)/2], factors[len(factors)-1])
}
