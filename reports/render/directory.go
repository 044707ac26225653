package render

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// fileListName is the file that lists what was written into a directory, itself left out. A
// directory with other files than these is not ours.
const fileListName = ".loggp-report"

// ReplaceDirectory makes a directory whole or not at all: fill writes files into a new one beside
// it, which then takes its name.
func ReplaceDirectory(dir string, fill func(add func(name string, write func(io.Writer) error) error) error) (err error) {
	if dir, err = replaceableDirectory(dir); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	made, err := makeSiblingDirectory(dir)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	end := sample.RegisterTemporary(made)
	finished := false
	defer func() {
		if !finished {
			err = errors.Join(err, end(func() error { return os.RemoveAll(made) }))
		}
	}()
	var names []string
	err = fill(func(name string, write func(io.Writer) error) error {
		if !filepath.IsLocal(name) || slices.Contains(names, name) {
			panic("reports: file " + strconv.Quote(name) + " twice, or not in its directory")
		}
		names = append(names, name)
		path := filepath.Join(made, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return sample.Save(path, write)
	})
	if err == nil {
		err = sample.Save(filepath.Join(made, fileListName), func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(names, "\n")+"\n")
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("write report %s: %w", dir, err)
	}
	finished = true
	if err := end(func() error { return errors.Join(swapDirectories(made, dir), os.RemoveAll(made)) }); err != nil {
		return fmt.Errorf("write report %s: %w", dir, err)
	}
	return nil
}

// CheckDirectory says why a directory cannot be written by ReplaceDirectory: before it takes long
// to find what goes there.
func CheckDirectory(dir string) error {
	if err := sample.CheckWritable(dir); err != nil {
		return err
	}
	_, err := replaceableDirectory(dir)
	return err
}

// replaceableDirectory returns the path of a directory that may be replaced or made: behind a link,
// where it leads.
func replaceableDirectory(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	list, err := os.ReadFile(filepath.Join(path, fileListName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	known := []string{".", fileListName}
	for name := range strings.Lines(string(list)) {
		for name = strings.TrimSpace(name); name != "."; name = pathpkg.Dir(name) { // and the directories that it is in
			known = append(known, name)
		}
	}
	return path, fs.WalkDir(os.DirFS(path), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || slices.Contains(known, name) {
			return err
		}
		return fmt.Errorf("%s holds %s, which no report wrote: name another directory, or empty it", dir, name)
	})
}

// makeSiblingDirectory makes a new directory next to another, with the rights that new directories
// have.
func makeSiblingDirectory(dir string) (string, error) {
	sample.RemoveStaleTemporaries(dir)
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+strconv.FormatUint(uint64(rand.Uint32()), 36)+".tmp")
		err := os.Mkdir(name, 0o777)
		if err == nil || !errors.Is(err, os.ErrExist) || try == 100 {
			return name, err
		}
	}
}

// swapDirectories gives a new directory the name of an old one, which may not exist, and removes
// the old one.
func swapDirectories(made, dir string) error {
	old, err := makeSiblingDirectory(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(old)
	kept := filepath.Join(old, "old")
	switch err := os.Rename(dir, kept); {
	case errors.Is(err, os.ErrNotExist):
		return os.Rename(made, dir)
	case err != nil:
		return err
	}
	if err := os.Rename(made, dir); err != nil {
		return errors.Join(err, os.Rename(kept, dir))
	}
	return nil
}
