package paper

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/study"
)

// Artefact is a table or figure of the paper. Rows are for each line of its file, lines for each
// size.
type Artefact struct {
	ID, Caption    string   // table-3; the caption is that of figures.csv if it is left out
	Words          []string // what was done where the paper leaves it open
	File           string   // the published table
	Key            []string // columns that name a row, as the numbers of platforms that were fitted to it do
	NotMeasured    []string `yaml:"not_measured"` // columns of results that no experiment gives
	Contradictions string   // a file that says what the source says against its own numbers
	Subjects       []string // every row is for each of these
	Derive         map[string]derivedColumn
	Rows           []TableRule
	Lines          []CurveRule
	Timelines      []TimelinePicture

	axes    [2]string
	columns []string // of the file
	rows    []artefactRow
}

// derivedColumn is a column whose value depends on that of another.
type derivedColumn struct {
	Column string
	Values map[string]string
}

// TableRule says what answers to the value of a column. Texts may contain names of columns:
// {platform}.
type TableRule struct {
	Where                    map[string]string // rows in which columns have these values; none: all
	Value                    string            // the column of the published value
	UpTo                     string            `yaml:"up_to"` // that of the other end of a range
	Name                     string            // of the column, for platforms that were fitted to it; default: PrintedNumber
	Subject, Mode, Parameter string            // default of the parameter: {parameter}
	Unit                     string            // default: us
	Bytes                    string
	Sizes                    sizeList       // or several
	Cell                     expressionText // the number that answers
	Text                     expressionText // or the text
	Below                    *thresholdText
	Published, Expect        string // the published text if it is not the value; what is to be found if that is not the published text
	Sum                      bool   // texts are sums: terms that are zero are left out
	Open                     string // the published text of what the source leaves open
	Basis, From, Note        string
	Unexamined               bool              // whether assumed numbers decide it is not found out
	Differs                  string            // a note where the texts differ
	WhereDiffers             map[string]string `yaml:"where_differs"`
}

// thresholdText makes a text of a number.
type thresholdText struct {
	Limit           float64
	Is, Else, Reads string
}

// CurveRule is a curve or a few rows over sizes.
type CurveRule struct {
	Subjects, Modes []string
	Sizes           sizeList // none: one row without a size
	Parameter, Unit string
	Cell            expressionText
	Curve           string // the name of its curve: {subject} {mode}; "": none
	At              int    // where the point of a row without size stands
	Note            string
}

// TimelinePicture is a picture of one message by the model, or of a short program as it was
// recorded.
type TimelinePicture struct {
	Name, Subject, Mode, Protocol string
	Nonblocking                   bool
	Program                       string // of benchmark sequences; "": a message by the model
}

// artefactRow is a row of an artefact: a published value, and what answers to it.
type artefactRow struct {
	reports.PublishedRow
	subject   *Subject
	variables map[string]string // values of the variables of the cell
	record    csvRecord         // of the file, as it stands there
	rule      *TableRule
	line      *CurveRule
	key       string // of a cell that is one quantity
}

// csvRecord is a line of a CSV file by the names of its columns.
type csvRecord struct {
	position string // file and line
	cells    map[string]string
}

// readRecords reads a CSV file with a header.
func readRecords(dir fs.FS, name string) (columns []string, all []csvRecord, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	columns, rows, err := table.ReadText(f, name)
	for _, row := range rows {
		r := csvRecord{fmt.Sprintf("%s:%d", name, row.Line), map[string]string{}}
		for i, c := range columns {
			r.cells[c] = row.Cells[i]
		}
		all = append(all, r)
	}
	return columns, all, err
}

// matches says whether columns have the values of a condition.
func (r csvRecord) matches(where map[string]string) bool {
	for column, value := range where {
		if r.cells[column] != value {
			return false
		}
	}
	return true
}

var columnName = regexp.MustCompile(`\{(\w+)\}`)

// fillTemplate replaces names of columns by their values.
func (r csvRecord) fillTemplate(template string) (out string, err error) {
	out = columnName.ReplaceAllStringFunc(template, func(name string) string {
		value, ok := r.cells[name[1:len(name)-1]]
		if !ok {
			err = fmt.Errorf("%s: there is no column %s", r.position, name)
		}
		return value
	})
	return out, err
}

// parseNumber reads a published number. NA is NaN: the value is not published.
func (r csvRecord) parseNumber(column string) (float64, error) {
	s, ok := r.cells[column]
	switch {
	case !ok:
		return 0, fmt.Errorf("%s: there is no column %q", r.position, column)
	case s == "NA":
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: column %s: %q is neither a number nor NA", r.position, column, s)
	}
	return x, nil
}

