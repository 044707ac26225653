package loggp_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The architecture: which package may import which, and how many files a package may have. It is read from the sources, because
// the test cache does not notice when the result of go list changes.

const module = "github.com/loggp/loggp/"

// layers are all packages, the most basic first. A package may import those of earlier lines.
var layers = [][]string{
	{"testdata", "model/unit", "reports/format"},
	{"model/table"},
	{"model"},
	{"model/schedule"},
	{"model/aclmpl", "model/collective", "model/phases"},
	{"model/schedule/pattern"},
	{"model/platform", "microbench/sample", "impl/device", "impl/datatype", "impl/auth", "impl/machine", "impl/match", "impl/pmi", "impl/process", "impl/sim"},
	{"impl/doctor", "impl/engine", "impl/hw/core", "impl/launch", "impl/reduction", "impl/transport", "model/platform/edit"},
	{"impl/hw/ethernet", "impl/hw/fattree", "impl/hw/hypernodes", "impl/hw/loggp", "impl/hw/record", "impl/hw/torus"}, // networks do not know each other
	{"fit/clean", "fit/loggops"},
	{"fit/curve", "fit/leastsquares"},
	{"fit/params"},
	{"fit/tiers", "fit/fittest"},
	{"fit", "reports/reporttest", "microbench/foreign", "impl/engine/recording", "impl/mpi/check", "impl/mbcf", "impl/proto", "impl/pvm", "impl/queue", "impl/start", "impl/hw", "impl/loop", "impl/multicast", "impl/shm", "impl/shmem", "impl/tcp", "impl/trace", "impl/device/devicetest", "impl/launch/launchtest"},
	{"reports/chart", "fit/compare", "fit/export", "impl/aclmpl", "impl/mpi"},
	{"reports/doc", "reports/chart/charttest"},
	{"reports/render"},
	{"reports/pagetest"},
	{"reports", "reports/study", "reports/recording"},
	{"impl/ccmpi"},
	{"impl/portable"},
	{"impl/npb", "impl/programs", "impl/engine/enginetest/program"},
	{"impl/cprog/toolchain"},
	{"microbench", "impl/engine/enginetest"},
	{"microbench/patterns", "microbench/probe", "microbench/probe/probetest", "impl/world"},
	{"cmd/loggp/paper/expr", "impl/versus", "impl/cprog"},
	{"cmd/loggp/paper"},
	{"cmd/loggp/calibrate"},
	{"cmd/loggp"},
	{"cmd/loggp/managed"},
	{"."}, // for programs of others, and tests of the whole
}

// never are imports that the layers would allow and the design does not. A name stands for everything below it, too.
var never = []struct {
	importers, imported []string
	why                 string
}{
	{
		[]string{"impl"},
		[]string{"microbench", "fit", "reports"},
		"no import runs upwards: what is measured does not know the measurement",
	},
	{
		[]string{"microbench"},
		[]string{"fit", "reports"},
		"no import runs upwards: measuring does not evaluate",
	},
	{
		[]string{"impl/engine", "impl/mbcf", "impl/proto", "impl/queue", "impl/start", "impl/match", "impl/mpi", "impl/shmem", "impl/pvm", "impl/aclmpl", "impl/multicast", "impl/ccmpi"},
		[]string{"impl/sim", "impl/hw", "impl/loop", "impl/auth", "impl/launch", "impl/machine", "impl/shm", "impl/tcp", "impl/transport"},
		"the library cannot know whether time is virtual",
	},
	{
		[]string{"impl/hw", "impl/loop", "impl/launch", "impl/shm", "impl/tcp", "impl/transport"},
		[]string{"impl/proto", "impl/match", "impl/datatype", "impl/reduction"},
		"hardware does not know what it carries",
	},
	{
		[]string{"impl/mpi"},
		[]string{"impl/mbcf", "impl/proto", "impl/queue", "impl/start", "impl/match"},
		"the interface cannot know which engine carries its messages",
	},
	{
		[]string{"impl/engine", "impl/mbcf", "impl/proto", "impl/queue", "impl/start"},
		[]string{"impl/datatype", "impl/reduction", "model/collective"},
		"the engine moves bytes and knows no more of them",
	},
	{
		[]string{"microbench", "impl/npb", "impl/programs"},
		[]string{"impl/device", "impl/proto", "impl/match", "impl/sim", "impl/hw", "impl/loop", "impl/auth", "impl/launch", "impl/shm", "impl/tcp", "impl/transport"},
		"programs and what measures see the public interface only",
	},
	{
		[]string{"impl/doctor", "impl/hw", "impl/loop", "impl/shm", "impl/world"},
		[]string{"impl/auth"},
		"connections from other hosts are for what runs between hosts",
	},
	{
		[]string{"impl/engine", "impl/proto", "impl/match", "impl/mpi", "impl/programs", "impl/hw", "impl/loop", "impl/shm", "impl/tcp", "impl/transport", "impl/world"},
		[]string{"impl/process"},
		"processes are started and ended by launch, and by the probe of a vendor's MPI",
	},
	{
		[]string{"impl/aclmpl"},
		[]string{"impl/engine", "impl/proto", "impl/match"},
		"it is a library of its own: above device, and beside MPI",
	},
	{
		[]string{"model", "fit", "reports"},
		[]string{"impl"},
		"theory does not depend on the machine",
	},
	{
		[]string{"fit"},
		[]string{"model/platform", "testdata"},
		"the fitter must not see the answers",
	},
	{
		[]string{"impl/match", "impl/datatype", "impl/reduction"},
		[]string{"model", "testdata", "impl/device", "impl/auth", "impl/machine", "impl/sim"},
		"matching and data need nothing of ours",
	},
}

