package paper

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/study"
)

// Options say how to run the experiments. Progress may be nil.
type Options struct {
	Seed     uint64
	Reps     int     // of every experiment, with each root of the barrier; 0: each has its own number
	Noise    float64 // relative standard deviation of every processor step; below zero: as the platform says
	Progress func(done, total int)
}

// reproduction is a paper under way.
type reproduction struct {
	Options
	paper        *Paper
	selection    *experimentSelection // nil: all experiments
	loadPlatform func(name string) (*platform.Platform, error)
	sites        map[string]*papers.Site // by subject, of those that are measured
	platforms    []*platform.Platform

	experiments                    []Experiment
	results                        *papers.Results
	predictedSeries                map[string][]sample.Series // predicted samples of timers, by subject
	measured, predicted, published quantityValues
	textsByCell                    map[string]string
	publishedRows                  map[string]*artefactRow    // of published cells
	rowsByKey                      map[string][]*artefactRow  // published rows by the quantities of which they are made
	warningsByCell                 map[string][]clean.Warning // by cell
	timersByCell                   map[string][]string        // the timers by which a cell is read
}

func newReproduction(p *Paper, o Options) *reproduction {
	return &reproduction{Options: o, paper: p, loadPlatform: platform.Load, sites: map[string]*papers.Site{}, results: papers.NewResults(), predictedSeries: map[string][]sample.Series{},
		measured: quantityValues{}, predicted: quantityValues{}, published: quantityValues{}, textsByCell: map[string]string{}, publishedRows: map[string]*artefactRow{}, rowsByKey: map[string][]*artefactRow{}, warningsByCell: map[string][]clean.Warning{}, timersByCell: map[string][]string{}}
}

// quantityValues are quantities by their keys, such as o_s(t3d,isend,16). Times are microseconds.
type quantityValues map[string]expr.Value

// Reproduce runs the paper's experiments and returns what came of them: tables and figures beside
// what is published and predicted, and verdicts on the claims. The same options give the same
// study, whatever the number of processors. It is an error if an experiment cannot be run, and
// context.Canceled if it was interrupted; a claim that fails is none.
func (p *Paper) Reproduce(ctx context.Context, o Options) (*study.Study, error) {
	x := newReproduction(p, o)
	if err := x.openSites(); err != nil {
		return nil, err
	}
	x.addEquations()
	if err := x.measure(ctx); err != nil {
		return nil, err
	}
	return x.buildStudy(), nil
}

// openSites opens the jobs of the subjects that have experiments to run.
func (x *reproduction) openSites() error {
	for _, e := range x.paper.Experiments {
		e, some := x.selection.selectExperiment(e)
		if !some {
			continue
		}
		if x.Reps > 0 {
			e.Reps = x.Reps
		}
		x.experiments = append(x.experiments, e)
	}
	for i := range x.paper.Subjects {
		subject := &x.paper.Subjects[i]
		if x.selection != nil && !slices.ContainsFunc(x.experiments, func(e Experiment) bool { return e.Subject == subject.ID }) {
			continue
		}
		p, err := x.loadPlatform(subject.Platform)
		if err != nil {
			return err
		}
		s, err := subject.Open(p, x.Noise)
		if err != nil {
			return err
		}
		x.sites[s.ID] = s
		if !slices.ContainsFunc(x.platforms, func(q *platform.Platform) bool { return q.Hash == s.Job.Platform.Hash }) {
			x.platforms = append(x.platforms, s.Job.Platform)
		}
		x.addPlatformValues(s)
	}
	return nil
}

// measure runs the experiments. The seed of an experiment is that of its first cell.
func (x *reproduction) measure(ctx context.Context) error {
	experiments := x.experiments
	before, total := 0, 0
	for i := range experiments {
		e := &experiments[i]
		total += papers.Benchmarks[e.Benchmark].Parts(x.sites[e.Subject], &e.Experiment)
	}
	for i := range experiments {
		e := &experiments[i]
		done := func(n int) {
			if x.Progress != nil {
				x.Progress(before+n, total)
			}
		}
		s := x.sites[e.Subject]
		if e.Benchmark == "timers" {
			x.prepareTimers(s, &e.Experiment)
		}
		b := papers.Benchmarks[e.Benchmark]
		if err := b.Run(ctx, s, &e.Experiment, x.Seed*1_000_003+uint64(before), x.results, done); err != nil {
			return err
		}
		before += b.Parts(s, &e.Experiment)
	}
	for key, v := range x.results.Numbers {
		x.measured[key] = expr.ExactValue(v)
	}
	maps.Copy(x.textsByCell, x.results.Texts)
	return x.fitSamples()
}

