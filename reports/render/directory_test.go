package render

import (
	"errors"
	"github.com/loggp/loggp/reports/reporttest"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDirectory: a directory is made whole or not at all, and nobody's files are lost.
func TestDirectory(t *testing.T) {
	top := t.TempDir()
	write := func(names ...string) func(add func(string, func(io.Writer) error) error) error {
		return func(add func(string, func(io.Writer) error) error) error {
			for _, n := range names {
				err := add(n, func(w io.Writer) error {
					if n == "broken" {
						return errors.New("on purpose")
					}
					_, err := io.WriteString(w, "text of "+n)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	check := func(dir string, want ...string) {
		t.Helper()
		got := slices.Sorted(maps.Keys(reporttest.ReadFiles(t, dir)))
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", dir, got, want)
		}
	}
	dir := filepath.Join(top, "new")
	if err := ReplaceDirectory(dir, write("a", "broken")); err == nil {
		t.Error("an error of a file is lost")
	}
	if entries, err := os.ReadDir(top); err != nil || len(entries) != 0 {
		t.Errorf("a failure leaves %v (%v)", entries, err)
	}
	if err := ReplaceDirectory(dir, write("a", "b/c")); err != nil {
		t.Fatal(err)
	}
	check(dir, "a", "b/c", fileListName)
	if err := ReplaceDirectory(dir, write("a", "broken")); err == nil {
		t.Error("an error of a file is lost")
	}
	check(dir, "a", "b/c", fileListName)
	if err := os.WriteFile(filepath.Join(dir, "b", "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceDirectory(dir, write("c")); err == nil || !strings.Contains(err.Error(), "b/mine") {
		t.Errorf("error %v, want one that names b/mine", err)
	}
	check(dir, "a", "b/c", "b/mine", fileListName)
	if err := os.Remove(filepath.Join(dir, "b", "mine")); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceDirectory(dir, write("c")); err != nil {
		t.Fatal(err)
	}
	check(dir, "c", fileListName)

	mine := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceDirectory(dir, write("d")); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("error %v, want one that names thesis.tex", err)
	}
	check(dir, "c", fileListName, "thesis.tex")

	empty := filepath.Join(top, "empty")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceDirectory(empty, write("a")); err != nil {
		t.Error(err)
	}
	check(empty, "a", fileListName)

	link := filepath.Join(top, "link")
	if err := os.Symlink(empty, link); err != nil {
		t.Skip(err)
	}
	if err := ReplaceDirectory(link, write("e")); err != nil {
		t.Error(err)
	}
	check(empty, "e", fileListName)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if err := ReplaceDirectory(mine, write("a")); err == nil {
		t.Error("a file was replaced by a directory")
	}
	if err := ReplaceDirectory(filepath.Join(top, "none", "x"), write("a")); err == nil {
		t.Error("a directory in none")
	}
	if entries, _ := os.ReadDir(top); len(entries) != 3 {
		t.Errorf("left over: %v", entries)
	}
}
