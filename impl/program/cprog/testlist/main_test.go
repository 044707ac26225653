package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Programs that pass, print errors, do not link, time out, end with an error, or should end with
// one.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip(err)
	}
	loggp := filepath.Join(t.TempDir(), "loggp")
	if out, err := exec.Command("go", "build", "-o", loggp, "../../../../cmd/loggp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	s := settings{loggp: loggp, platform: "t3d", include: []string{root}, spareRanks: 1, timeLimit: time.Minute}
	if err := s.findSupportFiles(filepath.Join(root, "*.c")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.run(t.Context(), root, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"/pt2pt/ring: failed: it prints: Found 2 errors\n",
		"/pt2pt/missing: not built: ", "undefined reference to `MPI_No_such_function'\n",
		"/pt2pt/late: timed out: after 2s\n",
		"/errors/well: failed: it ends well and ought to end with an error\n",
		"   pt2pt         6       3          1       1          1\n",
		"  errors         2       1          0       1          0\n",
		"   spawn         1       1          0       0          0\n",
		"     all         9       5          1       2          1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
}

func TestWrongLists(t *testing.T) {
	for text, want := range map[string]string{
		"a 0":                    `:1: "0" is not a number of ranks`,
		"\na two":                `:2: "two" is not a number of ranks`,
		"a arg=x 2":              `:1: "2" is not a number of ranks`,
		"a 2 timeLimit=soon":     ":1: timeLimit=soon: it is a number of seconds",
		"a 2 resultTest=TestAll": ":1: resultTest=TestAll is not known",
		"below":                  ":1: open ",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "testlist"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "below"), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := readFolder(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