// prepareTimers restricts the benchmark of the timers to what x.only needs, or predicts all of it.
func (x *reproduction) prepareTimers(s *papers.Site, e *papers.Experiment) {
	if x.selection == nil {
		x.predictedSeries[s.ID] = append(x.predictedSeries[s.ID], predictTimers(e, s)...)
	} else if x.Noise == 0 {
		e.Warmup, e.Timers = 2, x.selection.timerNames()
	}
}

// buildStudy puts together what was found.
func (x *reproduction) buildStudy() *study.Study {
	s := &study.Study{Name: x.paper.Name, Title: x.paper.Title, Source: x.paper.Source, Facts: x.runFacts()}
	for i := range x.paper.Artefacts {
		a := &x.paper.Artefacts[i]
		s.Artefacts = append(s.Artefacts, x.evaluateArtefact(a))
		if strings.HasPrefix(a.ID, "table-") {
			s.Tables = append(s.Tables, a.measuredTable(s.Artefacts[i].Rows))
		}
	}
	for i := range x.paper.Claims {
		s.Claims = append(s.Claims, x.judgeClaim(&x.paper.Claims[i]))
	}
	return s
}

// evaluateArtefact evaluates the rows of a table or figure.
func (x *reproduction) evaluateArtefact(a *Artefact) study.Artefact {
	out := study.Artefact{ID: a.ID, Caption: a.Caption, Notes: a.Words, XAxis: a.axes[0], YAxis: a.axes[1]}
	for i := range a.rows {
		r := &a.rows[i]
		f := study.Finding{PublishedRow: r.Name, Platform: r.Platform, Library: r.Library, Place: r.Place, Mode: r.Mode, Parameter: r.Parameter, Bytes: r.Bytes, Unit: r.Unit,
			Low: r.Low, High: r.High, Source: r.Source, Note: r.Note, Basis: study.BasisUnpublished}
		f.Predicted, f.Measured, f.MeasuredLow, f.MeasuredHigh = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		switch {
		case r.line != nil:
			x.setNumbers(&f, r, &r.line.Cell)
			x.setPublishedOfFigure(&f, r)
			addCurvePoints(&out, r, f)
		case r.rule.Below != nil || r.rule.Text.parsed != nil:
			x.setTexts(&f, r)
		default:
			x.setNumbers(&f, r, &r.rule.Cell)
			x.setPublished(&f, r)
		}
		out.Rows = append(out.Rows, f)
	}
	for _, t := range a.Timelines {
		out.Charts = append(out.Charts, x.drawTimeline(a, t))
	}
	return out
}

// setNumbers fills in what was measured and predicted, with what the fit warns of.
func (x *reproduction) setNumbers(f *study.Finding, r *artefactRow, cell *expressionText) {
	env := x.paper.environment(x.measured)
	v := env.Number(cell.parsed, r.variables)
	f.Measured, f.MeasuredLow, f.MeasuredHigh = v.Center, v.Low, v.High
	f.Predicted = x.paper.environment(x.predicted).Number(cell.parsed, r.variables).Center
	codes, text := x.fitWarnings(env)
	f.Warning, f.Note = codes, joinSentences(f.Note, text)
	f.IsUpperBound = r.key != "" && strings.Contains(codes, upperBoundCode)
}

// fitWarnings returns what the fit warns of in quantities that were asked for: codes, and
// sentences.
func (x *reproduction) fitWarnings(env *expr.Env) (codes, text string) {
	var all []clean.Warning
	for key := range env.Requested {
		all = append(all, x.warningsByCell[key]...)
	}
	slices.SortFunc(all, func(a, b clean.Warning) int { return strings.Compare(a.Code+a.Text, b.Code+b.Text) })
	for _, w := range all {
		if !strings.Contains(codes, w.Code) {
			codes = strings.TrimSpace(codes + " " + w.Code)
		}
		text = joinSentences(text, toSentence(w.Text, "."))
	}
	return codes, text
}