// resolve reads the table of an artefact, and makes its rows.
func (a *Artefact) resolve(p *Paper, dir fs.FS) error {
	for _, r := range a.Rows {
		if (r.Cell.node == nil) == (r.Text.node == nil) || r.Below != nil && r.Cell.node == nil {
			return fmt.Errorf("%s: %s: what answers to %q is either a cell or a text", paperFile, a.ID, r.Value)
		}
	}
	for _, l := range a.Lines {
		if l.Cell.node == nil {
			return fmt.Errorf("%s: %s: the line of %q has no cell", paperFile, a.ID, l.Parameter)
		}
	}
	if number, ok := strings.CutPrefix(a.ID, "figure-"); ok {
		_, figures, err := readRecords(dir, "figures.csv")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(figures, func(r csvRecord) bool { return r.cells["figure"] == number })
		if i < 0 {
			return fmt.Errorf("figures.csv has no figure %q", number)
		}
		c := figures[i].cells
		a.axes = [2]string{c["x_axis"], c["y_axis"]}
		if len(a.Lines) > 0 && a.Lines[0].Unit != "" && !strings.Contains(a.axes[1], "(") { // the source's axis has no unit
			a.axes[1] += " (" + a.Lines[0].Unit + ")"
		}
		if a.Caption == "" {
			a.Caption = c["caption"]
		}
	}
	var against []csvRecord
	var err error
	if a.Contradictions != "" {
		if _, against, err = readRecords(dir, a.Contradictions); err != nil {
			return err
		}
	}
	if a.File != "" {
		if err := a.makeTableRows(p, dir, against); err != nil {
			return err
		}
	}
	for i := range a.Lines {
		if err := a.makeLineRows(p, &a.Lines[i]); err != nil {
			return err
		}
	}
	for _, t := range a.Timelines {
		if p.findSubject(t.Subject) == nil {
			return fmt.Errorf("%s: %s has a time line of %q, which is no subject", paperFile, a.ID, t.Subject)
		}
		if t.Program != "" && !p.isRecorded(t) {
			return fmt.Errorf("%s: %s has a time line of %q, which no experiment records for subject %q", paperFile, a.ID, t.Program, t.Subject)
		}
	}
	return nil
}

// isRecorded reports whether an experiment records the program of a time line.
func (p *Paper) isRecorded(t TimelinePicture) bool {
	return papers.IsRecorded(t.Program) && slices.ContainsFunc(p.Experiments, func(e Experiment) bool { return e.Benchmark == "sequences" && e.Subject == p.findSubject(t.Subject).ID })
}

// makeTableRows makes the rows of the published table: for each subject, line, rule and size.
func (a *Artefact) makeTableRows(p *Paper, dir fs.FS, against []csvRecord) error {
	var lines []csvRecord
	var err error
	if a.columns, lines, err = readRecords(dir, a.File); err != nil {
		return err
	}
	for _, c := range a.NotMeasured {
		if !slices.Contains(a.columns, c) {
			return fmt.Errorf("%s: %s has no column %q", paperFile, a.File, c)
		}
	}
	for i := range a.Rows {
		if err := p.resolveSizes(&a.Rows[i].Sizes); err != nil {
			return err
		}
	}
	for _, subject := range orSingle(a.Subjects, "") {
		for _, line := range lines {
			r := csvRecord{line.position, maps.Clone(line.cells)}
			for name, d := range a.Derive {
				value, ok := d.Values[r.cells[d.Column]]
				if !ok {
					return fmt.Errorf("%s: %s says nothing of %s for %s %q", r.position, paperFile, name, d.Column, r.cells[d.Column])
				}
				r.cells[name] = value
			}
			for i := range a.Rows {
				rule := &a.Rows[i]
				if !r.matches(rule.Where) {
					continue
				}
				for _, k := range orSingle(rule.Sizes.values, -1) {
					x, err := a.makeRow(p, rule, r, subject, k)
					if err != nil {
						return err
					}
					x.record = line
					x.setContradiction(a, against, r)
					a.rows = append(a.rows, x)
				}
			}
		}
	}
	return nil
}

// orSingle returns some elements, or one if there are none.
func orSingle[T any](some []T, one T) []T {
	if len(some) == 0 {
		return []T{one}
	}
	return some
}

