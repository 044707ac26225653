// Package paper runs the experiments of published papers again and judges their claims.
//
// A paper is a folder of testdata/published: its tables as they were printed, and paper.yaml, which
// says which subjects (a library on a platform, two places in it) are measured by which benchmarks,
// which measured quantity answers to each published number, what its figures show, and how each of
// its claims is decided. Package expr is the language of quantities and claims. No paper is named
// here: a new one is a folder, and Go only if it needs a benchmark that no other paper has (a row
// of papers.Benchmarks) or a check that no expression can state (a row of functions).
//
// The way of a number: an experiment gives samples, package fit turns them into parameters and
// curves, and these become cells, such as o_s(t3d,isend,16). Artefacts and claims read cells. There
// are three sets of cells: measured, predicted by the models, and published.
package paper

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/study"
)

// Paper is what a folder says about a paper.
type Paper struct {
	Name        string `yaml:"-"` // of the folder
	Title       string
	Source      string // authors, title and year
	Small       int    // bytes of the message by which L of calls is read; 0: the smallest
	Subjects    []Subject
	Lists       map[string][]string // of sizes or words, for loops
	Experiments []Experiment
	Choices     []Choice         // made when published numbers were known, so that they match
	Quantities  []expressionText // definitions: bandwidth(s, k) = (k - 1) / transfer(s, send, k)
	Artefacts   []Artefact
	Claims      []Claim

	lines         []string // of paper.yaml
	definitions   map[string]expr.Definition
	blind         map[string]*study.BlindPrediction // by row
	blindVerdicts map[string]string                 // by "claims MB-16"
	names         expr.Names
	texts         map[string]int // as those of names, for answers in words
}

// Subject is what experiments are about: a library on a platform, between two processors.
type Subject struct {
	papers.Subject `yaml:",inline"`
	Decides        bool // claims that name no subject are decided on this one
	Beside         bool // such claims are evaluated on this one too
}

// Experiment is a benchmark of a subject.
type Experiment struct {
	Benchmark         string
	papers.Experiment `yaml:",inline"`
	SizeList          sizeList `yaml:"sizes"` // that Sizes has
	RankList          sizeList `yaml:"ranks"` // that Ranks has
}

// Choice is what was chosen so that published numbers or claims are met: these are calibration, as
// if a number of a platform had been fitted to them.
type Choice struct {
	What string   // such as: The page size
	To   []string // the names of the rows, or claims AC-01
}

// Claim is a statement of the paper, and how it is decided. Its text is in claims.csv.
type Claim struct {
	ID             string
	Check          expressionText // a condition
	Function       string         // or a row of functions
	ByConstruction string         `yaml:"by_construction"` // why it cannot fail; "": it can
	Contradicted   string         // why the source itself contradicts it
	NotApplicable  string         `yaml:"not_applicable"` // why nothing can decide it
	Undecided      string         // why the printed numbers themselves do not decide it
	Cause          string         // of its failure, in one sentence; "": it holds, as far as is known
	Note           string
	Otherwise      string // why other subjects may decide it the other way

	record csvRecord // of claims.csv
}

// expressionText is a text of paper.yaml that is an expression.
type expressionText struct {
	string
	node   *yaml.Node
	parsed *expr.Expr
}

func (t *expressionText) UnmarshalYAML(n *yaml.Node) error {
	t.node = n
	return n.Decode(&t.string)
}

// sizeList are sizes of messages in bytes: a list that is written out, or the name of a list.
type sizeList struct {
	listName string
	values   []int
}

func (s *sizeList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&s.listName)
	}
	return n.Decode(&s.values)
}

const (
	paperFile  = "paper.yaml"
	claimsFile = "claims.csv"
)

// List returns the names of the papers in a directory, in order.
func List(dir fs.FS) ([]string, error) {
	found, err := fs.Glob(dir, "*/"+paperFile)
	for i := range found {
		found[i] = path.Dir(found[i])
	}
	return found, err
}

// ReadAll reads the papers of a directory, in the order of their names.
func ReadAll(dir fs.FS) ([]*Paper, error) {
	names, err := List(dir)
	if err != nil {
		return nil, err
	}
	var papers []*Paper
	for _, name := range names {
		p, err := Read(dir, name)
		if err != nil {
			return nil, err
		}
		papers = append(papers, p)
	}
	return papers, nil
}

