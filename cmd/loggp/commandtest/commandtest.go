// Package commandtest has what tests of the command and of its documents share: the tools that
// documents take to be there, in place of those of other computers, and outputs of other tools.
package commandtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/microbench/probe/probetest"
)

// Command is the path of the command that BuildAndRun built. The file is called loggp-command, so
// that a script which stands for loggp can call it.
var Command string

// BuildAndRun builds the command, runs the tests of a package and returns their exit status. root
// is the root of the source.
func BuildAndRun(m *testing.M, root string) int {
	dir, err := os.MkdirTemp("", "loggp-command")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	Command = filepath.Join(dir, "loggp-command")
	build := exec.Command("go", "build", "-o", Command, "./cmd/loggp")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build ./cmd/loggp: %v\n%s", err, out)
		return 1
	}
	os.Setenv("GOGC", "400") // heaps of these commands are small, and collections a fifth of their time
	return m.Run()
}

// MustRun runs the built command in a directory, or in the current one if dir is empty, and returns
// what it prints.
func MustRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Command, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("loggp %q: %v: %s", args, err, errs.String())
	}
	return string(out)
}

// LinkCommand returns a directory in which the built command is called loggp.
func LinkCommand(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(Command, filepath.Join(dir, "loggp")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// SkipShort skips a test that takes long where short tests are asked for.
func SkipShort(t *testing.T, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}

// AbsolutePath returns the path of a file that a test in another directory needs.
func AbsolutePath(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// HasInstalledMPI says whether there is an MPI, without which commands that need one are left out,
// but not in CI.
func HasInstalledMPI(t *testing.T) bool {
	t.Helper()
	if _, err := exec.LookPath("mpicc"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v: .ci/mpi installs it", err)
		}
		return false
	}
	if runtime.NumCPU() < 2 {
		return false // two ranks need two processors
	}
	probetest.SetEnvironment(t)
	return true
}

// CanCompile reports whether C programs can be compiled and run here.
func CanCompile(t *testing.T) bool {
	t.Helper()
	if _, err := toolchain.New(t.Context()); err != nil {
		return false
	}
	_, err := (&cprog.Program{Path: "."}).Main()
	return err != nil && !strings.Contains(err.Error(), "CGO_ENABLED")
}

// FakeSSH puts a command ssh before all others that runs here what it is to run on another host,
// and returns the file in which it records its arguments and its environment, and that in which it
// records the token, which it passes on. All of 127.0.0.0/8 is this host.
func FakeSSH(t *testing.T) (calls, tokens string) {
	t.Helper()
	dir := t.TempDir()
	calls, tokens = filepath.Join(dir, "calls"), filepath.Join(dir, "tokens")
	script := `#!/bin/sh
printf '%s|' "$@" >> ` + calls + `; echo >> ` + calls + `; env >> ` + calls + `
[ "$1 $2" = "-o BatchMode=yes" ] && shift 2
case $1 in
*127.0.0.9) echo "Permission denied (publickey)." >&2; exit 255;;
esac
shift
IFS= read -r token; printf '%s\n' "$token" >> ` + tokens + `
input=` + dir + `/input.$$
mkfifo "$input"; exec 3<&0
{ printf '%s\n' "$token"; exec cat; } <&3 > "$input" &
exec 3<&-
sh -c "$*" < "$input"; status=$?
kill $! 2> /dev/null
exit $status
`
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return calls, tokens
}

// ExampleFiles returns the files that examples read and do not make, by their names there: outputs
// of other tools and traces. root is the root of the source.
func ExampleFiles(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{"osu-latency.txt": "osu-latency.txt", "osu-bw.txt": "osu-bw.txt", "dane-latency.txt": "dane-latency.txt", "dane-bw.txt": "dane-bw.txt", "trains.csv": "prtt-openmpi-shm-eager4096.csv", "h100.txt": "field/n1_nccl.txt", "nccl-tests.txt": "nccl-16-h100.txt"}
	for rank := range 8 {
		name := fmt.Sprintf("all_reduce_8.%d.et", rank)
		files[name] = "../../../model/trace/testdata/" + name
	}
	for rank := range 4 {
		name := fmt.Sprintf("pmpi-trace-rank-%d.txt", rank)
		files[name] = "../../../model/trace/testdata/" + name
	}
	files["gpt.yaml"] = "../../../model/training/testdata/gpt.yaml"
	files["step.0.et.gz"] = "../../../model/trace/testdata/training_step.0.et.gz"
	for name, from := range files {
		b, err := os.ReadFile(filepath.Join(root, "microbench/foreign/testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	files["gpt.yaml"] = strings.Replace(files["gpt.yaml"], "count: 64", "count: 8", 1) // as it is printed in an eighth of the time
	return files
}

// WriteFiles writes files.
func WriteFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// CheckNumbers complains of numbers that cannot be times. Why a value cannot be predicted may have
// any numbers.
func CheckNumbers(t *testing.T, out string) {
	t.Helper()
	table, _, _ := strings.Cut(out, "Warnings:")
	table = regexp.MustCompile(`(?m)^.* cannot be predicted, .*$`).ReplaceAllString(table, "")
	if bad := regexp.MustCompile(`(?i)\b(nan|inf)\b| -[0-9]`).FindString(table); bad != "" {
		t.Errorf("%q is printed:\n%s", bad, table)
	}
}
