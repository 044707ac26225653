package paper

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/study"
)

// invented is a small paper with a table that has a missing value, a figure, and claims of each
// verdict.
var invented = map[string]string{
	"paper.yaml": `title: Toys, measured again
source: 'A. Author: Toys, 1999'
subjects:
  - {id: t3d, name: Torus, platform: t3d, library: chimp, place: inter, decides: true}
  - {id: intra, name: Crossbar, platform: convex, library: mpich, place: intra, beside: true}
lists:
  sizes: [16, 1000, 10000]
experiments:
  - {benchmark: timers, subject: t3d, modes: [isend, ssend, send], sizes: sizes, reps: 10}
  - {benchmark: timers, subject: intra, modes: [isend, ssend], sizes: sizes, reps: 10}
  - {benchmark: idle-peer, subject: t3d, sizes: [16]}
quantities:
  - ratio(k) = o_s(t3d, isend, k) / o_s(intra, isend, k)
artefacts:
  - id: table-1
    caption: Overheads
    file: table-1-overheads.csv
    key: [machine]
    not_measured: [sold]
    contradictions: contradictions.csv
    rows:
      - {value: small_us, subject: '{machine}', mode: isend, parameter: o_s, bytes: '16', cell: 'o_s(s, mode, k)', note: '{note}'}
      - {value: large_us, subject: '{machine}', mode: isend, parameter: o_s, bytes: '10000', cell: 'o_s(s, mode, k)'}
  - id: table-2
    caption: Calls
    file: table-2-calls.csv
    subjects: [Torus]
    rows:
      - {value: ends, mode: '{call}', parameter: ends, sizes: [16], cell: 'returns(s, mode, k)', open: '?', differs: It waits.,
         below: {limit: 500000, is: local, else: non-local, reads: after}}
  - id: figure-7
    words: [The picture is lost.]
    lines:
      - {subjects: [t3d, intra], modes: [isend], sizes: sizes, parameter: o_s, cell: 'o_s(s, mode, k)', curve: '{subject} {mode}'}
      - {subjects: [t3d], modes: [isend], parameter: rate, unit: MB/s, cell: '10000 / o_s(s, mode, 10000)', curve: '{subject} {mode}', at: 10000}
claims:
  - {id: T-1, check: 'all(k, sizes, ratio(k) > 2)'}
  - {id: T-2, check: 'ratio(16) < 1'}
  - {id: T-3, check: 'ratio(16) >= ratio(16)'}
  - {id: T-4, contradicted: 'Table 1 says otherwise.'}
  - {id: T-5, not_applicable: 'There is no such machine.'}
  - {id: T-6, check: 'o_s(s, isend, 16) < 10', otherwise: 'Memory is near.'}
  - {id: T-7, check: 'o_s(t3d, bsend, 16) > 0'}
  - {id: T-8, check: '1 < 2', by_construction: 'Arithmetic.'}
  - {id: AM-07, check: 'ratio(16) > 1'}
  - id: T-9
    check: |
      ratio(16) > 1
      && o_s(t3d, ssend, 16) > o_s(t3d, isend, 16)
`,
	"table-1-overheads.csv": "machine,small_us,large_us,sold,note\nTorus,30,NA,5,printed twice\nCrossbar,2,20,9,\n",
	"table-2-calls.csv":     "call,ends\nsend,?\nssend,local\nisend,local\n",
	"contradictions.csv":    "table,machine,against,contradiction\ntable-1,Crossbar,number,It cannot be.\n",
	"figures.csv":           "figure,caption,x_axis,y_axis,what_can_be_checked\n7,overheads,bytes,us,order\n",
	"claims.csv":            "id,system,claim,where,how_to_check\nT-1,x,far,1,ratio\nT-2,x,near,1,ratio below 1\nT-3,x,same,1,=\nT-4,x,odd,1,?\nT-5,x,gone,1,?\nT-6,x,cheap,1,?\nT-7,x,unmeasured,1,?\nT-8,x,sums,1,?\nT-9,x,both,1,?\nAM-07,x,fitted,1,?\n",
}

