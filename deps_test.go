package loggp_test

import (
	"cmp"
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

// The architecture: which folder may import which. It is read from the sources, because the test
// cache does not notice when the result of go list changes.

const module = "github.com/loggp/loggp/"

// layers are folders, the most basic first. A folder stands for all packages in it and below,
// unless a deeper folder has a line of its own. It may import folders of earlier lines; folders of
// one line do not know each other.
var layers = [][]string{
	{"testdata", "model", "reports/format"},
	{"impl/device", "microbench/sample"},
	{"impl/engine", "impl/hw", "impl/real", "fit"},
	{"impl/library", "reports"},
	{"impl/program"},
	{"microbench"},
	{"impl/job", "impl/versus"},
	{"microbench/papers"},
	{"cmd/loggp/paper"},
	{"cmd/loggp/calibrate"},
	{"."},
	{"cmd/loggp", "docs"},
}

// never are imports that the layers would allow and the design does not.
var never = []struct {
	importers, imported []string
	why                 string
	except              []string // importers that may
}{
	{
		[]string{"impl/library", "impl/program"},
		[]string{"impl/hw", "impl/real"},
		"the library cannot know whether time is virtual",
		nil,
	},
	{
		[]string{"impl/library", "impl/program"},
		foldersIn("impl/engine", "enginetest", "recorder"),
		"the interface cannot know which engine carries its messages",
		nil,
	},
	{
		[]string{"impl/library/aclmpl", "impl/library/multicast", "impl/library/pvm", "impl/library/shmem"},
		[]string{"impl/engine"},
		"it is a library of its own: above device, and beside MPI",
		nil,
	},
	{
		[]string{"impl/engine"},
		[]string{"model/collective"},
		"the engine moves bytes and knows no more of them",
		nil,
	},
	{
		[]string{"impl/engine/match", "impl/library/datatype", "impl/library/reduction"},
		[]string{"model", "impl/device"},
		"matching and data need nothing of ours",
		nil,
	},
	{
		[]string{"impl/real/host", "impl/real/loop", "impl/real/shm"},
		[]string{"impl/real/auth"},
		"connections from other hosts are for jobs that run on several hosts",
		nil,
	},
	{
		[]string{"microbench"},
		[]string{"impl/device", "impl/engine", "impl/hw", "impl/real/auth", "impl/real/launch", "impl/real/loop", "impl/real/shm", "impl/real/tcp", "impl/real/transport"},
		"measuring sees the public interface only",
		[]string{"microbench/papers"}, // papers print times and packets of hardware, too
	},
	{
		[]string{"impl"},
		[]string{"microbench", "fit", "reports"},
		"what is measured does not know the measurement",
		nil,
	},
	{
		[]string{"model", "fit", "reports"},
		[]string{"impl"},
		"theory does not depend on the machine",
		nil,
	},
	{
		[]string{"microbench"},
		[]string{"fit", "reports"},
		"measuring does not evaluate",
		nil,
	},
	{
		[]string{"fit"},
		[]string{"model/platform", "testdata"},
		"the fitter must not see the answers",
		nil,
	},
}

// siblings are packages that do not import each other: networks and engines.
var siblings = [][]string{
	foldersIn("impl/hw", "activity", "core", "hwtest", "sim"),
	foldersIn("impl/engine", "enginetest", "match", "recorder"),
}

// foldersIn returns the folders directly in one, but for those named.
func foldersIn(parent string, except ...string) (folders []string) {
	all, err := os.ReadDir(parent)
	if err != nil {
		panic(err)
	}
	for _, x := range all {
		if x.IsDir() && !slices.Contains(except, x.Name()) {
			folders = append(folders, path.Join(parent, x.Name()))
		}
	}
	return folders
}

// testOnly are packages for test files only. They may import anything.
var testOnly = []string{"cmd/loggp/commandtest", "cmd/loggp/managed", "fit/fittest", "impl/device/devicetest", "impl/engine/enginetest", "impl/hw/hwtest", "impl/real/launch/launchtest", "microbench/probe/probetest", "reports/chart/charttest", "reports/pagetest", "reports/reporttest"}

// others are modules of others, and who may import them, in test files as well.
var others = []struct {
	module string
	who    []string
	test   bool // for test files only
}{
	{"gonum.org/v1/gonum", []string{"fit", "impl/program", "model"}, false},
	{"google.golang.org/protobuf", []string{"model/trace"}, false}, // the wire format of Chakra traces
	{"gonum.org/v1/plot", []string{"reports"}, false},
	{"golang.org/x/image", []string{"reports"}, false}, // the fonts of plot
	{"github.com/olekukonko/tablewriter", []string{"reports"}, false},
	{"github.com/spf13/cobra", []string{"cmd/loggp"}, false},
	{"github.com/spf13/pflag", []string{"cmd/loggp"}, false}, // the flags of cobra
	{"golang.org/x/term", []string{"cmd/loggp"}, false},
	{"golang.org/x/sys", []string{"impl/program/cprog", "impl/real"}, false},                                                        // system calls
	{"golang.org/x/sync", []string{".", "cmd/loggp/calibrate", "fit", "impl/program/cprog/testlist", "microbench", "model"}, false}, // errgroup
	{"go.yaml.in/yaml", []string{"cmd/loggp/paper", "model/platform", "model/training"}, false},
	{"github.com/chromedp/chromedp", []string{"reports"}, true}, // pages in a browser
	{"github.com/chromedp/cdproto", []string{"reports"}, true},  // messages of chromedp
}

func TestArchitecture(t *testing.T) {
	found, sizes, err := violations(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
	// No limit: a dozen or so files are a good size, and a package with many more may hide its
	// structure.
	packages := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	for _, pkg := range packages[:min(5, len(packages))] {
		t.Logf("%s has %d files without tests", pkg, sizes[pkg])
	}
}

// The tables name folders that exist, and modules that go.mod requires.
func TestTablesExist(t *testing.T) {
	names := slices.Concat(slices.Concat(layers...), slices.Concat(siblings...), testOnly)
	for _, n := range never {
		names = slices.Concat(names, n.importers, n.imported, n.except)
	}
	for _, o := range others {
		names = slices.Concat(names, o.who)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			t.Errorf("%s stands in a table and is no folder", name)
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

// violations returns where the sources of a tree break the rules, and how many files without tests
// each package has.
func violations(tree fs.FS) (found []string, sizes map[string]int, err error) {
	sizes = map[string]int{}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.ContainsRune("._", rune(d.Name()[0])) || d.Name() == "testdata" && name != "testdata"): // as the go command does
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		pkg, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
		if !test {
			sizes[pkg]++
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if layer(pkg) < 0 {
			found = append(found, fmt.Sprintf("%s: folder %s is not in the table of layers", name, pkg))
			return nil
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbids(pkg, imported, test); why != "" {
				found = append(found, fmt.Sprintf("%s: %s may not import %s: %s", name, pkg, imported, why))
			}
		}
		return nil
	})
	return found, sizes, err
}

// forbids returns why a file of package pkg may not import the given path, or "".
func forbids(pkg, imported string, test bool) string {
	ours, isOurs := strings.CutPrefix(imported+"/", module)
	ours = cmp.Or(strings.TrimSuffix(ours, "/"), ".")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs && (test || within(pkg, testOnly)):
		return "" // tests set things side by side that do not know each other
	case isOurs:
		return forbidsOurs(pkg, ours)
	case strings.Contains(first, "."):
		return forbidsOthers(pkg, imported, test)
	}
	return "" // the standard library
}

func forbidsOurs(pkg, imported string) string {
	if within(imported, testOnly) {
		return "it is for tests only"
	}
	for _, n := range never {
		if within(pkg, n.importers) && within(imported, n.imported) && !within(pkg, n.except) {
			return n.why
		}
	}
	for _, s := range siblings {
		if within(pkg, s) && within(imported, s) && pkg != imported {
			return "packages of one kind do not know each other"
		}
	}
	switch at := layer(imported); {
	case at < 0:
		return "it is not in the table of layers"
	case at >= layer(pkg) && folder(imported) != folder(pkg):
		return "it does not stand below"
	}
	return ""
}

func forbidsOthers(pkg, imported string, test bool) string {
	for _, o := range others {
		if within(imported, []string{o.module}) {
			switch {
			case o.test && !test && !within(pkg, testOnly):
				return "it is for tests only"
			case !within(pkg, o.who):
				return "only " + strings.Join(o.who, ", ") + " may"
			}
			return ""
		}
	}
	return "the module is not in the table"
}

// folder returns the deepest folder of the table of layers that a package is in, or "".
func folder(pkg string) (deepest string) {
	for _, name := range slices.Concat(layers...) {
		if within(pkg, []string{name}) && len(name) > len(deepest) {
			deepest = name
		}
	}
	return deepest
}

// layer returns the line of a package's folder in the table, or -1.
func layer(pkg string) int {
	return slices.IndexFunc(layers, func(line []string) bool { return slices.Contains(line, folder(pkg)) })
}

// within reports whether a path is one of those given, or below one.
func within(p string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return p == root || strings.HasPrefix(p, root+"/") })
}

