package paper

import (
	"cmp"
	"encoding/csv"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/testdata"
)

var update = flag.Bool("update", false, "write testdata/numbers.csv anew; the reasons of changed numbers are to be filled in")

// numbersFile is the assumed and fitted numbers of the platforms of papers, as they were last
// examined: the published rows that a number is fitted to, and why it has another value than when
// the list was made.
const numbersFile = "../../../testdata/numbers.csv"

// missingReason stands in the list where a number changed and nothing says why.
const missingReason = "?"

// No number that nobody published changes unnoticed: a commit that gives one another value, basis
// or target changes the list too, and says why. A number that was changed because of a published
// row is fitted to it, and rows that numbers are fitted to prove nothing.
func TestUnpublishedNumbersAreListed(t *testing.T) {
	listed := map[[2]string][]string{}
	if f, err := os.Open(numbersFile); err == nil {
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows[1:] {
			listed[[2]string{r[0], r[1]}] = r
		}
	} else if !*update {
		t.Fatal(err)
	}
	isNew := len(listed) == 0
	out := [][]string{{"platform", "number", "value", "basis", "to", "why"}}
	for _, name := range platformsOfPapers(t) {
		p, err := platform.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Numbers {
			if n.Basis != platform.BasisAssumed && n.Basis != platform.BasisFitted {
				continue
			}
			row := []string{name, n.Path, n.Value, string(n.Basis), strings.Join(n.FittedTo, "; "), ""}
			key := [2]string{name, n.Path}
			was := listed[key]
			delete(listed, key)
			switch {
			case was != nil && slices.Equal(was[2:5], row[2:5]):
				row[5] = was[5]
				if was[5] == missingReason {
					t.Errorf("%s: %s is %s: write in testdata/numbers.csv why it changed", name, n.Path, n.Value)
				}
			case *update && isNew:
			case *update:
				row[5] = missingReason
			case was == nil:
				t.Errorf("%s: %s is %s, %s, and not in testdata/numbers.csv: go test ./cmd/loggp/paper -run Listed -update, and say why", name, n.Path, n.Value, n.Basis)
			default:
				t.Errorf("%s: %s is %q, and in testdata/numbers.csv %q: if a published row was the reason, it is fitted to that row; go test ./cmd/loggp/paper -run Listed -update, and say why", name, n.Path, row[2:5], was[2:5])
			}
			out = append(out, row)
		}
	}
	if *update {
		f, err := os.Create(numbersFile)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := csv.NewWriter(f).WriteAll(out); err != nil {
			t.Fatal(err)
		}
		return
	}
	for key := range listed {
		t.Errorf("%s has no assumed or fitted number %s: go test ./cmd/loggp/paper -run Listed -update", key[0], key[1])
	}
}

// platformsOfPapers are the platforms of all subjects, in order.
func platformsOfPapers(t *testing.T) (names []string) {
	t.Helper()
	papers, err := ReadAll(testdata.Published)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range papers {
		for _, s := range p.Subjects {
			names = append(names, s.Platform)
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return slices.Compact(names)
}