// write lays the files of a paper into a folder, with some text replaced.
func write(t *testing.T, files map[string]string, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "toys"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "toys", name), []byte(strings.Replace(text, old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A paper is a folder: nothing else is needed to run its experiments, set published values beside
// them and judge its claims.
func TestInventedPaper(t *testing.T) {
	dir := os.DirFS(write(t, invented, "", ""))
	if all, err := List(dir); err != nil || !slices.Equal(all, []string{"toys"}) {
		t.Fatalf("%v, %v", all, err)
	}
	p, err := Read(dir, "toys")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Reproduce(t.Context(), Options{Seed: 1, Noise: -1})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"table-1 t3d isend o_s 16 30 shown:false again:false validation", // its name is fitted to by no platform
		"table-1 t3d isend o_s 10000 NaN shown:true again:false shown",
		"table-1 convex isend o_s 16 2 shown:false again:false contradicted",
		"table-1 convex isend o_s 10000 20 shown:false again:false contradicted",
		"table-2 t3d send ends 16 ?|local shown",
		"table-2 t3d ssend ends 16 local|non-local validation differs It waits.",
		"table-2 t3d isend ends 16 local|local validation agrees",
		"figure-7 t3d isend o_s 16 30 shown:false again:true validation",
		"figure-7 t3d isend o_s 1000 NaN shown:true again:false shown",
		"figure-7 t3d isend o_s 10000 NaN shown:true again:false shown",
		"figure-7 convex isend o_s 16 2 shown:false again:true contradicted",
		"figure-7 convex isend o_s 1000 NaN shown:true again:false shown",
		"figure-7 convex isend o_s 10000 20 shown:false again:true contradicted",
		"figure-7 t3d isend rate -1 NaN shown:true again:false shown",
	}
	var got []string
	for _, a := range s.Artefacts {
		for _, r := range a.Rows {
			line := fmt.Sprint(a.ID, " ", r.Platform, " ", r.Mode, " ", r.Parameter, " ", r.Bytes, " ")
			if r.Text[0] != "" {
				found, _, _ := strings.Cut(r.Text[1], ":")
				got = append(got, strings.TrimSpace(fmt.Sprint(line, r.Text[0], "|", found, " ", r.Basis, " ", r.Agreement, " ", r.Note)))
				continue
			}
			if !(r.Measured > 0) || !(r.MeasuredLow <= r.Measured) || !(r.Predicted > 0) {
				t.Errorf("%s: measured %v, predicted %v", line, r.Measured, r.Predicted)
			}
			got = append(got, fmt.Sprint(line, r.Low, " shown:", r.Basis == study.BasisUnpublished, " again:", r.IsRepeated, " ", r.Basis))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := s.Artefacts[0].Rows; r[0].Note != "Printed twice." || r[2].Note != "It cannot be." || r[0].Source != "Table 1" {
		t.Errorf("%+v, %+v", r[0], r[2])
	}
	curves := map[string]int{}
	for _, c := range s.Artefacts[2].Curves {
		curves[c.Kind+" "+c.Name] = len(c.Points)
	}
	if fmt.Sprint(curves) != "map[measured Crossbar isend:3 measured Torus isend:3 predicted Crossbar isend:3 predicted Torus isend:3 published Crossbar isend:2 published Torus isend:1]" {
		t.Errorf("%v", curves)
	}
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }
	rows := s.Artefacts[0].Rows
	if want := []study.Table{
		{Name: "table-1-overheads.csv", Columns: append([]string{"machine", "small_us", "large_us", "sold", "note"}, comparisonColumns("small_us", "large_us")...), Rows: [][]string{
			slices.Concat([]string{"Torus", text(rows[0].Measured), text(rows[1].Measured), "NA", "printed twice"}, rows[0].Comparison(), rows[1].Comparison()),
			slices.Concat([]string{"Crossbar", text(rows[2].Measured), text(rows[3].Measured), "NA", ""}, rows[2].Comparison(), rows[3].Comparison())}},
		{Name: "table-2-calls.csv", Columns: []string{"call", "ends"}, Rows: [][]string{{"send", "local"}, {"ssend", "non-local"}, {"isend", "local"}}},
	}; !reflect.DeepEqual(s.Tables, want) {
		t.Errorf("tables\n%q\nwant\n%q", s.Tables, want)
	}
	for _, seed := range []uint64{1, 2} {
		again, err := p.Reproduce(t.Context(), Options{Seed: seed, Noise: -1})
		if err != nil {
			t.Fatal(err)
		}
		if same := reflect.DeepEqual(again.Tables, s.Tables); same != (seed == 1) {
			t.Errorf("with seed %d it is %v that the tables are those of seed 1", seed, same)
		}
	}
	verdicts := map[string]string{}
	for _, c := range s.Claims {
		verdicts[c.ID] = c.Verdict + " " + c.Basis
	}
	for id, want := range map[string]string{"T-1": "holds nothing fitted", "T-2": "fails nothing fitted", "T-3": "undecided nothing fitted", "T-4": "contradicted ", "T-5": "not_applicable ",
		"T-6": "fails nothing fitted", "T-7": "not_applicable ", "T-8": "holds true by construction", "T-9": "holds nothing fitted", "AM-07": "holds fitted numbers"} {
		if verdicts[id] != want {
			t.Errorf("%s: %s, want %s", id, verdicts[id], want)
		}
	}
	if note := s.Claims[5].Note; !strings.Contains(note, "decided on Torus: on Crossbar the numbers say otherwise. Memory is near.") {
		t.Errorf("T-6: %s", note)
	}
	if rows := p.Published(); len(rows) != 3 || rows[0].Quantity != "o_s" || rows[0].Library != "chimp" || !rows[1].IsImpossible {
		t.Errorf("%+v", rows)
	}
}

// comparisonColumns are the columns that follow those of a published table.
func comparisonColumns(of ...string) (all []string) {
	for _, c := range of {
		for _, suffix := range study.ComparisonSuffixes {
			all = append(all, c+suffix)
		}
	}
	return all
}

// A paper may have no experiment that gives samples, and no published values yet: its table has
// what was measured.
func TestNothingPublished(t *testing.T) {
	dir := write(t, map[string]string{
		"paper.yaml": `title: Calls
source: 'A. Author: Calls, 2001'
subjects: [{id: t3d, name: Torus, platform: t3d, place: inter}]
experiments: [{benchmark: idle-peer, subject: t3d, sizes: [16]}]
artefacts:
  - id: table-4.6
    caption: Calls
    file: table-4.6-calls.csv
    rows: [{value: time_us, subject: '{machine}', mode: '{call}', parameter: time, bytes: '16', cell: 'returns(s, mode, k)'}]
`,
		"table-4.6-calls.csv": "machine,call,time_us\nTorus,bsend,NA\nTorus,ssend,NA\nTorus,tsend,NA\n",
		"claims.csv":          "id,system,claim,where,how_to_check\n",
	}, "", "")
	p, err := Read(os.DirFS(dir), "toys")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Reproduce(t.Context(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows := s.Tables[0].Rows
	bsend, _ := strconv.ParseFloat(rows[0][2], 64)
	ssend, _ := strconv.ParseFloat(rows[1][2], 64)
	if s.Tables[0].Name != "table-4.6-calls.csv" || !(bsend > 1 && bsend < 1000 && ssend > 1e6) || rows[2][2] != "NA" {
		t.Errorf("%+v", s.Tables)
	}
	for i, r := range s.Artefacts[0].Rows {
		if r.Basis != study.BasisUnpublished || !math.IsNaN(r.Low) || math.IsNaN(r.Measured) != (i == 2) {
			t.Errorf("%+v", r)
		}
	}
}

// What is wrong with a paper is said with file, line and, in an expression, column.
func TestBrokenPaper(t *testing.T) {
	for _, x := range []struct{ old, new, want string }{
		{"check: 'ratio(16) < 1'", "check: 'ratio(16) < one'", `toys/paper.yaml:38:35: there is no variable "one"`},
		{"&& o_s(t3d, ssend, 16)", "&& p_s(t3d, ssend, 16)", `toys/paper.yaml:49:10: there is no quantity "p_s"`},
		{"ratio(k) = o_s(t3d", "ratio(k) = o_s[t3d", "toys/paper.yaml:13:33: expected ']', found ')'"},
		{"ratio(k) = o_s(t3d", "ratio = o_s(t3d", "toys/paper.yaml:13:5: a definition is name(parameters) = expression"},
		{"check: '1 < 2'", "check: '1 + 2'", "toys/paper.yaml:44:23: a check is a condition, not a number"},
		{", decides: true", "", "toys/paper.yaml:42:23: it names no subject, and no subject decides"},
		{"bytes: '10000'", "bytes: '{much}'", "toys/table-1-overheads.csv:2: there is no column {much}"},
		{"not_measured: [sold]", "not_measured: [lost]", `toys/paper.yaml: table-1-overheads.csv has no column "lost"`},
		{"Torus,30,NA,5", "Torus,30,NA", `toys/table-1-overheads.csv:2:26: column "note" is missing: a row has 5 columns, this one 4`},
		{"Torus,30,NA", "Torus,few,NA", `toys/table-1-overheads.csv:2: column small_us: "few" is neither a number nor NA`},
		{"Torus,30,NA", "Mesh,30,NA", `toys/table-1-overheads.csv:2: there is no subject "Mesh"`},
		{"value: large_us", "value: large", `toys/table-1-overheads.csv:2: there is no column "large"`},
		{"benchmark: idle-peer", "benchmark: idle", `toys/paper.yaml: there is no benchmark "idle": there is access, aclmpl, idle-peer, interface, messages, npb, pairs, patterns, ping-pong, planning, posted, programs, routes, routines, sequences, timers`},
		{"subject: intra, modes", "subject: cray, modes", `toys/paper.yaml: experiment 2 is of "cray", which is no subject`},
		{"sizes: sizes, reps: 10}", "sizes: few, reps: 10}", `toys/paper.yaml: there is no list "few"`},
		{"  - {id: T-1, check: 'all(k, sizes, ratio(k) > 2)'}\n", "", "toys/claims.csv:2: paper.yaml has no check for claim T-1"},
		{"{id: T-4, contradicted: 'Table 1 says otherwise.'}", "{id: T-4, function: none}", `toys/paper.yaml: claim T-4 has no check, and no function "none"`},
		{"id: T-5", "id: T-55", `toys/paper.yaml: claims.csv has no claim "T-55"`},
		{"figure-7", "figure-8", `toys/figures.csv has no figure "8"`},
		{", cell: '10000 / o_s(s, mode, 10000)'", "", `toys/paper.yaml: figure-7: the line of "rate" has no cell`},
		{", cell: 'returns(s, mode, k)'", "", `toys/paper.yaml: table-2: what answers to "ends" is either a cell or a text`},
		{"title:", "name:", "toys/paper.yaml: yaml: unmarshal errors:\n  line 1: field name not found in type paper.Paper"},
	} {
		_, err := Read(os.DirFS(write(t, invented, x.old, x.new)), "toys")
		if err == nil || err.Error() != x.want {
			t.Errorf("%s: %v, want %s", x.new, err, x.want)
		}
	}
	if _, err := Read(os.DirFS(write(t, invented, "", "")), "boys"); err == nil || err.Error() != `there is no paper "boys"; did you mean toys? There is toys` {
		t.Error(err)
	}
}

// quick is the whole paper with few repetitions and no noise.
func quick(t *testing.T) *study.Study {
	t.Helper()
	if testing.Short() {
		t.Skip("measures all platforms")
	}
	quickly.Do(func() {
		most := 0
		quickStudy, quickErr = read(t).Reproduce(context.Background(), Options{Seed: 1, Reps: 2, Progress: func(done, of int) {
			progress.Lock()
			defer progress.Unlock()
			if quickTotal != 0 && of != quickTotal {
				t.Errorf("of %d, then of %d", quickTotal, of)
			}
			most, quickTotal = max(most, done), of
		}})
		if quickErr == nil && (most != quickTotal || most == 0) {
			t.Errorf("the progress ends at %d of %d", most, quickTotal)
		}
	})
	if quickErr != nil {
		t.Fatal(quickErr)
	}
	return quickStudy
}

var (
	quickly    sync.Once
	progress   sync.Mutex
	quickStudy *study.Study
	quickErr   error
	quickTotal int
)

// Claims about medians of four samples say that there is no interval, and what gives one.
func TestFewRepetitionsHaveNoInterval(t *testing.T) {
	explained := 0
	for _, c := range quick(t).Claims {
		if all := c.Evidence + c.Note; strings.Contains(all, "NaN") || strings.Contains(all, "Inf") {
			t.Errorf("%s: %s", c.ID, all)
		}
		switch without := strings.Contains(c.Evidence, "(no interval)"); {
		case without && strings.Contains(c.Note, "fewer than 5 samples has no interval: use a higher --reps"):
			explained++
		case without && c.Verdict == study.VerdictUndecided && !strings.Contains(c.Note, "--reps"):
			t.Errorf("%s is undecided, and no reason is given: %s", c.ID, c.Note)
		}
	}
	if explained == 0 {
		t.Error("every median of four samples has an interval")
	}
}

// Every number of the tables has a row with what was measured and predicted, and every curve of a
// figure a row for each size.
func TestStudyIsComplete(t *testing.T) {
	s := quick(t)
	counts := map[string]int{}
	for _, a := range s.Artefacts {
		if a.Caption == "" || strings.HasPrefix(a.ID, "figure") && (a.XAxis == "" || a.YAxis == "") {
			t.Errorf("%s has no caption or axis: %+v", a.ID, a)
		}
		for _, r := range a.Rows {
			switch {
			case r.Text != [2]string{}:
				if r.Text[0] == "" || r.Text[1] == "" || r.Source == "" {
					t.Errorf("%s: %+v", a.ID, r)
				}
			case strings.HasPrefix(r.Parameter, "1/") && math.IsNaN(r.Measured+r.Predicted): // of bandwidth there may be none
			case !(r.Measured > 0) || !(r.Predicted > 0) || math.IsInf(r.Measured+r.Predicted, 0):
				t.Errorf("%s, %s %s %s %s at %d B: measured %v, predicted %v", a.ID, r.Platform, r.Place, r.Mode, r.Parameter, r.Bytes, r.Measured, r.Predicted)
			}
			if r.Basis != study.BasisUnpublished && r.Basis != compare.CalibrationBasis {
				counts[a.ID+" published"]++
			}
		}
		counts[a.ID] = len(a.Rows)
		for _, x := range s.Tables {
			if strings.HasPrefix(x.Name, a.ID+"-") {
				counts[a.ID+" lines"] = len(x.Rows)
			}
		}
		counts[a.ID+" curves"], counts[a.ID+" charts"] = len(a.Curves), len(a.Charts)
	}
	for id, want := range map[string]int{"table-1": 64, "table-1 lines": 64, "table-2 lines": 3, "table-3 lines": 10, "table-4 lines": 7, "table-5 lines": 3, "table-2": 10, "table-3": 18, "table-4": 9, "table-5": 3, "figure-1": 10, "figure-1 charts": 4, "figure-3": 13, "figure-3 charts": 1,
		"figure-4": 4, "figure-4 charts": 1, "figure-5": 12, "figure-5 charts": 2, "figure-6": 38, "figure-6 curves": 6, "figure-7": 38, "figure-7 curves": 6, "figure-8": 76, "figure-8 curves": 10,
		"figure-9": 76, "figure-10": 76, "figure-11": 76, "figure-12": 76, "figure-13": 76, "figure-13 curves": 12, "equations": 9, "table-3 published": 4} {
		if counts[id] != want {
			t.Errorf("%s: %d, want %d", id, counts[id], want)
		}
	}
}

// What is found of protocols and equations is what the paper has; of calls too, but for ready sends
// that wait for a peer to make progress.
func TestStudyOfWords(t *testing.T) {
	differ := 0
	for _, a := range quick(t).Artefacts {
		for _, r := range a.Rows {
			switch {
			case r.Text == [2]string{} || a.ID == "table-2":
			case r.Text[0] == "unspecified":
				if r.Basis != study.BasisUnpublished || r.Agreement != "" {
					t.Errorf("%s on %s, of which the source says nothing: %s, %q", r.Mode, r.Platform, r.Basis, r.Agreement)
				}
			case a.ID == "table-1" && r.Mode == "rsend" && r.Bytes > 16 && r.Agreement == study.WordsDiffer:
				differ++
				if r.Basis != compare.ValidationBasis || !strings.Contains(r.Note, "progress") {
					t.Errorf("%s on %s at %d B is %s: %s", r.Mode, r.Platform, r.Bytes, r.Basis, r.Note)
				}
			case r.Agreement != study.WordsAgree:
				t.Errorf("%s, %s on %s: printed %q, found %q", a.ID, r.Parameter, r.Platform, r.Text[0], r.Text[1])
			}
		}
	}
	if differ != 3 {
		t.Errorf("%d ready sends wait for their peer, want 3", differ)
	}
}

// What a number rests on says the platform's file, and of a number that cannot be right the list of
// contradictions.
func TestBasis(t *testing.T) {
	s := quick(t)
	want := map[string]string{
		"table-3 t3d issend o_s 10000":   compare.CalibrationBasis,
		"table-3 t3d isend o_s 10000":    compare.ValidationBasis,
		"table-3 now send G -1":          study.VerdictContradicted,
		"table-3 now send g 16":          study.BasisUnpublished,
		"table-4 convex  P -1":           study.VerdictContradicted,
		"table-4 convex  H -1":           compare.ValidationBasis,
		"table-5 t3d ssend L -1":         compare.CalibrationBasis,
		"figure-11 t3d send o_r 10000":   compare.ValidationBasis,
		"figure-11 t3d send o_r 5000":    study.BasisUnpublished,
		"figure-13 now send peak 1/G -1": study.VerdictContradicted,
	}
	for _, a := range s.Artefacts {
		for _, f := range a.Rows {
			name := fmt.Sprintf("%s %s %s %s %d", a.ID, f.Platform, f.Mode, f.Parameter, f.Bytes)
			if basis, ok := want[name]; ok {
				delete(want, name)
				if f.Basis != basis || (basis == study.VerdictContradicted) != (f.Note != "" && basis == study.VerdictContradicted) {
					t.Errorf("%s is %s, want %s: %s", name, f.Basis, basis, f.Note)
				}
			}
		}
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
	named := []string{"AM-07", "AM-11", "AM-13", "AM-14", "AM-15", "AM-17", "AM-22"} // by the files of platforms
	for _, c := range s.Claims {
		if want := slices.Contains(named, c.ID); strings.Contains(c.Note, "was fitted to this") != want || want && c.Basis != study.BasisFitted {
			t.Errorf("%s: rests on %q: %s", c.ID, c.Basis, c.Note)
		}
		if want := c.ID == "AM-21" || c.ID == "AM-27"; (c.Basis == study.BasisTrueByConstruction) != want {
			t.Errorf("%s: rests on %q", c.ID, c.Basis)
		}
	}
	for _, x := range s.Claims {
		if x.ID == "AM-25" && !strings.Contains(x.Note, "table-3 T3D L low") {
			t.Errorf("AM-25 compares the timers by which L of the T3D is read, which was fitted: %s", x.Note)
		}
		if x.ID == "AM-18" && (x.Basis != study.BasisFitted || !strings.Contains(x.Note, "table-3 T3D G low")) {
			t.Errorf("AM-18 compares G of the T3D, which was fitted: %s, %s", x.Basis, x.Note)
		}
	}
}
