package shm_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/real/launch/launchtest"
)

// A system without room for the memory says so in one line, and no rank is started.
func TestMissingMemoryIsOneLine(t *testing.T) {
	cmd := exec.Command("sh", "-c", `ulimit -f 8; exec "$0" "$1"`, os.Args[0], launchtest.EndlessJob)
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err == nil || !strings.HasPrefix(text, "shm: memory for 3 ranks: allocate ") || strings.Contains(text, "\n") {
		t.Errorf("%v: %s", err, out)
	}
}
