package reports

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// CollectiveReport is what is shown of collective operations that were measured on machines.
type CollectiveReport struct {
	Title      string                           // default: of the subjects
	Machines   []sample.Machine                 // what was measured
	Subjects   []compare.CollectiveSubject      // whose
	Times      [][]compare.CollectiveComparison // of each subject, with what a model says of them, if there is one
	ModelGaps  []string                         // why there is no model of some of them
	SideBySide *compare.Table                   // of the subjects, if there are several
	Warnings   []clean.Warning                  // of all of them
}

// Document is which algorithm is the fastest for how many ranks and bytes, each algorithm beside
// what a model says of it, subjects side by side, how far to trust it, and how it was measured.
func (r *CollectiveReport) Document() *doc.Document {
	all := r.subjects()
	d := &doc.Document{Title: r.Title, Footer: "Made by loggp from the samples and facts above."}
	d.Files = []doc.File{{Name: "times.csv", Write: func(w io.Writer) error { return compare.WriteCollectives(w, slices.Concat(r.Times...)) }}, warningsFile(r.Warnings)}
	if d.Title == "" {
		var names []string
		for _, x := range all {
			names = append(names, x.name)
		}
		d.Title = "Collective operations measured: " + strings.Join(names, ", ")
	}
	if words := machineName(all); words != "" {
		d.Introduction = append(d.Introduction, words)
	}
	d.Introduction, d.KeyNumbers = append(d.Introduction, r.measuredSentence()), append(r.keyNumbers(all), r.trustKeys(all)...)
	if len(r.Warnings) > 0 {
		d.KeyNumbers = append(d.KeyNumbers, warningKey(r.Warnings))
	}
	fastest, model := doc.Section{ID: "fastest", Title: "Which algorithm is the fastest", ShortTitle: "Fastest"}, doc.Section{ID: "model", Title: "Model and measurement", Items: r.ModelGaps}
	for i, x := range all {
		fs := compare.FastestAlgorithms(r.Times[i])
		fastest.Tables = append(fastest.Tables, fastestByRanksTable(x.name, fs))
		fastest.Tables = append(fastest.Tables, r.addSubjectToTitles(i, fastestTables(fs))...)
		model.Tables = append(model.Tables, modelAccuracyTable(x.name, compare.ModelAccuracies(r.Times[i])))
	}
	d.AddSection(fastest)
	if r.SideBySide != nil {
		d.AddSection(doc.Section{ID: "side-by-side", Title: "Side by side", Figures: doc.Figures(doc.HalfWidth, r.subjectCharts(all)...), Tables: []*doc.Table{collectiveTable(r.Subjects, r.SideBySide)}})
	}
	d.AddSection(model)
	d.AddSection(doc.Section{ID: "trust", Title: "How far to trust it", ShortTitle: "Trust", Items: r.trustSentences(all)})
	for _, operation := range r.operationNames() {
		s := r.operationSection(all, operation)
		if d.FrontFigures == nil && len(s.Figures) > 0 {
			d.FrontFigures, s.Figures = doc.Figures(doc.FullWidth, s.Figures[0].Chart), s.Figures[1:]
		}
		d.AddSection(s)
	}
	d.Answer = joinSentences(r.costSentence(), r.libraryChoiceSentences(all))
	d.AddSection(warningSection(r.Warnings))
	addProvenance(d, r.Machines, all)
	d.AddSection(doc.Section{ID: "glossary", Title: "Glossary", PageOnly: true, Terms: collectiveTerms})
	d.FoldAllBut("fastest", "side-by-side", "trust")
	return d
}

