package paper

import (
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/testdata"
)

// docs/papers.md lists the files of a paper and the keys of paper.yaml, docs/paper-benchmarks.md
// the benchmarks and the quantities.
func TestDocs(t *testing.T) {
	page := ""
	for _, name := range []string{"papers.md", "paper-benchmarks.md"} {
		b, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		page += string(b)
	}
	want := func(name, what string) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/papers.md does not list %s %s", what, name)
		}
	}
	for _, x := range []any{Paper{}, Subject{}, Experiment{}, Artefact{}, derivedColumn{}, TableRule{}, thresholdText{}, CurveRule{}, TimelinePicture{}, Choice{}, Claim{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(x)) {
			if tag := f.Tag.Get("yaml"); f.IsExported() && tag != "-" && tag != ",inline" {
				name := tag
				if name == "" {
					name = strings.ToLower(f.Name)
				}
				want(name, "the key")
			}
		}
	}
	for name, b := range papers.Benchmarks {
		want(name, "the benchmark")
		for _, quantities := range []map[string]int{b.Numbers, fittedQuantities[name]} {
			for q := range quantities {
				want(q, "the quantity")
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
	for _, name := range []string{"claims.csv", "figures.csv", "facts.csv", "contradictions.csv", "*.csv"} {
		want(name, "the file")
	}
}
