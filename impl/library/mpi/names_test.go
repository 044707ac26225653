package mpi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// page maps MPI functions to names in Go.
const page = "../../../docs/mpi.md"

var (
	row  = regexp.MustCompile("(?m)^\\| `(MPI_\\w+)` \\| (.+?) \\|")
	name = regexp.MustCompile("`([A-Za-z]+\\.[A-Za-z]+)`")
)

// Every function of MPI-1.2 has the name in Go that a row of the page or its rule gives it, and not
// both.
func TestNames(t *testing.T) {
	want, got := standardFunctions(t), []string(nil)
	if len(want) != 129 {
		t.Errorf("testdata/functions.txt has %d functions, and MPI-1.2 has 129", len(want))
	}
	declared := declarations(t)
	for _, f := range want {
		if declared[nameByRule(f)] {
			got = append(got, f)
		}
	}
	for _, r := range row.FindAllStringSubmatch(read(t, page), -1) {
		got = append(got, r[1])
		names := name.FindAllStringSubmatch(r[2], -1)
		if len(names) == 0 {
			t.Errorf("%s has no name in Go", r[1])
		}
		for _, n := range names {
			if !declared[n[1]] {
				t.Errorf("%s is said to be %s, which there is not", r[1], n[1])
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the page and its rule have\n%v\nand the standard\n%v", got, want)
	}
}

// standardFunctions returns the functions of MPI-1.2.
func standardFunctions(t *testing.T) (all []string) {
	for line := range strings.Lines(read(t, "testdata/functions.txt")) {
		if f := strings.TrimSpace(line); f != "" && f[0] != '#' {
			all = append(all, f)
		}
	}
	return all
}

// nameByRule returns the name in Go that the page's rule gives a function.
func nameByRule(function string) string {
	owner, words := "Comm", strings.Split(strings.TrimPrefix(function, "MPI_"), "_")
	switch words[0] {
	case "Comm", "Group":
		owner, words = words[0], words[1:]
	case "Type":
		owner, words = "Datatype", words[1:]
	}
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return owner + "." + strings.Join(words, "")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// declarations returns the exported names of the package: mpi.Name for functions, Type.Name for
// methods and fields. Types of other packages have their alias in mpi.
func declarations(t *testing.T) map[string]bool {
	declared := make(map[string]bool)
	for _, f := range sources(t, ".") {
		declare(declared, f, func(typ string) string { return typ })
	}
	for dir, names := range map[string]map[string]string{"../datatype": {"Type": "Datatype", "Buffer": "Buffer"}, "../reduction": {"Op": "Op"}} {
		for _, f := range sources(t, dir) {
			others := make(map[string]bool)
			declare(others, f, func(typ string) string { return names[typ] })
			for n := range others {
				if !strings.HasPrefix(n, "mpi.") {
					declared[n] = true
				}
			}
		}
	}
	return declared
}

// sources parses a package, without its tests.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// declare adds the names that a file declares.
func declare(into map[string]bool, f *ast.File, called func(typ string) string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			into[owner(n, called)+"."+n.Name.Name] = true
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, x := range field.Names {
						into[called(n.Name.Name)+"."+x.Name] = true
					}
				}
			}
		}
		return true
	})
}

// owner returns the receiver type of a method, and mpi for a function.
func owner(f *ast.FuncDecl, called func(typ string) string) string {
	if f.Recv == nil {
		return "mpi"
	}
	typ := f.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return called(id.Name)
	}
	return ""
}

// tally is a profiler as the page shows it: it replaces one method of a communicator.
type tally struct {
	*mpi.Comm
	sends, level int
}

func (c *tally) Send(b mpi.Buffer, dst, tag int) {
	c.sends += c.level
	c.Comm.Send(b, dst, tag)
}

func (c *tally) Pcontrol(level int) {
	c.level = level
	c.Comm.Pcontrol(level)
}

// A tool that wraps a communicator sees the calls that it replaces. Options.OnCall sees all calls.
func TestWrapped(t *testing.T) {
	var calls []string
	o := mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T"), OnCall: func(_ int, call string) { calls = append(calls, call) }}
	holds(t, mpi.Run(loop.New(1), o, func(world *mpi.Comm) error {
		c := &tally{Comm: world, level: 1}
		for level := range 2 {
			c.Pcontrol(level)
			c.Send(mpi.BufferOf([]int32{1}), mpi.ProcNull, 0)
			mpi.Send(c.Comm, []int32{1}, mpi.ProcNull, 0)
		}
		if c.sends != 1 {
			t.Errorf("the profile saw %d sends", c.sends)
		}
		return nil
	}))
	if want := []string{"Pcontrol", "Send", "Send", "Pcontrol", "Send", "Send", "Finalize", ""}; !slices.Equal(calls, want) {
		t.Errorf("told of %q, not of %q", calls, want)
	}
}