// costSentence answers in a sentence what the first operations cost, by the fastest algorithm that
// was measured.
func (r *CollectiveReport) costSentence() string {
	const most = 3
	var words []string
	chosen := false // several algorithms were measured
	for _, operation := range r.operationNames() {
		var all []compare.CollectiveComparison
		for _, times := range r.Times {
			all = append(all, filterCollectives(times, operation, 0)...)
		}
		if len(all) == 0 || len(words) == most {
			continue
		}
		all = filterCollectives(all, operation, slices.Max(measuredRankCounts(all)))
		chosen = chosen || slices.ContainsFunc(all, func(c compare.CollectiveComparison) bool { return c.Algorithm != all[0].Algorithm })
		took := func(c compare.CollectiveComparison) float64 { us, _ := c.RankedTime(); return us }
		at := func(bytes int) string {
			of := slices.DeleteFunc(slices.Clone(all), func(c compare.CollectiveComparison) bool { return c.Bytes != bytes || math.IsNaN(took(c)) })
			if len(of) == 0 {
				return ""
			}
			best := slices.MinFunc(of, func(a, b compare.CollectiveComparison) int { return cmp.Compare(took(a), took(b)) })
			text := format.MicrosWithUnit(took(best))
			if bytes > 0 {
				text = "of " + format.Size(bytes) + " takes " + text
			} else {
				text = "takes " + text
			}
			if !best.IsUnforced() {
				text += " by " + best.Algorithm
			}
			if _, timer := best.RankedTime(); timer == sample.TimerCollMean {
				text += " (mean of the ranks, not the slowest)"
			}
			return text
		}
		var sizes []int
		for _, c := range all {
			sizes = append(sizes, c.Bytes)
		}
		text := fmt.Sprintf("%s among %d ranks %s", operation, all[0].Ranks, at(slices.Min(sizes)))
		if n := slices.Max(sizes); n > slices.Min(sizes) {
			text += ", " + at(n)
		}
		words = append(words, text)
	}
	if words == nil {
		return ""
	}
	if !chosen {
		return strings.Join(words, "; ") + "."
	}
	return "At best, " + strings.Join(words, "; ") + "."
}

// operationSection is the section of what one operation took.
func (r *CollectiveReport) operationSection(all []reportSubject, operation string) doc.Section {
	s := doc.Section{ID: "of-" + format.FileName(operation), Title: operation}
	several := false
	for i, x := range all {
		cs := filterCollectives(r.Times[i], operation, 0)
		if len(cs) == 0 {
			continue
		}
		ranks := measuredRankCounts(cs)
		several = several || len(ranks) > 1
		charts := append(algorithmCharts(x.name, filterCollectives(cs, operation, slices.Max(ranks))), fastestChart(x.name, cs))
		s.Figures = append(s.Figures, doc.Figures(doc.HalfWidth, charts...)...)
		s.Tables = append(s.Tables, r.addSubjectToTitles(i, timesTables(cs))...)
	}
	if several && len(s.Figures) > 0 {
		s.Tables[0].AddNote("Charts of algorithms are of the most ranks; tables have all.")
	}
	return s
}

// addSubjectToTitles returns tables of a subject, with its name in their titles if another is of
// the same library.
func (r *CollectiveReport) addSubjectToTitles(subject int, ts []*doc.Table) []*doc.Table {
	e := r.Subjects[subject]
	for i, x := range r.Subjects {
		if i != subject && x.Platform == e.Platform && x.Library == e.Library {
			for _, t := range ts {
				t.Title += " (" + e.Name + ")"
			}
			break
		}
	}
	return ts
}

// CollectiveTimes is what collective operations took: which algorithms are the fastest, where there
// is a choice, and a table of each operation, with a group of rows for each algorithm. Where there
// is a model, its times and choices stand beside them, and another table says how good it is.
func CollectiveTimes(cs []compare.CollectiveComparison) *doc.Document {
	d := &doc.Document{Title: "Collective operations", Files: []doc.File{{Name: "times.csv", Write: func(w io.Writer) error { return compare.WriteCollectives(w, cs) }}}}
	if fs := compare.FastestAlgorithms(cs); len(fs) > 0 {
		d.AddTables("fastest", "Which algorithm is the fastest", fastestTables(fs)...)
	}
	d.AddTables("times", d.Title, timesTables(cs)...)
	if slices.ContainsFunc(cs, hasPredictions) {
		d.AddTables("model", "Model and measurement", modelAccuracyTable(format.PlaceName(cs[0].Platform, cs[0].Library, ""), compare.ModelAccuracies(cs)))
	}
	return d
}