// ListDocument returns a document with a table of papers.
func ListDocument(all []*Paper) *doc.Document {
	t := &doc.Table{Name: "papers", Title: "Papers", Columns: []doc.Column{{Heading: "paper", IsKey: true}, {Heading: "claims", Kind: doc.NumberColumn}, {Heading: "source", Kind: doc.ProseColumn}}}
	for _, p := range all {
		t.AddRow(doc.TextCell(p.Name), doc.CountCell(len(p.Claims)), doc.TextCell(p.Source))
	}
	d := &doc.Document{}
	d.AddTables("papers", "Papers", t)
	return d
}

// Read reads a paper of a directory. What is wrong with it is an error with file, line and column.
func Read(dir fs.FS, name string) (*Paper, error) {
	p := &Paper{Name: name}
	b, err := fs.ReadFile(dir, path.Join(name, paperFile))
	if errors.Is(err, fs.ErrNotExist) {
		all, _ := List(dir)
		return nil, fmt.Errorf("there is no paper %q%s", name, table.NameChoices(name, all))
	}
	if err != nil {
		return nil, err
	}
	p.lines = strings.Split(string(b), "\n")
	in := yaml.NewDecoder(strings.NewReader(string(b)))
	in.KnownFields(true)
	if err := in.Decode(p); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(name, paperFile), err)
	}
	sub, err := fs.Sub(dir, name)
	if err == nil {
		err = p.resolve(sub)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%w", name, err)
	}
	return p, nil
}

// resolve reads the tables, and parses and checks all that refers to something else.
func (p *Paper) resolve(dir fs.FS) error {
	p.names = expr.Names{Lists: p.Lists, Quantities: maps.Clone(platformQuantities)}
	p.texts = maps.Clone(platformTexts)
	for i := range p.Experiments {
		e := &p.Experiments[i]
		b, ok := papers.Benchmarks[e.Benchmark]
		if !ok {
			return fmt.Errorf("%s: there is no benchmark %q: there is %s", paperFile, e.Benchmark, strings.Join(slices.Sorted(maps.Keys(papers.Benchmarks)), ", "))
		}
		maps.Copy(p.names.Quantities, b.Numbers)
		maps.Copy(p.names.Quantities, fittedQuantities[e.Benchmark])
		maps.Copy(p.texts, b.Texts)
		if p.findSubject(e.Subject) == nil {
			return fmt.Errorf("%s: experiment %d is of %q, which is no subject", paperFile, i+1, e.Subject)
		}
		if err := errors.Join(p.resolveSizes(&e.SizeList), p.resolveSizes(&e.RankList)); err != nil {
			return err
		}
		e.Sizes, e.Ranks = e.SizeList.values, e.RankList.values
	}
	if err := p.parseDefinitions(); err != nil {
		return err
	}
	for i := range p.Artefacts {
		if err := p.Artefacts[i].resolve(p, dir); err != nil {
			return err
		}
	}
	if err := p.parseClaims(dir); err != nil {
		return err
	}
	if err := p.checkChoices(); err != nil {
		return err
	}
	return p.readBlindPredictions(dir)
}

// checkChoices checks that what choices were made for is in the paper.
func (p *Paper) checkChoices() error {
	known := p.rowNames()
	for _, c := range p.Choices {
		for _, name := range c.To {
			if !known[name] && !p.hasClaim(name) {
				return fmt.Errorf("%s: choice %q: no table has a published number %q, and there is no such claim", paperFile, c.What, name)
			}
		}
	}
	return nil
}

// rowNames are the names of the published numbers.
func (p *Paper) rowNames() map[string]bool {
	names := map[string]bool{}
	for _, r := range p.printedRows() {
		names[r.Name] = true
	}
	return names
}

// hasClaim reports whether a name, as claims AC-01, is that of a claim.
func (p *Paper) hasClaim(name string) bool {
	return slices.ContainsFunc(p.Claims, func(c Claim) bool { return claimRowPrefix+c.ID == name })
}

// findChoice returns what was chosen because of a row or a claim, or nil.
func (p *Paper) findChoice(name string) *Choice {
	for i := range p.Choices {
		if slices.Contains(p.Choices[i].To, name) {
			return &p.Choices[i]
		}
	}
	return nil
}

// parseDefinitions parses the quantities. Each may use those above it.
func (p *Paper) parseDefinitions() error {
	p.definitions = map[string]expr.Definition{}
	for _, q := range p.Quantities {
		head, is, ok := strings.Cut(q.string, " = ")
		name, list, paren := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		if !ok || !paren {
			return p.errorAt(q.node, 0, "a definition is name(parameters) = expression")
		}
		var d expr.Definition
		if list != "" {
			d.Parameters = strings.Split(strings.ReplaceAll(list, " ", ""), ",")
		}
		names := p.names
		names.Variables = d.Parameters
		var err error
		if d.Expression, err = p.parse(q.node, is, len(head)+len(" = "), &names); err != nil {
			return err
		}
		p.definitions[name], p.names.Quantities[name] = d, len(d.Parameters)
	}
	return nil
}

