package loggp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// callGraph has the names that each function of a package calls or passes on, by Type.Method or
// function.
type callGraph map[string]map[string]bool

func readCallGraph(t *testing.T, dir string) callGraph {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %d files", dir, err, len(files))
	}
	g := callGraph{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			key := fn.Name.Name
			if fn.Recv != nil {
				key = receiver(fn.Recv.List[0].Type) + "." + key
			}
			uses := map[string]bool{}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					uses[id.Name] = true
				}
				return true
			})
			g[key] = uses
		}
	}
	return g
}

// reaches reports whether a function calls another one of its package, by way of others or not.
// Methods are told apart by their names alone.
func (g callGraph) reaches(from, to string) bool {
	_, want, _ := strings.Cut("."+to, ".")
	want = want[strings.LastIndexByte(want, '.')+1:]
	seen, open := map[string]bool{from: true}, []string{from}
	for len(open) > 0 {
		f := open[0]
		open = open[1:]
		if g[f][want] {
			return true
		}
		for k := range g {
			if last := k[strings.LastIndexByte(k, '.')+1:]; g[f][last] && !seen[k] {
				seen[k] = true
				open = append(open, k)
			}
		}
	}
	return false
}

// docs/walk.md follows one sample from its timer to a CSV cell. Its functions exist, in the
// packages of the list below, and each function calls the next one of its package, or some function
// of the package calls both.
func TestSampleWalk(t *testing.T) {
	b, err := os.ReadFile("docs/walk.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## One sample, from timer to CSV cell\n")
	text, _, _ = strings.Cut(text, "\n## ")
	dirs := []string{"microbench", "microbench", "microbench", "microbench", "microbench/sample", "fit/tiers", "fit/clean", "fit/curve", "fit/clean", "fit/curve", "fit/params", "fit/params", "fit/params", "fit/params"}
	rows := regexp.MustCompile(`(?m)^\| \d+ \| (.*?) \|`).FindAllStringSubmatch(text, -1)
	if len(rows) != len(dirs) {
		t.Fatalf("the page has %d stops, want %d", len(rows), len(dirs))
	}
	lastDir, last := "", ""
	for i, row := range rows {
		g := readCallGraph(t, dirs[i])
		for j, span := range codeSpan.FindAllStringSubmatch(row[1], -1) {
			name := strings.TrimPrefix(span[1], filepath.Base(dirs[i])+".")
			if g[name] == nil {
				t.Errorf("stop %d: package %s has no function %s", i+1, dirs[i], name)
				continue
			}
			if lastDir == dirs[i] && j == 0 && name != "WriteParameters" { // its caller is a command
				found := g.reaches(last, name)
				for k := range g {
					found = found || g.reaches(k, name) && g.reaches(k, last)
				}
				if !found {
					t.Errorf("stop %d: no function of %s hands a value of %s to %s", i+1, dirs[i], last, name)
				}
			}
			if j == 0 {
				lastDir, last = dirs[i], name
			}
		}
	}
}
