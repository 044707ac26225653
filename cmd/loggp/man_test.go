package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var manDir = flag.String("man", "", "directory for the man pages, with those of every verb")

// Every verb has a man page. `make release` keeps them: go test ./cmd/loggp -run ManPages -man DIR.
// They are made by a test since the packages that write them have no other use in the program.
func TestManPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRootCommand()
	root.DisableAutoGenTag = true
	date := time.Unix(0, 0).UTC()
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "LOGGP", Section: "1", Source: "loggp", Manual: "User Commands", Date: &date}, dir); err != nil {
		t.Fatal(err)
	}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), ".SH NAME") {
			t.Errorf("%s: %v", name, err)
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				check(sub)
			}
		}
	}
	check(root)
}