// parseClaims joins the claims with their texts, and parses their checks.
func (p *Paper) parseClaims(dir fs.FS) error {
	_, rows, err := readRecords(dir, claimsFile)
	if err != nil {
		return err
	}
	names := p.names
	names.Variables = []string{"s"}
	for i := range p.Claims {
		c := &p.Claims[i]
		row := slices.IndexFunc(rows, func(r csvRecord) bool { return r.cells["id"] == c.ID })
		if row < 0 {
			return fmt.Errorf("%s: %s has no claim %q", paperFile, claimsFile, c.ID)
		}
		c.record = rows[row]
		rows = slices.Delete(rows, row, row+1)
		switch {
		case c.Check.node != nil:
			if c.Check.parsed, err = p.parse(c.Check.node, c.Check.string, 0, &names); err != nil {
				return err
			}
			if !c.Check.parsed.IsCondition() {
				return p.errorAt(c.Check.node, 0, "a check is a condition, not a number")
			}
			if why := checkCause(c.Cause); why != "" || c.Cause != "" && c.Undecided != "" {
				return fmt.Errorf("%s: cause of claim %s: %s", paperFile, c.ID, cmp.Or(why, "it is undecided, which needs none"))
			}
			if c.namesNoSubject() && p.decidingSubject() == nil {
				return p.errorAt(c.Check.node, 0, "it names no subject, and no subject decides")
			}
		case claimFunctions[c.Function] == nil && c.Contradicted == "" && c.NotApplicable == "":
			return fmt.Errorf("%s: claim %s has no check, and no function %q", paperFile, c.ID, c.Function)
		}
	}
	if len(rows) > 0 {
		return fmt.Errorf("%s: %s has no check for claim %s", rows[0].position, paperFile, rows[0].cells["id"])
	}
	return nil
}

// checkCause says what is wrong with the cause of a failing claim, or returns "".
func checkCause(cause string) string {
	switch {
	case cause == "":
	case !strings.HasSuffix(cause, "."):
		return "write a sentence, with a full stop"
	case strings.Contains(cause, ". "), strings.Contains(cause, "\n"):
		return "write one sentence, on one line"
	}
	return ""
}

// parse parses an expression that begins at an offset of a text.
func (p *Paper) parse(n *yaml.Node, s string, offset int, names *expr.Names) (*expr.Expr, error) {
	x, err := expr.Parse(s, names)
	var syntax *expr.Error
	if errors.As(err, &syntax) {
		return nil, p.errorAt(n, offset+syntax.Offset, syntax.Text)
	}
	return x, err
}

// errorAt returns an error at an offset of a text, which stands on one line or in a block (|).
func (p *Paper) errorAt(n *yaml.Node, offset int, what string) error {
	line, column := n.Line, n.Column
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		above := strings.Split(n.Value[:min(offset, len(n.Value))], "\n")
		line += len(above)
		first := p.lines[n.Line]
		column = len(first) - len(strings.TrimLeft(first, " ")) + len(above[len(above)-1]) + 1
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		column += offset + 1
	default:
		column += offset
	}
	return fmt.Errorf("%s:%d:%d: %s", paperFile, line, column, what)
}

// resolveSizes fills in the sizes of a list that is named.
func (p *Paper) resolveSizes(s *sizeList) error {
	if s.listName == "" {
		return nil
	}
	for _, e := range p.Lists[s.listName] {
		k, err := strconv.Atoi(e)
		if err != nil {
			return fmt.Errorf("%s: list %s: %w", paperFile, s.listName, err)
		}
		s.values = append(s.values, k)
	}
	if s.values == nil {
		return fmt.Errorf("%s: there is no list %q", paperFile, s.listName)
	}
	return nil
}

// findSubject returns the subject with an ID or a name, or nil.
func (p *Paper) findSubject(name string) *Subject {
	for i := range p.Subjects {
		if s := &p.Subjects[i]; s.ID == name || s.Name == name {
			return s
		}
	}
	return nil
}

// isCalibrated says whether some number of a platform was fitted to something published.
func isCalibrated(platforms []*platform.Platform, name string) bool {
	return slices.ContainsFunc(platforms, func(p *platform.Platform) bool { return p.IsFittedTo(name) })
}
