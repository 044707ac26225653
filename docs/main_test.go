package docs_test

import (
	"os"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

func TestMain(m *testing.M) { os.Exit(commandtest.BuildAndRun(m, "..")) }

// skipShort skips a test of commands that documents show where short tests are asked for.
func skipShort(t *testing.T) {
	t.Helper()
	commandtest.SkipShort(t, "runs the commands of all documents")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	commandtest.WriteFiles(t, map[string]string{name: text})
}
