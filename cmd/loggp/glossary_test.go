package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/study"
)

// docs/glossary.md has every name that users meet in files and flags, docs/algorithms.md those of
// collective operations and their algorithms, docs/model.md those of protocols, and no name that is
// gone.
func TestGlossary(t *testing.T) {
	page, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"algorithms.md", "model.md"} {
		b, err := os.ReadFile(filepath.Join("../../docs", other))
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, b...)
	}
	for _, problem := range glossaryProblems(string(page), namesInUse(t)) {
		t.Error(problem)
	}
	for _, x := range sample.Timers {
		if row := "| `" + x.Name + "` | " + x.MeasuredInterval + " |"; !strings.Contains(string(page), row) {
			t.Errorf("no row %s", row)
		}
	}
}

// The comparison finds a name that the page lacks, one that is gone, one that stands there twice,
// and a section that is gone.
func TestGlossaryProblems(t *testing.T) {
	const page = "# Glossary\n## Modes\ntext with `code`\n\n| name | meaning |\n|---|---|\n| `a`, `b` | of `c` |\n| `a` | again |\n| word | |\n"
	for want, names := range map[string][]string{
		"Modes: a stands there twice":                                     {"a", "b"},
		"Modes: a stands there twice; Modes: lacks c":                     {"a", "b", "c"},
		"Modes: a stands there twice; Modes: b is no name that is in use": {"a"},
	} {
		if got := strings.Join(glossaryProblems(page, map[string][]string{"Modes": names}), "; "); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
	if got := glossaryProblems(page, map[string][]string{"Timers": {"x"}}); !slices.Equal(got, []string{"Timers: lacks x"}) {
		t.Errorf("without a section: %q", got)
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// glossaryProblems compares the names in the first columns of a page's sections with those that
// each is to have.
func glossaryProblems(page string, want map[string][]string) []string {
	has := map[string][]string{}
	section := ""
	for line := range strings.Lines(page) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				has[section] = append(has[section], m[1])
			}
		}
	}
	var problems []string
	for section, names := range want {
		there := has[section]
		for i, name := range there {
			switch {
			case slices.Contains(there[:i], name):
				problems = append(problems, section+": "+name+" stands there twice")
			case !slices.Contains(names, name):
				problems = append(problems, section+": "+name+" is no name that is in use")
			}
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if !slices.Contains(there, name) {
				problems = append(problems, section+": lacks "+name)
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// namesInUse returns the names that the sections of the glossary are to have, as the code has them.
func namesInUse(t *testing.T) map[string][]string {
	names := map[string][]string{
		"Protocols": model.ProtocolNames(),
		"Modes":     append(microbench.SendModeNames(), microbench.OptionalModeNames()...),
		"Columns":   columns(t),
		"Facts":     constants(t, "../../microbench/sample/facts.go", "RootsFact"),
		"Timers":    {"prttN", "prttN-d", "stream-pairsN"},
		"Packets":   constants(t, "../../model/protocol.go", "KindRM"),
	}
	for m := range model.NumModes {
		names["Modes"] = append(names["Modes"], m.String())
	}
	for _, x := range sample.Timers {
		names["Timers"] = append(names["Timers"], x.Name)
	}
	names["Parameters"] = params.KindNames()
	names["Algorithms"] = []string{"vendor"}
	for _, a := range collective.Algorithms {
		names["Algorithms"] = append(names["Algorithms"], a.Operation.String(), a.Name)
	}
	for _, o := range collective.Operations() {
		names["Algorithms"] = append(names["Algorithms"], collective.NameForms(o)...)
	}
	return names
}

// columns returns the columns of all CSV files.
func columns(t *testing.T) []string {
	disturbed := &sample.Set{Series: []sample.Series{{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "send", Protocol: "auto", Timer: sample.TimerRTT, Disturbed: true}}}}
	var names []string
	for _, write := range []func(w io.Writer) error{
		func(w io.Writer) error { return sample.Write(w, disturbed) },
		func(w io.Writer) error { return params.WriteParameters(w, nil) },
		func(w io.Writer) error { return params.WritePLogP(w, nil) },
		func(w io.Writer) error { return compare.WriteComparisons(w, nil) },
		func(w io.Writer) error { return compare.WriteTable(w, &compare.Table{}) },
		func(w io.Writer) error { return compare.WriteCollectives(w, nil) },
		new(loggp.CollectivePredictions).WriteCSV,
		new(loggp.Predictions).WriteCSV,
		func(w io.Writer) error { return new(study.Study).WriteCells(w) },
		func(w io.Writer) error { return new(study.Study).WriteClaims(w) },
		func(w io.Writer) error { return render.WriteCSV(w, reports.HostChecks(nil), "") },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text, ok := b.String(), true
		for ok && strings.HasPrefix(text, "#") {
			_, text, ok = strings.Cut(text, "\n")
		}
		header, _, _ := strings.Cut(text, "\n")
		names = append(names, strings.Split(header, ",")...)
	}
	return names
}

// constants returns the values of the string constants that a file declares together with one of
// them.
func constants(t *testing.T, file, one string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		var values []string
		found := false
		for _, spec := range block.Specs {
			v := spec.(*ast.ValueSpec)
			found = found || v.Names[0].Name == one
			for _, value := range v.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					s, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, s)
				}
			}
		}
		if found {
			return values
		}
	}
	t.Fatalf("%s has no constant %s", file, one)
	return nil
}
