package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestJourneys runs the scripts of testdata/journeys, what new users do first, each from an empty directory. A script ends
// with an error where a command fails, or does not print what a line of it looks for.
func TestJourneys(t *testing.T) {
	long(t)
	scripts, err := filepath.Glob("testdata/journeys/*.sh")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	bin := linked(t, "loggp")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("SOURCE", absolute(t, "../.."))
	for _, v := range [][2]string{{"GOFLAGS", ""}, {"GOPROXY", "off"}, {"GOWORK", "off"}} { // of the module that is made
		t.Setenv(v[0], v[1])
	}
	for _, s := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(s), ".sh"), func(t *testing.T) {
			path := absolute(t, s)
			t.Chdir(t.TempDir())
			if out, err := exec.CommandContext(t.Context(), "sh", "-eux", path).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
