package paper

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/testdata"
)

// docs/papers.md lists the files of a paper and the benchmarks. Comments of package papers, and of
// the file that fits parameters, name each quantity.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../../docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	want := func(name, what string) {
		if !strings.Contains(string(b), "`"+name+"`") {
			t.Errorf("docs/papers.md does not list %s %s", what, name)
		}
	}
	comments := commentsOf(t, "../../../microbench/papers/*.go", "fit.go")
	for name, b := range papers.Benchmarks {
		want(name, "the benchmark")
		for _, quantities := range []map[string]int{b.Numbers, b.Texts, fittedQuantities[name]} {
			for q := range quantities {
				if !regexp.MustCompile(`\b` + q + `\b`).MatchString(comments) {
					t.Errorf("no comment names the quantity %s of %s", q, name)
				}
			}
		}
	}
	entries, err := fs.ReadDir(testdata.Published, "altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, rest, _ := strings.Cut(e.Name(), "."); rest != "csv" {
			want(e.Name(), "the file")
		}
	}
	for _, name := range []string{"claims.csv", "figures.csv", "facts.csv", "contradictions.csv", "blind.csv", "*.csv"} {
		want(name, "the file")
	}
}

// commentsOf returns the comments of Go files, without those of tests.
func commentsOf(t *testing.T, patterns ...string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if _, comment, ok := strings.Cut(line, "//"); ok {
					all.WriteString(comment)
				}
			}
		}
	}
	return all.String()
}
