package sample

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Save writes a file whole or not at all: what write produces goes to a temporary file in the same
// directory, which takes the name path when it is complete and is removed otherwise, a panic
// included. A path that is no ordinary file, such as /dev/stdout, is written as it is. If the name
// ends with .gz the file is packed by gzip.
func Save(path string, write func(io.Writer) error) error {
	if err := save(path, gzipWriter(path, write)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func save(path string, write func(io.Writer) error) (err error) {
	mode := os.FileMode(0o666)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return writeBuffered(f, write)
	case err == nil:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := createTemporary(path, mode)
	if err != nil {
		return err
	}
	end := RegisterTemporary(f.Name())
	done := false
	defer func() {
		if !done {
			f.Close()
			err = errors.Join(err, end(func() error { return os.Remove(f.Name()) }))
		}
	}()
	if err := writeBuffered(f, write); err != nil {
		return err
	}
	done = true
	return end(func() error {
		if err := os.Rename(f.Name(), path); err != nil {
			return errors.Join(err, os.Remove(f.Name()))
		}
		return nil
	})
}

// CheckWritable says why Save cannot write a file, or make a directory of that name: before it
// takes long to find what goes there.
func CheckWritable(path string) error {
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("there is no directory %s", dir)
	}
	if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
		return nil // a device: it is not written beside
	}
	f, err := createTemporary(path, 0o600)
	if err != nil {
		return fmt.Errorf("nothing can be written to %s: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// temporaries are the temporary files and directories of this process.
var temporaries struct {
	sync.Mutex
	paths map[string]bool
}

// RegisterTemporary notes a temporary file or directory that RemoveTemporaries removes until end is
// called, which gives it its name or removes it by last.
func RegisterTemporary(path string) (end func(last func() error) error) {
	temporaries.Lock()
	defer temporaries.Unlock()
	if temporaries.paths == nil {
		temporaries.paths = make(map[string]bool)
	}
	temporaries.paths[path] = true
	return func(last func() error) error {
		temporaries.Lock()
		defer temporaries.Unlock()
		delete(temporaries.paths, path)
		return last()
	}
}

// RemoveTemporaries removes what Save and others have not finished. Nothing is finished after that:
// a process that calls it ends.
func RemoveTemporaries() {
	temporaries.Lock() // for good
	for path := range temporaries.paths {
		os.RemoveAll(path)
	}
}

// staleTemporaryAge is the age from which a temporary file or directory is what a killed process
// has left.
const staleTemporaryAge = time.Hour

// RemoveStaleTemporaries removes temporary files and directories of an earlier process that was
// killed while it wrote path.
func RemoveStaleTemporaries(path string) {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	for _, e := range entries {
		word, ok := strings.CutPrefix(e.Name(), "."+base+".")
		if word, tmp := strings.CutSuffix(word, ".tmp"); !ok || !tmp || word == "" || strings.Trim(word, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleTemporaryAge {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// gzipSuffix is how the names of files end that are packed by gzip.
const gzipSuffix = ".gz"

// gzipWriter returns a writer that packs what another writes, if the name of the file says so.
func gzipWriter(path string, write func(io.Writer) error) func(io.Writer) error {
	if !strings.HasSuffix(path, gzipSuffix) {
		return write
	}
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(write(z), z.Close())
	}
}

// createTemporary makes a new file beside path. os.CreateTemp would make it unreadable for others.
func createTemporary(path string, mode os.FileMode) (*os.File, error) {
	RemoveStaleTemporaries(path)
	dir, base := filepath.Split(path)
	for try := 0; ; try++ {
		name := filepath.Join(dir, "."+base+"."+strconv.FormatUint(uint64(rand.Uint32()), 36)+".tmp")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || !errors.Is(err, os.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// writeBuffered writes through a buffer and closes the file.
func writeBuffered(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}