// setPublished says what agreement with a published value is worth, and keeps the value for
// figures.
func (x *reproduction) setPublished(f *study.Finding, r *artefactRow) {
	f.Note = joinSentences(r.Contradiction, f.Note)
	if math.IsNaN(r.Low) {
		return
	}
	f.Basis, f.Blind = x.basisOf(r), x.paper.blind[r.Name]
	if c := x.paper.findChoice(r.Name); c != nil {
		f.Note = joinSentences(f.Note, c.What+" was chosen when this was known.")
	}
	x.addPublishedKeys(r)
	if r.key == "" { // it is no quantity that another row could have too
		return
	}
	if x.publishedRows[r.key] != nil {
		f.IsRepeated = true
		return
	}
	x.publishedRows[r.key] = r
	x.published[r.key] = expr.Value{Center: r.Low, Low: r.Low, High: r.High}
}

func (x *reproduction) basisOf(r *artefactRow) string {
	switch {
	case r.IsImpossible:
		return study.VerdictContradicted
	case r.line == nil && r.rule.Basis != "":
		return r.rule.Basis
	case isCalibrated(x.platforms, r.Name), x.paper.findChoice(r.Name) != nil:
		return compare.CalibrationBasis
	case r.line == nil && r.rule.Unexamined:
		return study.BasisUnexamined
	}
	return compare.ValidationBasis
}

// addPublishedKeys keeps the quantities of which a published value is made, for what claims rest
// on.
func (x *reproduction) addPublishedKeys(r *artefactRow) {
	env := x.paper.environment(x.measured)
	env.Number(r.rule.Cell.parsed, r.variables)
	for key := range env.Requested {
		if !slices.Contains(x.rowsByKey[key], r) {
			x.rowsByKey[key] = append(x.rowsByKey[key], r)
		}
	}
}

// setPublishedOfFigure fills in the published value of a figure's row, if tables print the
// quantities of which it is made.
func (x *reproduction) setPublishedOfFigure(f *study.Finding, r *artefactRow) {
	env := x.paper.environment(x.published)
	v := env.Number(r.line.Cell.parsed, r.variables)
	if !v.IsKnown() {
		return
	}
	f.Low, f.High, f.IsRepeated = v.Low, v.High, true
	for key := range env.Requested {
		if printed := x.publishedRows[key]; printed != nil {
			f.PublishedRow, f.Source, f.Basis, f.Blind = printed.Name, printed.Source, x.basisOf(printed), x.paper.blind[printed.Name]
			f.Note = joinSentences(printed.Contradiction, printed.Note, f.Note)
		}
	}
}

// addCurvePoints adds the points of a row to the curves of its line.
func addCurvePoints(a *study.Artefact, r *artefactRow, f study.Finding) {
	if r.line.Curve == "" {
		return
	}
	name := strings.NewReplacer("{subject}", r.subject.Name, "{mode}", r.Mode).Replace(r.line.Curve)
	add := func(kind string, at int, y, low, high float64) {
		if math.IsNaN(y) {
			return
		}
		i := slices.IndexFunc(a.Curves, func(c study.Curve) bool { return c.Name == name && c.Kind == kind })
		if i < 0 {
			i = len(a.Curves)
			a.Curves = append(a.Curves, study.Curve{Name: name, Kind: kind})
		}
		if math.IsInf(high, 0) { // the interval of a divisor contains zero
			high = y
		}
		a.Curves[i].Points = append(a.Curves[i].Points, chart.Point{X: float64(at), Y: y, Low: low, High: high})
	}
	if r.Bytes >= 0 {
		add(study.MeasuredCurve, r.Bytes, f.Measured, f.MeasuredLow, f.MeasuredHigh)
		add(study.PredictedCurve, r.Bytes, f.Predicted, f.Predicted, f.Predicted)
	}
	add(study.PublishedCurve, max(r.Bytes, r.line.At), f.Low, f.Low, f.High)
}