// CollectiveSubjects is what collective operations take on several machines, or by several
// libraries, side by side: of each its fastest algorithm, and the ratio of its time to that of the
// first.
func CollectiveSubjects(subjects []compare.CollectiveSubject, t *compare.Table) *doc.Document {
	d := &doc.Document{Title: "Collective operations side by side", Files: []doc.File{tableFile(t)}}
	d.AddTables("side-by-side", d.Title, collectiveTable(subjects, t))
	return d
}

// collectiveTable has a group of rows for each operation and number of ranks.
func collectiveTable(subjects []compare.CollectiveSubject, c *compare.Table) *doc.Table {
	t := &doc.Table{Name: "side-by-side", Title: "Collective operations side by side", Columns: []doc.Column{{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn}}}
	var shown []int // those that were measured beside another
	for i := range subjects {
		if slices.ContainsFunc(c.Rows, func(r compare.Row) bool { return r.ValueOf(i) != nil }) {
			shown = append(shown, i)
		}
	}
	for n, i := range shown {
		x, name := subjects[i], string(rune('A'+n%26))
		t.Columns = append(t.Columns, doc.Column{Heading: name + "\nus", Kind: doc.NumberColumn}, doc.Column{Heading: name + "'s\nfastest"})
		if n > 0 {
			t.Columns = append(t.Columns, doc.Column{Heading: name + "/A", Kind: doc.NumberColumn})
		}
		t.AddNote("%s is %s, from %s.", name, format.PlaceName(x.Platform, x.Library, x.Place), strings.Join(x.Files, " and "))
	}
	for _, r := range c.Rows {
		t.BeginGroup(operationTitle(r.Name, r.Ranks))
		addBlockNote(t, r.Name)
		if t.AddNote("Times are medians, from a common start until the last rank has ended."); r.Timer == sample.TimerCollMax {
			t.AddNote("Without a common start they are those of the slowest rank's call after a barrier.")
		} else if r.Timer == sample.TimerCollMean {
			t.AddNote("If neither the last nor the slowest rank's time is known, they are the mean of the ranks.")
		}
		row := []doc.Cell{doc.BytesCell(r.Bytes)}
		for n, i := range shown {
			v := r.ValueOf(i)
			if v == nil {
				v = &compare.Value{Parameter: params.Parameter{Value: math.NaN()}, Ratio: math.NaN()}
			}
			row = append(row, measuredCell(t, v.Value, v.Low, v.High, v.SampleCount), doc.TextCell(v.Algorithm))
			switch ratio := ratioCell(t, *v); {
			case n == 0:
			case ratio.Equal(doc.EmptyCell):
				row = append(row, doc.NumberCell(v.Ratio))
			default:
				row = append(row, ratio)
			}
		}
		t.AddRow(row...)
	}
	t.AddUnitNote()
	return t
}

// subjects are the subjects as a page shows them.
func (r *CollectiveReport) subjects() []reportSubject {
	var all []reportSubject
	for i, e := range r.Subjects {
		x := reportSubject{name: transportName(e.Platform, e.Library, e.Name), colorIndex: i}
		for _, m := range e.Machines {
			x.facts = append(x.facts, r.Machines[m].FactsByFile()...)
			x.launches = max(x.launches, countLaunches(r.Machines[m], e.Platform, e.Library, ""))
		}
		all = append(all, x)
	}
	return all
}

// operationNames returns what was measured, in the order of the times.
func (r *CollectiveReport) operationNames() []string {
	var names []string
	for _, times := range r.Times {
		for _, c := range times {
			if !slices.Contains(names, c.Operation) {
				names = append(names, c.Operation)
			}
		}
	}
	return names
}

// filterCollectives returns the times of an operation, of all ranks or, if ranks is not 0, of so
// many.
func filterCollectives(cs []compare.CollectiveComparison, operation string, ranks int) []compare.CollectiveComparison {
	var out []compare.CollectiveComparison
	for _, c := range cs {
		if c.Operation == operation && (c.Ranks == ranks || ranks == 0) {
			out = append(out, c)
		}
	}
	return out
}

