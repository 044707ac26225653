package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Libraries that are MPI and one that is not are timed side by side, on an emulated machine and on
// this one. The same command prints the same times.
func TestPatternsVerb(t *testing.T) {
	args := strings.Fields("run --platform t3d -n 4 --patterns latency,all-to-all,broadcast --sizes 8,1KiB --format csv patterns")
	out := mustRun(t, args...)
	if again := mustRun(t, args...); again != out {
		t.Errorf("got %s, and then %s", out, again)
	}
	if hidden := mustRun(t, append([]string{"patterns"}, args[1:len(args)-1]...)...); hidden != out {
		t.Errorf("by its own name it prints %s", hidden)
	}
	rows, err := csv.NewReader(strings.NewReader(withoutFacts(out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]float64{}
	for _, r := range rows[1:] {
		if seen[strings.Join(r[:3], " ")+" "+r[4]], err = strconv.ParseFloat(r[5], 64); err != nil {
			t.Errorf("row %v: %v", r, err)
		}
	}
	if len(seen) != 2*(12+12+6) {
		t.Errorf("%d rows, want those of chimp, epcc-early, lean and aclmpl in two modes, aclmpl on pvm too, of pvm and of shmem:\n%s", len(seen), out)
	}
	if a, b := seen["latency aclmpl sync 8"], seen["latency chimp sync 8"]; a <= 0 || b < 2*a {
		t.Errorf("latency of aclmpl is %v us, of chimp %v us", a, b)
	}
	if out := mustRun(t, strings.Fields("run --platform shm -n 2 --patterns latency --sizes 8 --rounds 1 patterns")...); strings.Count(out, "latency") < 4 {
		t.Errorf("on this machine:\n%s", out)
	}
}

func TestPatternsErrors(t *testing.T) {
	for args, want := range map[string]string{
		"patterns --platform t3d --patterns gossip":     `--patterns: there is no pattern "gossip"`,
		"patterns --platform t3d --library nx":          `platform t3d: no library "nx"`,
		"patterns":                                      "--platform: say on what to run",
		"patterns --platform t3d -n 2 --sizes 9":        "reduce: 9 bytes are not a whole number of 8-byte numbers",
		"patterns --platform now --library shmem":       "--library shmem: raw puts need remote memory, which platform now does not have",
		"measure --platform t3d --library aclmpl":       "library aclmpl of platform t3d is not MPI: 'loggp run --library aclmpl patterns' times it",
		"predict --platform t3d --library aclmpl":       "library aclmpl of platform t3d is not MPI: 'loggp run --library aclmpl patterns' times it",
		"run --platform t3d --library aclmpl -n 4 ring": "library aclmpl of platform t3d is not MPI: 'loggp run --library aclmpl patterns' times it",
		"measure --platform shm --library aclmpl -n 2":  "library aclmpl of platform shm is not MPI: 'loggp run --library aclmpl patterns' times it",
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), strings.Fields(args), &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), want) {
			t.Errorf("loggp %s: status %d, %q, want %q", args, status, errs.String(), want)
		}
	}
}

// Parameters of all libraries stand side by side. By hand, on the T3D: G of raw puts is that of
// stores, 120 MB/s, and so is G of ACLMPL's synchronous messages, which are puts; o_s of a raw put
// is the start of two, of data and of a word.
func TestPatternsParameters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "parameters")
	out := mustRun(t, "run", "--platform", "t3d", "-n", "4", "--parameters", "-o", dir, "patterns")
	for _, want := range []string{`(?m)^aclmpl sync +3\.\d+ .* - .* 120\.0$`, `(?m)^shmem put +2\.400 .* 120\.0$`, `(?m)^chimp async +\d`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	for _, name := range []string{"index.html", "one-way.svg", "parameters.csv"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
