package probe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// If this process is killed its launcher is asked to end.
func TestKilledLeavesNoLauncher(t *testing.T) {
	const inner = "LOGGP_TEST_LAUNCHES_IN"
	if dir := os.Getenv(inner); dir != "" {
		commandRunner{dir: dir}.run(context.Background(), []string{"sh", "-c", "trap 'touch asked; exit' TERM; touch begun; for i in $(seq 3000); do sleep 0.01; done"})
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledLeavesNoLauncher$")
	cmd.Env = append(os.Environ(), inner+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(dir, "begun"))
	cmd.Process.Kill()
	cmd.Wait()
	await(t, filepath.Join(dir, "asked"))
}

// await waits for a file.
func await(t *testing.T, path string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("there is no %s", filepath.Base(path))
}
