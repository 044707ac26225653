package schedule

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

func readFile(t testing.TB, name string) *Schedule {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := Read(f, filepath.Base(name), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, text string) *Schedule {
	t.Helper()
	s, err := Read(strings.NewReader(text), "test.goal", 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The results of LogGOPSim in testdata, rank by rank.
func TestLogGOPSimExamples(t *testing.T) {
	f, err := os.ReadFile("testdata/expected.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(f)).ReadAll()
	if err != nil || len(rows) != 10 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows[1:] {
		p, err := ParseParams(fmt.Sprintf("L=%sns,o=%sns,g=%sns,G=%sns,O=%sns,S=%s", row[1], row[2], row[3], row[4], row[5], row[6]))
		if err != nil {
			t.Fatal(err)
		}
		s := readFile(t, filepath.Join("testdata", row[0]))
		res, err := s.Simulate(Options{Params: p, Dialect: LogGOPSim, RecordsPath: true})
		if err != nil {
			t.Fatal(err)
		}
		number := func(i int) int {
			n, err := strconv.Atoi(row[i])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if s.CountRanks() != number(7) || s.CountOps() != number(8) || res.Events != number(9) || res.LastFinish != unit.Time(number(10))*unit.Nanosecond {
			t.Errorf("%s: %d ranks, %d operations, %d events, last at %v, want %v", row[0], s.CountRanks(), s.CountOps(), res.Events, res.LastFinish, row[7:])
		}
		want, err := os.ReadFile(filepath.Join("testdata", row[11]))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for rank, end := range res.FinishTimes {
			fmt.Fprintln(&got, rank, int64(end/unit.Nanosecond))
		}
		if got.String() != string(want) {
			t.Errorf("%s: ranks finish at\n%swant\n%s", row[11], got.String(), want)
		}
	}
}

// What ATLAHS finds for a binomial broadcast of 4 KiB to 1,024 ranks with the parameters that
// LogGOPSim has by default: it sends first what its queue has first. In the order of the file it
// would be 310,700 ns.
func TestATLAHSBroadcast(t *testing.T) {
	res, err := binomial(t, 1024, 4096).Simulate(Options{Params: DefaultParams, Dialect: LGS})
	if err != nil || res.LastFinish != 842_170*unit.Nanosecond {
		t.Errorf("%v, %v", res.LastFinish, err)
	}
}

// A receive that begins when another operation begins starts at time 0 in ATLAHS, where an
// assertion fails if its message arrives later.
func TestATLAHSAssertion(t *testing.T) {
	s := parse(t, "num_ranks 2\nrank 0 {\na: calc 100000\nb: calc 1\nr: recv 8b from 1\nb requires a\nr irequires b\n}\nrank 1 {\nsend 8b to 0\n}\n")
	res, err := s.Simulate(Options{Params: DefaultParams, Dialect: LGS})
	if err != nil || len(res.Warnings) != 1 || res.Warnings[0].Kind != "assertion" || !strings.HasPrefix(res.Warnings[0].Text, "test.goal:5: rank 0: recv 8b from 1 begins before its message arrives") {
		t.Errorf("%v, %v", res, err)
	}
	if res, err := s.Simulate(Options{Params: DefaultParams, Dialect: LogGOPSim}); err != nil || len(res.Warnings) > 0 {
		t.Errorf("%v, %v", res, err)
	}
}