// makeRow makes the row of a rule.
func (a *Artefact) makeRow(p *Paper, rule *TableRule, r csvRecord, subject string, k int) (artefactRow, error) {
	var err error
	fill := func(template, fallback string) string {
		if template == "" {
			template = fallback
		}
		s, e := r.fillTemplate(template)
		if err == nil {
			err = e
		}
		return s
	}
	name := rule.Name
	if name == "" {
		name = rule.Value
	}
	x := artefactRow{rule: rule, variables: maps.Clone(r.cells)}
	x.Name = a.ID
	for _, c := range a.Key {
		x.Name += " " + r.cells[c]
	}
	x.Name += " " + name
	x.Mode, x.Parameter, x.Bytes = fill(rule.Mode, ""), fill(rule.Parameter, "{parameter}"), k
	x.Unit, x.Note, x.PrintedValue = unitName(rule.Unit), toSentence(fill(rule.Note, ""), "."), r.cells[rule.Value]
	x.Source = fill(rule.From, toSentence(strings.Replace(a.ID, "-", " ", 1), ""))
	if bytes := fill(rule.Bytes, ""); bytes != "" && err == nil {
		x.Bytes, err = strconv.Atoi(bytes)
	}
	if s := fill(rule.Subject, subject); s != "" {
		if x.subject = p.findSubject(s); x.subject == nil && err == nil {
			err = fmt.Errorf("%s: there is no subject %q", r.position, s)
		}
	}
	if rule.Cell.node != nil && rule.Below == nil && err == nil {
		x.Low, err = r.parseNumber(rule.Value)
		x.High = x.Low
		if rule.UpTo != "" && err == nil {
			x.High, err = r.parseNumber(rule.UpTo)
		}
		if x.Low != x.High && x.Low == x.Low {
			x.PrintedValue += " to " + r.cells[rule.UpTo]
		}
	} else {
		x.Low, x.High, x.Unit = math.NaN(), math.NaN(), ""
		x.variables["published"], x.variables["expect"] = fill(rule.Published, "{"+rule.Value+"}"), fill(rule.Expect, "")
	}
	if err != nil {
		return x, err
	}
	return x, p.bindVariables(&x, &rule.Cell, &rule.Text)
}

// unitName returns a unit as reports have it.
func unitName(unit string) string {
	switch unit {
	case "":
		return "us"
	case "count":
		return ""
	}
	return unit
}

// makeLineRows makes the rows of a line.
func (a *Artefact) makeLineRows(p *Paper, l *CurveRule) error {
	if err := p.resolveSizes(&l.Sizes); err != nil {
		return err
	}
	for _, id := range l.Subjects {
		s := p.findSubject(id)
		if s == nil {
			return fmt.Errorf("%s: %s has a line of %q, which is no subject", paperFile, a.ID, id)
		}
		for _, mode := range orSingle(l.Modes, "") {
			for _, k := range orSingle(l.Sizes.values, -1) {
				x := artefactRow{line: l, subject: s, variables: map[string]string{}}
				x.PublishedRow = reports.PublishedRow{Mode: mode, Parameter: l.Parameter, Bytes: k, Unit: unitName(l.Unit), Low: math.NaN(), High: math.NaN(), Note: l.Note}
				if err := p.bindVariables(&x, &l.Cell); err != nil {
					return err
				}
				a.rows = append(a.rows, x)
			}
		}
	}
	return nil
}

// bindVariables gives variables their values, and parses the expressions of a row when they are
// first met. The variables are s, the subject, mode, k, the size, and the columns of the table.
func (p *Paper) bindVariables(x *artefactRow, expressions ...*expressionText) error {
	if s := x.subject; s != nil {
		x.variables["s"], x.Platform, x.Library, x.Place = s.ID, s.Platform, s.Library, s.Place
	}
	x.variables["mode"], x.variables["k"] = x.Mode, strconv.Itoa(x.Bytes)
	names := p.names
	names.Variables = slices.Collect(maps.Keys(x.variables))
	for i, t := range expressions {
		if t.node == nil {
			continue
		}
		if i == 1 {
			names.Quantities = p.texts
		}
		var err error
		if t.parsed == nil {
			if t.parsed, err = p.parse(t.node, t.string, 0, &names); err != nil {
				return err
			}
		}
		keys := 0
		env := expr.Env{Lookup: func(key string) (expr.Value, bool) {
			x.key = key
			keys++
			return expr.UnknownValue(), true
		}}
		env.Number(t.parsed, x.variables)
		if keys != 1 || !strings.HasSuffix(t.string, ")") || !strings.HasPrefix(t.string, x.key[:strings.Index(x.key, "(")]) {
			x.key = ""
		}
	}
	if x.key != "" && x.line == nil {
		x.Quantity, _, _ = strings.Cut(x.key, "(")
	}
	return nil
}