// maxFiles is how many files without tests a package may have. Beyond that it hides its structure.
const maxFiles = 15

// moreFiles are the packages that have more, with the number that they must not exceed. An entry that is no longer needed is a failure.
var moreFiles = map[string]int{
	"cmd/loggp": 100, // one file a verb
}

// testOnly are packages for test files only. They set things side by side that do not know each other.
var testOnly = []string{"reports/chart/charttest", "reports/pagetest", "reports/reporttest", "fit/fittest", "impl/device/devicetest", "impl/engine/enginetest", "impl/engine/enginetest/program", "impl/launch/launchtest"}

// others are modules of others, and who may import them, in test files as well.
var others = []struct {
	module string
	who    []string
	test   bool // for test files only
}{
	{"gonum.org/v1/gonum", []string{"fit", "impl/npb", "impl/programs", "model"}, false},
	{"gonum.org/v1/plot", []string{"reports"}, false},
	{"golang.org/x/image", []string{"reports"}, false}, // the fonts of plot
	{"github.com/olekukonko/tablewriter", []string{"reports"}, false},
	{"github.com/spf13/cobra", []string{"cmd/loggp"}, false},
	{"github.com/spf13/pflag", []string{"cmd/loggp"}, false}, // the flags of cobra
	{"golang.org/x/term", []string{"cmd/loggp"}, false},
	{"golang.org/x/sys", []string{"impl/launch", "impl/machine", "impl/shm", "impl/tcp"}, false}, // system calls
	{"go.yaml.in/yaml", []string{"cmd/loggp/paper", "model/platform"}, false},
	{"github.com/chromedp/chromedp", []string{"reports"}, true}, // pages in a browser
	{"github.com/chromedp/cdproto", []string{"reports"}, true},  // what chromedp says to it
}

func TestArchitecture(t *testing.T) {
	found, err := violations(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// The tables name what there is, and nothing that is gone.
func TestTablesExist(t *testing.T) {
	packages := slices.Concat(layers...)
	for _, p := range packages {
		if files, err := fs.Glob(os.DirFS("."), path.Join(p, "*.go")); err != nil || len(files) == 0 {
			t.Errorf("%s has no sources, and stands in the table of layers", p)
		}
	}
	names := slices.Concat(testOnly, slices.Collect(maps.Keys(moreFiles)))
	for _, n := range never {
		names = slices.Concat(names, n.importers, n.imported)
	}
	for _, o := range others {
		names = slices.Concat(names, o.who)
	}
	for _, name := range names {
		if !slices.ContainsFunc(packages, func(p string) bool { return within(p, []string{name}) }) {
			t.Errorf("%s stands in a table, and not in that of layers", name)
		}
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range others {
		if !strings.Contains(string(mod), o.module) {
			t.Errorf("go.mod does not require %s, which stands in a table", o.module)
		}
	}
}

// violations returns where the sources of a tree break the rules.
func violations(tree fs.FS) ([]string, error) {
	var found []string
	files := map[string]int{} // by package, without tests
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.ContainsRune("._", rune(d.Name()[0])): // as the go command does
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		imports, err := importsOf(tree, name)
		if err != nil {
			return err
		}
		pkg := path.Dir(name)
		if !strings.HasSuffix(name, "_test.go") {
			files[pkg]++
		}
		if layer(pkg) < 0 {
			found = append(found, fmt.Sprintf("%s: package %s is not in the table of layers", name, pkg))
			return nil
		}
		for _, imported := range imports {
			if why := forbids(pkg, imported, strings.HasSuffix(name, "_test.go")); why != "" {
				found = append(found, fmt.Sprintf("%s: %s may not import %s: %s", name, pkg, imported, why))
			}
		}
		return nil
	})
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		if most := max(maxFiles, moreFiles[pkg]); files[pkg] > most {
			found = append(found, fmt.Sprintf("%s: %d files without tests, and at most %d are allowed: merge small ones, or make a package of some", pkg, files[pkg], most))
		}
	}
	return found, err
}

