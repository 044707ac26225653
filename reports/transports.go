package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// addTransportHead adds what stands above all of transports: what was measured, and two numbers of
// each.
func (r *Report) addTransportHead(d *doc.Document, all []reportSubject) {
	d.Footer, d.Files = "Made by loggp from the samples and facts above.", slices.Insert(d.Files, 1, tableFile(r.SideBySide))
	if d.Title == "" {
		var names []string
		for _, x := range all {
			names = append(names, x.name)
		}
		d.Title = "Message passing measured: " + strings.Join(shortenList(names), ", ")
	}
	if words := machineName(all); words != "" {
		d.Introduction = append(d.Introduction, words)
	}
	d.Introduction = append(d.Introduction, measuredSentences(r.Machines)...)
	for i, x := range all {
		for _, row := range []*compare.Row{r.SideBySide.RowNear(compare.OneWay, x.mainMode(), 8), r.SideBySide.RowOf(compare.AchievedBandwidth, x.mainMode(), "")} {
			if row == nil || row.ValueOf(i) == nil {
				continue
			}
			v := row.ValueOf(i)
			in := displayUnitOf(row.Unit, v.Value)
			p := in.convert(v.Parameter)
			d.KeyNumbers = append(d.KeyNumbers, doc.KeyNumber{Name: x.name, Value: parameterCell(&doc.Table{}, &p).TextWithMark(in.unit), Note: quantityName(row.Name, row.Mode, v.From)})
		}
		if len(all) == 1 {
			d.KeyNumbers = append(d.KeyNumbers, x.singleCards()...)
		}
		d.KeyNumbers = append(d.KeyNumbers, transportComparison{r.SideBySide, all}.verdictOf(i))
	}
}

// singleCards are further numbers of a transport that has the page for itself: the message rate,
// o_s, and the eager limit.
func (s *reportSubject) singleCards() (out []doc.KeyNumber) {
	const bytes = 8
	if c := s.burstCurve(); c != nil {
		if x := c.CellOf(bytes); x != nil && x.Value > 0 {
			out = append(out, doc.KeyNumber{Name: s.name, Value: format.Number(1/x.Value) + format.NonBreakingSpace + "M/s", Note: "million messages a second of " + format.Size(bytes)})
		}
	}
	if busy, ok := s.overheadAt(s.mainMode(), "o_s", bytes); ok {
		out = append(out, doc.KeyNumber{Name: s.name, Value: formatAmount(busy, params.UnitMicros), Note: quantityName("o_s", s.mainMode(), bytes)})
	}
	if p := s.eagerLimitRow(s.mainMode()); p != nil {
		out = append(out, doc.KeyNumber{Name: s.name, Value: format.SizeRange(int(p.Low), int(p.High)), Note: "eager limit S"})
	}
	return out
}

// addTransports adds what is shown of transports below their performance: their parameters side by
// side, how far to trust them, what launches differ by, and how all of it was measured.
func (r *Report) addTransports(d *doc.Document, all []reportSubject, warnings []clean.Warning) {
	s := transportComparison{r.SideBySide, all}
	d.AddTables("parameters", "Parameters", s.summaryTable())
	d.AddSection(doc.Section{ID: "trust", Title: "How far to trust it", ShortTitle: "Trust", Items: s.trustSentences()})
	d.AddSection(doc.Section{ID: "spread", Title: "Launches and tails", Figures: doc.Figures(doc.HalfWidth, s.launchChart()), Tables: nonEmptyTables(s.launchTable(), s.tailTable())})
	d.AddSection(warningSection(warnings))
	modes := doc.Section{ID: "modes", Title: "All modes", PageOnly: true, Text: []string{"All parameters with their intervals and methods are in parameters.csv beside this page."}}
	for _, x := range all {
		t := x.parameterTable()
		t.Name, t.Title = format.FileName("parameters", x.name), "LogGP parameters of "+x.name
		modes.Tables = append(modes.Tables, t)
	}
	d.AddSection(modes)
	addProvenance(d, r.Machines, all)
}

// transportComparison are subjects that were measured by real clocks, and their numbers side by
// side.
type transportComparison struct {
	*compare.Table
	subjects []reportSubject
}

