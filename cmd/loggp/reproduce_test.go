package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/calibrate"
	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/reports/study"
)

// studyOptions are the options of a reproduction by which its study can be found.
type studyOptions struct {
	paper string
	seed  uint64
	reps  int
	noise float64
}

// studies are what the experiments of papers gave.
var studies = map[studyOptions]*study.Study{}

// paperOnce runs the experiments of a paper, or returns what they gave before.
func paperOnce(ctx context.Context, p *paper.Paper, o paper.Options) (*study.Study, error) {
	key := studyOptions{p.Name, o.Seed, o.Reps, o.Noise}
	if studies[key] == nil {
		s, err := p.Reproduce(ctx, o)
		if err != nil {
			return nil, err
		}
		studies[key] = s
	}
	s := *studies[key]
	return &s, nil
}

// decided are the assumed numbers that decide published values, by paper and the names of these.
var decided = map[string]map[string]string{}

// decideOnce marks the values that assumed numbers decide. Which they are does not depend on how
// the experiments are run.
func decideOnce(ctx context.Context, p *paper.Paper, s *study.Study) error {
	if decided[p.Name] == nil {
		if err := calibrate.MarkAssumptionDependentValues(ctx, p, s); err != nil {
			return err
		}
		known := map[string]string{}
		decided[p.Name] = known
		for _, a := range s.Artefacts {
			for _, r := range a.Rows {
				if _, numbers, found := strings.Cut(r.Note, "Decided by assumptions: "); found && r.Basis == study.BasisAssumed {
					known[r.PublishedRow] = strings.TrimSuffix(numbers, ".")
				}
			}
		}
	}
	for row, numbers := range decided[p.Name] {
		s.MarkAssumed(row, []string{numbers})
	}
	return nil
}

// Flags say how the experiments are run.
func TestReproduceOptions(t *testing.T) {
	var got paper.Options
	reproducePaper = func(_ context.Context, _ *paper.Paper, o paper.Options) (*study.Study, error) {
		got = o
		return &study.Study{}, nil
	}
	markAssumptionDependentValues = func(context.Context, *paper.Paper, *study.Study) error { return nil } // a study without values has none
	defer func() { reproducePaper, markAssumptionDependentValues = paperOnce, decideOnce }()
	for args, want := range map[string]paper.Options{
		"":                                  {Seed: 1, Noise: job.PlatformNoise},
		"--seed 7 --reps 20 --noise off":    {Seed: 7, Reps: 20},
		"--noise 5% --reps 2 --format json": {Seed: 1, Reps: 2, Noise: 0.05},
	} {
		mustRun(t, append([]string{"reproduce", "altawil-moritz"}, strings.Fields(args)...)...)
		if got.Progress == nil || got.Seed != want.Seed || got.Reps != want.Reps || got.Noise != want.Noise {
			t.Errorf("%s: the experiments are run with %+v, want %+v", args, got, want)
		}
	}
}

// Without a name the papers are listed.
func TestReproduceLists(t *testing.T) {
	if out := mustRun(t, "reproduce"); !strings.Contains(out, "altawil-moritz      29  K. Al-Tawil") {
		t.Errorf("the list is %s", out)
	}
	if out := mustRun(t, "reproduce", "--format", "json"); !json.Valid([]byte(out)) || !strings.Contains(out, "altawil-moritz") {
		t.Errorf("the list as JSON is %s", out)
	}
}

// What is printed can be chosen, and is what the files of a directory have.
func TestReproduceFormats(t *testing.T) {
	long(t)
	t.Chdir(t.TempDir())
	base := "reproduce altawil-moritz --reps 20 --format "
	cells := mustRun(t, strings.Fields(base+"cells -o paper")...)
	if b, err := os.ReadFile("paper/cells.csv"); err != nil || string(b) != cells {
		t.Errorf("what is printed is not what is written: %v", err)
	}
	rows, err := csv.NewReader(strings.NewReader(mustRun(t, strings.Fields(base+"claims")...))).ReadAll()
	if err != nil || len(rows) != 30 || strings.Join(rows[0], ",") != "id,verdict,evidence,rests_on,note,blind_verdict,cause" {
		t.Errorf("%d rows of claims, %v", len(rows), err)
	}
	for _, row := range rows[min(1, len(rows)):] {
		if row[1] == "" || row[2] == "" {
			t.Errorf("claim without verdict or evidence: %q", row)
		}
	}
	if text := mustRun(t, strings.Fields(base+"json")...); !json.Valid([]byte(text)) || !strings.Contains(text, "AM-29") {
		t.Errorf("no JSON: %.200s", text)
	}
	if table := mustRun(t, strings.Fields(base+"table")...); !strings.Contains(table, "Table 3: LogGP signature") || !strings.Contains(table, "AM-29") {
		t.Errorf("the table is %s", table)
	}
}
