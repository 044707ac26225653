package main

import (
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// Every verb that prints a table prints it as CSV, as JSON and as Markdown too.
func TestFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B --modes send,isend,ssend,message --sizes 0,1,16,1KB,10KB --reps 20 -o a.csv")...)
	mustRun(t, strings.Fields("measure --platform t3d --modes send,isend,ssend --sizes 0,1,16,1KB,10KB --reps 20 -o b.csv")...)
	mustRun(t, strings.Fields("measure --platform loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B -n 4 --collective bcast --sizes 8,1KB -o c.csv")...)
	mustRun(t, strings.Fields("fit a.csv -o params.csv")...)
	for _, args := range []string{
		"platforms", "platforms list", "platforms show t3d", "fit a.csv", "fit a.csv --view plogp", "compare --samples a.csv --samples b.csv", "compare --samples a.csv --params params.csv", "compare --samples c.csv",
		"report a.csv", "report c.csv", "predict --params params.csv", "predict --platform t3d --protocol RTA", "predict --platform t3d --collective bcast", "run --platform t3d stencil", "patterns --platform t3d", "trace --platform t3d --mode ssend", "doctor --quick",
	} {
		rows, err := csv.NewReader(strings.NewReader(withoutFacts(mustRun(t, strings.Fields(args+" --format csv")...)))).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("loggp %s --format csv: %d rows, %v", args, len(rows), err)
		}
		var x map[string]any
		if err := json.Unmarshal([]byte(mustRun(t, strings.Fields(args+" --format json")...)), &x); err != nil || len(x) == 0 {
			t.Errorf("loggp %s --format json: %v, %v", args, x, err)
		}
		if strings.HasPrefix(args, "doctor") {
			continue // its verdicts are for people or programs
		}
		if out := mustRun(t, strings.Fields(args+" --format markdown")...); !regexp.MustCompile(`(?m)^\|.*\|\n\|[-:|]+\|\n\|`).MatchString(out) {
			t.Errorf("loggp %s --format markdown:\n%s", args, out)
		}
	}
}

// withoutFacts returns the first table of a CSV text, without lines that begin with #.
func withoutFacts(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			if out.Len() > 0 {
				break
			}
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}