func importsOf(tree fs.FS, name string) ([]string, error) {
	src, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// forbids says why a file of package pkg may not import the given path, or returns "".
func forbids(pkg, imported string, test bool) string {
	if imported+"/" == module {
		if pkg == "." { // examples
			return ""
		}
		return forbidsOurs(pkg, ".")
	}
	ours, isOurs := strings.CutPrefix(imported, module)
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs && test:
		return "" // a test sets things side by side that do not know each other
	case isOurs:
		return forbidsOurs(pkg, ours)
	case strings.Contains(first, "."):
		return forbidsOthers(pkg, imported, test)
	}
	return "" // the standard library
}

func forbidsOurs(pkg, imported string) string {
	at := layer(imported)
	switch {
	case at < 0:
		return "it is not in the table of layers"
	case at >= layer(pkg):
		return "it does not stand below"
	case slices.Contains(testOnly, pkg):
		return ""
	case slices.Contains(testOnly, imported):
		return "it is for tests only"
	}
	for _, n := range never {
		if within(pkg, n.importers) && within(imported, n.imported) {
			return n.why
		}
	}
	return ""
}

func forbidsOthers(pkg, imported string, test bool) string {
	for _, o := range others {
		if within(imported, []string{o.module}) {
			if o.test && !test && !slices.Contains(testOnly, pkg) {
				return "it is for tests only"
			}
			if within(pkg, o.who) {
				return ""
			}
			return "only " + strings.Join(o.who, ", ") + " may"
		}
	}
	return "the module is not in the table"
}

// layer returns the line of a package in the table, or -1.
func layer(pkg string) int {
	return slices.IndexFunc(layers, func(line []string) bool { return slices.Contains(line, pkg) })
}

// within reports whether a path is one of those given, or below one.
func within(p string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return p == root || strings.HasPrefix(p, root+"/") })
}

