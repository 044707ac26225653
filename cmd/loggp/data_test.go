package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

var update = flag.Bool("update", false, "write what documents and golden files show anew")

// dataTables lists the tables of each verb with their fields.
const dataTables = "../../docs/data-tables.csv"

// dataCommands are the commands whose tables dataTables lists, with other inputs of the same shape.
var dataCommands = []string{
	"measure --platform t3d --modes send,isend,ssend --sizes 0,16,1KB,10KB --reps 20",
	"measure --platform t3d -n 4 --collective bcast --sizes 8,1KB --reps 20",
	"fit pair.csv",
	"fit pair.csv --view plogp",
	"fit pair.csv --view loggps",
	"predict --platform t3d --protocol RTA --sizes 16,1KB --explain",
	"predict --params params.csv -n 4 --collective bcast --sizes 8,1KB",
	"compare pair.csv again.csv",
	"compare --samples pair.csv --samples intra.csv",
	"compare --samples together.csv --params params.csv",
	"compare --platform t3d,now -n 4 --collective bcast --sizes 8",
	"report pair.csv",
	"report together.csv --params params.csv",
	"run --platform t3d -n 4 --profile ring",
	"run --platform t3d -n 4 --sizes 8 --patterns latency patterns",
	"run --platform t3d -n 4 shift",
	"run --platform start-x --place 2,1+1 broadcasts",
	"simulate bcast.goal --critical-path",
	"schedule alltoallv --from all.goal",
	"trace --platform t3d --mode send --size 16",
	"platforms list",
	"platforms show t3d",
	"reproduce",
}

// numberWithUnit is what programs cannot read: a number that is text because of its unit or sign.
var numberWithUnit = regexp.MustCompile(`^[~≤≥±+-]? ?[0-9][0-9.]* ?(ps|ns|us|ms|s|B|[KMG]i?B|[KMG]B/s|us/B|%)?$`)

// TestDataOfVerbs reads all that verbs print for programs: each table is CSV with a name for each
// column, and JSON with the same fields; a field has one type in all rows; a number is a number,
// and the name of its field has its unit. docs/data-tables.csv lists the
// tables and fields, and no others.
func TestDataOfVerbs(t *testing.T) {
	file := commandtest.AbsolutePath(t, dataTables)
	t.Chdir(t.TempDir())
	pair := "measure --platform t3d --modes send,isend,ssend --sizes 0,16,1KB,10KB --reps 20"
	for _, command := range []string{
		pair + " -o pair.csv", pair + " --seed 2 -o again.csv", pair + " --place intra -o intra.csv",
		"measure --platform t3d -n 4 --collective bcast --sizes 8,1KB --reps 20 -o together.csv",
		"measure --platform t3d --level message --sizes 0,16,1KB,10KB --reps 20 -o message.csv", "fit pair.csv message.csv -o params.csv",
		"schedule bcast -n 4 --size 1KB -o bcast.goal",
		"run --platform cc-cluster --library cc-mpi -n 4 --record all.goal npb-is",
	} {
		mustRun(t, strings.Fields(command)...)
	}
	var lines []string             // tables with their fields
	verbs := map[string][]string{} // of each line
	for _, command := range dataCommands {
		words := strings.Fields(command)
		var names []string
		for _, line := range strings.Split(strings.TrimSpace(mustRun(t, insertFlags(words, "--tables")...)), "\n")[1:] {
			names = append(names, strings.Fields(line)[0])
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) != len(names) {
			t.Errorf("%s: tables %q", command, names)
		}
		var printed any
		if err := json.Unmarshal([]byte(mustRun(t, insertFlags(words, "--format", "json")...)), &printed); err != nil {
			t.Errorf("%s: %v", command, err)
		}
		for _, name := range names {
			fields := readTable(t, command+" --table "+name, name, mustRun(t, insertFlags(words, "--format", "csv", "--table", name)...), mustRun(t, insertFlags(words, "--format", "json", "--table", name)...))
			if fields == nil { // a table without rows has no types
				continue
			}
			line := ""
			for _, field := range fields {
				line += name + "," + field + "\n"
			}
			if verbs[line] == nil {
				lines = append(lines, line)
			}
			if !slices.Contains(verbs[line], words[0]) {
				verbs[line] = append(verbs[line], words[0])
			}
		}
	}
	want := "verbs,table,field,type,interval\n"
	for _, line := range lines {
		for row := range strings.Lines(line) {
			want += strings.Join(verbs[line], " ") + "," + row
		}
	}
	if *update {
		put(t, file, []byte(want))
	} else if read(t, file) != want {
		t.Errorf("docs/data-tables.csv does not list what the verbs print (go test ./cmd/loggp -run DataOfVerbs -update): want\n%s", want)
	}
}

