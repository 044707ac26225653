package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// program is one line of a testlist.
type program struct {
	folder, name   string
	ranks          int
	arguments      []string
	environment    []string      // NAME=VALUE
	timeLimit      time.Duration // 0: not given
	endsWithError  bool          // a nonzero exit status is expected
	printsNoErrors bool          // it prints "No Errors" even if it ends with an error
}

// defaultRanks is the number of ranks if the line has none.
const defaultRanks = 2

// languages are the compiler verbs of loggp, with the suffixes of their sources.
var languages = []struct {
	verb string
	ends []string
}{
	{"cc", []string{".c"}},
	{"c++", []string{".cxx", ".cpp", ".cc"}},
	{"fc", []string{".f", ".f90"}},
}

// readFolder returns the programs of a folder's testlist and of those in its subfolders.
func readFolder(folder string) ([]program, error) {
	path := filepath.Join(folder, "testlist")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []program
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		words := strings.Fields(line)
		if below := filepath.Join(folder, words[0]); isFolder(below) {
			programs, err := readFolder(below)
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%s:%d: %w", path, number, err)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, programs...)
			continue
		}
		p, err := parseProgram(folder, words)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// parseProgram parses a line. It ignores options of MPICH's suite that do not affect how a program
// runs or passes, because a suite may have others.
func parseProgram(folder string, words []string) (program, error) {
	p := program{folder: folder, name: words[0], ranks: defaultRanks}
	for i, word := range words[1:] {
		key, value, isOption := strings.Cut(word, "=")
		if !isOption {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || i > 0 {
				return p, fmt.Errorf("%q is not a number of ranks", word)
			}
			p.ranks = n
			continue
		}
		switch key {
		case "arg":
			p.arguments = append(p.arguments, value)
		case "env":
			p.environment = append(p.environment, value)
		case "timeLimit":
			seconds, err := strconv.Atoi(value)
			if err != nil || seconds < 1 || seconds > 1e6 {
				return p, fmt.Errorf("timeLimit=%s: it is a number of seconds", value)
			}
			p.timeLimit = time.Duration(seconds) * time.Second
		case "resultTest":
			p.endsWithError = slices.Contains([]string{"TestStatus", "TestErrFatal", "TestStatusNoErrors"}, value)
			p.printsNoErrors = value == "TestStatusNoErrors"
			if !p.endsWithError && value != "TestNormal" {
				return p, fmt.Errorf("resultTest=%s is not known", value)
			}
		}
	}
	return p, nil
}

// readMakefile returns the variables of a folder's Makefile.am, from which MPICH's suite is built.
func readMakefile(folder string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "Makefile.am"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	variables := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if name, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "\t") {
			variables[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return variables, nil
}

// definitions returns the macros (-D) with which the folder's Makefile.am compiles a program.
func (p program) definitions(makefile map[string]string) []string {
	return slices.DeleteFunc(strings.Fields(makefile[p.name+"_CPPFLAGS"]+" "+makefile[p.name+"_CFLAGS"]), func(word string) bool {
		return !strings.HasPrefix(word, "-D")
	})
}

// sourceNames returns the names of a program's source files: those in the folder's Makefile.am, or
// the file with the program's name.
func (p program) sourceNames(makefile map[string]string) []string {
	if names := strings.Fields(makefile[p.name+"_SOURCES"]); len(names) > 0 {
		return names
	}
	for _, l := range languages {
		for _, end := range l.ends {
			if _, err := os.Stat(filepath.Join(p.folder, p.name+end)); err == nil {
				return []string{p.name + end}
			}
		}
	}
	return nil
}

// sources returns the compiler verb and the source files of a program, including support files in
// its language. A program in several languages is linked by the compiler of the last in the list.
func (p program) sources(makefile map[string]string, support []string) (verb string, files []string, err error) {
	var ends []string
	names := p.sourceNames(makefile)
	for _, l := range languages {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(l.ends, filepath.Ext(name)) }) {
			verb, ends = l.verb, l.ends
		}
	}
	if verb == "" {
		return "", nil, fmt.Errorf("there is no source %s of C, C++ or Fortran", filepath.Join(p.folder, p.name))
	}
	for _, name := range names {
		if filepath.Ext(name) != ".h" {
			files = append(files, filepath.Join(p.folder, name))
		}
	}
	for _, s := range support {
		if slices.Contains(ends, filepath.Ext(s)) {
			files = append(files, s)
		}
	}
	return verb, files, nil
}
