//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Current directories. A rank that changes its directory, or is started with one, has its own:
// loggp_resume enters it whenever the program runs.

// directory returns the rank's own current directory, or "" if it has that of the process.
func (r *rank) directory() string {
	if r.hostRank.r.directory == 0 {
		return ""
	}
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r.hostRank.r.directory-1))
	return name
}

// absolutePath returns a path that names what the path of a program names.
func (r *rank) absolutePath(path string) string {
	if d := r.directory(); d != "" && !filepath.IsAbs(path) {
		return filepath.Join(d, path)
	}
	return path
}

// setDirectory sets the current directory of a rank whose program has not started.
func (r *rank) setDirectory(name string) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("the current directory %s: %w", name, err)
	}
	r.hostRank.r.directory = C.int64_t(fd) + 1
	return nil
}