// mainRows are the most important ones, of calls or else of low-level messages.
func (s transportComparison) mainRows() []*compare.Row {
	var out []*compare.Row
	add := func(r *compare.Row) {
		if r != nil && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, name := range []string{"send", sample.LowLevelMode} {
		call := name
		if name == "send" {
			call = "isend"
		}
		add(s.RowNear(compare.OneWay, name, 8))
		add(s.RowOf("L", name, params.MethodHalfRoundTripLessOverheads))
		if name == "send" {
			add(s.RowOf("L", "ssend", params.MethodReceiveDifference))
			add(s.RowOf("L", name, params.MethodHalfRoundTripLessGap))
		}
		for _, mode := range []string{name, call} {
			add(s.RowNear("o_s", mode, 8))
			add(s.RowNear("o_r", mode, 8))
		}
		for _, q := range []string{"g", "G", compare.Bandwidth, compare.AchievedBandwidth} {
			add(s.RowOf(q, name, ""))
		}
	}
	return out
}

// summaryTable is the table that one looks at first: a row a number, a column a transport, and how
// far each is from the best.
func (s transportComparison) summaryTable() *doc.Table {
	t := subjectColumnsTable(nameTransports(s.Table), "transports", "Parameters side by side", doc.Column{Field: "quantity", IsKey: true})
	t.WrapsKeys = true
	for _, r := range s.mainRows() {
		t.BeginGroup(groupOfRow(r))
		var values []float64
		for _, v := range r.Values {
			values = append(values, v.Value)
		}
		in, label := displayUnitOf(r.Unit, values...), rowName(r)
		if slices.ContainsFunc(values, func(v float64) bool { return v > 0 }) {
			label += ", " + in.unit
		}
		if r.Name == compare.AchievedBandwidth && r.Bytes < 0 {
			var words []string
			for _, v := range r.Values {
				words = append(words, format.Size(v.From)+" ("+s.subjects[v.SubjectIndex].name+")")
			}
			t.AddNote("The longest messages: %s.", strings.Join(words, ", "))
		}
		addSubjectsRow(t, s.Table, r, in, doc.TextCell(label))
	}
	s.addLimitRows(t)
	s.addMethodNotes(t)
	t.AddUnitNote()
	return t
}

func groupOfRow(r *compare.Row) string {
	level := ""
	if r.Mode == sample.LowLevelMode {
		level = ", low-level messages"
	}
	switch r.Name {
	case compare.OneWay, "L":
		return "Latency" + level
	case "o_s", "o_r":
		return "Overheads" + level
	}
	return "Gap and bandwidth" + level
}

// rowName names the row of a number.
func rowName(r *compare.Row) string {
	switch {
	case r.Name == "L":
		return "L = " + map[string]string{params.MethodHalfRoundTripLessOverheads: "rtt/2 − o_s − o_r", params.MethodReceiveDifference: "timer21 − timer12 of ssend", params.MethodHalfRoundTripLessGap: "rtt/2 − g (PLogP)"}[r.Method]
	case r.Name == compare.OneWay:
		return "L = rtt/2, half round trip, " + format.Size(r.Bytes)
	case r.Name == compare.AchievedBandwidth && r.Bytes < 0:
		return "bandwidth of the longest messages"
	case r.Name == compare.AchievedBandwidth:
		return "bandwidth at " + format.Size(r.Bytes)
	case r.Name == compare.Bandwidth:
		return "1/G, bandwidth of a byte more"
	case r.Name == "G":
		return "G, gap a byte"
	case r.Name == "g":
		return "g, gap"
	}
	return quantityName(r.Name, r.Mode, r.Bytes)
}

// shortRowName names a number in a sentence.
func shortRowName(r *compare.Row) string {
	switch r.Name {
	case compare.OneWay:
		return "half round trip"
	case "L":
		return "L (" + strings.TrimPrefix(rowName(r), "L = ") + ")"
	case "g", "G":
		return r.Name
	}
	name, _, _ := strings.Cut(rowName(r), ",")
	return name
}

// addLimitRows adds from which size on a library changes its ways: as found, and as it says itself.
func (s transportComparison) addLimitRows(t *doc.Table) {
	found, says, eager := []doc.Cell{doc.TextCell("pieces of rtt/2 end")}, []doc.Cell{doc.TextCell("the library says")}, []doc.Cell{doc.TextCell("S, eager limit of LogGPS")}
	some, any, sent := false, false, false
	for i := range s.subjects {
		c := s.subjects[i].timerCurve(s.subjects[i].mainMode(), sample.TimerRTT)
		a, b := doc.EmptyCell, doc.EmptyCell
		if c != nil && len(c.Points) > 2 {
			a = doc.TextCell("nowhere").WithTone(doc.FaintTone)
			if words := listBreaks(c.Breaks()); words != "" {
				a, some = doc.TextCell(words), true
			}
		}
		if l := s.subjects[i].protocolLimits(); len(l) > 0 {
			var words []string
			for _, k := range l {
				words = append(words, format.Size(int(k)))
			}
			b, any = doc.TextCell(strings.Join(words, "\n")), true
		}
		e := doc.EmptyCell
		if p := s.subjects[i].eagerLimitRow(s.subjects[i].mainMode()); p != nil {
			e, sent = doc.TextCell(format.SizeRange(int(p.Low), int(p.High))).WithTone(parameterTone(t, p)), true
			if int(p.Low) < int(p.Value) && int(p.Value) < int(p.High) {
				e.Text = format.Size(int(p.Value)) + "\n" + e.Text
			}
		}
		found, says, eager = append(found, a), append(says, b), append(eager, e)
	}
	if !some && !any && !sent {
		return
	}
	blank := slices.Repeat([]doc.Cell{{}}, len(t.Columns)-1-len(s.subjects))
	t.BeginGroup("Changes of protocol")
	if sent {
		t.AddRow(append(eager, blank...)...)
		t.AddNote("S is the largest message that is sent without waiting for its receiver: it is in the range shown.")
	}
	t.AddRow(append(found, blank...)...)
	if any {
		t.AddRow(append(says, blank...)...)
	}
}

// listBreaks lists the sizes in between which a curve breaks.
func listBreaks(bs []curve.Break) string {
	var words []string
	for _, b := range bs {
		words = append(words, format.SizeRange(b.From, b.To))
	}
	return strings.Join(words, "\n")
}

// addMethodNotes notes by which timers numbers came about.
func (s transportComparison) addMethodNotes(t *doc.Table) {
	var parts []string
	for _, x := range s.mainRows() {
		if x.Name == "L" || x.Name == compare.OneWay || x.Name == compare.AchievedBandwidth || x.Name == compare.Bandwidth {
			continue
		}
		var methods wordGroups
		for _, r := range x.Values {
			if !math.IsNaN(r.Value) && !r.IsBound() && r.Method != params.MethodGapAtMostSendOverhead {
				methods.add(r.Method, s.subjects[r.SubjectIndex].name)
			}
		}
		name, _, _ := strings.Cut(rowName(x), ",")
		switch len(methods.keys) {
		case 0:
		case 1:
			parts = append(parts, name+" "+methods.keys[0])
		default:
			parts = append(parts, name+" "+methods.join(", "))
		}
	}
	if len(parts) > 0 {
		t.AddNote("Methods: %s.", strings.Join(parts, "; "))
	}
}

// trustSentences says in a few sentences how far the numbers go.
func (s transportComparison) trustSentences() []string {
	var out []string
	for i := range s.subjects {
		out = append(out, s.verdictSentence(i, s.subjects[i].name))
	}
	out = append(out, s.fitErrorSentences()...)
	out = append(out, s.launchSentences()...)
	for i := range s.subjects {
		if v := s.subjects[i].factValues("spoiled"); v != "" {
			out = append(out, s.subjects[i].name+" was disturbed: "+truncateToColumn(v)+".")
		}
	}
	return append(out, differingSettings(s.subjects)...)
}

// verdictCounts is how many numbers of a transport are sound, and which are not.
type verdictCounts struct {
	sound         int
	weak, unknown []string // short names of rows; the samples do not tell the unknown ones
}

// countVerdicts counts the main numbers of a transport by what they are worth, without those of
// some rows.
func (s transportComparison) countVerdicts(i int, without ...string) (n verdictCounts) {
	for _, x := range s.mainRows() {
		for _, r := range x.Values {
			if r.SubjectIndex != i || slices.Contains(without, x.Name) {
				continue
			}
			switch r.Verdict {
			case params.GoodVerdict:
				n.sound++
			case params.WeakVerdict, params.BadVerdict:
				n.weak = append(n.weak, shortRowName(x))
			default:
				n.unknown = append(n.unknown, shortRowName(x))
			}
		}
	}
	return n
}

// verdictSentence says what the numbers of a transport are worth.
func (s transportComparison) verdictSentence(i int, name string) string {
	n := s.countVerdicts(i, compare.Bandwidth) // which is G once more
	text := fmt.Sprintf("%s: %d of %d numbers are sound", name, n.sound, n.sound+len(n.weak)+len(n.unknown))
	if len(n.weak) > 0 {
		text += "; weak: " + strings.Join(n.weak, ", ")
	}
	if len(n.unknown) > 0 {
		text += "; not identifiable from these samples: " + strings.Join(n.unknown, ", ")
	}
	return text + "."
}

// fitErrorSentences says how far the fit is from what was measured.
func (s transportComparison) fitErrorSentences() []string {
	var words []string
	for i := range s.subjects {
		if c := s.subjects[i].timerCurve(s.subjects[i].mainMode(), sample.TimerRTT); c != nil && len(c.Points) > 2 {
			if middle, most := c.Deviations(); !math.IsNaN(most) {
				words = append(words, fmt.Sprintf("%s %.1f and %.1f %%", s.subjects[i].name, middle, most))
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	return []string{"Half round trips are off the pieces that were fitted, in the median and at most, by: " + strings.Join(words, "; ") + "."}
}

// launchSentences gives the differences between launches.
func (s transportComparison) launchSentences() []string {
	var out []string
	if once := singleLaunchNote(s.subjects); once != "" {
		out = append(out, once)
	}
	var words []string
	for _, q := range s.Scatters {
		if q.Quantity != compare.OneWay || len(q.Values) < 2 {
			continue
		}
		least, most := q.ValueRange()
		in := displayUnitOf(q.Unit, least)
		words = append(words, fmt.Sprintf("%s from %s to %s %s in %d", s.subjects[q.SubjectIndex].name, format.Number(least*in.factor), format.Number(most*in.factor), in.unit, len(q.Values)))
	}
	if len(words) > 0 {
		out = append(out, "Half round trips of small messages by launch: "+strings.Join(words, "; ")+". The intervals contain it.")
	}
	return out
}
