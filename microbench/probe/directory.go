package probe

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// directoryPrefix is how the directories of measurements begin, in the directory for temporary
// files.
const directoryPrefix = "loggp-probe-"

// directoryLockFile is the file in such a directory that its process keeps locked. The lock ends
// with the process, however that ends.
const directoryLockFile = "lock"

// unlockedAge is the age from which a directory without a lock is no longer one that another
// process is just making.
const unlockedAge = time.Hour

// makeDirectory makes a directory for a measurement and returns it with the function that removes
// it. First it removes those that killed processes have left.
func makeDirectory() (dir string, remove func() error, err error) {
	removeStaleDirectories()
	if dir, err = os.MkdirTemp("", directoryPrefix); err != nil {
		return "", nil, err
	}
	f, err := os.Create(filepath.Join(dir, directoryLockFile))
	if err == nil {
		err = lockFileOrFail(f)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return "", nil, errors.Join(err, f.Close(), os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), f.Close()) }, nil
}

// removeStaleDirectories removes the directories whose processes have ended. What cannot be
// removed, such as another user's, stays.
func removeStaleDirectories() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), directoryPrefix+"*"))
	for _, dir := range dirs {
		if isStale(dir) {
			os.RemoveAll(dir)
		}
	}
}

// isStale reports whether no process has the lock of a directory.
func isStale(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	f, err := os.OpenFile(filepath.Join(dir, directoryLockFile), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return time.Since(info.ModTime()) > unlockedAge
	}
	if err != nil {
		return false
	}
	defer f.Close()
	return lockFileOrFail(f) == nil
}