// The checker is worth what it finds: each import is planted in an otherwise sound tree.
func TestArchitectureFindsImports(t *testing.T) {
	for _, c := range []struct{ file, imports, want string }{
		{"model/machine.go", "model/unit", ""},
		{"model/unit/time.go", "model", "it does not stand below"},
		{"impl/loop/loop.go", "impl/device", ""},
		{"impl/loop/loop.go", "impl/hw", "it does not stand below"},
		{"impl/hw/world.go", "impl/sim", ""},
		{"impl/hw/world.go", "impl/match", "hardware does not know what it carries"},
		{"impl/loop/loop.go", "impl/mpi", "it does not stand below"},
		{"impl/loop/loop.go", "impl/device/devicetest", "it does not stand below"},
		{"impl/world/world.go", "impl/device/devicetest", "it is for tests only"},
		{"impl/programs/sort.go", "impl/engine/enginetest", "it does not stand below"},
		{"cmd/loggp/main.go", "impl/engine/enginetest", "it is for tests only"},
		{"impl/engine/enginetest/worlds.go", "impl/hw", ""},
		{"impl/engine/enginetest/worlds.go", "impl/world", "it does not stand below"},
		{"impl/loop/loop_test.go", "impl/device/devicetest", ""},
		{"impl/proto/engine.go", "impl/device", ""},
		{"impl/proto/engine.go", "impl/sim", "the library cannot know whether time is virtual"},
		{"impl/mpi/comm.go", "impl/loop", "the library cannot know whether time is virtual"},
		{"impl/mpi/everywhere_test.go", "impl/loop", ""},
		{"impl/mpi/comm.go", "impl/engine", ""},
		{"impl/mpi/comm.go", "impl/proto", "the interface cannot know which engine carries its messages"},
		{"impl/engine/rank.go", "impl/proto", "it does not stand below"},
		{"impl/shm/shm.go", "impl/launch", ""},
		{"impl/shm/shm.go", "impl/machine", ""},
		{"impl/machine/facts.go", "impl/device", "it does not stand below"},
		{"impl/shm/shm.go", "impl/match", "hardware does not know what it carries"},
		{"impl/tcp/tcp.go", "impl/auth", ""},
		{"impl/shm/shm.go", "impl/auth", "connections from other hosts are for what runs between hosts"},
		{"impl/shm/shm.go", "impl/datatype", "hardware does not know what it carries"},
		{"impl/reduction/reduction.go", "impl/datatype", ""},
		{"impl/datatype/make.go", "impl/device", "it does not stand below"},
		{"impl/reduction/reduction.go", "impl/device", "matching and data need nothing of ours"},
		{"impl/proto/engine.go", "impl/datatype", "the engine moves bytes and knows no more of them"},
		{"impl/programs/sort.go", "impl/datatype", ""},
		{"impl/programs/sort.go", "impl/device", "programs and what measures see the public interface only"},
		{"impl/tcp/tcp.go", "impl/shm", "it does not stand below"},
		{"impl/launch/launch.go", "impl/shm", "it does not stand below"},
		{"impl/launch/launch.go", "golang.org/x/sys/unix", ""},
		{"impl/loop/loop.go", "golang.org/x/sys/unix", "only impl/launch, impl/machine, impl/shm, impl/tcp may"},
		{"impl/match/queue.go", "model/unit", "matching and data need nothing of ours"},
		{"microbench/plan.go", "impl/mpi", ""},
		{"microbench/plan.go", "impl/device", "programs and what measures see the public interface only"},
		{"microbench/probe/probe.go", "impl/process", ""},
		{"impl/tcp/tcp.go", "impl/process", "processes are started and ended by launch, and by the probe of a vendor's MPI"},
		{"microbench/probe/probe.go", "impl/launch", "programs and what measures see the public interface only"},
		{"microbench/probe/probe.go", "impl/proto", "programs and what measures see the public interface only"},
		{"microbench/plan.go", "impl/world", "it does not stand below"},
		{"microbench/probe/probe.go", "fit", "no import runs upwards: measuring does not evaluate"},
		{"microbench/probe/probe.go", "reports", "no import runs upwards: measuring does not evaluate"},
		{"microbench/plan.go", "fit/params", "no import runs upwards: measuring does not evaluate"},
		{"reports/paper.go", "cmd/loggp/paper", "it does not stand below"},
		{"cmd/loggp/paper/study.go", "fit", ""},
		{"microbench/sample/read.go", "fit", "it does not stand below"},
		{"impl/world/here.go", "microbench/sample", "no import runs upwards: what is measured does not know the measurement"},
		{"impl/world/here.go", "fit/export", "no import runs upwards: what is measured does not know the measurement"},
		{"impl/versus/doc.go", "microbench", "no import runs upwards: what is measured does not know the measurement"},
		{"fit/fit.go", "microbench/sample", ""},
		{"fit/fit.go", "impl/device", "theory does not depend on the machine"},
		{"fit/fit.go", "model/platform", "the fitter must not see the answers"},
		{"fit/fit.go", "testdata", "the fitter must not see the answers"},
		{"reports/table.go", "model/platform", ""},
		{"reports/table.go", "impl/match", "theory does not depend on the machine"},
		{"cmd/loggp/main.go", "impl/hw", ""},
		{"cmd/loggp/main.go", "impl/common", "it is not in the table of layers"},

		{"fit/line.go", "gonum.org/v1/gonum/stat", ""},
		{"model/line.go", "gonum.org/v1/gonum/stat", ""},
		{"microbench/plan.go", "gonum.org/v1/gonum/stat", "only fit, impl/npb, impl/programs, model may"},
		{"microbench/plan_test.go", "gonum.org/v1/gonum/stat", "only fit, impl/npb, impl/programs, model may"},
		{"reports/chart.go", "gonum.org/v1/plot/vg", ""},
		{"fit/chart.go", "gonum.org/v1/plot", "only reports may"},
		{"cmd/loggp/table.go", "github.com/olekukonko/tablewriter", "only reports may"},
		{"cmd/loggp/main.go", "github.com/spf13/cobra", ""},
		{"reports/table.go", "github.com/spf13/cobra", "only cmd/loggp may"},
		{"model/platform/file.go", "go.yaml.in/yaml/v3", ""},
		{"model/machine.go", "go.yaml.in/yaml/v3", "only cmd/loggp/paper, model/platform may"},
		{"reports/page_test.go", "github.com/chromedp/chromedp", ""},
		{"reports/pagetest/browser.go", "github.com/chromedp/chromedp", ""},
		{"reports/page.go", "github.com/chromedp/chromedp", "it is for tests only"},
		{"fit/fit_test.go", "github.com/chromedp/chromedp", "only reports may"},
		{"model/machine.go", "github.com/someone/something", "the module is not in the table"},
		{"model/machine.go", "math/rand/v2", ""},
	} {
		imported := c.imports
		if layer(imported) >= 0 || strings.HasPrefix(imported, "impl/") {
			imported = module + imported
		}
		want := ""
		if c.want != "" {
			want = fmt.Sprintf("%s: %s may not import %s: %s", c.file, path.Dir(c.file), imported, c.want)
		}
		plant(t, c.file, fmt.Sprintf("package p\n\nimport (\n\t\"fmt\"\n\t_ %q\n)\n", imported), want)
	}
	plant(t, "impl/common/common.go", "package common\n", "impl/common/common.go: package impl/common is not in the table of layers")
	plant(t, "docs/x_test.go", "package docs\n", "docs/x_test.go: package docs is not in the table of layers")
	plant(t, ".git/x.go", "package git\n", "")
	plant(t, "_old/x.go", "package old\n", "")
}

