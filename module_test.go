package loggp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The program of docs/program.md runs from a module of its own, and writes its time line.
func TestModule(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	program := regexp.MustCompile("(?s)```go\n(// main\\.go\n.*?)```").FindStringSubmatch(read("docs/program.md"))
	if program == nil {
		t.Fatal("docs/program.md has no main.go")
	}
	_, requires, ok := strings.Cut(read("go.mod"), "\n\n")
	if !ok {
		t.Fatal("go.mod has no part behind its first")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": program[1],
		"go.sum":  read("go.sum"),
		"go.mod":  "module example\n\nrequire github.com/loggp/loggp v0.0.0\n\nreplace github.com/loggp/loggp => " + here + "\n\n" + requires,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "8 ranks on t3d, chimp") || !strings.Contains(string(out), "Recv ") {
		t.Errorf("it prints\n%s", out)
	}
	if page := read(filepath.Join(dir, "timeline", "index.html")); !strings.Contains(page, "8 ranks on t3d") {
		t.Error("the page does not say what it is of")
	}
}