// setTexts sets a published text beside what was found.
func (x *reproduction) setTexts(f *study.Finding, r *artefactRow) {
	rule, published, expected, found, shown := r.rule, r.variables["published"], r.variables["expect"], "", ""
	if b := rule.Below; b != nil {
		v := x.paper.environment(x.measured).Number(rule.Cell.parsed, r.variables)
		found = b.Else
		if v.Center < b.Limit {
			found = b.Is
		}
		shown = fmt.Sprintf("%s: %s %v us", found, b.Reads, v)
	} else {
		env := expr.Env{Lookup: func(key string) (expr.Value, bool) {
			found = x.textsByCell[key]
			return expr.UnknownValue(), true
		}}
		env.Number(rule.Text.parsed, r.variables)
		shown = found
	}
	if rule.Sum {
		published = simplifySum(published)
	}
	if expected == "" {
		expected = published
	}
	f.Text, f.Basis = [2]string{published, shown}, compare.ValidationBasis
	switch {
	case rule.Basis != "":
		f.Basis = rule.Basis
		return
	case rule.Open != "" && published == rule.Open:
		f.Basis = study.BasisUnpublished
		return
	case found == expected:
		f.Agreement = study.WordsAgree
		return
	}
	f.Agreement = study.WordsDiffer
	if (csvRecord{cells: r.variables}).matches(rule.WhereDiffers) {
		f.Note = joinSentences(f.Note, rule.Differs)
	}
}

// simplifySum leaves terms that are zero out of a sum, and factors that are one.
func simplifySum(sum string) string {
	var terms []string
	for _, t := range strings.Split(sum, " + ") {
		if !strings.HasPrefix(t, "0 ") {
			terms = append(terms, strings.TrimPrefix(t, "1 "))
		}
	}
	return strings.Join(terms, " + ")
}

// drawTimeline draws a message, by the model or as it was recorded.
func (x *reproduction) drawTimeline(a *Artefact, t TimelinePicture) *chart.Chart {
	const bytes = 1000 // long enough to be seen and short enough to see the rest
	s := x.sites[x.paper.findSubject(t.Subject).ID]
	if t.Program != "" {
		return chart.TimelineChart(format.FileName("timeline", a.ID, t.Name),
			fmt.Sprintf("%s, by %s on %s", t.Name, s.Library, s.Platform), x.results.Recordings[expr.QuantityKey(t.Program, s.ID)])
	}
	there, _ := s.Paths()
	m := model.Transfer{Machine: s.Job.Platform.Machine, Library: s.Job.Library, Bytes: bytes, Path: there, IsNonblocking: t.Nonblocking}
	for mode := range model.NumModes {
		if model.Mode(mode).String() == t.Mode {
			m.Mode = model.Mode(mode)
		}
	}
	name := t.Protocol
	if name == "" {
		name = m.Library.Proto.Protocol(m.Mode, there.Tier, bytes)
	}
	m.Protocol = model.FindProtocol(name)
	return chart.TransferChart(fmt.Sprintf("%s-%s-%s", a.ID, strings.ReplaceAll(t.Name, " ", "-"), name),
		fmt.Sprintf("%s of %d bytes by %s on %s", t.Name, bytes, name, s.Name), m.Timeline())
}

// runFacts say how the experiments were run.
func (x *reproduction) runFacts() [][2]string {
	all := [][2]string{{"seed", strconv.FormatUint(x.Seed, 10)}}
	for _, subject := range x.paper.Subjects {
		s := x.sites[subject.ID]
		all = append(all, [2]string{"platform " + s.Name, fmt.Sprintf("%s, %s, %s: ranks %d and %d of %d, noise %s, file %s", s.Platform, s.Library, s.Place,
			s.Pair[0], s.Pair[1], s.Job.Ranks, unit.Percent(s.Job.Noise), s.Job.Platform.Hash)})
	}
	for _, e := range x.paper.Experiments {
		if e.Benchmark != "timers" {
			continue
		}
		what := strings.Join(e.Modes, ", ")
		if e.Modes == nil {
			what = fmt.Sprintf("%d modes", len(e.ModeNames()))
		}
		if e.Protocol != "" {
			what += " by " + e.Protocol
		}
		if x.Reps > 0 {
			e.Reps = x.Reps
		}
		all = append(all, [2]string{"run " + x.paper.findSubject(e.Subject).Name, fmt.Sprintf("%s, %d sizes, %d repetitions with each root of the barrier", what, len(e.Sizes), e.Reps)})
	}
	return all
}

// environment returns an environment in which expressions are evaluated.
func (p *Paper) environment(c quantityValues) *expr.Env {
	return &expr.Env{Definitions: p.definitions, Lookup: func(key string) (expr.Value, bool) {
		v, ok := c[key]
		return v, ok
	}}
}