// Files are counted without tests. A package of the list may have as many as stand there.
func TestArchitectureCountsFiles(t *testing.T) {
	for _, c := range []struct {
		pkg   string
		files int
		want  string
	}{
		{"impl/loop", maxFiles, ""},
		{"impl/loop", maxFiles + 1, "impl/loop: 16 files without tests, and at most 15 are allowed: merge small ones, or make a package of some"},
		{"cmd/loggp", 100, ""},
		{"cmd/loggp", 101, "cmd/loggp: 101 files without tests, and at most 100 are allowed: merge small ones, or make a package of some"},
	} {
		tree := fstest.MapFS{}
		for i := range c.files {
			tree[fmt.Sprintf("%s/f%d.go", c.pkg, i)] = &fstest.MapFile{Data: []byte("package p\n")}
			tree[fmt.Sprintf("%s/f%d_test.go", c.pkg, i)] = &fstest.MapFile{Data: []byte("package p\n")}
		}
		found, err := violations(tree)
		if got := strings.Join(found, "; "); err != nil || got != c.want {
			t.Errorf("%d files in %s: found %q, %v, want %q", c.files, c.pkg, got, err, c.want)
		}
	}
}

// Exceptions that are no longer needed go.
func TestExceptionsAreNeeded(t *testing.T) {
	for pkg := range moreFiles {
		files, err := fs.Glob(os.DirFS("."), path.Join(pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
		if len(files) <= maxFiles {
			t.Errorf("%s has %d files: remove its row from moreFiles", pkg, len(files))
		}
	}
}

// plant puts a file into a tree without violations and checks that exactly the one wanted is found, or none if that is "".
func plant(t *testing.T, file, src, want string) {
	t.Helper()
	tree := fstest.MapFS{
		"model/model.go":     {Data: []byte("package model\n\nimport _ \"" + module + "model/unit\"\n")},
		"reports/reports.go": {Data: []byte("package reports\n\nimport _ \"" + module + "fit\"\n")},
		"README.md":          {Data: []byte("# loggp\n")},
	}
	tree[file] = &fstest.MapFile{Data: []byte(src)}
	found, err := violations(tree)
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
	if got := strings.Join(found, "; "); got != want {
		t.Errorf("%s: found %q, want %q", file, got, want)
	}
}