// insertFlags puts flags behind the verb.
func insertFlags(words []string, flags ...string) []string {
	at := 1
	if words[0] == "platforms" || words[0] == "schedule" {
		at = 2
	}
	return slices.Insert(slices.Clone(words), at, flags...)
}

// readTable compares a table as CSV and as JSON, and returns its fields as dataTables has them.
func readTable(t *testing.T, what, name, asCSV, asJSON string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(asCSV)).ReadAll()
	if err != nil || len(rows) < 2 && name != "warnings" {
		t.Errorf("%s: %d rows, %v", what, len(rows), err)
		return nil
	}
	header := rows[0]
	for i, name := range header {
		if strings.TrimSpace(name) == "" || strings.HasPrefix(name, "#") || strings.ContainsAny(name, " %") || slices.Contains(header[:i], name) {
			t.Errorf("%s: column %d is %q of %q", what, i+1, name, header)
		}
	}
	var objects []map[string]any
	if err := json.Unmarshal([]byte(asJSON), &objects); err != nil {
		t.Errorf("%s: %v", what, err)
		return nil
	}
	if len(objects) != len(rows)-1 {
		t.Errorf("%s: %d rows of JSON, %d of CSV", what, len(objects), len(rows)-1)
	}
	types := map[string]string{}
	for i, x := range objects {
		if len(x) != len(header) {
			t.Errorf("%s: row %d has the fields %v, want %q", what, i+1, x, header)
		}
		for j, name := range header {
			value := x[name]
			shown := fmt.Sprint(value)
			if number, ok := value.(float64); ok {
				shown = fmt.Sprintf("%.10g", number)
			} else if value == nil {
				continue
			}
			if text, ok := value.(string); ok && numberWithUnit.MatchString(text) && !slices.Contains(textFields, name) {
				t.Errorf("%s: row %d: %s is the text %q", what, i+1, name, text)
			}
			if _, isNumber := value.(float64); !isNumber && i+1 < len(rows) && rows[i+1][j] != shown {
				t.Errorf("%s: row %d: %s is %q as CSV, and %q as JSON", what, i+1, name, rows[i+1][j], shown)
			}
			kind := fmt.Sprintf("%T", value)
			if before := types[name]; before != "" && before != kind && !slices.Contains(mixedFields, name) {
				t.Errorf("%s: %s is %s and %s", what, name, before, kind)
			}
			if types[name] != "string" {
				types[name] = kind
			}
		}
	}
	if len(objects) == 0 {
		return nil
	}
	var fields []string // as name,type,interval
	for i, name := range header {
		field := name + ",number,"
		if types[name] == "string" || name == "value" && slices.Contains(header, "fact") {
			field = name + ",text,"
		}
		for _, suffix := range []string{"_low", "_high", "_unit", "_weak"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && i > 0 && (slices.Contains(header[:i], base) || base != "ci" && slices.Contains(header, base+"_low") && suffix != "_low") {
				field = ""
				if last := len(fields) - 1; !strings.HasSuffix(fields[last], "yes") {
					fields[last] += "yes"
				}
			}
		}
		if field != "" {
			fields = append(fields, field)
		}
	}
	return fields
}

// textFields hold text that may look like a number: what facts and files say.
var textFields = []string{"value", "placement", "members", "t3d"}

// mixedFields hold numbers, and words in rows that sum up.
var mixedFields = []string{"rank", "from_rank", "to_rank", "value", "ranks", "differs_percent"}

func put(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