// Each import is planted in an otherwise sound tree, and the checker finds it.
func TestArchitectureFindsImports(t *testing.T) {
	for _, c := range []struct{ file, imports, want string }{
		{"model/machine.go", "model/unit", ""},
		{"model/unit/time.go", "fit", "it does not stand below"},
		{"impl/real/loop/loop.go", "impl/device", ""},
		{"impl/real/loop/loop.go", "impl/hw", "it does not stand below"},
		{"impl/real/loop/loop.go", "impl/library/mpi", "it does not stand below"},
		{"impl/real/shm/shm.go", "impl/real/host", ""},
		{"impl/real/shm/shm.go", "impl/real/auth", "connections from other hosts are for jobs that run on several hosts"},
		{"impl/hw/world.go", "impl/hw/sim", ""},
		{"impl/hw/world.go", "impl/engine/match", "it does not stand below"},
		{"impl/hw/torus/torus.go", "impl/hw/ethernet", "packages of one kind do not know each other"},
		{"impl/job/job.go", "impl/device/devicetest", "it is for tests only"},
		{"impl/job/job.go", "microbench/sample", "what is measured does not know the measurement"},
		{"impl/engine/enginetest/worlds.go", "impl/hw", ""},
		{"impl/engine/proto/engine.go", "impl/hw/sim", "it does not stand below"},
		{"impl/engine/proto/engine.go", "impl/engine/queue", "packages of one kind do not know each other"},
		{"impl/engine/proto/engine.go", "model/collective", "the engine moves bytes and knows no more of them"},
		{"impl/engine/match/queue.go", "model/unit", "matching and data need nothing of ours"},
		{"impl/library/mpi/comm.go", "impl/engine", ""},
		{"impl/library/mpi/comm.go", "impl/engine/proto", "the interface cannot know which engine carries its messages"},
		{"impl/library/mpi/comm.go", "impl/real/loop", "the library cannot know whether time is virtual"},
		{"impl/library/mpi/everywhere_test.go", "impl/real/loop", ""},
		{"impl/library/pvm/pvm.go", "impl/engine", "it is a library of its own: above device, and beside MPI"},
		{"microbench/plan.go", "impl/device", "measuring sees the public interface only"},
		{"microbench/plan.go", "impl/job", "it does not stand below"},
		{"microbench/plan.go", "microbench/papers", "it does not stand below"},
		{"microbench/papers/site.go", "impl/job", ""},
		{"microbench/papers/site.go", "impl/device/trace", ""},
		{"microbench/papers/site.go", "fit", "measuring does not evaluate"},
		{"microbench/plan.go", "fit/params", "measuring does not evaluate"},
		{"microbench/sample/read.go", "fit", "measuring does not evaluate"},
		{"fit/fit.go", "impl/device", "theory does not depend on the machine"},
		{"fit/fit.go", "model/platform", "the fitter must not see the answers"},
		{"reports/paper.go", "cmd/loggp/paper", "it does not stand below"},
		{"cmd/loggp/main.go", ".", ""},
		{"measure.go", "impl/job", ""},
		{"measure.go", "cmd/loggp/paper", ""},
		{"measure.go", "github.com/spf13/cobra", "only cmd/loggp may"},

		{"fit/line.go", "gonum.org/v1/gonum/stat", ""},
		{"microbench/plan_test.go", "gonum.org/v1/gonum/stat", "only fit, impl/program, model may"},
		{"reports/page.go", "github.com/chromedp/chromedp", "it is for tests only"},
		{"reports/pagetest/browser.go", "github.com/chromedp/chromedp", ""},
		{"model/machine.go", "github.com/someone/something", "the module is not in the table"},
		{"model/machine.go", "math/rand/v2", ""},
	} {
		imported := c.imports
		if first, _, _ := strings.Cut(imported, "/"); first == "." {
			imported = strings.TrimSuffix(module, "/")
		} else if info, err := os.Stat(first); err == nil && info.IsDir() {
			imported = module + imported
		}
		want := ""
		if c.want != "" {
			want = fmt.Sprintf("%s: %s may not import %s: %s", c.file, path.Dir(c.file), imported, c.want)
		}
		plant(t, c.file, fmt.Sprintf("package p\n\nimport (\n\t\"fmt\"\n\t_ %q\n)\n", imported), want)
	}
	plant(t, "impl/common/common.go", "package common\n", "impl/common/common.go: folder impl/common is not in the table of layers")
	plant(t, "pkg/x_test.go", "package pkg\n", "pkg/x_test.go: folder pkg is not in the table of layers")
	plant(t, ".git/x.go", "package git\n", "")
	plant(t, "_old/x.go", "package old\n", "")
}

// plant puts a file into a tree without violations and checks that exactly the one wanted is found,
// or none if that is "".
func plant(t *testing.T, file, src, want string) {
	t.Helper()
	tree := fstest.MapFS{
		"model/model.go":     {Data: []byte("package model\n\nimport _ \"" + module + "model/unit\"\n")},
		"reports/reports.go": {Data: []byte("package reports\n\nimport _ \"" + module + "fit\"\n")},
		"README.md":          {Data: []byte("# loggp\n")},
	}
	tree[file] = &fstest.MapFile{Data: []byte(src)}
	found, _, err := violations(tree)
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
	if got := strings.Join(found, "; "); got != want {
		t.Errorf("%s: found %q, want %q", file, got, want)
	}
}