// measuredTable returns the published table with what was measured in place of its values: NA for
// what was not, columns to tell lines apart that the table has once, but that were measured for
// several subjects or sizes, and columns that compare with what is published and was predicted. The
// findings are those of the rows.
func (a *Artefact) measuredTable(findings []study.Finding) study.Table {
	out := study.Table{Name: a.File, Columns: slices.Clone(a.columns)}
	if len(a.Subjects) > 1 {
		out.Columns = append(out.Columns, "subject")
	}
	if slices.ContainsFunc(a.Rows, func(r TableRule) bool { return len(r.Sizes.values) > 1 }) {
		out.Columns = append(out.Columns, "bytes")
	}
	lines := map[string]map[string]string{} // cells by the place of the line, the subject and the size
	var order []string
	for i := range a.rows {
		r := &a.rows[i]
		if r.rule == nil {
			continue
		}
		key, size := r.record.position, ""
		if len(a.Subjects) > 1 {
			key += r.subject.ID
		}
		if len(r.rule.Sizes.values) > 1 {
			size = strconv.Itoa(r.Bytes)
			key += " " + size
		}
		if lines[key] == nil {
			order = append(order, key)
			lines[key] = maps.Clone(r.record.cells)
			for _, c := range a.resultColumns() {
				lines[key][c] = "NA"
			}
			if lines[key]["bytes"] = size; r.subject != nil {
				lines[key]["subject"] = r.subject.Name
			}
		}
		for j, value := range findings[i].Comparison() {
			lines[key][r.rule.Value+study.ComparisonSuffixes[j]] = value
		}
		found, number := findings[i].Text[1], findings[i].Measured
		switch b := r.rule.Below; {
		case b != nil:
			found, _, _ = strings.Cut(found, ": "+b.Reads)
		case r.rule.Text.node != nil:
		case math.IsNaN(number) || math.IsInf(number, 0):
			continue
		default:
			found = strconv.FormatFloat(number, 'g', 10, 64)
		}
		for _, c := range []string{r.rule.Value, r.rule.UpTo} {
			if c != "" {
				lines[key][c] = found
			}
		}
	}
	for _, r := range a.Rows {
		for _, suffix := range study.ComparisonSuffixes {
			if c := r.Value + suffix; r.Below == nil && r.Text.node == nil && !slices.Contains(out.Columns, c) {
				out.Columns = append(out.Columns, c)
			}
		}
	}
	for _, key := range order {
		var cells []string
		for _, c := range out.Columns {
			cells = append(cells, lines[key][c])
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// resultColumns are the columns of the file that are not what a line is of.
func (a *Artefact) resultColumns() []string {
	all := slices.Clone(a.NotMeasured)
	for _, r := range a.Rows {
		all = append(all, r.Value)
		if r.UpTo != "" {
			all = append(all, r.UpTo)
		}
	}
	return all
}

// setContradiction fills in what the source says against a published number: the file has the
// table, the columns that name a row, what it is against (number: the number cannot be right), and
// why.
func (x *artefactRow) setContradiction(a *Artefact, against []csvRecord, r csvRecord) {
	for _, c := range against {
		same := c.cells["table"] == a.ID
		for _, key := range a.Key {
			same = same && c.cells[key] == r.cells[key]
		}
		if same {
			x.Contradiction, x.IsImpossible = c.cells["contradiction"], c.cells["against"] == "number"
		}
	}
}

// toSentence begins a text with a capital letter, and ends it with a stop unless it has one.
func toSentence(t, stop string) string {
	if t == "" || strings.HasSuffix(t, ".") {
		return t
	}
	return strings.ToUpper(t[:1]) + t[1:] + stop
}

// Published returns the numbers that papers print of parameters which a fit finds, for comparison
// with measurements of the same platforms.
func (p *Paper) Published() reports.PublishedRows {
	var all reports.PublishedRows
	seen := map[string]bool{}
	for _, a := range p.Artefacts {
		for _, x := range a.rows {
			if x.line == nil && x.Quantity != "" && !math.IsNaN(x.Low) && !seen[x.key] {
				seen[x.key] = true
				all = append(all, x.PublishedRow)
			}
		}
	}
	return all
}
