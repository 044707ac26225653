package toolchain

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of functions to docs/c-reference.md")

// chapter is a chapter of the standard and its functions.
type chapter struct {
	title     string
	functions []string
}

func standard(t *testing.T) []chapter {
	text, err := os.ReadFile("../testdata/mpi-4.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []chapter
	for line := range strings.Lines(string(text)) {
		switch title, ok := strings.CutPrefix(line, "## "); {
		case ok:
			all = append(all, chapter{title: strings.TrimSpace(title)})
		case !strings.HasPrefix(line, "#") && len(all) > 0:
			c := &all[len(all)-1]
			c.functions = append(c.functions, strings.Fields(line)...)
		}
	}
	return all
}

// functionTable returns what docs/c-reference.md says of the functions: how many there are, and a
// table of the chapters from which some are missing.
func functionTable(chapters []chapter) string {
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b(MPI_\w+)\(`).FindAllStringSubmatch(Header(), -1) {
		declared[m[1]] = true
	}
	missing := func(name string) bool { return !declared[name] }
	var all []string
	for _, c := range chapters {
		all = append(all, c.functions...)
	}
	var rows strings.Builder
	thereInAll := 0
	for _, c := range chapters {
		there := 0
		var list []string
		for _, f := range c.functions {
			if !missing(f) {
				there++
				continue
			}
			if name := "`" + shorten(f, all, missing) + "`"; !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		if thereInAll += there; there == len(c.functions) {
			continue
		}
		if there == 0 {
			list = []string{"all"}
		}
		fmt.Fprintf(&rows, "| %s | %d of %d | %s |\n", c.title, there, len(c.functions), strings.Join(list, ", "))
	}
	if rows.Len() == 0 {
		return fmt.Sprintf("Programs can call all %d functions of the standard, also the deprecated and the removed ones.\n", thereInAll)
	}
	return fmt.Sprintf("Programs can call %d of the %d functions of the standard:\n\n| chapter | functions | missing |\n|---|---|---|\n", thereInAll, len(all)) + rows.String()
}

// shorten returns the shortest prefix of a name that ends before an underscore and that only
// missing functions have, at least three, or the name itself.
func shorten(name string, all []string, missing func(string) bool) string {
	for i := len("MPI_"); i < len(name); i++ {
		if name[i] != '_' {
			continue
		}
		beginning, n := name[:i+1], 0
		if slices.ContainsFunc(all, func(f string) bool {
			has := strings.HasPrefix(f, beginning)
			if has {
				n++
			}
			return has && !missing(f)
		}) || n < 3 {
			continue
		}
		return beginning + "*"
	}
	return name
}

// docs/c-reference.md contains the table, and functions.txt contains only functions of the
// standard.
func TestTableOfFunctions(t *testing.T) {
	const path, begin, end = "../../../../docs/c-reference.md", "<!-- functions of MPI 4.1 -->\n", "<!-- end -->\n"
	chapters := standard(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("docs/c-reference.md has no table of functions")
	}
	want := functionTable(chapters)
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("the table of functions in docs/c-reference.md is not up to date: go test ./impl/program/cprog/toolchain -update\n%s", want)
	}
	names := map[string]bool{}
	for _, c := range chapters {
		for _, f := range c.functions {
			if names[f] {
				t.Errorf("%s is in two chapters", f)
			}
			names[f] = true
		}
	}
	for _, f := range Functions {
		if f.IsMPI() && !names[f.Name] {
			t.Errorf("%s is no function of MPI 4.1", f.Name)
		}
	}
}

// A prefix stands for functions only if all functions with that prefix are missing.
func TestShorten(t *testing.T) {
	all := []string{"MPI_T_event_a", "MPI_T_event_b", "MPI_T_event_c", "MPI_T_init", "MPI_X_one", "MPI_X_two"}
	missing := func(name string) bool { return name != "MPI_T_init" }
	for name, want := range map[string]string{"MPI_T_event_b": "MPI_T_event_*", "MPI_X_one": "MPI_X_one"} {
		if got := shorten(name, all, missing); got != want {
			t.Errorf("%s is shortened to %s, want %s", name, got, want)
		}
	}
}

// The version of a program depends on each installed file but for those that are generated for
// Fortran, and on each of its own files.
func TestVersionDependsOnInterface(t *testing.T) {
	ofFortran := []string{"mpif.h", "mpi.f90", "mpi_f08.f90", "procedures.h", "aliases.h", "exports"}
	own := interfaceFiles()
	for name, text := range installedFiles() {
		if own[name] != text && !slices.Contains(ofFortran, name) {
			t.Errorf("%s is installed, and does not determine the version", name)
		}
	}
	before := hashFiles(own)
	for name, text := range own {
		own[name] = text + "\n"
		if bytes.Equal(hashFiles(own), before) {
			t.Errorf("a change of %s does not change the version", name)
		}
		own[name] = text
	}
}