// measuredRankCounts returns the numbers of ranks that there are times of, the least first.
func measuredRankCounts(cs []compare.CollectiveComparison) []int {
	var all []int
	for _, c := range cs {
		all = append(all, c.Ranks)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hasPredictions says whether there is a model of what was measured.
func hasPredictions(c compare.CollectiveComparison) bool { return c.Model != "" }

// collectiveMeasurementKey is what was measured, without its times.
type collectiveMeasurementKey struct {
	platform, library, place, operation, algorithm string
	ranks, bytes                                   int
}

func measurementKeyOf(c compare.CollectiveTimes) collectiveMeasurementKey {
	return collectiveMeasurementKey{c.Platform, c.Library, c.Place, c.Operation, c.Algorithm, c.Ranks, c.Bytes}
}

// operationTitle names an operation of so many ranks.
func operationTitle(operation string, ranks int) string {
	return fmt.Sprintf("%s of %d ranks", operation, ranks)
}

// timesTables are one for each operation of a platform, library, place and number of ranks.
func timesTables(cs []compare.CollectiveComparison) []*doc.Table {
	var all doc.TablesByTitle
	model := slices.ContainsFunc(cs, hasPredictions)
	choice := slices.ContainsFunc(cs, func(c compare.CollectiveComparison) bool { return c.IsUnforced() && c.LibraryChoice != "" })
	best := map[collectiveMeasurementKey]bool{}
	for _, f := range compare.FastestAlgorithms(cs) {
		best[measurementKeyOf(f.CollectiveTimes)] = true
	}
	for _, c := range cs {
		t := all.FindOrAdd(operationTitle(c.Operation, c.Ranks)+" on "+format.PlaceName(c.Platform, c.Library, c.Place), func() *doc.Table { return emptyTimesTable(c.Operation, model, choice) })
		t.BeginGroup(c.Algorithm)
		row := []doc.Cell{doc.BytesCell(c.Bytes), doc.NumberCell(c.Min), doc.NumberCell(c.Median), doc.NumberCell(c.Max), doc.NumberCell(c.LastRankEnd)}
		if math.IsNaN(c.Median) {
			row[2] = doc.NumberCell(c.Mean)
			t.AddNote("If another tool prints no median of the ranks, the table has their mean.")
		}
		counts := &row[4]
		switch _, timer := c.RankedTime(); timer {
		case sample.TimerCollMax:
			counts = &row[3]
		case sample.TimerCollMean:
			counts = &row[2]
		}
		switch {
		case c.IsWeak():
			counts.Tone = doc.DoubtfulTone
			t.AddNote("! is weak: repetitions are few or scatter, or the clock is coarse.")
		case best[measurementKeyOf(c.CollectiveTimes)]:
			counts.Tone = doc.StrongTone
		}
		took, _ := c.RankedTime()
		row = append(row, doc.TextCell(formatInterval(took, c.Low, c.High)), doc.CountCell(c.SampleCount))
		if choice {
			row = append(row, doc.TextCell(cmp.Or(c.LibraryChoice, format.NoNumber)))
		}
		if model {
			x := c.Comparison()
			row = append(row, doc.NumberCell(x.Predicted), doc.TextCell(format.Percent(x.Error)))
		}
		if hasPredictions(c) {
			t.AddNote("predicted: by LogGP with the parameters of %s; %s", c.Model, predictionErrorNote)
		}
		t.AddRow(row...)
	}
	for _, t := range all {
		t.AddUnitNote()
	}
	return all
}

// formatInterval returns what is to either side of a value in its interval: ±0.1.
func formatInterval(value, low, high float64) string {
	_, half, _ := strings.Cut(format.WithInterval(value, low, high), " ")
	return half
}

func emptyTimesTable(operation string, model, choice bool) *doc.Table {
	t := &doc.Table{Name: operation, Columns: []doc.Column{{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn},
		{Heading: "min\nus", Kind: doc.NumberColumn}, {Heading: "median\nus", Kind: doc.NumberColumn}, {Heading: "max\nus", Kind: doc.NumberColumn}, {Heading: "last\nus", Kind: doc.NumberColumn}, {Heading: "±\nus", Kind: doc.NumberColumn}, {Heading: "repetitions", Kind: doc.NumberColumn}}}
	if choice {
		t.Columns = append(t.Columns, doc.Column{Heading: "library takes"})
		t.AddNote("library takes: by the rules of its version, if no setting or plug-in changes them.")
	}
	if model {
		t.Columns = append(t.Columns, doc.Column{Heading: "predicted\nus", Kind: doc.NumberColumn}, doc.Column{Heading: "error\n%", Kind: doc.NumberColumn})
	}
	addBlockNote(t, operation)
	t.AddNote("min, median and max: of the ranks' own calls behind a barrier; last: from a common start until the last rank has ended. Each is the median of the repetitions. Algorithms are ranked by last, or by max if there is no common start." +
		" ± is its 95 %% interval.")
	return t
}

// blocks notes what bytes are, unless they are the whole data.
func addBlockNote(t *doc.Table, operation string) {
	if o, ok := collective.OperationNamed(operation); ok && o.HasBlocks() {
		t.AddNote("Bytes are those of each rank's block.")
	}
}

// fastestTables are one for each platform, library, place and number of ranks.
func fastestTables(fs []compare.FastestAlgorithm) []*doc.Table {
	var all doc.TablesByTitle
	model := slices.ContainsFunc(fs, func(f compare.FastestAlgorithm) bool { return f.FastestByModel.Operation != "" })
	choice := slices.ContainsFunc(fs, func(f compare.FastestAlgorithm) bool { return takenAlgorithm(f) != "" })
	for _, f := range fs {
		t := all.FindOrAdd(fmt.Sprintf("The fastest algorithms of %d ranks on %s", f.Ranks, format.PlaceName(f.Platform, f.Library, f.Place)), func() *doc.Table { return fastestTable(model, choice) })
		t.BeginGroup(f.Operation)
		took, _ := f.RankedTime()
		row := []doc.Cell{doc.BytesCell(f.Bytes), fastestCell(t, f), doc.NumberCell(took), doc.TextCell(f.NextFastest.Algorithm), doc.TextCell(format.Percent(f.LeadPercent()))}
		if choice {
			row = append(row, takenCell(t, f), doc.TextCell(format.WithDecimals(f.SavingPercent(), 1)))
		}
		if model {
			row = append(row, doc.TextCell(f.FastestByModel.Algorithm), doc.TextCell(format.Percent(f.LossPercent())))
		}
		t.AddRow(row...)
	}
	for _, t := range all {
		t.AddUnitNote()
	}
	return all
}

// fastestCell names the fastest algorithm.
func fastestCell(t *doc.Table, f compare.FastestAlgorithm) doc.Cell {
	if f.IsClear {
		return doc.TextCell(f.Algorithm)
	}
	t.AddNote("! another may be as fast: the intervals of their times overlap.")
	return doc.TextCell(f.Algorithm).WithTone(doc.DoubtfulTone)
}

// takenAlgorithm names what the library takes, or returns "".
func takenAlgorithm(f compare.FastestAlgorithm) string {
	if f.Taken.Operation != "" {
		return cmp.Or(f.Taken.LibraryChoice, f.Taken.Algorithm, libraryChoice)
	}
	return f.LibraryChoice
}

// takenCell names what the library takes. It is marked if another algorithm is faster.
func takenCell(t *doc.Table, f compare.FastestAlgorithm) doc.Cell {
	name := takenAlgorithm(f)
	switch {
	case name == "":
		t.AddNote("- it is not known what the library takes.")
		return doc.EmptyCell
	case f.Taken.Operation == "":
		t.AddNote("An algorithm that the library takes and that was not measured has no saving: measure it with --algorithm.")
	case f.SavingPercent() > 0:
		return doc.TextCell(name).WithTone(doc.StrongTone)
	}
	return doc.TextCell(name)
}

func fastestTable(model, choice bool) *doc.Table {
	t := &doc.Table{Name: "fastest", Columns: []doc.Column{{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn}, {Heading: "measured"}, {Heading: "us", Kind: doc.NumberColumn}, {Heading: "next"}, {Heading: "slower\n%", Kind: doc.NumberColumn}}}
	if choice {
		t.Columns = append(t.Columns, doc.Column{Heading: "library takes"}, doc.Column{Heading: "saved\n%", Kind: doc.NumberColumn})
		t.AddNote("library takes: by its own rules, if no algorithm is forced; saved: by how much the fastest is shorter than that, and 0 if their intervals overlap.")
	}
	if model {
		t.Columns = append(t.Columns, doc.Column{Heading: "by the model"}, doc.Column{Heading: "loss\n%", Kind: doc.NumberColumn})
		t.AddNote("loss: by how much the algorithm that the model would choose is slower than the fastest.")
	}
	return t
}

// fastestByRanksTable is the table of the fastest algorithms by ranks and lengths, of one library
// that was measured among several numbers of ranks; else nil.
func fastestByRanksTable(name string, fs []compare.FastestAlgorithm) *doc.Table {
	var sizes, ranks []int
	for _, f := range fs {
		sizes, ranks = append(sizes, f.Bytes), append(ranks, f.Ranks)
	}
	slices.Sort(sizes)
	slices.Sort(ranks)
	if ranks = slices.Compact(ranks); len(ranks) < 2 {
		return nil
	}
	sizes = slices.Compact(sizes)
	t := &doc.Table{Name: "fastest-by-ranks", Title: "The fastest algorithms by ranks and bytes on " + name, Columns: []doc.Column{{Heading: "ranks", IsKey: true, Kind: doc.NumberColumn}}}
	for _, k := range sizes {
		t.Columns = append(t.Columns, doc.Column{Heading: format.Size(k)})
	}
	operations := map[string]bool{}
	for _, f := range fs {
		if operations[f.Operation] {
			continue
		}
		operations[f.Operation] = true
		t.BeginGroup(f.Operation)
		for _, n := range ranks {
			row, any := []doc.Cell{doc.CountCell(n)}, false
			for _, k := range sizes {
				i := slices.IndexFunc(fs, func(g compare.FastestAlgorithm) bool {
					return g.Operation == f.Operation && g.Ranks == n && g.Bytes == k
				})
				if i < 0 {
					row = append(row, doc.EmptyCell)
					continue
				}
				any, row = true, append(row, fastestCell(t, fs[i]))
			}
			if any {
				t.AddRow(row...)
			}
		}
	}
	t.AddUnitNote()
	return t
}

// modelAccuracyTable sums up how well the model predicts.
func modelAccuracyTable(name string, ms []compare.ModelAccuracy) *doc.Table {
	t := &doc.Table{Name: "model", Title: "The model on " + name, WrapsKeys: true, Columns: []doc.Column{{Field: "operation", IsKey: true}, {Heading: "times", Kind: doc.NumberColumn}, {Heading: "median error\n%", Kind: doc.NumberColumn},
		{Heading: "largest\n%", Kind: doc.NumberColumn}, {Heading: "finds the\nfastest", Kind: doc.NumberColumn}, {Heading: "loss\n%", Kind: doc.NumberColumn}}}
	t.AddNote("Errors are absolute. finds the fastest: at how many of the sizes with several algorithms the model's choice is the fastest; one whose interval overlaps that of the fastest counts as fastest. loss: by how much its choice is slower than the fastest, at most.")
	for _, m := range ms {
		finds, loss := doc.EmptyCell, doc.EmptyCell
		if m.LengthCount > 0 {
			finds, loss = doc.TextCell(fmt.Sprintf("%d of %d", m.FastestChosen, m.LengthCount)), doc.TextCell(format.Percent(m.LargestLoss))
		}
		t.AddRow(doc.TextCell(operationTitle(m.Example.Operation, m.Example.Ranks)), doc.CountCell(m.TimeCount), doc.TextCell(format.WithDecimals(m.MedianError, 1)), doc.TextCell(format.WithDecimals(m.LargestError, 1)), finds, loss)
		t.AddNote("By LogGP with the parameters of %s.", m.Example.Model)
	}
	return t
}
