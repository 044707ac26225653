package loggp_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// source is what the documents may name: files and folders, and the identifiers of packages.
type source struct {
	paths []string                   // of files and folders, from the root
	names map[string]map[string]bool // by the name of a package: F, T, T.Method, T.field
	tests map[string]bool            // functions of test files
	words map[string]bool            // all identifiers that are declared anywhere
}

func readSource(t *testing.T) source {
	t.Helper()
	s := source{names: map[string]map[string]bool{}, tests: map[string]bool{}, words: map[string]bool{}}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "out"):
			return fs.SkipDir
		}
		s.paths = append(s.paths, filepath.ToSlash(name))
		if path.Ext(name) != ".go" || strings.Contains(filepath.ToSlash(name), "testdata/") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.add(f, strings.HasSuffix(name, "_test.go"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add notes what a file declares.
func (s source) add(f *ast.File, test bool) {
	pkg := strings.TrimSuffix(f.Name.Name, "_test")
	if s.names[pkg] == nil {
		s.names[pkg] = map[string]bool{}
	}
	declare := func(name string) {
		s.names[pkg][name] = true
		_, last, _ := strings.Cut("."+name, ".")
		s.words[last[strings.LastIndexByte(last, '.')+1:]] = true
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			declare(name)
			if test {
				s.tests[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						declare(n.Name)
					}
				case *ast.TypeSpec:
					declare(spec.Name.Name)
					var members *ast.FieldList
					switch t := spec.Type.(type) {
					case *ast.StructType:
						members = t.Fields
					case *ast.InterfaceType:
						members = t.Methods
					}
					if members == nil {
						continue
					}
					for _, m := range members.List {
						for _, n := range m.Names {
							declare(spec.Name.Name + "." + n.Name)
						}
					}
				}
			}
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	pathSpan   = regexp.MustCompile(`^[a-z.][\w.-]*(/[\w.{},-]+)*(/|\.go|\.md|\.sh|\.yaml|\.csv)?$`)
	testSpan   = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)[A-Z]\w*`)
	memberSpan = regexp.MustCompile(`^([a-z]\w*|[A-Z]\w*)\.([A-Z]\w*(?:\.\w+)?)$`)
	roots      = []string{"cmd", "model", "microbench", "impl", "fit", "reports", "testdata", "docs"}
)

// TestDocumentsAreTrue checks that paths, tests and identifiers in the code spans of the documents
// exist. Placeholders are written in capitals, as in impl/hw/NAME.
func TestDocumentsAreTrue(t *testing.T) {
	s := readSource(t)
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(documents, "README.md", "STYLE.md", "CHANGELOG.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inBlock := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "```") {
				inBlock = !inBlock
			}
			if inBlock || file == "STYLE.md" && strings.HasPrefix(line, "|") { // names that were not taken
				continue
			}
			for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
				if why := s.check(span[1], file); why != "" {
					t.Errorf("%s:%d: `%s`: %s", file, i+1, span[1], why)
				}
			}
		}
	}
}

// paperWord is a path or a test in the words of a paper's file.
var paperWord = regexp.MustCompile(`\b(?:(?:cmd|model|microbench|impl|fit|reports)/[\w./-]*\w|Test[A-Z]\w*)`)

// TestPapersNameFilesAndTestsThatExist checks paths and tests that a report of a paper mentions.
func TestPapersNameFilesAndTestsThatExist(t *testing.T) {
	s := readSource(t)
	papers, err := filepath.Glob("testdata/published/*/paper.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range papers {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range paperWord.FindAllString(string(text), -1) {
			found++
			if why := s.check(word, file); why != "" {
				t.Errorf("%s: %s: %s", file, word, why)
			}
		}
	}
	if found == 0 {
		t.Error("no paper names a file or a test")
	}
}

// check returns what is wrong with a code span, or "".
func (s source) check(span, file string) string {
	first, _, _ := strings.Cut(span, "/")
	switch {
	case strings.Contains(span, "NAME"):
		return ""
	case testSpan.MatchString(span):
		name := strings.Split(testSpan.FindString(span), "_")[0]
		if !s.tests[name] && !s.tests[testSpan.FindString(span)] {
			return "no such test"
		}
	case pathSpan.MatchString(span) && (slices.Contains(roots, first) && strings.Contains(span, "/") || strings.HasSuffix(span, ".go")):
		if !s.hasPath(strings.TrimSuffix(span, "/")) {
			return "no such file or folder"
		}
	case file != "STYLE.md" && memberSpan.MatchString(span):
		m := memberSpan.FindStringSubmatch(span)
		if names := s.names[m[1]]; names != nil {
			if !names[m[2]] {
				return fmt.Sprintf("package %s declares no %s", m[1], m[2])
			}
		} else if ast.IsExported(m[1]) && s.words[m[1]] && !s.words[m[2]] {
			return fmt.Sprintf("nothing declares %s", m[2])
		}
	}
	return ""
}

// hasPath reports whether a path is that of a file or folder, from the root or from a folder below.
// Braces and suffixes of identifiers, as in fit/params.ValueAt, are not paths.
func (s source) hasPath(p string) bool {
	return slices.ContainsFunc(s.paths, func(have string) bool { return have == p || strings.HasSuffix(have, "/"+p) })
}

// The check finds what is not there, and nothing else.
func TestDocumentsCheck(t *testing.T) {
	s := readSource(t)
	for span, want := range map[string]string{
		"impl/device":                "",
		"impl/devise":                "no such file or folder",
		"deps_test.go":               "",
		"microbench/pingpong_x.go":   "no such file or folder",
		"TestDocumentsAreTrue":       "",
		"TestDocumentsAreFalse":      "no such test",
		"device.Port":                "",
		"device.Harbour":             "package device declares no Harbour",
		"impl/hw/NAME/":              "",
		"--platform":                 "",
		"mpirun -n 2 --bind-to core": "",
	} {
		if got := s.check(span, "x.md"); got != want {
			t.Errorf("%s: %q, want %q", span, got, want)
		}
	}
}
