package loggp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	testFlag     = regexp.MustCompile(`flag\.\w+\("([\w-]+)"`)
)

// Every line of the Makefile that runs some tests names tests and flags that its packages have: a
// pattern that matches none would succeed.
func TestMakefileNamesTests(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		_, command, found := strings.Cut(line, "go test ")
		words := strings.Fields(strings.TrimRight(strings.ReplaceAll(command, "'", ""), ")\n"))
		at := slices.Index(words, "-run")
		if !found || at < 0 || words[at+1] == "^$$" {
			continue
		}
		lines++
		tests, flags := declaredTests(t, words[:at])
		for _, name := range strings.Split(strings.Split(words[at+1], "/")[0], "|") {
			pattern := regexp.MustCompile(strings.ReplaceAll(name, "$$", "$"))
			if !slices.ContainsFunc(tests, pattern.MatchString) {
				t.Errorf("no test is called %s: %s", name, line)
			}
		}
		for _, word := range words[at+2:] {
			if name, ok := strings.CutPrefix(word, "-"); ok && !slices.Contains(flags, name) {
				t.Errorf("no flag is called %s: %s", word, line)
			}
		}
	}
	if lines < 10 {
		t.Errorf("%d lines with -run were found", lines)
	}
}

// declaredTests returns the names of the tests of packages, and of their flags and those of the
// helpers that they import.
func declaredTests(t *testing.T, packages []string) (tests, flags []string) {
	t.Helper()
	for _, dir := range append([]string{"./impl/engine/enginetest", "./reports/pagetest"}, packages...) {
		pattern, deep := strings.CutSuffix(dir, "/...")
		if !strings.HasPrefix(dir, ".") {
			continue // a flag of go test
		}
		files, _ := filepath.Glob(pattern + "/*.go")
		if deep {
			below, _ := filepath.Glob(pattern + "/*/*.go")
			files = append(files, below...)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range testFunction.FindAllSubmatch(text, -1) {
				tests = append(tests, string(m[1]))
			}
			for _, m := range testFlag.FindAllSubmatch(text, -1) {
				flags = append(flags, string(m[1]))
			}
		}
	}
	return tests, flags
}
