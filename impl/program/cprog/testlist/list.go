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

// sources returns the compiler verb and the source files of a program, including support files in
// its language.
func (p program) sources(support []string) (verb string, files []string, err error) {
	for _, l := range languages {
		for _, end := range l.ends {
			path := filepath.Join(p.folder, p.name+end)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			files = []string{path}
			for _, s := range support {
				if slices.Contains(l.ends, filepath.Ext(s)) {
					files = append(files, s)
				}
			}
			return l.verb, files, nil
		}
	}
	return "", nil, fmt.Errorf("there is no source %s of C, C++ or Fortran", filepath.Join(p.folder, p.name))
}
