package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const makesDirectory = "PROBE_TEST_DIRECTORY"

// A process that is killed leaves its directory, which the next one removes. The directories of
// processes that run, and what others have named like that, stay.
func TestDirectoryOfKilledProcessIsRemoved(t *testing.T) {
	if os.Getenv(makesDirectory) != "" {
		if _, _, err := makeDirectory(); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("made\n")
		time.Sleep(time.Hour) // until it is killed
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDirectoryOfKilledProcessIsRemoved$")
	cmd.Env = append(os.Environ(), makesDirectory+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 5)); n == 0 {
		t.Fatal(err)
	}
	young := filepath.Join(temp, directoryPrefix+"young") // just being made
	if err := os.Mkdir(young, 0o700); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		all, err := filepath.Glob(filepath.Join(temp, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	mine, remove, err := makeDirectory()
	if err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 3 {
		t.Errorf("beside a process that runs there are %d directories, want 3", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	removeStaleDirectories()
	if _, err := os.Stat(mine); err != nil || count() != 2 {
		t.Errorf("after its end there are %d directories, want 2: %v", count(), err)
	}
	old := time.Now().Add(-2 * unlockedAge)
	if err := os.Chtimes(young, old, old); err != nil {
		t.Fatal(err)
	}
	removeStaleDirectories()
	if err := remove(); err != nil || count() != 0 {
		t.Errorf("at the end there are %d directories: %v", count(), err)
	}
}
