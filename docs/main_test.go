package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// command is the path of the command that documents show, called loggp-command so that a script
// which stands for loggp can call it.
var command string

// TestMain builds the command.
func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "loggp-documents")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "loggp-command")
	if out, err := exec.Command("go", "build", "-o", command, "../cmd/loggp").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build ../cmd/loggp: %v\n%s", err, out)
		return 1
	}
	os.Setenv("GOGC", "400") // heaps of these commands are small, and collections a fifth of their time
	return m.Run()
}

// mustRun runs the command and returns what it prints.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("loggp %q: %v: %s", args, err, errs.String())
	}
	return string(out)
}

// skipShort skips a test that takes long where short tests are asked for.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the commands of all documents")
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
